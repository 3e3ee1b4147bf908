"""Which games of OpenSpiel load, can be told and are solved here: writes docs/solve/openspiel.md.

    python benchmarks/openspiel_games.py            all of them
    python benchmarks/openspiel_games.py NAME...    these, and the rows that the page has

Each game is tried at its default size, then at the small ones that are named below, in a process
of its own with 5 seconds of processor time and 4 GB of memory.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import pyspiel

from bestresponse.core.ask import Choice
from bestresponse.core.capabilities import check_telling
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.errors import BestResponseError
from bestresponse.core.game import AnyGame
from bestresponse.games.lookup import find_game
from bestresponse.games.openspiel.rules import HiddenSpielGame, OpenSpielGame
from bestresponse.telling.render import CHARACTERS_PER_TOKEN, write_history, write_rules
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import solve_positions
from bestresponse.theory.trees.tree import NODE_LIMIT, Tree

PAGE = Path(__file__).parent.parent / "docs" / "solve" / "openspiel.md"
SECONDS = 5
BYTES = 4 << 30
MOST_POSITIONS = 200_000
SHORT = 1_500
"""Tokens of prompts that no model finds long."""
SMALL = {
    "breakthrough": ("rows=4,columns=3", "rows=5,columns=3", "rows=6,columns=2"),
    "clobber": ("rows=2,columns=5", "rows=3,columns=4"),
    "connect_four": ("rows=3,columns=4", "rows=4,columns=4"),
    "dots_and_boxes": ("num_rows=1,num_cols=2", "num_rows=1,num_cols=3"),
    "go": ("board_size=2",),
    "gomoku": ("size=3",),
    "goofspiel": ("num_cards=3",),
    "havannah": ("board_size=2",),
    "hex": ("board_size=2", "board_size=3"),
    "liars_dice": ("dice_sides=3",),
    "mnk": ("m=3,n=3,k=3", "m=4,n=3,k=3"),
    "nim": ("pile_sizes=1;2;3",),
    "oware": ("num_houses_per_player=2,num_seeds_per_house=2",),
    "pig": ("winscore=10", "winscore=20"),
    "quoridor": ("board_size=3",),
    "y": ("board_size=3",),
}
"""Smaller sizes, by the names of games."""


@dataclass(frozen=True)
class Row:
    """What became of one game."""

    name: str
    form: str
    told: str = ""
    solved: str = ""


def try_game(name: str, answer: Connection) -> None:
    """Load, tell and solve a game; send what is known after each step."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    try:
        loaded = find_game(f"openspiel:{name}")
    except (BestResponseError, pyspiel.SpielError, MemoryError) as error:
        answer.send(Row(name, f"not: {' '.join(str(error).split())[:90]}"))
        return
    form = loaded.game
    if isinstance(form, OpenSpielGame):
        row = Row(name, "positions", measure_telling(form))
        answer.send(row := replace(row, solved="too large here"))
        graph = explore(form, most=MOST_POSITIONS)
        if not graph.is_complete:
            return
        solution = solve_positions(graph)
        value = ", ".join(f"{worth + 0:.6g}" for worth in solution.values[0])
        answer.send(replace(row, solved=f"{len(graph.known):,} positions: {value}"))
        return
    if isinstance(form, HiddenSpielGame):
        row = Row(name, "states", measure_telling(form), "too large here")
        answer.send(row)
        form = form.unfold(NODE_LIMIT)
        answer.send(replace(row, solved=f"tree of {form.num_nodes:,} nodes"))
        return
    assert isinstance(form, Tree)
    size = f"tree of {form.num_nodes:,} nodes"
    try:
        check_telling(loaded.playable())
        told = measure_telling(loaded.playable())
    except BestResponseError:
        told = "too long"
    answer.send(Row(name, "tree", told, size))


def measure_telling(game: AnyGame) -> str:
    """Return about how many tokens the longest of a few prompts has."""
    rng = Random(0)
    longest = 0
    for _ in range(3):
        state = game.start()
        while asks := game.asks(state):
            for role, ask in asks.items():
                if isinstance(ask, Choice):
                    view = game.view(state, role)
                    told = write_rules(view), write_history(view), ", ".join(ask.options)
                    longest = max(longest, sum(map(len, told)))
            chosen = {role: any_legal_action(ask, rng) for role, ask in asks.items()}
            state = game.apply(state, chosen)
    return f"{longest // CHARACTERS_PER_TOKEN:,}"


def list_rows() -> Iterator[Row]:
    """Yield a row for every name, and for every smaller size."""
    context = multiprocessing.get_context("fork")
    known = read_rows()
    for name in sorted(pyspiel.registered_names()):
        smaller = [f"{name}({size})" for size in SMALL.get(name, ())]
        for text in (name, *smaller):
            if sys.argv[1:] and text not in sys.argv[1:] and text in known:
                yield known[text]
                continue
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=try_game, args=(text, theirs))
            process.start()
            theirs.close()
            row = Row(text, f"not: no answer within {SECONDS} s of processor time or 4 GB")
            try:
                while True:
                    row = ours.recv()
            except EOFError:
                process.join()
            print(row, flush=True)
            yield row


def read_rows() -> dict[str, Row]:
    """Read the rows that the page has."""
    rows = {}
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("| `") and line.count(" |") == 4:
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            rows[name.strip("`")] = Row(name.strip("`"), *cells)
    return rows


def main() -> None:
    """Write the page."""
    rows = list(list_rows())
    loaded = [row for row in rows if not row.form.startswith("not")]
    positions = [row for row in loaded if row.form == "positions"]
    solved = [row for row in positions if ": " in row.solved]
    hidden = [row for row in loaded if row.form == "states"]
    trees = [row for row in loaded if row.form == "tree"]
    told = [row.told.replace(",", "") for row in loaded]
    short = [size for size in told if size.isdecimal() and int(size) < SHORT]
    text = PAGE.read_text("utf-8")
    head, _, _ = text.partition("<!-- measured -->")
    lines = [
        f"Of {len(rows)} names and sizes, {len(loaded)} load: {len(positions)} by positions, of"
        f" which {len(solved)} were solved, {len(hidden)} by states, and {len(trees)} as trees."
        f" {len(short)} are told in fewer than {SHORT:,} tokens.",
        "",
        "| `openspiel:` | loads as | longest prompt, tokens | size, and what each player gets |",
        "|---|---|---|---|",
    ]
    for row in rows:
        cells = (f"`{row.name}`", row.form, row.told, row.solved)
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    PAGE.write_text(f"{head}<!-- measured -->\n\n" + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
