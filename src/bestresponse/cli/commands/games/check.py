"""`bestresponse check`: are these logic programs games, and if not, why not."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.formal.evaluate.named_games import check_constraints, describe_classes, find_names, named_game
from bestresponse.formal.formalize.table_data import table_to_data
from bestresponse.games.logic.game import read_program_text
from bestresponse.logic.engine import LogicEngine, open_engine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.report.text import visible

MOST_MOVES = 12
ENGINE_HELP = "auto (SWI-Prolog where it is installed and can be confined), embedded or swi."


def check(
    programs: Annotated[list[Path], typer.Argument(help="Logic programs (.pl), one game each.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line, one line a program.")] = False,
    name: Annotated[
        str | None, typer.Option("--as", help="Also demand the constraints of this game, such as stag-hunt.")
    ] = None,
    engine: Annotated[str, typer.Option(help=ENGINE_HELP)] = "auto",
) -> None:
    """Check logic programs in four stages: syntax, names, running, and the game that comes out.

    Nothing in a program can do any harm: it passes a gate and runs within limits. The exit code is 1 unless all are
    games.
    """
    if name is not None:
        named_game(name)
    opened = engine_for(engine)
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = [_show(found, as_json) for found in pool.map(lambda path: _find(path, opened, name), programs)]
    finally:
        opened.close()
    if not all(results):
        raise typer.Exit(1)


def engine_for(kind: str, confined: bool = True) -> LogicEngine:
    """Open the engine of that name; UsageError where there is none."""
    match kind:
        case "auto" | "embedded" | "swi":
            return open_engine(kind, confined=confined)
        case _:
            raise UsageError(f"--engine {kind}: expected auto, embedded or swi")


def _show(found: JsonObject, as_json: bool) -> bool:
    """Print what was found out about one program; whether it is a game."""
    print(json.dumps(found, ensure_ascii=False) if as_json else _format(found), flush=True)
    return bool(found["ok"])


def _find(path: Path, engine: LogicEngine, name: str | None) -> JsonObject:
    try:
        report = validate(read_program_text(path), engine)
    except (OSError, InvalidGame) as error:
        why = str(error) if isinstance(error, InvalidGame) else f"it cannot be read: {error.strerror or error}"
        message = {"stage": "file", "severity": "error", "line": 0, "column": 0, "message": why, "hint": ""}
        return {"file": str(path), "ok": False, "messages": [message], "players": [], "moves": [], "table": None}
    return {"file": str(path), **_describe_report(report, name)}


def _describe_report(report: Report, name: str | None) -> JsonObject:
    messages = messages_of(report)
    table = report.table
    ok = report.ok
    if name is not None and table is not None and not (verdict := check_constraints(table, named_game(name))):
        ok = False
        messages.append(
            {"stage": "constraints", "severity": "error", "line": 0, "column": 0, "message": verdict.why, "hint": ""}
        )
    return {
        "ok": ok,
        "messages": messages,
        "players": list(table.players) if table else [],
        "moves": [list(moves) for moves in table.moves] if table else [],
        "table": table_to_data(table) if table else None,
        "names": list(find_names(table)) if table else [],
    }


def messages_of(report: Report) -> list[JsonObject]:
    """The diagnostics of a report as plain data."""
    return [
        {
            "stage": one.stage.value,
            "severity": one.severity.value,
            "line": one.line,
            "column": one.column,
            "message": one.message,
            "hint": one.hint,
            "source": one.source_line,
        }
        for one in report.diagnostics
    ]


def _format(found: JsonObject) -> str:
    lines = [f"{visible(found['file'])}: {_headline(found)}"]
    for one in found["messages"]:
        place = f"line {one['line']}, column {one['column']}: " if one["line"] else ""
        hint = f" ({one['hint']})" if one["hint"] else ""
        lines.append("  " + visible(f"{place}{one['severity']}: {one['message']}{hint}"))
    return "\n".join(lines)


def _headline(found: JsonObject) -> str:
    if not found["players"]:
        return "no game"
    who = ", ".join(
        f"{player} ({_list_moves(moves)})" for player, moves in zip(found["players"], found["moves"], strict=True)
    )
    names = f"; {describe_classes(found['names'])}" if found.get("names") else ""
    return visible(f"{'a game' if found['ok'] else 'not the game wanted'} of {who}{names}")


def _list_moves(moves: list[str]) -> str:
    """Name the moves of a player, of many the first and the last."""
    if len(moves) <= MOST_MOVES:
        return ", ".join(moves)
    return f"{', '.join(moves[: MOST_MOVES // 2])}, ..., {moves[-1]}: {len(moves)} moves"
