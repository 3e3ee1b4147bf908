"""The published round robin of six strategies in five formalized games, found again from its records.

Mensfelt, Stathis and Trencsenyi 2024, section 5.2 and table 7. Each strategy met each other one and itself over ten
rounds, in games that a model had written. The records are replayed: the rules of the strategies say what was played
(the random one's moves are taken from the record) and the programs say what it earned.

As published the figures need four habits of the original that a tournament should not have. The normaliser counts 60
plays for a player where 70 were logged. Every agent reckons its payoff as if it sat in the first seat, which makes
matching pennies and battle of the sexes other games than they are. In a match against itself the first copy is paid as
if it had made the second one's move. The best response only looks at moves that earn at least what the opponent
earns. *Corrected* divides by 70; *played right* is our own round robin on the same programs, both seats, expected
payoffs, with a real best response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import fmean
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.formal.strategies.agents import Agent
from bestresponse.formal.strategies.programs import AS_RUN, published_strategy
from bestresponse.games.logic.game import as_normal_form
from bestresponse.games.named_game import NamedGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.strategies import StrategyTable
from bestresponse.logic.programs.validate import validate
from bestresponse.report.document import Cell, Column, Table
from bestresponse.studies.reproduce.reproduction import Check, read_records
from bestresponse.studies.tournament.standings import measure_standings, normalise
from bestresponse.studies.tournament.study import TournamentConfig

PUBLISHED = {
    "best-response": 84.08,
    "tit-for-tat": 79.84,
    "default-move": 73.96,
    "random": 61.08,
    "anti-tit-for-tat": 55.22,
    "anti-default-move": 50.90,
}
"""Table 7, percent."""

ROUNDS = 10
COUNTED, LOGGED = 60, 70
"""Plays of one agent that the published normaliser counts, and those in its log."""


@dataclass(frozen=True)
class RecordedGame:
    """One game: its program, its cells for the first seat, and what every strategy logged."""

    name: str
    program: str
    earned: Mapping[tuple[str, str], float]
    moves: Mapping[str, tuple[str, ...]]
    payoffs: Mapping[str, tuple[float, ...]]
    tables: Mapping[str, StrategyTable]

    def share(self, total: float, plays: int) -> float:
        """The normalised payoff in percent."""
        return 100 * normalise(total, min(self.earned.values()), max(self.earned.values()), plays)


@dataclass(frozen=True, slots=True)
class Replayed:
    """Totals by strategy from the rules, and how many logged moves and payoffs the rules give again."""

    totals: Mapping[str, float]
    moves: int
    payoffs: int
    plays: int


def spell_strategy(recorded: str) -> str:
    """`best_response` and `best-response` are one strategy."""
    return recorded.replace("_", "-")


def read_games(folder: Path) -> tuple[RecordedGame, ...]:
    """The five games of the round robin."""
    agents = list(read_records(folder / "exp2_agents.jsonl"))
    return tuple(_game(row, agents) for row in read_records(folder / "exp2_programs.jsonl"))


def _game(row: JsonMapping, agents: Sequence[JsonMapping]) -> RecordedGame:
    mine = {spell_strategy(agent["strategy"]): agent for agent in agents if agent["game"] == row["game"]}
    table = validate(row["program"], EmbeddedEngine()).table
    if table is None:
        raise UsageError(f"the recorded program of {row['game']} is no game")
    form = as_normal_form(table, row["game"])
    rules = {name: AS_RUN if name == "best-response" else name for name in sorted(mine)}
    earned = {(a, b): float(table.payoffs((a, b))[0]) for a in form.actions[0] for b in form.actions[1]}
    return RecordedGame(
        row["game"],
        row["program"],
        earned,
        {name: tuple(mine[name]["moves"]) for name in sorted(mine)},
        {name: tuple(mine[name]["payoffs"]) for name in sorted(mine)},
        {name: Agent(name, row["program"], published_strategy(run)).seats().table(0) for name, run in rules.items()},
    )


def matches(game: RecordedGame) -> Iterator[tuple[str, str, list[tuple[str, str]], list[tuple[float, float]]]]:
    """Every match with its logged moves and payoffs: pairs in alphabetical order, in a match against itself both
    copies' entries one after the other in the same log."""
    place = dict.fromkeys(game.moves, 0)
    for first, second in combinations_with_replacement(game.moves, 2):
        parts: list[list[Any]] = []
        for name, offset in ((first, 0), (second, 1)):
            step = 2 if first == second else 1
            start = place[name] + (offset if first == second else 0)
            parts += [list(log[name][start : place[name] + step * ROUNDS : step]) for log in (game.moves, game.payoffs)]
        for name in {first, second}:
            place[name] += ROUNDS * (2 if first == second else 1)
        yield first, second, list(zip(parts[0], parts[2], strict=True)), list(zip(parts[1], parts[3], strict=True))


def replay_matches(game: RecordedGame) -> Replayed:
    """Play the logged matches again by the rules."""
    totals = dict.fromkeys(game.moves, 0.0)
    right_moves = right_payoffs = plays = 0
    for first, second, moves, payoffs in matches(game):
        last: tuple[str, str] | None = None
        for logged, earned in zip(moves, payoffs, strict=True):
            turned = None if last is None else last[::-1]
            made = (_move(game.tables[first], last, logged[0]), _move(game.tables[second], turned, logged[1]))
            # Payoffs as the original reckoned them: everybody sits in the first seat.
            own, other = made
            paid = (game.earned[(other, other) if first == second else (own, other)], game.earned[other, own])
            right_moves += sum(a == b for a, b in zip(made, logged, strict=True))
            right_payoffs += sum(a == b for a, b in zip(paid, earned, strict=True))
            plays += 2
            totals[first] += paid[0]
            totals[second] += paid[1]
            last = made
    return Replayed(totals, right_moves, right_payoffs, plays)


def _move(table: StrategyTable, last: tuple[str, str] | None, logged: str) -> str:
    """What the rules say; where they leave it to chance, the logged move if it was possible."""
    mixture = table.first if last is None else table.reply(*last)
    options = [move for move, _ in mixture]
    return logged if logged in options else options[0]


def tournament_checks(folder: Path) -> tuple[Check, ...]:
    """Table 7 as published, the same divided by the plays that were logged, and the replay of every move."""
    games = read_games(folder)
    replayed = [replay_matches(game) for game in games]
    checks: list[Check] = []
    for name, published in PUBLISHED.items():
        found = fmean([game.share(sum(game.payoffs[name]), COUNTED) for game in games])
        remark = f"as published: normalised by {COUNTED} plays"
        checks.append(Check(f"table 7, {name} %", published, round(found, 2), _same(found, published), remark, _HALF))
    for name in PUBLISHED:
        logged = fmean([game.share(sum(game.payoffs[name]), LOGGED) for game in games])
        again = fmean([game.share(r.totals[name], LOGGED) for game, r in zip(games, replayed, strict=True)])
        remark = f"corrected: {LOGGED} plays; log beside the replay by rules and programs"
        checks.append(
            Check(
                f"table 7 corrected, {name} %", round(logged, 2), round(again, 2), _same(again, logged), remark, _HALF
            )
        )
    for game, found_again in zip(games, replayed, strict=True):
        for what, count in (("moves", found_again.moves), ("payoffs", found_again.payoffs)):
            text = f"{game.name}: logged {what} given by the rules"
            checks.append(Check(text, found_again.plays, count, count == found_again.plays))
    return tuple(checks)


def tournament_table(folder: Path) -> Table:
    """Each strategy's mean normalised payoff: as published, corrected, and from a round robin that is played right."""
    games = read_games(folder)
    right = []
    for game in games:
        # the program and not its table alone: it says which move is the default one
        config = TournamentConfig(NamedGame(game.name, ".pl", game.program), "published", rounds=ROUNDS)
        right.append({row["name"]: 100 * (row["share"] or 0.0) for row in measure_standings(config).rows})
    columns = (
        Column("strategy"),
        Column("published", "right", format=".2f"),
        Column("as published", "right", f"from the log, {COUNTED} plays", ".2f"),
        Column("corrected", "right", f"from the log, {LOGGED} plays", ".2f"),
        Column("played right", "right", "expected payoffs, both seats, a real best response", ".2f"),
        *(Column(f"{game.name}, played right", "right", format=".2f") for game in games),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, published in PUBLISHED.items():
        totals = [sum(game.payoffs[name]) for game in games]
        logs = [fmean([g.share(t, n) for g, t in zip(games, totals, strict=True)]) for n in (COUNTED, LOGGED)]
        own = [shares[name] for shares in right]
        rows.append((name, published, *logs, fmean(own), *own))
    return Table(
        columns, tuple(rows), "Mean normalised payoff in percent (the recorded Hawk-Dove program is itself wrong)"
    )


_HALF = "within 0.005, half of the last printed digit"


def _same(found: float, published: float) -> bool:
    return abs(found - published) <= 0.005 + 1e-9
