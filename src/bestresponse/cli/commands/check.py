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
from bestresponse.core.errors import InvalidGame, LogicError
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
                "Also demand the constraints of this game, such as stag-hunt, or of one of the"
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
    engine: Annotated[str, typer.Option(help=ENGINE_HELP, autocompletion=complete_engine)] = "auto",
) -> None:
    """Check logic programs in four stages: syntax, names, running, and the resulting game,
    which is told in words.

    Nothing in a program can do any harm: it passes a gate and runs within limits, and so does a
    query. The exit code is 1 unless all are games and the query could be answered, if only by
    "false".
    """
    wanted = {} if name is None else find_constraints(name)
    open_engine(engine).close()  # type: ignore[arg-type]
    right = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        def check_one(path: Path) -> JsonObject:
            result = _check_file(path, engine, wanted)
            return result if query is None else _put_query(result, path, query, engine)

        for result in pool.map(check_one, programs):
            print(
                json.dumps(result, ensure_ascii=False) if as_json else _format(result), flush=True
            )
            right = right and result["ok"]
    if not right:
        raise typer.Exit(1)


def _check_file(path: Path, engine: str, wanted: Mapping[str, Named]) -> JsonObject:
    table = None
    ok = False
    try:
        report = br.check(path, engine=engine)  # type: ignore[arg-type]
        table = report.table
        ok = report.ok
        messages = [diagnostic.to_json() for diagnostic in report.diagnostics]
    except (OSError, InvalidGame) as error:
        why = (
            str(error)
            if isinstance(error, InvalidGame)
            else f"it cannot be read: {error.strerror or error}"
        )
        messages = [_make_message("file", why)]
    known = {**named_games(), **wanted}
    names = (
        []
        if table is None
        else [name for name, named in known.items() if check_constraints(table, named)]
    )
    if wanted and table is not None and not any(name in wanted for name in names):
        ok = False
        messages += [
            _make_message("constraints", check_constraints(table, named).why)
            for named in wanted.values()
        ]
    return {
        "file": str(path),
        "ok": ok,
        "messages": messages,
        "players": list(table.players) if table else [],
        "moves": [list(moves) for moves in table.moves] if table else [],
        "table": table_to_data(table) if table else None,
        "names": names,
        "classes": [known[name].title for name in names],
        "roles": {
            name: roles.to_json()
            for name in names
            if table and (roles := find_roles(table, known[name]))
        },
        "words": list(describe_game(table)) if table else [],
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
    told = [
        ", ".join(f"{name} = {term}" for name, term in answer.items()) or "true"
        for answer in result["answers"]
    ]
    last = f"and more; these are the first {len(told)}" if result["more_answers"] else "no more"
    asked = f"  ?- {result['query'].strip().removeprefix('?-').strip()}"
    lines = [asked, *(f"  {answer}" for answer in told), f"  {last if told else 'false'}"]
    return [visible(line) for line in lines]


def _make_message(stage: str, why: str) -> dict[str, object]:
    return {"stage": stage, "severity": "error", "line": 0, "column": 0, "message": why, "hint": ""}


def _format(result: JsonObject) -> str:
    kind = "a game" if result["ok"] else "not the game wanted" if result["players"] else "no game"
    classes = f"; {describe_titles(result['classes'])}" if result["classes"] else ""
    lines = [visible(f"{result['file']}: {kind}{classes}")]
    for name, roles in result["roles"].items():
        lines.append("  " + visible(f"as {name}: {_tell_roles(roles['players'], *roles['moves'])}"))
    for message in result["messages"]:
        position = (
            f"line {message['line']}, column {message['column']}: " if message["line"] else ""
        )
        hint = f" ({message['hint']})" if message["hint"] else ""
        lines.append("  " + visible(f"{position}{message['severity']}: {message['message']}{hint}"))
    if "answers" in result:
        return "\n".join([*lines, *_tell_answers(result)])
    return "\n".join([*lines, *(f"  {visible(line)}" for line in result["words"])])


def _tell_roles(
    players: Mapping[str, str], first: Mapping[str, str], second: Mapping[str, str]
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

    A name of a player that occurs in both games means the same player, and a name of a move means
    the same move where the same player has it in both; moves that another player has in the second
    game count as renamed. Trees are compared as trees, up to the order of simultaneous moves; a
    table is the tree in which nobody sees the others' choices. Where they differ, a shortest play
    on which they part is told first. The exit code is 0 for the same tree, 3 for the same reduced
    form of another tree, 4 where only the order of everybody's payoffs is the same, and 1 for
    different games. To compare recorded runs, use `report RUN RUN`.
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
