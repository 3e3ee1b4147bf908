"""`bestresponse check`: are these logic programs games, and if not, why not."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.api.formalizing import ENGINE_HELP
from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.formal.evaluate.named_games import check_constraints, describe_classes, find_names, named_game
from bestresponse.games.logic.tables import table_to_data
from bestresponse.games.words import describe_game
from bestresponse.logic.engine import open_engine
from bestresponse.report.text import visible

MOST_MOVES = 12


def check(
    programs: Annotated[list[Path], typer.Argument(help="Logic programs (.pl), one game each.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line, one line a program.")] = False,
    name: Annotated[
        str | None, typer.Option("--as", help="Also demand the constraints of this game, such as stag-hunt.")
    ] = None,
    engine: Annotated[str, typer.Option(help=ENGINE_HELP)] = "auto",
) -> None:
    """Check logic programs in four stages: syntax, names, running, and the game that comes out, which is told in words.

    Nothing in a program can do any harm: it passes a gate and runs within limits. The exit code is 1 unless all are
    games.
    """
    if name is not None:
        named_game(name)
    open_engine(engine).close()  # type: ignore[arg-type]
    right = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda path: _check_file(path, engine, name), programs):
            print(json.dumps(result, ensure_ascii=False) if as_json else _format(result), flush=True)
            right = right and result["ok"]
    if not right:
        raise typer.Exit(1)


def _check_file(path: Path, engine: str, name: str | None) -> JsonObject:
    try:
        report = br.check(path, engine=engine)  # type: ignore[arg-type]
    except (OSError, InvalidGame) as error:
        why = str(error) if isinstance(error, InvalidGame) else f"it cannot be read: {error.strerror or error}"
        messages = [_make_message("file", why)]
        return {"file": str(path), "ok": False, "messages": messages, "players": [], "moves": [], "table": None}
    table, ok = report.table, report.ok
    messages = [diagnostic.to_json() for diagnostic in report.diagnostics]
    if name is not None and table is not None and not (verdict := check_constraints(table, named_game(name))):
        ok = False
        messages.append(_make_message("constraints", verdict.why))
    return {
        "file": str(path),
        "ok": ok,
        "messages": messages,
        "players": list(table.players) if table else [],
        "moves": [list(moves) for moves in table.moves] if table else [],
        "table": table_to_data(table) if table else None,
        "names": list(find_names(table)) if table else [],
        "words": list(describe_game(table)) if table else [],
    }


def _make_message(stage: str, why: str) -> JsonObject:
    return {"stage": stage, "severity": "error", "line": 0, "column": 0, "message": why, "hint": ""}


def _format(result: JsonObject) -> str:
    lines = [f"{visible(result['file'])}: {_format_headline(result)}"]
    for message in result["messages"]:
        place = f"line {message['line']}, column {message['column']}: " if message["line"] else ""
        hint = f" ({message['hint']})" if message["hint"] else ""
        lines.append("  " + visible(f"{place}{message['severity']}: {message['message']}{hint}"))
    return "\n".join([*lines, *(f"  {visible(line)}" for line in result.get("words", ()))])


def _format_headline(result: JsonObject) -> str:
    if not result["players"]:
        return "no game"
    who = ", ".join(
        f"{player} ({_list_moves(moves)})" for player, moves in zip(result["players"], result["moves"], strict=True)
    )
    names = f"; {describe_classes(result['names'])}" if result.get("names") else ""
    return visible(f"{'a game' if result['ok'] else 'not the game wanted'} of {who}{names}")


def _list_moves(moves: list[str]) -> str:
    """Name the moves of a player, of many the first and the last."""
    if len(moves) <= MOST_MOVES:
        return ", ".join(moves)
    return f"{', '.join(moves[: MOST_MOVES // 2])}, ..., {moves[-1]}: {len(moves)} moves"
