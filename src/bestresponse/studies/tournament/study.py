"""Round robins in a repeated game, every pair in both seats.

Strategies and models play against each other.

This module turns the matches into the frames of the report: the standings of every game, the means
over several games, every round that was played, and what becomes of strategies that multiply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from math import inf, isnan
from statistics import fmean
from typing import Annotated, Any, TypedDict

from bestresponse.analysis.costs import find_reply_truth
from bestresponse.analysis.decisions import DECISIONS, JudgedPlay, judge_play, tabulate_decisions
from bestresponse.analysis.people import show_people
from bestresponse.core.files import read_prose
from bestresponse.core.json import canonical
from bestresponse.formal.strategies.texts import TEXTS
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.players.strategies import AutomatonPlayer
from bestresponse.report.blocks import (
    Measurement,
    Shown,
    bars,
    lead,
    lines,
    metrics_table,
    pivot,
    table,
    text,
)
from bestresponse.report.document import Block, Code, Paragraph
from bestresponse.report.frames import Frame, Heads, column, list_metrics
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import Measured, OwnWays, Study
from bestresponse.studies.tournament.config import TournamentConfig, formalize_words
from bestresponse.studies.tournament.matches import (
    count_matches,
    draw_rounds,
    estimate_matches,
    list_matches,
    prepare_matches,
)
from bestresponse.studies.tournament.ratings import RatingRow, list_ratings
from bestresponse.studies.tournament.standings import (
    GenerationRow,
    MatchRow,
    StandingRow,
    Standings,
    find_standings,
    finite_or_none,
)

_MOST_LISTED_ROUNDS = 100_000
"""Longer lists of rounds are cut off; the records hold all."""
_MOST_IN_A_HEATMAP = 100
"""The caption in report.toml says it too."""
_LASTING_SHARE = 1e-6
"""A smaller share at the end is that of a strategy that died out."""


class BetweenRow(TypedDict):
    """What a strategy earned a round against another, the mean of both seats.

    Best strategies first.
    """

    strategy: str
    against: str
    payoff: Annotated[float | None, column("payoff per round", ".2f")]


class WinnerRow(TypedDict):
    """Somebody who won a game: reached the target that was set, or the highest payoff per round."""

    game: str
    name: str


class GameShareRow(TypedDict):
    """The normalised payoff of a strategy in one of several games, or its mean over them."""

    strategy: str
    game: str
    share: Annotated[float | None, column("normalised payoff", ".2%")]


class MatchRoundRow(TypedDict):
    """One round of a match: the moves that were made and what they earned.

    Plays are counted from 1.
    """

    game: str
    first: str
    second: str
    play: int
    round: int
    first_move: str
    second_move: str
    first_payoff: float
    second_payoff: float


class TargetRow(TypedDict):
    """What somebody was expected to earn, and earned."""

    strategy: str
    expected: Annotated[float, column("expected total", "g")]
    total: Annotated[float | None, column(format="g")]
    reached: bool


class LeftOutRow(TypedDict):
    """A strategy of a group that does not take part."""

    name: str
    why: str


METRICS = list_metrics(
    StandingRow,
    "per_round",
    "best_place",
    "worst_place",
    "first",
    "second",
    "share",
    "total",
    "missing",
    "share_low",
    "share_high",
)
"""Every metric of one who took part, in the order of the columns."""
MEAN = "mean over games"
"""The game under which `by_game` holds the means over all games."""


@dataclass
class _MatchReader:
    """Reads the matches of a run one play at a time, and keeps what is counted on the way."""

    folder: RunFolder
    models: Sequence[str]
    readings: Readings = field(default_factory=Readings)
    rounds: list[MatchRoundRow] = field(default_factory=list)
    judged: list[JudgedPlay] = field(default_factory=list)
    played: int = 0

    def find_standings(self, config: TournamentConfig) -> Standings:
        """Work out the standings of one game, and list its rounds."""
        standings = find_standings(config, self._read_plays(config))
        room = _MOST_LISTED_ROUNDS - len(self.rounds)
        self.rounds.extend(_list_certain_rounds(config, room))
        return standings

    def _read_plays(self, config: TournamentConfig) -> Iterator[StoredPlay]:
        """Yield one play at a time.

        Thousands of matches with all their moves do not fit into memory.
        """
        game = config.game.to_json()
        for play in self.folder.sorted_plays():
            if play.data["game"] != game:
                continue
            asked = {role: name for role, name in play.data["seats"] if name in self.models}
            self.readings.count(play.record, asked)
            self.played += not play.record.void
            if asked:
                self.judged.append(self._judge(config, play))
            if len(self.rounds) < _MOST_LISTED_ROUNDS:
                self.rounds.extend(_list_rounds(config, play))
            yield play

    def _judge(self, config: TournamentConfig, play: StoredPlay) -> JudgedPlay:
        """Judge what a model decided against a strategy that is known."""
        game = config.repeated
        known = {}
        drawn = {}
        for seat, index in enumerate(play.data["places"]):
            automata = config.find_automata(config.entries[index])
            if automata is not None:
                known[game.roles[seat]] = automata[seat]
                drawn[game.roles[seat]] = AutomatonPlayer(automata[seat]).find_chances
        truth = find_reply_truth(game, known)
        return judge_play(len(self.judged) + 1, play.record, game, truth, drawn)


def measure_tournament(config: TournamentConfig, folder: RunFolder) -> Measured:
    """Work out the standings of every game and the means over games.

    Also works out what becomes of strategies that multiply.
    """
    reader = _MatchReader(folder, config.models)
    found = [reader.find_standings(one) for one in config.by_game]
    winners = []
    for standings in found:
        game = standings.config.game.name
        winners += [WinnerRow(game=game, name=name) for name in standings.winners]
    left_out = [LeftOutRow(name=name, why=why) for name, why in config.left_out]
    frames: dict[str, Frame[Any]] = {
        "standings": Frame(StandingRow, list(chain.from_iterable(one.rows for one in found))),
        "by_game": Frame(GameShareRow, []),
        "winners": Frame(WinnerRow, winners),
        "ratings": Frame(RatingRow, list(list_ratings(found))),
        "matches": Frame(MatchRow, [row for one in found for row in one.list_matches()]),
        "rounds": Frame(MatchRoundRow, reader.rounds),
        "between": Frame(BetweenRow, []),
        "targets": Frame(TargetRow, list(_list_targets(found[0]))),
        "left_out": Frame(LeftOutRow, left_out),
        "shares": Frame(GenerationRow, []),
        "final_shares": Frame(GenerationRow, []),
        "answers": reader.readings.frames["answers"],
        **tabulate_decisions(reader.judged),
    }
    if len(found) == 1:
        (alone,) = found
        shares = list(alone.list_shares())
        frames["between"] = Frame(BetweenRow, list(_list_between(alone)))
        frames["shares"] = Frame(GenerationRow, shares)
        frames["final_shares"] = Frame(GenerationRow, _pick_final(shares))
    else:
        frames["by_game"] = Frame(GameShareRow, list(_compare_games(found)))

    return Measured(
        frames,
        answered=reader.played if count_matches(config) else len(found[0].rows),
        labels=("place", "strategy") if len(found) == 1 else ("game", "place", "strategy"),
        groups=_group_rows(found),
    )


def _group_rows(found: Sequence[Standings]) -> dict[Heads, StandingRow]:
    """Give every row the heads under which the report shows it."""
    groups: dict[Heads, StandingRow] = {}
    for standings in found:
        for place, row in zip(standings.places, standings.rows, strict=True):
            heads: Heads = (place, row["name"])
            groups[heads if len(found) == 1 else (row["game"], *heads)] = row
    return groups


def _list_targets(standings: Standings) -> Iterator[TargetRow]:
    """Yield what each whose total was foretold earned."""
    totals = {row["name"]: row["total"] for row in standings.rows}
    for name, expected in standings.config.target.items():
        yield TargetRow(
            strategy=name,
            expected=expected,
            total=totals[name],
            reached=name in standings.winners,
        )


def _pick_final(shares: Sequence[GenerationRow]) -> list[GenerationRow]:
    """Return the shares of the last generation without those that died out, largest first."""
    last = max((row["generation"] for row in shares), default=0)
    final = []
    for row in shares:
        if row["generation"] == last and row["share"] > _LASTING_SHARE:
            final.append(row)
    return sorted(final, key=lambda row: -row["share"])


def _list_between(standings: Standings) -> Iterator[BetweenRow]:
    """Yield what each of the best earned against each."""
    best = [row["name"] for row in standings.rows[:_MOST_IN_A_HEATMAP]]
    for strategy, other in product(best, repeat=2):
        place = (standings.names.index(strategy), standings.names.index(other))
        payoff = float(standings.between[place])
        if not isnan(payoff):
            yield BetweenRow(strategy=strategy, against=other, payoff=payoff)


def _compare_games(found: Sequence[Standings]) -> Iterator[GameShareRow]:
    """Yield everybody's normalised payoff in every game and on average, best mean first."""
    shares: dict[str, dict[str, float | None]] = {}
    for one in found:
        shares[one.config.game.name] = {row["name"]: row["share"] for row in one.rows}

    means: dict[str, float] = {}
    for name in found[0].names:
        values = [by_name[name] for by_name in shares.values()]
        known = [share for share in values if share is not None]
        # Who lacks a game has no mean, and comes last.
        means[name] = fmean(known) if len(known) == len(values) else -inf

    for name in sorted(means, key=lambda name: -means[name]):
        yield GameShareRow(strategy=name, game=MEAN, share=finite_or_none(means[name]))
        for game, by_name in shares.items():
            yield GameShareRow(strategy=name, game=game, share=by_name[name])


def _list_rounds(config: TournamentConfig, play: StoredPlay) -> Iterator[MatchRoundRow]:
    """Yield the rounds of a recorded play.

    Under noise the moves that were made, not those that were meant.
    """
    if play.record.void is not None:
        return
    # A round is both moves that are meant, under noise both that are made, and whether there is
    # another round.
    size = 4 if config.repetition.noise else 2
    step = size if config.repetition.continuation == 1.0 else size + 1
    actions = [str(turn.decision.action) for turn in play.record.submissions]
    first_made = actions[size - 2 :: step]
    second_made = actions[size - 1 :: step]
    first, second = (config.entries[index].name for index in play.data["places"])
    number = play.data["repetition"] + 1
    yield from _describe_rounds(
        config,
        (first, second),
        number,
        (first_made, second_made),
    )


def _list_certain_rounds(config: TournamentConfig, room: int) -> Iterator[MatchRoundRow]:
    """Yield the rounds of matches that were worked out and leave nothing to chance.

    Yields them only if all have room.
    """
    course = config.repetition
    if config.repetitions is not None or course.noise or course.continuation < 1.0:
        return
    automata = [config.find_automata(entry) for entry in config.entries]
    certain = [pair is not None and pair[0].pure and pair[1].pure for pair in automata]
    matches = sum(certain) ** 2
    if matches * course.rounds > room:
        return

    first_actions, second_actions = config.stage.form.actions
    for i, k in product(range(len(automata)), repeat=2):
        first = automata[i]
        second = automata[k]
        if first is None or second is None or not (certain[i] and certain[k]):
            continue
        if not config.counts(i, k):
            continue
        rounds = draw_rounds((first[0], second[1]), course, seed=0)
        first_made = [first_actions[moves.made[0]] for moves in rounds]
        second_made = [second_actions[moves.made[1]] for moves in rounds]
        names = (config.entries[i].name, config.entries[k].name)
        yield from _describe_rounds(config, names, 1, (first_made, second_made))


def _describe_rounds(
    config: TournamentConfig,
    names: tuple[str, str],
    play: int,
    made: tuple[Sequence[str], Sequence[str]],
) -> Iterator[MatchRoundRow]:
    form = config.stage.form
    first_actions, second_actions = form.actions
    for number, (first_move, second_move) in enumerate(zip(*made, strict=True), 1):
        row = first_actions.index(first_move)
        col = second_actions.index(second_move)
        first_payoff, second_payoff = form.payoffs[:, row, col]
        yield MatchRoundRow(
            game=config.game.name,
            first=names[0],
            second=names[1],
            play=play,
            round=number,
            first_move=first_move,
            second_move=second_move,
            first_payoff=float(first_payoff),
            second_payoff=float(second_payoff),
        )


def find_repeated_game(config: TournamentConfig, data: Mapping[str, object]) -> RepeatedGame:
    """Return the repeated game of a match."""
    return config.by_description[canonical(data["game"])].repeated


def show_strategy_rules(measured: Measurement) -> Shown | None:
    """Show the strategies that are written as rules."""
    config: TournamentConfig = measured.config
    blocks: list[Block] = []
    for entry in config.entries:
        if entry.rules:
            blocks.append(Paragraph(f"{entry.name} ({entry.source})"))
            blocks.append(Code(entry.rules, "prolog"))
    return Shown("Strategies as rules", tuple(blocks)) if blocks else None


_MOST_UNASKED = 20_000
"""Answers of strategies on the page of single plays; to write more takes longer than to play them,
and rounds.csv holds all."""
_PROSE = read_prose(__file__)
tournament = Study(
    "tournament",
    TournamentConfig,
    specs=list_matches,
    play=prepare_matches,
    measure=measure_tournament,
    metrics=METRICS,
    prepare=formalize_words,
    title="Tournament: {{ config.games|map(attribute='name')|join(', ') }}",
    subtitle="{{ config.entries|length }} take part, " + _PROSE["length"],
    command="tournament",
    unit="matches",
    tables=lambda config: 2 if config.target else 1,
    own=OwnWays(closing=_PROSE["winners"], most_unasked=_MOST_UNASKED),
    game=find_repeated_game,
    count_plays=count_matches,
    estimate_calls=estimate_matches,
    texts=(TEXTS,),
    report=(
        lead(("per_round",), "earns", ("strategy",)),
        text(_PROSE["winners"], title="Standings"),
        pivot("by_game", "strategy", "game", "share", caption=_PROSE["by_game"]),
        bars(
            "by_game",
            "game",
            "share",
            "strategy",
            stacked=False,
            caption=_PROSE["by_game"],
        ),
        metrics_table(
            caption="{{ config.games|map(attribute='name')|join(', ') }}: " + _PROSE["length"]
        ),
        table("ratings", title="Ratings", caption=_PROSE["ratings"]),
        table("targets", title="Standings", caption="Expected and actual totals"),
        show_people,
        table("left_out", caption="Strategies of the groups that were left out"),
        pivot(
            "between",
            "strategy",
            "against",
            "payoff",
            heat=True,
            title="Who earned what against whom",
            caption=_PROSE["between"],
        ),
        *DECISIONS,
        text(_PROSE["shares"], title="Strategies that grow with their payoffs"),
        lines(
            "shares",
            x="generation",
            y="share",
            by="strategy",
            most=8,
            caption="Shares of the largest",
        ),
        table("final_shares", columns=("strategy", "share"), caption="Shares at the end"),
        text(_PROSE["missing"], kind="info"),
        show_strategy_rules,
    ),
)
"""Who earns how much against whom in a repeated game."""
