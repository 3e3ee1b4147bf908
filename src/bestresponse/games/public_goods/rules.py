"""The public goods game, with or without punishment.

With n players and a factor between 1 and n every coin put in costs its giver 1 - factor / n: to
give nothing is dominant, and punishment, which costs too, is not used in the subgame-perfect
equilibrium; yet all would be best off giving everything. With punishment people give far more (E.
Fehr, S. Gächter, American Economic Review 90, 2000).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from bestresponse.core import Action, Amount, Ask, Form, Role, View
from bestresponse.core.agreement import ToldPlay, find_rule, hold_equal
from bestresponse.core.capabilities import EquilibriumSummary, PlayedRounds, Question, RoundCell
from bestresponse.core.errors import UsageError
from bestresponse.core.phrase import make_phrase
from bestresponse.core.told import (
    Aim,
    EarnedSoFar,
    Event,
    GameEvent,
    GameRule,
    Over,
    Paid,
    Players,
    Repetition,
    Round,
    Statement,
)
from bestresponse.games.guessing.rounds import NumberChosen, find_owed
from bestresponse.games.statements import read_exactly
from bestresponse.telling.course import Narrator

State = tuple[Mapping[Role, Any], ...]
"""Contributions and (with punishment) points in turn, one entry a stage."""
Given = Mapping[Role, Mapping[Role, float]]
"""The points that each role gave to each of the others."""


@dataclass(frozen=True, slots=True)
class ProjectRule(GameRule):
    """All put coins of an endowment into a project at the same time.

    What is in it is multiplied by `factor` and shared equally, so that a coin gives everybody
    `each`.
    """

    message = "project"
    endowment: Fraction
    factor: Fraction
    each: Fraction

    def pay(self, put_in: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return what everybody has who put in these coins."""
        share = self.factor * sum(put_in) / len(put_in)
        return tuple(self.endowment - own + share for own in put_in)

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction] | None:
        """Pay the coins that are told, less what the points that are told cost."""
        each = float(self.factor / len(play.roles))
        hold_equal(self.each, each, "what a coin in the project gives every player")
        points_rule = find_rule(play.rules, PointsRule)
        impact = Fraction(0) if points_rule is None else points_rule.impact
        owed = find_owed(play, self.pay, PutIn)
        if owed is None:
            return None
        for event in play.history:
            for given in event.points if isinstance(event, PointsGiven) else ():
                owed[given.who] -= given.count
                owed[given.other] -= impact * given.count
        return owed


@dataclass(frozen=True, slots=True)
class PointsRule(GameRule):
    """After the coins are public all may give points to each other, `most` to each.

    A point costs its giver 1 coin and its receiver `impact` coins.
    """

    message = "points-rule"
    most: int
    impact: Fraction


@dataclass(frozen=True, slots=True)
class PutIn(NumberChosen):
    """A player put this many coins into the project."""

    message = "put-in"


@dataclass(frozen=True, slots=True)
class Points:
    """A player gave another this many points."""

    who: str
    other: str
    count: int


@dataclass(frozen=True, slots=True)
class PointsGiven(GameEvent):
    """All points that were given in a round, perhaps none."""

    message = "points"
    points: tuple[Points, ...]

    def is_decision_of(self, role: str) -> bool:
        """All players give points, or none, in one answer."""
        return True

    def tell(self, words: Narrator) -> str:
        """List who gave whom how many."""
        if not self.points:
            return words.fill(self, ".none")
        told = [self._tell_one(one, words) for one in self.points]
        return words.fill(self, points=", ".join(told))

    def _tell_one(self, one: Points, words: Narrator) -> str:
        giver = words.language.write_name(one.who)
        receiver = words.language.write_name(one.other)
        variant = ""
        if one.who == words.reader:
            variant = ".from-you"
        elif one.other == words.reader:
            variant = ".to-you"
        return words.fill(self, f".one{variant}", giver=giver, receiver=receiver, count=one.count)


@dataclass(frozen=True, slots=True)
class PointsTurn(GameEvent):
    """Now points can be given."""

    message = "points-turn"
    is_step = False
    is_public = False


@dataclass(frozen=True)
class PublicGoods:
    """Put coins into a common project, then perhaps punish those who did not."""

    roles: tuple[Role, ...] = ("player 1", "player 2", "player 3", "player 4")
    endowment: int = 20
    factor: float = 1.6
    rounds: int = 10
    punishment: bool = True
    impact: float = 3
    most_points: int = 5
    name: str = "public-goods-punishment"
    version: int = 1
    unit = "coins"

    def __post_init__(self) -> None:
        if (
            len(self.roles) < 2
            or self.rounds < 1
            or self.endowment < 1
            or self.factor <= 0
            or self.most_points < 1
        ):
            raise UsageError(
                "public goods need two players or more, a round, coins, a positive factor and"
                " points"
            )

    @property
    def stages(self) -> int:
        """How many stages a round has."""
        return 2 if self.punishment else 1

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if len(state) == self.rounds * self.stages:
            return {}
        if len(state) % self.stages == 0:
            return dict.fromkeys(self.roles, Amount(0, self.endowment, whole=True))
        points = Amount(0, self.most_points, whole=True)
        forms = {}
        for role in self.roles:
            others = [other for other in self.roles if other != role]
            forms[role] = Form(tuple((other, points) for other in others))
        return forms

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        facts = {"rivals": [other for other in self.roles if other != role]}
        return View(role, self._stated, tuple(self._list_events(state, role)), facts)

    @property
    def rule(self) -> ProjectRule:
        """What coins in the project pay."""
        factor = read_exactly(self.factor)
        return ProjectRule(Fraction(self.endowment), factor, factor / len(self.roles))

    @property
    def _stated(self) -> tuple[Statement, ...]:
        punishing = (PointsRule(self.most_points, read_exactly(self.impact)),)
        return (
            Players(self.roles),
            self.rule,
            *(punishing if self.punishment else ()),
            Repetition(self.rounds),
            Aim(),
        )

    def _list_events(self, state: State, role: Role) -> Iterator[Event]:
        """Yield what happened in each round, which round it is, and what the role has."""
        for first in range(0, len(state), self.stages):
            stages = state[first : first + self.stages]
            yield Round(first // self.stages + 1)
            contributions = stages[0]
            for who in self.roles:
                yield PutIn(who, Fraction(contributions[who]))
            if len(stages) == 2:
                points = self._list_points(stages[1])
                yield PointsGiven(tuple(points))
            if len(stages) == self.stages:
                yield Paid(role, self._pay_round(*stages)[role])
            else:
                yield PointsTurn()
        if len(state) == self.rounds * self.stages:
            yield Over()
        elif len(state) % self.stages == 0:
            yield Round(self.find_round(state))
        if state:
            earned = self.payoffs(state)[role]
            yield EarnedSoFar(read_exactly(earned))

    def _list_points(self, given: Given) -> Iterator[Points]:
        for who, points in given.items():
            for other, count in points.items():
                if count:
                    yield Points(who, other, int(count))

    def find_round(self, state: tuple[object, ...]) -> int:
        """Return the number of the round; punishment is its second stage."""
        return len(state) // self.stages + 1

    def list_rounds(self, state: State, role: Role) -> PlayedRounds:
        """List what everybody put in, points of punishment, and what the seat had of each round."""
        others = [other for other in self.roles if other != role]
        punished = ("you gave points", "you got points") if self.punishment else ()
        rows: list[tuple[RoundCell, ...]] = []
        for first in range(0, len(state), self.stages):
            contributions = state[first]
            points: tuple[float | str, ...] = ("–", "–") if punished else ()
            if punished and first + 1 < len(state):
                second = state[first + 1]
                given = sum(second[role].values())
                got = sum(assigned.get(role, 0) for assigned in second.values())
                points = (given, got)
            before = state[:first]
            after = state[: first + self.stages]
            gained = self.payoffs(after)[role] - self.payoffs(before)[role]
            put_in = (contributions[role], *(contributions[other] for other in others))
            rows.append((first // self.stages + 1, *put_in, *points, round(gained, 9)))
        over = len(state) == self.rounds * self.stages
        columns = ("round", "you put in", *others, *punished, "your coins")
        now = None if over else self.find_round(state)
        total = round(self.payoffs(state)[role], 9)
        return PlayedRounds(now, self.rounds, total, columns, tuple(rows))

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        return (*state, {role: moves[role] for role in self.roles})

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        earned = dict.fromkeys(self.roles, Fraction(0))
        for first in range(0, len(state), self.stages):
            in_round = self._pay_round(*state[first : first + self.stages])
            earned = {role: earned[role] + in_round[role] for role in self.roles}
        return {role: float(coins) for role, coins in earned.items()}

    def _pay_round(
        self,
        contributions: Mapping[Role, float],
        given: Given | None = None,
    ) -> dict[Role, Fraction]:
        """Return what each role has of one round: of the project, less what points cost."""
        put_in = [Fraction(contributions[role]) for role in self.roles]
        earned = dict(zip(self.roles, self.rule.pay(put_in), strict=True))
        impact = read_exactly(self.impact)
        for points in self._list_points(given or {}):
            earned[points.who] -= points.count
            earned[points.other] -= impact * points.count
        return earned

    def describe_equilibrium(self) -> EquilibriumSummary | None:
        """Describe the subgame-perfect equilibrium.

        Returns None where a coin put in comes back whole to its giver.
        """
        if self.factor >= len(self.roles):
            return None
        concept = "subgame-perfect equilibrium"
        more = " Nobody punishes either, as that costs coins and changes nothing later."
        words = make_phrase(
            "Nobody puts anything in: a coin costs its giver more than comes back to the giver."
            "{more}",
            more=more if self.punishment else "",
        )
        payoffs = dict.fromkeys(self.roles, float(self.rounds * self.endowment))
        if self.factor <= 1:
            return EquilibriumSummary(concept, words, payoffs)
        better = make_phrase(
            "Together all would have most if everybody put in all {coins} coins in every round.",
            coins=self.endowment,
        )
        most = dict.fromkeys(self.roles, self.rounds * self.factor * self.endowment)
        return EquilibriumSummary(concept, words, payoffs, better, most)

    def choose_equilibrium(self, view: View, ask: Ask) -> float | dict[str, float]:
        """Put in nothing and punish nobody."""
        return {name: 0.0 for name, _ in ask.fields} if isinstance(ask, Form) else 0.0

    def measure_cost(self, state: State, role: Role, action: Action) -> float:
        """Return what a contribution loses after its own return, or what points of punishment cost.

        >>> PublicGoods().measure_cost((), "player 1", 10)
        6.0
        """
        if isinstance(action, Mapping):
            return float(sum(action.values()))
        share = self.factor / len(self.roles)
        return float(action) * (1 - share)

    @property
    def title(self) -> str:
        """What the game is called."""
        return "Public goods with punishment" if self.punishment else "Public goods"

    def word_question(self, ask: Ask) -> str:
        """Ask for coins or for points of punishment."""
        if isinstance(ask, Form):
            return "How many points do you give each of the others?"
        return "How many coins do you put into the common project?"

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask about contributions and, where there is punishment, about points."""
        own, theirs = rng.sample([0, self.endowment // 2, self.endowment], 2)
        contributions = {other: own if other == role else theirs for other in self.roles}
        text = make_phrase(
            "In the first round you put in {own} and each of the others {theirs}. How many coins do"
            " you have then?",
            own=own,
            theirs=theirs,
        )
        state = self.apply(self.start(), contributions)
        first = Question(text, self.payoffs(state)[role])
        if not self.punishment:
            return (first,)
        target = next(other for other in self.roles if other != role)
        points: dict[Role, Action] = {}
        for giver in self.roles:
            others = [other for other in self.roles if other != giver]
            points[giver] = {other: int({giver, other} == {role, target}) for other in others}
        text = make_phrase(
            "After that you give {target} 1 point and {target} gives you 1. How many coins do you"
            " have then?",
            target=target,
        )
        after = self.apply(state, points)
        return first, Question(text, self.payoffs(after)[role])
