"""The recorded round robin of six strategies in five games (section 5.2, table 7).

*As published*, the round robin has four habits that a tournament should not have. The normaliser
counts 60 plays for a player where 70 were logged. Every agent reckons its payoff as if it sat in
the first seat. In a match against itself the first copy is paid as if it had made the second one's
move. The best response only looks at moves that earn at least what the opponent earns. *Corrected*,
totals are divided by 70. *Played right* is our own round robin on the same programs, both seats,
expected payoffs, with a real best response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from pathlib import Path
from statistics import fmean
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.formal.strategies.agents import Agent
from bestresponse.formal.strategies.programs import AS_RUN, published_strategy
from bestresponse.games.lookup import NamedGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.strategies import StrategyTable
from bestresponse.logic.programs.validate import validate
from bestresponse.report.document import Cell, Column, Table
from bestresponse.studies.reproduce.recorded_programs import CODES, Part
from bestresponse.studies.reproduce.reproduction import (
    Check,
    check_equal,
    compare_number,
    read_records,
)
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.standings import find_standings, normalise

_TABLE_7 = {
    "best-response": 84.08,
    "tit-for-tat": 79.84,
    "default-move": 73.96,
    "random": 61.08,
    "anti-tit-for-tat": 55.22,
    "anti-default-move": 50.90,
}
_ROUNDS = 10
_COUNTED = 60
_LOGGED = 70
"""Plays of one agent that the published normaliser counts, and those in its log."""
_HALF = 0.005
"""Half of the last printed digit."""


@dataclass(frozen=True)
class RecordedGame:
    """One game of the round robin: program, first seat's payoffs, and strategies' logs."""

    name: str
    program: str
    earned: Mapping[tuple[str, str], float]
    logs: Mapping[str, JsonMapping]
    tables: Mapping[str, StrategyTable]

    def share(self, total: float, plays: int) -> float:
        """Return the normalised payoff in percent."""
        return 100 * normalise(
            total,
            min(self.earned.values()),
            max(self.earned.values()),
            plays,
        )


@dataclass
class Replayed:
    """Totals by strategy from the rules, and the logged moves and payoffs they reproduce."""

    totals: dict[str, float]
    moves: int = 0
    payoffs: int = 0
    plays: int = 0


def _read_game(row: JsonMapping, agents: Sequence[JsonMapping]) -> RecordedGame:
    logs = {
        spell_strategy(agent["strategy"]): agent for agent in agents if agent["game"] == row["game"]
    }
    table = validate(row["program"], EmbeddedEngine()).table
    if table is None:
        raise UsageError(f"the recorded program of {row['game']} is not a game")
    earned = {}
    for own, other in product(*table.moves):
        earned[own, other] = float(table.payoffs((own, other))[0])
    tables = {}
    for name in sorted(logs):
        rules = published_strategy(AS_RUN if name == "best-response" else name)
        tables[name] = Agent(name, row["program"], rules).seats().table(0)
    return RecordedGame(
        name=row["game"],
        program=row["program"],
        earned=earned,
        logs={name: logs[name] for name in sorted(logs)},
        tables=tables,
    )


def spell_strategy(strategy: str) -> str:
    """Spell a recorded strategy as here: `best_response` and `best-response` are one."""
    return strategy.replace("_", "-")


def _list_matches(
    game: RecordedGame,
) -> Iterator[tuple[str, str, list[tuple[str, str]], list[tuple[float, float]]]]:
    """Yield every match with its logged moves and payoffs, pairs in alphabetical order.

    In a match against itself both copies' entries stand one after the other in the same log.
    """
    consumed = dict.fromkeys(game.logs, 0)
    for first, second in combinations_with_replacement(game.logs, 2):
        step = 2 if first == second else 1
        parts: list[list[Any]] = []
        for name, offset in ((first, 0), (second, step - 1)):
            entries = slice(consumed[name] + offset, consumed[name] + step * _ROUNDS, step)
            parts += [game.logs[name][kind][entries] for kind in ("moves", "payoffs")]
        for name in {first, second}:
            consumed[name] += _ROUNDS * step
        yield (
            first,
            second,
            list(zip(parts[0], parts[2], strict=True)),
            list(zip(parts[1], parts[3], strict=True)),
        )


def replay_matches(game: RecordedGame) -> Replayed:
    """Play the logged matches again by the rules."""
    replayed = Replayed(dict.fromkeys(game.logs, 0.0))
    for first, second, moves, payoffs in _list_matches(game):
        last: tuple[str, str] | None = None
        for logged, earned in zip(moves, payoffs, strict=True):
            turned = None if last is None else last[::-1]
            own, other = last = (
                _find_move(game.tables[first], last, logged[0]),
                _find_move(game.tables[second], turned, logged[1]),
            )
            # Payoffs as the original reckoned them: everybody sits in the first seat.
            paid = (
                game.earned[(other, other) if first == second else (own, other)],
                game.earned[other, own],
            )
            replayed.moves += sum(a == b for a, b in zip(last, logged, strict=True))
            replayed.payoffs += sum(a == b for a, b in zip(paid, earned, strict=True))
            replayed.plays += 2
            replayed.totals[first] += paid[0]
            replayed.totals[second] += paid[1]
    return replayed


def _find_move(table: StrategyTable, last: tuple[str, str] | None, logged: str) -> str:
    """Find what the rules say.

    Where they leave it to chance, the logged move if it was possible.
    """
    mixture = table.first if last is None else table.reply(*last)
    options = [move for move, _ in mixture]
    return logged if logged in options else options[0]


def check_tournament(folder: Path) -> Part:
    """Compare table 7 as published with the log and the replay of every move.

    The published table is also divided by the plays that were logged.
    """
    agents = list(read_records(folder / "exp2_agents.jsonl"))
    games = [_read_game(row, agents) for row in read_records(folder / "exp2_programs.jsonl")]
    replayed = [replay_matches(game) for game in games]
    right = []
    for game in games:
        # the program and not its table alone: it says which move is the default one
        config = TournamentConfig(
            NamedGame(game.name, ".pl", game.program),
            "published",
            rounds=_ROUNDS,
        )
        standings = find_standings(config).rows
        right.append({row["name"]: 100 * (row["share"] or 0.0) for row in standings})
    printed = []
    corrected = []
    rows = list[tuple[Cell, ...]]()
    for name, published in _TABLE_7.items():
        totals = [sum(game.logs[name]["payoffs"]) for game in games]
        counted = _average_shares(games, totals, _COUNTED)
        logged = _average_shares(games, totals, _LOGGED)
        again = _average_shares(games, [replay.totals[name] for replay in replayed], _LOGGED)
        remark = f"as published: normalised by {_COUNTED} plays"
        printed.append(compare_number(f"table 7, {name} %", published, counted, _HALF, remark))
        remark = f"corrected: {_LOGGED} plays; log beside the replay by rules and programs"
        corrected.append(
            compare_number(
                f"table 7 corrected, {name} %",
                round(logged, 2),
                again,
                _HALF,
                remark,
            )
        )
        shares = [row[name] for row in right]
        rows.append((name, published, counted, logged, fmean(shares), *shares))
    checks = [*printed, *corrected]
    for game, replay in zip(games, replayed, strict=True):
        for what, count in (("moves", replay.moves), ("payoffs", replay.payoffs)):
            text = f"{game.name}: logged {what} given by the rules"
            checks.append(check_equal(text, replay.plays, count))
    checks += _check_figure_3(games)
    columns = (
        Column("strategy"),
        Column("published", "right", format=".2f"),
        Column("as published", "right", f"from the log, {_COUNTED} plays", ".2f"),
        Column("corrected", "right", f"from the log, {_LOGGED} plays", ".2f"),
        Column(
            "played right",
            "right",
            "expected payoffs, both seats, a real best response",
            ".2f",
        ),
        *(Column(f"{game.name}, played right", "right", format=".2f") for game in games),
    )
    title = "Mean normalised payoff in percent (the recorded Hawk-Dove program is itself wrong)"
    return checks, Table(columns, tuple(rows), title)


def _average_shares(games: Sequence[RecordedGame], totals: Sequence[float], plays: int) -> float:
    """Return the mean over games of a normalised total."""
    pairs = zip(games, totals, strict=True)
    return fmean(game.share(total, plays) for game, total in pairs)


_FAVOURITE = "best-response"
_WON = ("hawk-dove", "matching-pennies", "stag-hunt")
"""The games in which section 5.2 says that the best response was most effective."""


def _check_figure_3(games: Sequence[RecordedGame]) -> list[Check]:
    """Compare figure 3 and what section 5.2 says of it.

    The figure shows totals of the log, game by game.
    """
    totals = {}
    for game in games:
        earned = {name: float(sum(log["payoffs"])) for name, log in game.logs.items()}
        totals[CODES.get(game.name, game.name)] = earned
    if set(totals) != set(CODES.values()):
        return []
    won = []
    contrary = []
    for name in sorted(totals):
        earned = totals[name]
        best = max(earned.values())
        leaders = [strategy for strategy, total in earned.items() if total == best]
        if leaders == [_FAVOURITE]:
            won.append(name)
        elif name in _WON and _FAVOURITE in leaders:
            contrary.append(f"{name} is a tie ({' and '.join(leaders)} {best:g} each)")
        elif name in _WON:
            others = " and ".join(leaders)
            contrary.append(
                f"{name} is won by {others} ({best:g}) before {_FAVOURITE} ({earned[_FAVOURITE]:g})"
            )
    what = f"figure 3: games won by {_FAVOURITE}"
    remark = f"by the study's own log {', '.join(contrary)}" if contrary else ""
    dilemma = totals["prisoners-dilemma"]
    lower = dilemma[_FAVOURITE] < dilemma["anti-default-move"]
    found = f"{dilemma[_FAVOURITE]:g} and {dilemma['anti-default-move']:g}"
    return [
        check_equal(what, ", ".join(_WON), ", ".join(won), remark),
        Check(
            "figure 3: best-response below anti-default-move in the dilemma",
            "yes",
            found,
            lower,
        ),
    ]
