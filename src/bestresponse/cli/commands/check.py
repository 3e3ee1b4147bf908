"""`bestresponse check` and `compare`: are programs games, are two games the same, and if not, why
not."""

import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.api.formalizing import ENGINE_HELP
from bestresponse.cli.options import AsJson, complete_engine, complete_game, complete_named_game
from bestresponse.core.errors import InvalidGame, LogicError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.formal.evaluate.validation import (
    Named,
    check_constraints,
    describe_classes,
    describe_titles,
    find_constraints,
    find_names,
    find_roles,
    named_games,
)
from bestresponse.games.comparison import Comparison
from bestresponse.games.describing import describe_game
from bestresponse.games.logic.tables import as_game_table, table_to_data
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.report.text import visible
from bestresponse.theory.games.normal_form import NormalForm

_MOST_NAMES = 6
_MOST_LETTERS = 40
_MOST_ANSWERS = 100
_EXIT_CODES = {
    "same tree": 0,
    "different": 1,
    "same reduced form, other tree": 3,
    "same order of payoffs": 4,
}
"""2 is left to requests that cannot be carried out, as everywhere."""
_SCALES = {
    "equal": ", under the same names",
    "renamed": ", under other names",
    "equivalent": ", up to names and positive affine payoffs",
}


def check_command(
    programs: Annotated[list[Path], typer.Argument(help="Logic programs (.pl), one game each.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one line per program.")
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            help=(
                "Also check the constraints of this game, such as stag-hunt, or of one of the"
                " games in a TOML file."
            ),
            autocompletion=complete_named_game,
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            help=(
                "Also put this query to each program and print its answers, for example"
                ' "game(s0, F), finally(goal(p1, 5), F)".'
            ),
        ),
    ] = None,
    plays: Annotated[
        Path | None,
        typer.Option(
            help=(
                "A file of recorded plays (.csv or .jsonl), which the game must allow and pay"
                " alike."
            ),
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help=ENGINE_HELP, autocompletion=complete_engine)] = "auto",
) -> None:
    """Check whether logic programs are games, and describe each game in words.

    There are four stages: syntax, names, running, and the resulting game. Programs and queries
    cannot do any harm: they pass a gate and run within limits. The exit code is 0 if all programs
    are games and the query has an answer (which may be "false"), otherwise 1.
    """
    _refuse_missing(programs)
    wanted = {} if name is None else find_constraints(name)
    open_engine(engine).close()  # type: ignore[arg-type]
    right = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        def check_one(path: Path) -> JsonObject:
            result = _check_file(path, engine, wanted, plays)
            return result if query is None else _put_query(result, path, query, engine)

        for result in pool.map(check_one, programs):
            shown = json.dumps(result, ensure_ascii=False) if as_json else _format(result)
            print(shown, flush=True)
            right = right and result["ok"]
    if not right:
        raise typer.Exit(1)


def _refuse_missing(programs: list[Path]) -> None:
    """Raise UsageError where a path is no file: that is a mistake of typing, not of a program."""
    for path in programs:
        if path.is_dir():
            raise UsageError(f"{path} is a folder; expected logic programs, such as {path}/*.pl")
        if not path.exists():
            raise UsageError(f"{path}: there is no such file")
        if path.suffix.lower() in (".json", ".nfg", ".efg"):
            raise UsageError(
                f"{path} is a game already; `check` reads logic programs (.pl), and `bestresponse"
                f" solve {path}` solves it"
            )


def _check_file(
    path: Path,
    engine: str,
    wanted: Mapping[str, Named],
    plays: Path | None,
) -> JsonObject:
    table = None
    ok = False
    try:
        report = br.check(path, engine=engine, plays=plays)  # type: ignore[arg-type]
        table = report.table
        ok = report.ok
        messages = [diagnostic.to_json() for diagnostic in report.diagnostics]
    except InvalidGame as error:
        messages = [_make_message("file", str(error))]
    except OSError as error:
        messages = [_make_message("file", f"it cannot be read: {error.strerror or error}")]
    result: JsonObject = {"file": str(path), "ok": ok, "messages": messages}
    if ok and report.positions is not None:
        result |= {"positions": len(report.positions.positions), "words": [str(report.positions)]}
    if table is None:
        return {
            "players": [],
            "moves": [],
            "table": None,
            "names": [],
            "classes": [],
            "roles": {},
            "words": [],
        } | result
    described = _describe_table(table, {**named_games(), **wanted})
    if wanted and not any(name in wanted for name in described["names"]):
        result["ok"] = False
        for named in wanted.values():
            why = check_constraints(table, named).why
            messages.append(_make_message("constraints", why))
    return result | described


def _describe_table(table: GameTable, known: Mapping[str, Named]) -> JsonObject:
    """Return the game of a program as plain data, with the names of the games that it is."""
    names = [name for name, named in known.items() if check_constraints(table, named)]
    roles_by_name = {}
    for name in names:
        roles = find_roles(table, known[name])
        if roles is not None:
            roles_by_name[name] = roles.to_json()
    return {
        "players": list(table.players),
        "moves": [list(moves) for moves in table.moves],
        "table": table_to_data(table),
        "names": names,
        "classes": [known[name].title for name in names],
        "roles": roles_by_name,
        "words": list(describe_game(table)),
    }


def _put_query(result: JsonObject, path: Path, query: str, engine: str) -> JsonObject:
    """Add the answers to a query, or why there are none; then the program does not pass."""
    try:
        found = br.query(path, query, most=_MOST_ANSWERS, engine=engine)  # type: ignore[arg-type]
    except (OSError, InvalidGame, LogicError) as error:
        message = _make_message("query", f"the query has no answer: {error}")
        return {**result, "ok": False, "messages": [*result["messages"], message]}
    answers = [dict(answer) for answer in found]
    return {**result, "query": query, "answers": answers, "more_answers": found.more}


def _tell_answers(result: JsonObject) -> list[str]:
    """Tell the answers in Prolog's way: variables with what they are, one answer per line."""
    query = result["query"].strip().removeprefix("?-").strip()
    lines = [f"  ?- {query}"]
    for answer in result["answers"]:
        values = ", ".join(f"{name} = {term}" for name, term in answer.items())
        lines.append(f"  {values or 'true'}")
    count = len(result["answers"])
    if not count:
        lines.append("  false")
    elif result["more_answers"]:
        lines.append(f"  and more; these are the first {count}")
    else:
        lines.append("  no more")
    return [visible(line) for line in lines]


def _make_message(stage: str, why: str) -> dict[str, object]:
    return {
        "stage": stage,
        "severity": "error",
        "line": 0,
        "column": 0,
        "message": why,
        "hint": "",
    }


def _format(result: JsonObject) -> str:
    kind = "no game"
    if result["ok"]:
        kind = "a game"
    elif result["players"]:
        kind = "not the game wanted"
    classes = f"; {describe_titles(result['classes'])}" if result["classes"] else ""
    lines = [visible(f"{result['file']}: {kind}{classes}")]
    for name, roles in result["roles"].items():
        told = _tell_roles(roles["players"], *roles["moves"])
        lines.append("  " + visible(f"as {name}: {told}"))
    for message in result["messages"]:
        position = ""
        if message["line"]:
            position = f"line {message['line']}, column {message['column']}: "
        hint = f" ({message['hint']})" if message["hint"] else ""
        lines.append("  " + visible(f"{position}{message['severity']}: {message['message']}{hint}"))
    if "answers" in result:
        return "\n".join([*lines, *_tell_answers(result)])
    return "\n".join([*lines, *(f"  {visible(line)}" for line in result["words"])])


def _tell_roles(
    players: Mapping[str, str],
    first: Mapping[str, str],
    second: Mapping[str, str],
) -> str:
    """Say which move is which, once where it is the same for both players."""
    if first == second:
        told = [f"{move} = {role}" for move, role in first.items()]
    else:
        told = [
            f"{player}'s {move} = {role}"
            for player, moves in zip(players, (first, second), strict=True)
            for move, role in moves.items()
        ]
    seats = [f"{player} is the {seat} player" for player, seat in players.items()]
    return f"{', '.join(told)}; {', '.join(seats)}"


def compare_command(
    first: Annotated[
        str,
        typer.Argument(
            help="Name or file of a game, as for `solve`.", autocompletion=complete_game
        ),
    ],
    second: Annotated[
        str,
        typer.Argument(
            help="Name or file of a game, as for `solve`.", autocompletion=complete_game
        ),
    ],
    any_names: Annotated[
        bool,
        typer.Option(
            "--any-names", help="Ignore names: a name in both games need not mean the same."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether two games are the same up to names, order and positive affine payoffs, and where
    they differ.

    If a player's name occurs in both games, it means the same player. If that player has a move of
    the same name in both games, it means the same move; other moves count as renamed. Trees are
    compared up to the order of simultaneous moves. A table is compared as the tree in which nobody
    sees the others' choices. Differences start with a shortest play.

    Exit codes: 0 for the same tree, 3 for another tree with the same reduced form, 4 if only the
    order of all payoffs is the same, and 1 for different games. To compare recorded runs, use
    `report RUN RUN`.
    """
    games = [br.find_game(name) for name in (first, second)]
    comparison = br.compare(*games, any_names=any_names)
    forms = [game.solvable() for game in games]
    named = [
        find_names(as_game_table(form)) if isinstance(form, NormalForm) else () for form in forms
    ]
    classes = [name for name in named[0] if name in named[1]]
    if as_json:
        data = {
            "verdict": comparison.verdict,
            "same": comparison.same,
            "classes": classes,
            **asdict(comparison),
        }
        print(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        print(_tell(comparison))
        if classes:
            print(f"  both are {describe_classes(classes)}")
    if code := _EXIT_CODES[comparison.verdict]:
        raise typer.Exit(code)


def _tell(comparison: Comparison) -> str:
    lines = [comparison.verdict + _SCALES.get(comparison.relation, "")]
    if comparison.relation in ("renamed", "equivalent"):
        lines += _tell_names(comparison)
    lines += [f"  {sentence}" for sentence in (*comparison.differences, *comparison.remarks)]
    if comparison.num_differences > len(comparison.differences):
        lines.append(
            f"  and {comparison.num_differences - len(comparison.differences):,} more differences"
        )
    return "\n".join(visible(line) for line in lines)


def _tell_names(comparison: Comparison) -> list[str]:
    """Say how many names differ, and the first few of them."""
    kind = {"payoff tables": "actions", "trees": "moves", "reduced normal forms": "plans"}[
        comparison.basis
    ]
    moves = dict.fromkeys(pair for names in comparison.actions.values() for pair in names.items())
    kinds = [("players", [*comparison.players.items()]), (kind, [*moves])]
    other = [
        (kind, [(old, new) for old, new in pairs if old != new], len(pairs))
        for kind, pairs in kinds
    ]
    counts = [f"{len(renamed):,} of {total:,} {kind}" for kind, renamed, total in other]
    renamed = [pair for _, pairs, _ in other for pair in pairs]
    lines = [f"  other names: {', '.join(counts)}"]
    lines += [f"    {_shorten(old)} = {_shorten(new)}" for old, new in renamed[:_MOST_NAMES]]
    more = len(renamed) - _MOST_NAMES
    return [*lines, f"    and {more:,} more (--json has all)"] if more > 0 else lines


def _shorten(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 3]}..."
