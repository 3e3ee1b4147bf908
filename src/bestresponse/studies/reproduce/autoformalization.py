"""The published experiments on games and strategies written by a model, found again from their records.

A. Mensfelt, K. Stathis and V. Trencsenyi 2024. A folder holds the records of one experiment or of several:

programs.jsonl (or exp1_agents.jsonl)   programs of games, by anybody: `program`, and where they are known `game` (the
    name whose constraints hold, or the code of the study), `matrix` (the true cells: row, col, u_row, u_col) or
    `game_id` with its matrix in games.jsonl, `target_total`, and what was recorded (`logged`, `verdict`)
exp2_agents.jsonl, exp2_programs.jsonl  a round robin of six strategies in five games (section 5.2, table 7)
exp3_agents.jsonl, exp3_program.jsonl   five strategies, each written five times (section 5.3, table 8)

*As published* is the study's own procedure. For games: any message of the loader is a failure, the initial situation
must be called s0, and an agent plays four rounds against a clone. The round robin needs four habits of the original
that a tournament should not have. The normaliser counts 60 plays for a player where 70 were logged. Every agent reckons
its payoff as if it sat in the first seat. In a match against itself the first copy is paid as if it had made the second
one's move. The best response only looks at moves that earn at least what the opponent earns. A strategy fails if the
loader says anything at all about it, or if it gives no move when asked.

*Corrected* is ours: warnings are no failures, the initial situation is whatever the program says, and the game is taken
out as a table and compared up to names; totals are divided by 70; rules are right only if they give a move in every
situation, whatever chance does, and a random strategy must be uniform. Rules cut off at `@` (which the original took
for the end of the code although it is an operator of Prolog) stay wrong. *Played right* is our own round robin on the
same programs, both seats, expected payoffs, with a real best response.

The validation of the published study loads a program, plays four rounds and compares payoffs. An agent plays tit-for-
tat against a clone of itself that plays anti-tit-for-tat; with two moves this visits all four pairs of moves (Mensfelt,
Stathis and Trencsenyi 2024, section 4.2). *Approximate* compares the total of the four rounds with the target, *exact*
the payoffs of each round with the true matrix up to the names of the moves. A load fails on any message of the loader,
warnings about singletons included."""  # noqa: E501

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations_with_replacement, permutations, product
from pathlib import Path
from statistics import fmean
from typing import Any

from bestresponse.core.errors import BestResponseError, LogicError, UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.formal.evaluate.validation import Named, broken, compare_tables, named_game
from bestresponse.formal.strategies.agents import Agent
from bestresponse.formal.strategies.programs import AS_RUN, published_strategy
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.games.lookup import NamedGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import LogicEngine, Program, open_engine
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.language.terms import Atom, write
from bestresponse.logic.programs.plays import label
from bestresponse.logic.programs.strategies import StrategyTable
from bestresponse.logic.programs.table import published_cells
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import settings
from bestresponse.report.document import Cell, Column, Table
from bestresponse.studies.reproduce.reproduction import (
    Check,
    Reproduction,
    compare_number,
    read_records,
)
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.standings import find_standings, normalise

CITATION = (
    "A. Mensfelt, K. Stathis & V. Trencsenyi, Autoformalizing and Simulating Game-Theoretic"
    " Scenarios using LLM-augmented Agents, 2024"
)
_CODES = {
    "bs": "battle-of-the-sexes",
    "hd": "hawk-dove",
    "mp": "matching-pennies",
    "pd": "prisoners-dilemma",
    "sh": "stag-hunt",
}
_PUBLISHED_PROGRAMS = 275
_LEVELS = ("syntactic", "approximate", "exact", "constraints")
_RATES = {"syntactic": 96, "approximate": 88, "exact": 87}
"""How many programs of a hundred pass each level."""
_TABLE_7 = {
    "best-response": 84.08,
    "tit-for-tat": 79.84,
    "default-move": 73.96,
    "random": 61.08,
    "anti-tit-for-tat": 55.22,
    "anti-default-move": 50.90,
}
_TABLE_8 = {
    "default-move": 5,
    "anti-default-move": 5,
    "anti-tit-for-tat": 5,
    "random": 3,
    "best-response": 2,
}
_ROUNDS = 10
_COUNTED = 60
_LOGGED = 70
"""Plays of one agent that the published normaliser counts, and those in its log."""
_ROUNDS_WITH_CLONE = 4
_LOADER_SPEAKS = {"singleton", "marked", "discontiguous", "syntax"}
_WHOLE = "equal in whole per cent"
_HALF = 0.005
"""Half of the last printed digit."""
Part = tuple[list[Check], Table]


def reproduce_autoformalization(folder: Path) -> Reproduction:
    """Find again everything of which there are records in `folder`."""
    parts = [check_part(folder) for name, check_part in PARTS.items() if (folder / name).exists()]
    if not parts:
        raise UsageError(
            f"{folder} holds none of {', '.join(PARTS)}; expected a folder of recorded programs"
        )
    checks: list[Check] = []
    tables: list[Table] = []
    for part_checks, table in parts:
        checks += part_checks
        tables.append(table)
    return Reproduction("autoformalization", CITATION, tuple(checks), tuple(tables))


@dataclass(frozen=True, slots=True)
class JudgedProgram:
    """One recorded program and what we find; `is_game`: a table can be taken out of it, and it
    `is_true_game`.

    What cannot be decided, because the record does not tell the truth, is None.
    """

    row: JsonMapping
    published: PublishedLevels
    is_game: bool
    is_true_game: bool | None

    @property
    def game(self) -> str:
        """The name of the game, as far as the record has it."""
        code: str = self.row.get("game", "unnamed")
        return _CODES.get(code, code)


def judge_programs(folder: Path, name: str = "exp1_agents.jsonl") -> list[JudgedProgram]:
    """Judge every recorded program as published, and by its table."""
    matrices = {}
    games = folder / "games.jsonl"
    if games.exists():
        matrices = {row["id"]: row.get("matrix") for row in read_records(games, "id")}

    judged = []
    engine = open_engine("auto", replace(settings.limits.patient, steps=200_000))
    try:
        for row in read_records(folder / name, "program"):
            matrix = row.get("matrix") or matrices.get(row.get("game_id"))
            judged.append(_judge_program(engine, row, matrix))
    finally:
        engine.close()
    return judged


def _judge_program(
    engine: LogicEngine, row: JsonMapping, matrix: Sequence[JsonMapping] | None
) -> JudgedProgram:
    """A story without numbers has neither a true matrix nor a target; its program is judged by
    constraints alone."""
    true = _read_matrix(matrix) if matrix else None
    named = None
    if "game" in row:
        code = str(row["game"])
        named = named_game(_CODES.get(code, code))
    target = row.get("target_total")
    levels = published_levels(
        engine,
        row["program"],
        true=true,
        target=None if target is None else Fraction(target),
        named=named,
    )

    table = validate(row["program"], engine).table
    same = None if true is None else False
    if table is not None and true is not None:
        moves = tuple(dict.fromkeys(chain.from_iterable(true)))
        cells = tuple(true[a, b] for a in moves for b in moves)
        wanted = table_from_cells(("row", "col"), (moves, moves), cells)
        same = compare_tables(table, wanted, any_names=True).exact
    return JudgedProgram(row, levels, table is not None, same)


def _read_matrix(matrix: Sequence[Mapping[str, str]]) -> TrueMatrix:
    """Read the payoffs of both players for each pair of moves."""
    true = {}
    try:
        for cell in matrix:
            payoffs = (Fraction(cell["u_row"]), Fraction(cell["u_col"]))
            true[cell["row"], cell["col"]] = payoffs
    except (KeyError, TypeError, ValueError):
        shape = '{"row": "C", "col": "D", "u_row": 0, "u_col": 5}'
        raise UsageError(
            f"a matrix is not a list of cells; expected one object for each, such as {shape}"
        ) from None
    return true


def check_programs(folder: Path, name: str = "exp1_agents.jsonl") -> Part:
    """Count the programs that pass each level, game by game, beside what was published and
    recorded."""
    judged = judge_programs(folder, name)
    checks = list(_compare_published(judged)) if len(judged) == _PUBLISHED_PROGRAMS else []
    rescued = sum(program.is_game and not program.published.syntactic for program in judged)
    checks.append(Check("corrected: rejected programs that are games", None, rescued, None))
    for level in _LEVELS:
        recorded = [program for program in judged if level in program.row.get("verdict", ())]
        if recorded:
            checks.append(_compare_verdicts(level, recorded))
    return checks, _tabulate_programs(judged)


def _compare_verdicts(level: str, recorded: Sequence[JudgedProgram]) -> Check:
    """Compare the recorded verdicts of one level with ours."""
    same = 0
    for program in recorded:
        passed = bool(getattr(program.published, level))
        same += passed == program.row["verdict"][level]
    remark = ""
    if level == "constraints" and same == _PUBLISHED_PROGRAMS - 1:
        remark = (
            "one program writes years in prison as gains; with its moves renamed it is a"
            " dilemma all the same"
        )
    what = f"recorded {level} verdicts found again"
    return Check(what, len(recorded), same, same == len(recorded), remark)


def _tabulate_programs(judged: Sequence[JudgedProgram]) -> Table:
    """Count the programs that pass each level, game by game and in all."""
    columns = (
        Column("game"),
        *(Column(name, "right") for name in ("programs", *_LEVELS)),
        Column("corrected: a game", "right", "a table can be taken out of the program"),
        Column(
            "corrected: exact",
            "right",
            "and it is the true one up to the names of players and moves",
        ),
    )
    games: dict[str, Sequence[JudgedProgram]] = {}
    for name in sorted({program.game for program in judged}):
        games[name] = [program for program in judged if program.game == name]
    games["all"] = judged

    rows: list[tuple[Cell, ...]] = []
    for name, programs in games.items():
        row: list[Cell] = [name, len(programs)]
        for level in _LEVELS:
            row.append(_count([getattr(program.published, level) for program in programs]))
        row.append(_count([program.is_game for program in programs]))
        row.append(_count([program.is_true_game for program in programs]))
        rows.append(tuple(row))
    title = "Experiment 1: programs that pass each level of validation, as published"
    return Table(columns, tuple(rows), title)


def _count(verdicts: Sequence[bool | None]) -> int | None:
    return None if set(verdicts) <= {None} else sum(map(bool, verdicts))


def _compare_published(judged: Sequence[JudgedProgram]) -> Iterator[Check]:
    """Compare the published figures of the 275 programs."""
    total = len(judged)
    levels = [program.published for program in judged]
    logged = [program.row["logged"] for program in judged]
    attempts = [0 if log["status"] == "syntactic_error" else log["attempts"] for log in logged]
    once = attempts.count(1) / total
    first = round(100 * once) == 93
    yield Check(
        "programs right at the first attempt", "93 %", f"{once:.0%}", first, tolerance=_WHOLE
    )
    for what, number, published in (("right at the second attempt", 2, 7), ("never right", 0, 12)):
        count = attempts.count(number)
        remark = (
            f"{count} programs; the paper prints the count as a percentage (it would be"
            f" {count / total:.1%})"
        )
        yield Check(f"programs {what}", f"{published} %", count, count == published, remark)
    for name, published in _RATES.items():
        count = sum(bool(getattr(level, name)) for level in levels)
        agrees = round(100 * count / total) == published
        share = f"{100 * count / total:.1f} %"
        yield Check(
            f"{name} correctness",
            f"{published} %",
            found=share,
            agrees=agrees,
            remark=f"{count} of {total}",
            tolerance=_WHOLE,
        )
    if all("game_id" in program.row for program in judged):
        yield _check_scenarios(judged)
    misplaced = sum(bool(level.constraints) and level.exact is False for level in levels)
    yield Check(
        "programs that satisfy the constraints and are not exact",
        "a few",
        misplaced,
        misplaced > 0,
        remark="their inequalities hold, but the payoffs that are played are not the true ones",
        tolerance="at least 1",
    )
    only = sum(bool(level.approximate) and not level.exact for level in levels)
    yield Check(
        "right only by the approximate check",
        5,
        only,
        only == 5,
        "their off-diagonal cells are swapped",
    )
    shares = {}
    for code, name in _CODES.items():
        verdicts = [program.published.exact for program in judged if program.game == name]
        shares[code] = fmean(map(bool, verdicts))
    worst = sorted(shares, key=lambda code: shares[code])[:2]
    lowest = ", ".join(sorted(worst))
    each = ", ".join(f"{code} {share:.0%}" for code, share in shares.items())
    yield Check(
        "games with the lowest exact correctness", "bs, sh", lowest, lowest == "bs, sh", each
    )
    least = min(shares.values())
    limit = "above 80 %"
    yield Check(
        "exact correctness of every game",
        limit,
        f"{least:.0%} or more",
        least > 0.8,
        tolerance=limit,
    )


def _check_scenarios(judged: Sequence[JudgedProgram]) -> Check:
    """Count the scenarios with more than one program that cannot be loaded."""
    invalid = Counter(
        program.row["game_id"] for program in judged if not program.published.syntactic
    )
    several = sum(count > 1 for count in invalid.values())
    once = sum(count == 1 for count in invalid.values())
    what = "scenarios with more than one invalid program of five"
    return Check(what, 0, several, several == 0, f"{once} scenarios with one")


@dataclass(frozen=True)
class RecordedGame:
    """One game of the round robin: its program, the first seat's payoffs, and the log of every
    strategy."""

    name: str
    program: str
    earned: Mapping[tuple[str, str], float]
    logs: Mapping[str, JsonMapping]
    tables: Mapping[str, StrategyTable]

    def share(self, total: float, plays: int) -> float:
        """Return the normalised payoff in percent."""
        return 100 * normalise(total, min(self.earned.values()), max(self.earned.values()), plays)


@dataclass
class Replayed:
    """Totals by strategy from the rules, and how many logged moves and payoffs the rules give
    again."""

    totals: dict[str, float]
    moves: int = 0
    payoffs: int = 0
    plays: int = 0


def _read_game(row: JsonMapping, agents: Sequence[JsonMapping]) -> RecordedGame:
    logs = {_spell(agent["strategy"]): agent for agent in agents if agent["game"] == row["game"]}
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


def _spell(strategy: str) -> str:
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
    """Find what the rules say; where they leave it to chance, the logged move if it was
    possible."""
    mixture = table.first if last is None else table.reply(*last)
    options = [move for move, _ in mixture]
    return logged if logged in options else options[0]


def check_tournament(folder: Path) -> Part:
    """Compare table 7 as published, the same divided by the plays that were logged, and the replay
    of every move."""
    agents = list(read_records(folder / "exp2_agents.jsonl"))
    games = [_read_game(row, agents) for row in read_records(folder / "exp2_programs.jsonl")]
    replayed = [replay_matches(game) for game in games]
    right = []
    for game in games:
        # the program and not its table alone: it says which move is the default one
        config = TournamentConfig(
            NamedGame(game.name, ".pl", game.program), "published", rounds=_ROUNDS
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
            compare_number(f"table 7 corrected, {name} %", round(logged, 2), again, _HALF, remark)
        )
        shares = [row[name] for row in right]
        rows.append((name, published, counted, logged, fmean(shares), *shares))
    checks = [*printed, *corrected]
    for game, replay in zip(games, replayed, strict=True):
        for what, count in (("moves", replay.moves), ("payoffs", replay.payoffs)):
            text = f"{game.name}: logged {what} given by the rules"
            checks.append(Check(text, replay.plays, count, count == replay.plays))
    checks += _check_figure_3(games)
    columns = (
        Column("strategy"),
        Column("published", "right", format=".2f"),
        Column("as published", "right", f"from the log, {_COUNTED} plays", ".2f"),
        Column("corrected", "right", f"from the log, {_LOGGED} plays", ".2f"),
        Column(
            "played right", "right", "expected payoffs, both seats, a real best response", ".2f"
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
    """Compare figure 3, which game by game shows totals of the log, and what section 5.2 says of
    it."""
    totals = {}
    for game in games:
        earned = {name: float(sum(log["payoffs"])) for name, log in game.logs.items()}
        totals[_CODES.get(game.name, game.name)] = earned
    if set(totals) != set(_CODES.values()):
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
        Check(what, ", ".join(_WON), ", ".join(won), tuple(won) == _WON, remark),
        Check(
            "figure 3: best-response below anti-default-move in the dilemma", "yes", found, lower
        ),
    ]


@dataclass(frozen=True, slots=True)
class JudgedStrategy:
    """One strategy the model wrote.

    `published` and `corrected` are our verdicts in either mode, `why` the reason for the first that
    is not right; `recorded` is the verdict in the record; `same` whether four rounds played by our
    engine give the recorded moves and payoffs (None where chance or a failure leaves nothing to
    compare).
    """

    strategy: str
    agent: str
    recorded: bool
    published: bool
    corrected: bool
    why: str
    same: bool | None


def judge_strategies(folder: Path) -> list[JudgedStrategy]:
    """Judge all recorded strategies."""
    (game,) = read_records(folder / "exp3_program.jsonl")
    return [
        _judge_strategy(row, game["program"]) for row in read_records(folder / "exp3_agents.jsonl")
    ]


def _judge_strategy(row: JsonMapping, game: str) -> JudgedStrategy:
    """Judge a strategy by its rules alone; only where chance decides does the recorded play count
    as well."""
    name = _spell(row["strategy"])
    spoken = _list_warnings(row["strategy_program"])
    table = None
    why = ""
    try:
        table = Agent(name, game, row["strategy_program"]).seats().table(0)
    except BestResponseError as error:
        why = str(error)
    played = None
    total = None
    if table is not None and table.pure:
        played = _play_rival(table, game)
        total = sum(paid for _, paid in played)
    target = row["target_total"]
    reached = target is None or (total is not None and total == target)
    # A record of all rounds: rules that sometimes give no move may have been lucky.
    lucky = table is None and len(row["moves"]) == _ROUNDS_WITH_CLONE
    fine = not spoken and (lucky or (table is not None and reached))
    corrected = table is not None and reached and (name != "random" or _is_uniform(table))
    same = None
    if played is not None and row["moves"]:
        moves = [move for move, _ in played]
        payoffs = [float(paid) for _, paid in played]
        same = moves == row["moves"] and payoffs == row["payoffs"]
    return JudgedStrategy(
        name,
        row["agent"],
        recorded=row["correct"],
        published=fine,
        corrected=corrected,
        why=spoken or why,
        same=same,
    )


def _list_warnings(source: str) -> str:
    """Return what the loader of the original says about a program, each message once."""
    spoken = []
    for diagnostic in check_source(source).diagnostics:
        if diagnostic.code in _LOADER_SPEAKS or diagnostic.stage.value == "reader":
            spoken.append(diagnostic.message)
    return "; ".join(dict.fromkeys(spoken))


def _is_uniform(table: StrategyTable) -> bool:
    even = sorted((move, Fraction(1, len(table.moves))) for move in table.moves)
    mixtures = [table.first, *(after for _, after in table.after)]
    return all(sorted(mixture) == even for mixture in mixtures)


def _play_rival(table: StrategyTable, game: str) -> list[tuple[str, Fraction]]:
    """Play four rounds against anti-tit-for-tat; return own moves and payoffs."""
    rival = Agent("rival", game, published_strategy("anti-tit-for-tat")).seats().table(1)
    payoffs = validate(game, EmbeddedEngine()).table
    assert payoffs is not None
    rounds: list[tuple[str, Fraction]] = []
    own = table.first[0][0]
    other = rival.first[0][0]
    for _ in range(_ROUNDS_WITH_CLONE):
        rounds.append((own, payoffs.payoffs((own, other))[0]))
        own_reply = table.reply(own, other)[0][0]
        other_reply = rival.reply(other, own)[0][0]
        own = own_reply
        other = other_reply
    return rounds


def check_strategies(folder: Path) -> Part:
    """Compare table 8, each verdict of the record, and the recorded play of strategies that leave
    nothing to chance."""
    judged = judge_strategies(folder)
    checks = []
    for name, published in _TABLE_8.items():
        written = [verdict for verdict in judged if verdict.strategy == name]
        right = sum(verdict.published for verdict in written)
        remark = f"corrected: {sum(verdict.corrected for verdict in written)} of {len(written)}"
        checks.append(
            Check(f"table 8, {name}, correct of 5", published, right, right == published, remark)
        )
    agreed = sum(verdict.published == verdict.recorded for verdict in judged)
    checks.append(
        Check("verdicts on single strategies", len(judged), agreed, agreed == len(judged))
    )
    replayed = [verdict.same for verdict in judged if verdict.same is not None]
    checks.append(
        Check("recorded plays given by the rules", len(replayed), sum(replayed), all(replayed))
    )
    titles = ("strategy", "agent", "recorded", "as published", "corrected", "why")
    rows: list[tuple[Cell, ...]] = []
    for verdict in sorted(judged, key=lambda verdict: (verdict.strategy, verdict.agent)):
        if verdict.published and verdict.corrected:
            continue
        row = (
            verdict.strategy,
            verdict.agent,
            verdict.recorded,
            verdict.published,
            verdict.corrected,
            verdict.why,
        )
        rows.append(row)
    columns = tuple(map(Column, titles))
    return checks, Table(columns, tuple(rows), "Formalized strategies that are not right")


PARTS: dict[str, Callable[[Path], Part]] = {
    "programs.jsonl": lambda folder: check_programs(folder, "programs.jsonl"),
    "exp1_agents.jsonl": check_programs,
    "exp2_agents.jsonl": check_tournament,
    "exp3_agents.jsonl": check_strategies,
}
"""By the file of its records, what is found again."""


TrueMatrix = Mapping[tuple[str, str], tuple[Fraction, Fraction]]
"""What both earn for each pair of moves."""
FoundMatrix = Mapping[tuple[str, str], tuple[Fraction | None, Fraction | None]]
"""The same, with None where a program gives no payoff."""


@dataclass(frozen=True, slots=True)
class PublishedLevels:
    """Whether a program passes each level; None where there is no truth to compare it with."""

    syntactic: bool = False
    approximate: bool | None = False
    exact: bool | None = False
    constraints: bool | None = False


def published_levels(
    engine: LogicEngine,
    source: str,
    true: TrueMatrix | None,
    target: Fraction | None,
    named: Named | None,
) -> PublishedLevels:
    """All verdicts of the published procedure on one program; without a truth, only those that need
    none."""
    # What cannot be loaded fails every level of which the truth is known, and no other.
    failed = PublishedLevels(
        syntactic=False,
        approximate=None if target is None else False,
        exact=None if true is None else False,
        constraints=None if named is None else False,
    )
    try:
        program = engine.load(source)
        cells = {(row, col): (u, v) for row, col, u, v in published_cells(engine, program)}
    except LogicError:
        return failed
    silent = not any(message.code in _LOADER_SPEAKS for message in program.gated.diagnostics)
    if not (silent and cells and "finally/2" in program.gated.defined):
        return failed
    rounds = _play(engine, program, cells)
    whole = len(rounds) == _ROUNDS_WITH_CLONE
    played = {pair: cells.get(pair, (None, None)) for pair in rounds}
    earned = [played[pair][0] for pair in rounds]
    known = [amount for amount in earned if amount is not None]

    approximate = exact = constraints = None
    if target is not None:
        approximate = whole and None not in earned and sum(known, Fraction(0)) == target
    if true is not None:
        exact = whole and _equal_up_to_names(played, true)
    if named is not None:
        facts = _read_facts(engine, program)
        constraints = bool(broken(facts, named, shared=True))
    return PublishedLevels(True, approximate, exact, constraints)


def _play(engine: LogicEngine, program: Program, cells: FoundMatrix) -> list[tuple[str, str]]:
    """Play tit-for-tat against anti-tit-for-tat, as far as the program knows moves and payoffs."""
    player = engine.solutions(program, "holds(player(P), s0)", 1)[0]["P"]
    default = engine.solutions(program, f"holds(default_move({write(player)}, M), s0)", 1)
    rounds: list[tuple[str, str]] = []
    if not default:
        return rounds
    own = other = label(default[0]["M"])
    for _ in range(_ROUNDS_WITH_CLONE):
        rounds.append((own, other))
        opposite = engine.solutions(program, f"opposite_move({write(Atom(own))}, M)", 1)
        if cells.get((own, other), (None,))[0] is None or not opposite:
            break
        own = other
        other = label(opposite[0]["M"])
    return rounds


def _equal_up_to_names(cells: FoundMatrix, true: TrueMatrix) -> bool:
    moves = tuple(dict.fromkeys(chain.from_iterable(cells)))
    wanted = tuple(dict.fromkeys(chain.from_iterable(true)))
    if len(cells) != len(true) or len(moves) != len(wanted):
        return False
    for order in permutations(wanted):
        names = dict(zip(moves, order, strict=True))
        renamed = {(names[a], names[b]): pair for (a, b), pair in cells.items()}
        if renamed == true:
            return True
    return False


def _read_facts(
    engine: LogicEngine, program: Program
) -> dict[tuple[str, str], list[tuple[Fraction, Fraction]]]:
    """Read what `payoff/4` says, wherever else the program goes wrong."""
    facts: dict[tuple[str, str], list[tuple[Fraction, Fraction]]] = {}
    if "payoff/4" in program.gated.defined:
        for answer in engine.solutions(program, "payoff(A, B, U, V)"):
            match answer["U"], answer["V"]:
                case int() | Fraction() as first, int() | Fraction() as second:
                    pair = (Fraction(first), Fraction(second))
                    facts.setdefault((label(answer["A"]), label(answer["B"])), []).append(pair)
    return facts
