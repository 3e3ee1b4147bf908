"""Games that were recorded for stories, by any method, compared with the true ones.

The folder is that of `bench stories --stories`, texts with games beside them; `recorded/METHOD/STORY/N.efg` (or `.nfg`,
`.pl`) is the N-th game that a method wrote for a story.
"""

from __future__ import annotations

from pathlib import Path

from bestresponse.core.errors import BestResponseError, InvalidGame
from bestresponse.formal.evaluate.dataset import read_reference
from bestresponse.games.comparison import compare_games
from bestresponse.games.lookup import find_game
from bestresponse.report.document import Column, Table
from bestresponse.studies.reproduce.reproduction import Check, Reproduction
from bestresponse.studies.stories.study import VERDICTS, estimate_share


def reproduce(folder: Path) -> Reproduction:
    """Say for every method how its games are related to the true ones, with intervals over stories."""
    truths = {text.stem: read_reference(text) for text in sorted(folder.glob("*.txt"))}
    found: dict[str, list[tuple[str, str]]] = {}
    for path in sorted((folder / "recorded").glob("*/*/*")):
        method, story = path.parts[-3:-1]
        if story not in truths:
            raise InvalidGame(f"{path}: there is no story {story}.txt in {folder}")
        try:
            verdict: str = compare_games(find_game(path).solvable(), truths[story]).verdict
        except BestResponseError:
            verdict = "no game"
        found.setdefault(method, []).append((verdict, story))
    if not found:
        raise InvalidGame(f"{folder} holds no games recorded/METHOD/STORY/N.efg")
    rows, checks = [], []
    for method, verdicts in found.items():
        stories = [story for _, story in verdicts]
        counts = [sum(verdict == one for verdict, _ in verdicts) for one in VERDICTS]
        share = estimate_share([verdict == VERDICTS[0] for verdict, _ in verdicts], stories)
        rows.append((method, len(set(stories)), len(verdicts), *counts, share))
        checks.append(Check(f"{method}: {VERDICTS[0]}", None, f"{counts[0]} of {len(verdicts)}", None))
    columns = (Column("method"), *(Column(name, "right") for name in ("stories", "games", *VERDICTS)))
    table = Table((*columns, Column(f"share of {VERDICTS[0]}", "right", format=".0%")), tuple(rows), str(folder.name))
    return Reproduction("stories", "Games recorded for stories, compared with the true ones.", tuple(checks), (table,))
