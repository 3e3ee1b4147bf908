"""What a parsed sentence claims: one method for each kind of statement in `claims.lark`.

A method is given the meanings of the parts of its statement, in the order of the words, and tells
them apart by type; words that only change a claim ("not", "strictly") are strings. Where a part has
several meanings (an outcome seen from the second seat, words that two rules fit) all are followed;
a reading that cannot be meant in the game is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial, partialmethod
from itertools import pairwise, product
from math import prod
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from lark import Token, Tree

from bestresponse.formal.claims.checker import ground
from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.english.vocabulary import Vocabulary
from bestresponse.formal.claims.form import Mix, Move, Ungrounded, WrittenNumber

# Meanings of parts multiply: a sentence with more is left unread, so that no text takes long.
_MOST_READINGS: Final = 64
_FLAGS: Final = {
    "above",
    "always_flag",
    "anybody",
    "average",
    "below",
    "denied",
    "each",
    "highest",
    "lowest",
    "pair_only",
    "passive",
    "pure",
    "sole",
    "strictly",
    "weakly",
    "whole",
}
_OPPONENT: Final = -1
"""In a case: whomever a fact is not about ("against R")."""
_ALWAYS: Final = -2
"""In a case: whatever the others do."""
_REMOVED: Final = -3
"""In a case: a move that is eliminated."""

_EITHER_WAY: Final = -4
"""In a case: one does this and another that, in either way."""

Choices = dict[int, Any]
"""Who chooses what: a move's index among the player's actions, or the probabilities of all of
them."""
Kind = TypeVar("Kind")


class Impossible(Exception):
    """A reading that cannot be meant in this game."""


class Unsaid(Impossible):
    """A reading that may be meant, but does not say enough to claim anything."""


class Either(tuple[Any, ...]):
    """Several meanings of one part."""


class Case(tuple[tuple[int, Any], ...]):
    """Who chooses what, in the order of the words."""


_NO_CASE: Final = Case()


class Party(NamedTuple):
    """The players that are spoken of, none where it is not said; `we` is a word that may speak of a
    sum."""

    players: tuple[int, ...] = ()
    we: bool = False

    @property
    def single(self) -> int | None:
        """The player, if it is one."""
        return self.players[0] if len(self.players) == 1 else None


_UNSAID: Final = Party()


@dataclass(frozen=True)
class Act:
    """A move that is named: for every player who has it, its index among the player's actions."""

    indices: tuple[tuple[int, int], ...]

    @property
    def owners(self) -> list[int]:
        """The players who have the move."""
        return [owner for owner, _ in self.indices]

    def index(self, player: int) -> int:
        """Return the index of the move among a player's actions."""
        if self.owners.count(player) != 1:
            raise Impossible("the player has no such move, or two")
        return dict(self.indices)[player]


@dataclass(frozen=True)
class Often:
    """A move that somebody chooses with a probability above or below some number."""

    index: int
    share: Fraction
    side: str


class Whichever(tuple[int, ...]):
    """Moves of a player that a statement holds for, each of them."""


class Side(NamedTuple):
    """What gives somebody something: a move, perhaps in a case, or a whole outcome."""

    act: Act | None
    case: Case = _NO_CASE


class _Amount(NamedTuple):
    """A number that somebody gets: on average, each of several."""

    value: Fraction
    average: bool = False
    each: bool = False


class Share(NamedTuple):
    """Who gets how much."""

    party: Party
    amount: _Amount


class _Chance(NamedTuple):
    """How often a move is chosen; None for the rest of the time."""

    act: Act
    share: Fraction | None = None


class Instead(NamedTuple):
    """What another move would give."""

    amount: _Amount
    side: Side = Side(None)


class Relation(NamedTuple):
    """More (1) or less (-1), and by how much or how many times as much where that is said."""

    sign: int
    by: Fraction | None = None
    times: Fraction | None = None

    @property
    def has_size(self) -> bool:
        """Whether it is said how large the difference is."""
        return self.by is not None or self.times is not None


@dataclass(frozen=True)
class Fact:
    """A statement that waits for its case, about some players.

    `again` states the same with another number; `foretold` is a move that is made when the next
    fact holds.
    """

    state: Callable[[Choices], Iterable[Claim]]
    party: Party = _UNSAID
    again: Callable[[Party, Act | None, _Amount], Fact] | None = None
    foretold: tuple[int, int] | None = None


class _Item(NamedTuple):
    """A fact with the case beside it."""

    fact: Fact
    case: Case | None = None


class _Group(NamedTuple):
    """Facts under one case."""

    items: tuple[_Item, ...]
    case: Case = _NO_CASE


Part = (
    Party
    | Act
    | Side
    | Case
    | _Amount
    | Share
    | _Chance
    | Instead
    | Relation
    | WrittenNumber
    | str
    | tuple[Fraction, ...]
)
"""What the parts of a statement may mean."""


def _require(condition: object, otherwise: str, error: type[Impossible] = Impossible) -> None:
    if not condition:
        raise error(otherwise)


_require_said = partial(_require, error=Unsaid)


def _pick(parts: Iterable[Part], kind: type[Kind]) -> list[Kind]:
    return [part for part in parts if type(part) is kind]


def _first(parts: Iterable[Part], kind: type[Kind]) -> Kind | None:
    return next((part for part in parts if type(part) is kind), None)


def _find_party(parts: Iterable[Part]) -> Party:
    return _first(parts, Party) or _UNSAID


def _make_side(part: Side | Act | Case, case: Case = _NO_CASE) -> Side:
    if isinstance(part, Side):
        return part
    return Side(part, case) if isinstance(part, Act) else Side(None, part)


def _find_sides(parts: Iterable[Part]) -> list[Side]:
    """Return what gives somebody something, also where it is a move or an outcome by itself."""
    return [_make_side(part) for part in parts if isinstance(part, Side | Act | Case)]


def _find_side(parts: Iterable[Part]) -> Side:
    return next(iter(_find_sides(parts)), Side(None))


def _spread(case: Choices) -> Iterator[Choices]:
    """Yield the cases that a case stands for, one for each of the moves it leaves open."""
    for player, choice in case.items():
        if isinstance(choice, Whichever):
            for index in choice:
                yield from _spread(case | {player: index})
            return
    yield case


_KINDS: Final[dict[str, Callable[..., Any]]] = {
    "chance": _Chance,
    "rest": _Chance,
    "share": Share,
    "instead": Instead,
    "item": _Item,
    "side": _make_side,
    "more": partial(Relation, 1),
    "less": partial(Relation, -1),
    "times": lambda factor: Relation(1, times=factor),
    "twice": lambda: Relation(1, times=Fraction(2)),
    "half_as": lambda: Relation(1, times=Fraction(1, 2)),
    "lost": lambda number: _Amount(-number),
    "pair": lambda *numbers: numbers,
    "always": lambda *others: Case(((_ALWAYS, None),)),
    "opponent_acts": lambda act: Case(((_OPPONENT, act),)),
    "case": lambda *cases: Case(pair for case in cases for pair in case),
}
"""Parts of a sentence that mean the same in every game."""


class Meaning:
    """What a sentence means in one game. `context` is the case that a heading above it sets."""

    def __init__(self, words: Vocabulary, tokens: list[Token], context: Case) -> None:
        self.words = words
        self.tokens = tokens
        self.subject = words.subject
        self.context = dict(context)
        self.everybody = tuple(range(len(self.subject.players)))
        self.has_turns = self.subject.tree is not None

    def find_meanings(self, node: Tree[Token] | Token) -> list[object]:
        """Return what a part of the sentence may mean, whose words are numbers of `tokens`."""
        if isinstance(node, Token):
            return [self._mean(self.tokens[int(node)])]
        if node.data == "_ambig":
            return [meaning for child in node.children for meaning in self.find_meanings(child)]
        if node.data in _FLAGS:
            return [str(node.data)]
        children = [self.find_meanings(child) for child in node.children]
        _require(prod(map(len, children)) <= _MOST_READINGS, "too many readings")
        meanings: list[Any] = []
        for parts in product(*children):
            try:
                meaning = self._read_part(str(node.data), parts)
            except Unsaid:
                meaning = Either([()] if node.data == "start" else [])
            except Impossible:
                continue
            meanings += meaning if isinstance(meaning, Either) else [meaning]
        return meanings

    def _read_part(self, kind: str, parts: tuple[Any, ...]) -> object:
        """Return what a part of a sentence means, from what its own parts mean."""
        if kind in _KINDS:
            return _KINDS[kind](*parts)
        return STATEMENTS[kind](self, *parts)

    def _mean(self, token: Token) -> Act | WrittenNumber | Party:
        match token.type:
            case "MOVE":
                return Act(self.words.find_indices(token))
            case "NUMBER" | "SHARE":
                return WrittenNumber(str(token))
            case "EVERYBODY" | "WE":
                return Party(self.everybody, token.type == "WE")
            case "OTHERS":
                return Party(self.everybody[1:])
            case _:
                return Party((int(token),))

    # Who, what, how much.

    def _read_everybody(self) -> Party:
        return Party(self.everybody)

    def _read_several(self, *parties: Party) -> Party:
        return Party(tuple(sorted({player for party in parties for player in party.players})))

    def _read_alone(self, act: Act) -> Side:
        """I choose it and nobody else does, where everybody has two moves."""
        others = [
            (player, self._other_index(player, act.index(player))) for player in self.everybody[1:]
        ]
        return Side(None, Case(((0, act.index(0)), *others)))

    def _read_amount(self, *parts: Part) -> _Amount:
        return _Amount(_pick(parts, WrittenNumber)[0], "average" in parts, "each" in parts)

    # Cases.

    def _read_expects(self, believer: Party, case: Case) -> Case:
        _require(believer.single == 0, "what others believe need not be so")
        return case

    def _read_acts(self, *parts: Part) -> Case:
        """Say what somebody chooses, the reasoner where nobody is named."""
        party = _first(parts, Party) or Party((0,))
        act = _pick(parts, Act)[0]
        return Case((player, act.index(player)) for player in party.players)

    def _read_nobody_acts(self, act: Act) -> Case:
        return Case(
            (player, self._other_index(player, act.index(player))) for player in self.everybody
        )

    def _read_profile(self, *acts: Act) -> Either:
        """Name an outcome: the players are in the order of the game, or the reasoner stands
        first."""
        cases = []
        for order in dict.fromkeys(
            (self.everybody, tuple(map(int, np.argsort(self.subject.order))))
        ):
            if len(order) == len(acts) and all(
                player in act.owners for player, act in zip(order, acts, strict=True)
            ):
                cases.append(
                    Case(
                        sorted(
                            (player, act.index(player))
                            for player, act in zip(order, acts, strict=True)
                        )
                    )
                )
        return Either(dict.fromkeys(cases))

    def _read_mixes(self, party: Party, *chances: _Chance) -> Case:
        """Return the probabilities of all moves; what is left belongs to the only move that has
        none."""
        pairs = []
        for player in party.players:
            weights = {act.index(player): chance for act, chance in chances}
            left = 1 - sum(
                (chance for chance in weights.values() if chance is not None), Fraction(0)
            )
            indices = range(len(self.subject.actions[player]))
            others = [index for index in weights if weights[index] is None] or [
                p for p in indices if p not in weights
            ]
            _require(
                left == 0 or (left > 0 and len(others) == 1), "these are not all probabilities"
            )
            weights |= dict.fromkeys(others, left)
            pairs.append((player, tuple(weights.get(index, Fraction(0)) for index in indices)))
        return Case(pairs)

    def _read_mixes_some(self, *parts: Part) -> Case:
        acts = _pick(parts, Act)
        _require(len(self.everybody) == 2, "there is more than one opponent")
        return self._read_mixes(
            _first(parts, Party) or Party((1,)),
            *(_Chance(act, Fraction(1, len(acts))) for act in acts),
        )

    def _read_mixes_evenly(self, party: Party | None = None) -> Case:
        party = party or Party(self.everybody[1:])
        counts = {player: len(self.subject.actions[player]) for player in party.players}
        return Case((player, (Fraction(1, count),) * count) for player, count in counts.items())

    def _read_often(self, *parts: Part) -> Case:
        player = _find_party(parts).single
        act = _pick(parts, Act)[0]
        if player is None or len(self.everybody) != 2:
            raise Impossible("it is not one of two players who chooses so often")
        side = "above" if "above" in parts else "below"
        return Case(((player, Often(act.index(player), _pick(parts, WrittenNumber)[0], side)),))

    def _read_one_and_other(self, mine: Act, other: Party, theirs: Act) -> Case:
        """Say that one chooses this and the other that; the game is the same either way."""
        two_alike = len(self.everybody) == 2 and self.is_symmetric
        _require(two_alike and other.single == 1, "it is not said who chooses what")
        return Case(((0, mine.index(0)), (1, theirs.index(1)), (_EITHER_WAY, True)))

    def _read_happened(self, act: Act) -> Case:
        """Say that a move was made which only one player has."""
        _require(self.has_turns and len(act.owners) == 1, "it is not said whose move it is")
        return Case(act.indices)

    def _read_whichever(self, party: Party, *acts: Act) -> Case:
        """Say that it makes no difference which of some moves a player chooses."""
        player = party.single
        if player is None or self.has_turns:
            raise Impossible("several players choose, or in turn")
        return Case(((player, Whichever(act.index(player) for act in acts)),))

    def _read_mixes_each(self, party: Party, number: WrittenNumber) -> Case:
        """Say that all moves are chosen with one probability, which has to fit their number."""
        counts = {len(self.subject.actions[player]) for player in party.players}
        _require(counts == {1 / number if number else 0}, "these are not all probabilities")
        return self._read_mixes_evenly(party)

    def _read_gone(self, act: Act) -> Case:
        _require(
            not self.has_turns and len(act.owners) == 1, "it is not clear whose move is eliminated"
        )
        return Case(((_REMOVED, act),))

    def _other_index(self, player: int, index: int) -> int:
        _require(len(self.subject.actions[player]) == 2, "there are more than two moves")
        return 1 - index

    # From facts to claims.

    def _read_start(self, *groups: _Group) -> tuple[Claim, ...]:
        claims = tuple(claim for group in groups for claim in self._state(group))
        try:
            for claim in claims:
                ground(claim, self.subject)
        except Ungrounded as error:
            raise Impossible(str(error)) from error
        return claims

    def _read_under(self, case: Case, group: _Group) -> _Group:
        return group._replace(case=case)

    def _read_then(self, group: _Group) -> _Group:
        _require_said(self.context, "it is not said when")
        return group

    def _read_short(self, *parts: Part) -> Callable[[Fact], _Item]:
        """Say the fact before again with another number, perhaps of another player or move."""
        act = next((side.act for side in _find_sides(parts) if side.act is not None), None)

        def go_on(before: Fact) -> _Item:
            if before.again is None:
                raise Impossible("nothing is said before that could go on")
            return _Item(
                before.again(_find_party(parts), act, _pick(parts, _Amount)[0]), _first(parts, Case)
            )

        return go_on

    def _read_facts(self, *items: _Item | Callable[[Fact], _Item]) -> _Group:
        whole: list[_Item] = []
        for item in items:
            whole.append(item if isinstance(item, _Item) else item(whole[-1].fact))
        return _Group(tuple(whole))

    def _state(self, group: _Group) -> Iterator[Claim]:
        """Yield the claims of facts. What one player gets may take its case from what another gets
        beside it."""
        outer = group.case
        for number, (fact, own) in enumerate(group.items):
            near = [own or _NO_CASE]
            for other, case in (
                *group.items[number + 1 : number + 2],
                *group.items[max(0, number - 1) : number],
            ):
                people = set(fact.party.players)
                others = set(other.party.players)
                apart = people and others and not people & others
                if own is None and case is not None and apart:
                    near.append(case)
            for case in near:
                try:
                    cases = _spread(self._join(outer, case))
                    claims = [claim for one in cases for claim in fact.state(one)]
                    break
                except Impossible:
                    if case is near[-1]:
                        raise
            yield from claims
            if fact.foretold is not None:
                outer = Case((*outer, fact.foretold))

    def _join(self, *cases: Case) -> Choices:
        """Return who chooses what. What a heading says gives way; in a tree the moves are numbered
        in their order."""
        pairs = [pair for case in cases for pair in case]
        if self.has_turns:
            return dict(enumerate((*self.context.items(), *pairs)))
        case: Choices = {}
        for player, choice in pairs:
            _require(case.setdefault(player, choice) == choice, "somebody chooses twice")
        return case if _OPPONENT in case else self.context | case

    def _enter(self, case: Choices, side: Side, party: Party) -> tuple[Choices, int | None]:
        """Add the outcome or the move that a fact names to its case; also return whose move it is,
        if one player's."""
        case = dict(case)
        added = list(side.case)
        mover = None
        if side.act is not None and len(party.players) > 1:
            added += [(player, side.act.index(player)) for player in party.players]
        elif side.act is not None:
            mover = self._find_mover(side.act, party, case)
            added.append((mover, side.act.index(mover)))
        for player, choice in added:
            if self.has_turns:
                case[len(case)] = (player, choice)
            else:
                _require(
                    case.get(player, choice) == choice or player in self.context,
                    "somebody chooses twice",
                )
                case[player] = choice
        about = mover if mover is not None else party.single or 0
        _require(about == 0 or _OPPONENT not in case, "it is not clear against whom")
        return self._face(case, about), mover

    def _face(self, case: Choices, player: int) -> Choices:
        """Say who is meant by "against R" in a fact about one player."""
        if _OPPONENT not in case:
            return case
        _require(
            len(self.everybody) == 2 and 1 - player not in case, "it is not clear against whom"
        )
        faced = {other: choice for other, choice in case.items() if other != _OPPONENT}
        return faced | {1 - player: case[_OPPONENT].index(1 - player)}

    def _find_mover(self, act: Act, party: Party, case: Choices) -> int:
        """Return whose move a named move is: whose payoff is spoken of, else the one whose choice
        is not said yet."""
        free = [player for player in act.owners if player not in case]
        may = [
            player
            for player, index in act.indices
            if case.get(player, index) == index or player in self.context
        ]
        return (
            party.players[0]
            if party.single in (act.owners if self.has_turns else may)
            else self._choose_one(free)
        )

    def _find_owners(self, acts: Iterable[Act], party: Party) -> tuple[int, ...]:
        """Return for whom something is said of moves in the whole game."""
        owners = [player for player in self.everybody if all(player in act.owners for act in acts)]
        _require(set(party.players) <= set(owners), "somebody does not have these moves")
        return party.players or (self._choose_one(owners),)

    def _choose_one(self, players: list[int]) -> int:
        """Return the player that is meant: the only one, or the reasoner where all are alike."""
        _require(
            len(players) == 1 or (0 in players and self.is_symmetric),
            "it is not clear who is meant",
        )
        return players[0] if len(players) == 1 else 0

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether the game is the same for everybody, so that what holds for one holds for all."""
        if self.has_turns or any(
            actions != self.subject.actions[0] for actions in self.subject.actions
        ):
            return False
        cells = self.subject.cells
        return all(
            np.array_equal(cells[player], np.swapaxes(cells[0], 0, player))
            for player in self.everybody
        )

    def _name(self, player: int, *indices: int) -> tuple[str, ...]:
        """Return the names of a player's moves and then of the player, as most claims take them."""
        return (
            *(self.subject.actions[player][index] for index in indices),
            self.subject.players[player],
        )

    def _chain(self, case: Choices) -> tuple[Move, ...]:
        """Return an outcome, in which everybody chooses one move; in a tree, the moves so far."""
        pairs = list(case.values()) if self.has_turns else sorted(case.items(), reverse=True)
        _require_said(
            self.has_turns or set(case) == set(self.everybody),
            "it is not said what everybody chooses",
        )
        _require(all(isinstance(index, int) for _, index in pairs), "somebody mixes")
        return tuple(Move(*reversed(self._name(player, index))) for player, index in pairs)

    def _against(self, case: Choices, player: int) -> tuple[tuple[Move, ...], tuple[Mix, ...]]:
        """Return what the others choose: moves, or mixes where somebody mixes."""
        others = {
            other: choice for other, choice in sorted(case.items(), reverse=True) if other != player
        }
        _require_said(
            set(others) == set(self.everybody) - {player}, "it is not said what the others choose"
        )
        if all(isinstance(choice, int) for choice in others.values()):
            return (
                tuple(Move(*reversed(self._name(other, index))) for other, index in others.items()),
                (),
            )
        return (), tuple(self._mix(other, choice) for other, choice in sorted(others.items()))

    def _mix(self, player: int, choice: int | tuple[Fraction, ...]) -> Mix:
        _require(not isinstance(choice, Often), "it is not said how often exactly")
        weights = [(choice, Fraction(1))] if isinstance(choice, int) else list(enumerate(choice))
        actions = self.subject.actions[player]
        return Mix(
            self.subject.players[player],
            tuple((actions[index], share) for index, share in weights if share),
        )

    # What somebody gets.

    def _read_pays(self, *parts: Part) -> Fact:
        shares: list[Share] = []
        party = _UNSAID
        for part in parts:
            if isinstance(part, Party) and shares:
                shares[-1] = Share(part, shares[-1].amount)
            elif isinstance(part, Party):
                party = part
            elif isinstance(part, _Amount):
                shares.append(
                    Share(party, part._replace(average=part.average or "average" in parts))
                )
            elif isinstance(part, Share):
                shares.append(part)
        return self._pay(
            tuple(shares), _find_side(parts), _first(parts, Instead), "always_flag" in parts
        )

    def _pay(
        self, shares: tuple[Share, ...], side: Side, instead: Instead | None, always: bool
    ) -> Fact:
        def state(case: Choices) -> Iterator[Claim]:
            if always or _ALWAYS in case:
                for kind in ("guaranteed", "limited"):
                    yield from self._bound(case, kind, shares, side)
                return
            case, mover = self._enter(case, side, shares[0].party)
            for party, amount in shares:
                players = self._find_paid(case, party, amount, mover)
                yield from (self._claim_payoff(case, player, amount) for player in players)
            if instead is not None:
                yield self._claim_instead(case, shares[0], instead, mover)

        def again(party: Party, act: Act | None, amount: _Amount) -> Fact:
            _require(len(shares) == 1 and instead is None, "it is not clear what goes on")
            before = shares[0]
            average = amount.average or before.amount.average
            share = Share(
                party if party.players else before.party, amount._replace(average=average)
            )
            return self._pay((share,), side if act is None else Side(act, side.case), None, always)

        return Fact(state, shares[0].party if len(shares) == 1 else _UNSAID, again)

    def _find_paid(
        self, case: Choices, party: Party, amount: _Amount, mover: int | None
    ) -> tuple[int, ...]:
        """Return who gets an amount."""
        _require(amount.each or not party.we, "what we get may be the sum")
        if party.players or amount.each:
            return party.players or self.everybody
        alike = mover is None and self.is_symmetric and len(set(case.values())) == 1
        _require_said(mover == 0 or alike, "it is not said who gets it")
        return (0,)

    def _claim_payoff(self, case: Choices, player: int, amount: _Amount) -> Claim:
        name = self.subject.players[player]
        if not self.has_turns and any(isinstance(choice, tuple) for choice in case.values()):
            _require_said(
                isinstance(case.get(player), int), "it is not said what the player chooses"
            )
            action = self.subject.actions[player][case[player]]
            return Claim(
                "expected_payoff", (name, amount.value, action, self._against(case, player)[1])
            )
        _require_said(not amount.average, "it is not said over what the average is taken")
        return Claim("payoff", (name, amount.value, self._chain(case)))

    def _claim_instead(
        self, case: Choices, share: Share, instead: Instead, mover: int | None
    ) -> Claim:
        """Claim what the other move gives: the one that is named, else the only other one."""
        player, *others = self._find_paid(case, share.party, share.amount, mover)
        mover = player if mover is None else mover
        _require_said(
            not (self.has_turns or others) and isinstance(case.get(mover), int),
            "it is not said instead of what",
        )
        act, outcome = instead.side
        other = (
            self._other_index(mover, case[mover]) if act is None and not outcome else case[mover]
        )
        case |= dict(outcome) or {mover: other if act is None else act.index(mover)}
        return self._claim_payoff(
            case, player, instead.amount._replace(average=share.amount.average)
        )

    def _read_pays_pair(self, *parts: Part) -> Either:
        """Pay two numbers: the reasoner's is the first, or they are in the order of the game."""
        _require(len(self.everybody) == 2, "there are not two players")
        facts = []
        for order in dict.fromkeys(((0, 1), self.subject.order)):
            numbers = zip(order, _pick(parts, tuple)[0], strict=True)
            shares = tuple(Share(Party((player,)), _Amount(value)) for player, value in numbers)
            facts.append(self._pay(shares, _find_side(parts), None, always=False))
        return Either(facts)

    # Comparisons.

    def _read_compares(self, *parts: Part) -> Fact:
        _require(not self.has_turns, "moves in turn are not compared")
        sides = _find_sides(parts)
        party = _find_party(parts)
        relation = _first(parts, Relation) or Relation(1)

        def state(case: Choices) -> Iterator[Claim]:
            acts = [side.act for side in sides if side.act is not None]
            if len(acts) < len(sides):
                yield from self._compare_outcomes(
                    [dict(side.case) for side in sides if side.act is None], party, relation
                )
            elif "always_flag" in parts or _ALWAYS in case:
                alone = not (
                    set(case) - {_ALWAYS} or relation.has_size or any(side.case for side in sides)
                )
                _require(alone, "always is said of a case")
                for player in self._find_owners(acts, party):
                    yield Claim(
                        "strictly_dominates",
                        self._name(player, *self._order(acts, player, relation.sign)),
                    )
            else:
                _require(not any(side.case for side in sides[1:]), "two cases are compared")
                case, mover = self._enter(case, sides[0], party)
                _require(
                    mover is not None and party.players in ((), (mover,)),
                    "one moves and another gets it",
                )
                indices = self._order(acts, mover or 0, relation.sign)
                yield self._compare_moves(case, mover or 0, indices, relation)

        return Fact(state)

    def _order(self, acts: list[Act], player: int, sign: int) -> list[int]:
        """Return the indices of two moves, the better one first; the other one of two where only
        one is named."""
        indices = [act.index(player) for act in acts]
        return (
            indices if len(indices) == 2 else [*indices, self._other_index(player, indices[0])]
        )[::sign]

    def _compare_moves(
        self, case: Choices, player: int, indices: list[int], relation: Relation
    ) -> Claim:
        if relation.has_size:
            better, worse = (case | {player: index} for index in indices)
            return self._claim_size(player, relation, better, worse)
        *names, name = self._name(player, *indices)
        often = case.get(1 - player)
        if isinstance(often, Often):
            return Claim(
                f"better_response_{often.side}",
                (often.share, *names, self._choose(often, 1 - player), name),
            )
        moves, mixes = self._against(case, player)
        return Claim(
            "better_response_to_mix" if mixes else "better_response", (*names, mixes or moves, name)
        )

    def _choose(self, often: Often, player: int) -> tuple[Move, ...]:
        return (Move(*reversed(self._name(player, often.index))),)

    def _read_indifferent(self, *parts: Part) -> Fact:
        acts = _pick(parts, Act)
        party = _find_party(parts)

        def state(case: Choices) -> Iterator[Claim]:
            _require(
                len(party.players) < 2 and not self.has_turns,
                "several players are indifferent, or moves in turn",
            )
            player = party.players[0] if party.players else self._find_mover(acts[0], party, case)
            moves, mixes = self._against(self._face(case, player), player)
            *names, name = self._name(player, *(act.index(player) for act in acts))
            yield Claim(
                "equal_response_to_mix" if mixes else "equal_response",
                (*names, mixes or moves, name),
            )

        return Fact(state)

    def _compare_outcomes(
        self, cases: list[Choices], party: Party, relation: Relation
    ) -> Iterator[Claim]:
        _require_said(party.players and len(cases) == 2, "it is not said for whom, or than what")
        for player in party.players:
            better, worse = cases[:: relation.sign]
            if relation.has_size:
                yield self._claim_size(player, relation, better, worse)
            else:
                name = self.subject.players[player]
                yield Claim("better_outcome", (name, self._chain(better), self._chain(worse)))

    def _claim_size(
        self, player: int, relation: Relation, better: Choices, worse: Choices
    ) -> Claim:
        """Claim by how much, or how many times as much, one outcome pays more than another."""
        name = self.subject.players[player]
        outcomes = (self._chain(better), self._chain(worse))
        if relation.by is not None:
            return Claim("payoff_difference", (name, relation.by, *outcomes))
        if relation.times is not None:
            return Claim("payoff_ratio", (name, relation.times, *outcomes))
        raise ValueError("the relation has no size")

    def _read_changes(self, *parts: Part) -> Fact:
        """Claim what switching from one move to another does to a payoff."""
        old, new = _pick(parts, Act)
        party = _find_party(parts)
        relation = _pick(parts, Relation)[0]
        numbers = _pick(parts, WrittenNumber)
        setting = _first(parts, Case) or _NO_CASE
        player = party.single
        if player is None or self.has_turns:
            raise Impossible("it is not one player who switches in a table")

        def state(case: Choices) -> Iterator[Claim]:
            around = self._face(case | self._join(setting), player)
            before = around | {player: old.index(player)}
            after = around | {player: new.index(player)}
            if len(numbers) == 1:
                sized = Relation(relation.sign, by=numbers[0])
                yield self._claim_size(player, sized, *(after, before)[:: relation.sign])
                return
            yield self._claim_payoff(before, player, _Amount(numbers[0]))
            yield self._claim_payoff(after, player, _Amount(numbers[1]))
            yield Claim("higher" if relation.sign > 0 else "lower", (numbers[1], numbers[0]))

        return Fact(state)

    def _read_all_pay(self, *parts: Part) -> Fact:
        """Claim that all moves of a player pay an amount, or all the same."""
        player = (_first(parts, Party) or Party((0,))).single
        amount = _first(parts, _Amount)
        if player is None or self.has_turns:
            raise Impossible("it is not said of one player in a table")
        indices = range(len(self.subject.actions[player]))
        _require("pair_only" not in parts or len(indices) == 2, "there are more than two moves")

        def state(case: Choices) -> Iterator[Claim]:
            faced = self._face(case, player)
            _require(player not in faced, "somebody chooses twice")
            if amount is not None:
                for index in indices:
                    yield self._claim_payoff(faced | {player: index}, player, amount)
                return
            moves, mixes = self._against(faced, player)
            form = "equal_response_to_mix" if mixes else "equal_response"
            for first, second in pairwise(indices):
                *names, name = self._name(player, first, second)
                yield Claim(form, (*names, mixes or moves, name))

        return Fact(state)

    def _compare_numbers(self, form: str, *numbers: Fraction) -> Fact:
        return Fact(lambda case: [Claim(form, numbers)])

    _read_higher = partialmethod(_compare_numbers, "higher")
    _read_lower = partialmethod(_compare_numbers, "lower")

    def _judge_amounts(self, form: str, *numbers: Fraction) -> Fact:
        named = any(word[:1].isdigit() for move in self.words.moves for word in move)
        _require(not named, "moves have numbers for names: one of them may be better than another")
        return self._compare_numbers(form, *numbers)

    _read_better_amount = partialmethod(_judge_amounts, "higher")
    _read_worse_amount = partialmethod(_judge_amounts, "lower")

    # Best responses.

    def _read_best(self, *parts: Part) -> Fact:
        act, own_case = _find_side(part for part in parts if not isinstance(part, Case))
        party = _find_party(parts)
        to = _first(parts, Case)

        def state(case: Choices) -> Iterator[Claim]:
            if act is None or len(party.players) > 1:
                raise Impossible(
                    "an outcome is no response, and what is best for all is none either"
                )
            if self.has_turns:
                foretold = self._foretell(party, act, case)
                yield replace(foretold, negated="denied" in parts)
                return
            if to is not None:
                _require(set(case) <= set(self.context), "there are two things to respond to")
            case = (case if to is None else dict(to)) | dict(own_case)
            player = party.players[0] if party.players else self._find_mover(act, party, case)
            cases = [self._face(case, player)]
            if "always_flag" in parts or _ALWAYS in case:
                alone = set(case) <= {_ALWAYS} and len(self.everybody) == 2
                _require(
                    alone and "denied" not in parts,
                    "always is said of a case, or it may be not always",
                )
                cases = [
                    {1 - player: index} for index in range(len(self.subject.actions[1 - player]))
                ]
            for faced in cases:
                action, name = self._name(player, act.index(player))
                often = faced.get(1 - player)
                if isinstance(often, Often):
                    chosen = self._choose(often, 1 - player)
                    args = (often.share, action, chosen, name)
                    yield Claim(f"best_response_{often.side}", args, "denied" in parts)
                    return
                moves, mixes = self._against(faced, player)
                form = "best_response_to_mix" if mixes else "best_response"
                yield Claim(form, (action, mixes or moves, name), "denied" in parts)

        return Fact(state)

    # The best and the worst that can happen.

    def _read_extreme(self, *parts: Part) -> Fact:
        amount = _pick(parts, _Amount)[0]
        act = _find_side(parts).act
        kind = "highest" if "highest" in parts else "lowest"
        parties = list(dict.fromkeys(_pick(parts, Party))) or [Party((0,))]

        def state(case: Choices) -> Iterator[Claim]:
            player = parties[0].single
            if player is None or len(parties) > 1 or amount.average:
                raise Impossible("several players, or an average")
            index = self._find_own_move(case, player, act)
            if index is not None:
                yield Claim(
                    f"{kind}_individual_payoff_for_choice",
                    (amount.value, *self._name(player, index)),
                )
            elif "anybody" in parts or not _pick(parts, Party):
                _require("anybody" in parts or "whole" in parts, "it may be the best of somebody")
                yield Claim(f"{kind}_payoff", (amount.value,))
            else:
                _require("whole" in parts, "a sentence before may have said by which move")
                yield Claim(
                    f"{kind}_possible_individual_payoff", (amount.value, *self._name(player))
                )

        return Fact(state)

    def _read_both_extremes(self, *parts: Part) -> Fact:
        """Claim the best and the worst that a move gives: "3 in the best case and 0 in the worst"."""
        shared = [part for part in parts if isinstance(part, Party | Act | Side)]
        amounts = _pick(parts, _Amount)
        kinds = [part for part in parts if part in ("highest", "lowest")]
        facts = [
            self._read_extreme(*shared, amount, kind)
            for amount, kind in zip(amounts, kinds, strict=True)
        ]
        return Fact(lambda case: [claim for fact in facts for claim in fact.state(case)])

    def _read_extreme_at(self, *parts: Part) -> Fact:
        """Claim that a payoff is the highest or lowest there is, and in which outcome."""
        outcome = dict(_pick(parts, Case)[-1])
        amount = _first(parts, _Amount)
        kind = "highest" if "highest" in parts else "lowest"
        player = (_first(parts, Party) or _UNSAID).single
        if player is None or self.has_turns or (amount is not None and amount.average):
            raise Impossible("several players, moves in turn, or an average")
        name = self.subject.players[player]
        chain = self._chain(outcome)
        value = self._pay_at(outcome, player) if amount is None else amount.value
        claims = [Claim(f"{kind}_possible_individual_payoff", (value, name))]
        if amount is not None:
            claims.append(Claim("payoff", (name, value, chain)))
        return self._solve_anyhow(claims)

    def _pay_at(self, outcome: Choices, player: int) -> Fraction:
        """Return what a player gets in an outcome of a table."""
        indices = tuple(outcome[one] for one in self.everybody)
        return Fraction(int(self.subject.cells[player][indices]), self.subject.scale)

    def _solve_anyhow(self, claims: list[Claim]) -> Fact:
        """Make a fact that names its outcome itself."""

        def state(case: Choices) -> list[Claim]:
            _require(not case, "two outcomes are named")
            return claims

        return Fact(state)

    def _read_caps(self, act: Act, party: Party, number: WrittenNumber) -> Fact:
        """Claim that by a move somebody never loses more than a number."""
        share = Share(party, _Amount(-number))
        return Fact(lambda case: self._bound(case, "guaranteed", (share,), Side(act)))

    def _read_loses(self, *parts: Part) -> Fact:
        """Claim a negative payoff; a loss may else be what another choice would pay more."""
        players = _find_party(parts).players
        _require(not self.has_turns, "moves in turn may lose against each other")
        highest = [self.subject.cells[player].max() for player in players]
        _require(all(most <= 0 for most in highest), "it may be less than something else pays")
        return self._read_pays(*parts)

    def _find_own_move(self, case: Choices, player: int, act: Act | None) -> int | None:
        """Return the player's own move, where nothing else is said of the case."""
        _require(
            set(case) <= {player, _ALWAYS} and not (self.has_turns and act is not None),
            "the case says more",
        )
        index = case.get(player) if act is None else act.index(player)
        once = index is None or (isinstance(index, int) and case.get(player, index) == index)
        _require(once, "the player mixes, or chooses twice")
        return index

    def _bound(
        self, case: Choices, kind: str, shares: tuple[Share, ...], side: Side
    ) -> Iterator[Claim]:
        """Bound what one player gets by one move, whatever the others do."""
        party, amount = shares[0]
        alone = (
            len(shares) == 1 and not amount.average and not side.case and len(party.players) <= 1
        )
        _require_said(alone, "it is not said of one player and one move alone")
        player = (
            self._find_mover(side.act, party, case)
            if side.act and party.single is None
            else party.single
        )
        index = None if player is None else self._find_own_move(case, player, side.act)
        if player is None or index is None:
            raise Unsaid("it is not said by which move")
        yield Claim(f"{kind}_payoff_for_choice", (amount.value, *self._name(player, index)))

    def _limit(self, kind: str, *parts: Part) -> Fact:
        share = Share(_find_party(parts), _pick(parts, _Amount)[0])
        return Fact(lambda case: self._bound(case, kind, (share,), _find_side(parts)))

    _read_at_least = partialmethod(_limit, "guaranteed")
    _read_at_most = partialmethod(_limit, "limited")
    _read_up_to = partialmethod(_limit, "highest_individual")

    # Solutions of the whole game.

    def _solve(self, claims: list[Claim]) -> Fact:
        """Make a fact about the whole game, which may not stand under a case, unless that is its
        outcome."""

        def state(case: Choices) -> list[Claim]:
            same = not case or [self._chain(case)] == [claim.args[0] for claim in claims]
            _require(same, "the game as a whole has no case")
            return claims

        return Fact(state)

    def _judge_outcomes(self, form: str, *parts: Part) -> Fact:
        """Claim something of outcomes; "this is an equilibrium" speaks of the one that a heading
        names."""
        cases = [dict(case) for case in _pick(parts, Case)]
        if not cases:
            return Fact(lambda case: [Claim(form, (self._chain(case),), "denied" in parts)])
        return self._solve([Claim(form, (self._chain(case),), "denied" in parts) for case in cases])

    _read_equilibrium = partialmethod(_judge_outcomes, "equilibrium")

    def _read_would_leave(self, *parts: Part) -> Fact:
        """Claim that each of some players has a better response than what an outcome says."""
        party = _find_party(parts)
        outcome = _first(parts, Case)

        def state(case: Choices) -> Iterator[Claim]:
            _require(
                not self.has_turns and not (outcome and case), "moves in turn, or two outcomes"
            )
            left = case if outcome is None else dict(outcome)
            self._chain(left)
            for player in party.players:
                action, name = self._name(player, left[player])
                moves, _ = self._against(left, player)
                yield Claim("best_response", (action, moves, name), negated=True)

        return Fact(state)

    _read_pareto_optimal = partialmethod(_judge_outcomes, "pareto_optimal")

    def _read_pareto_dominates(self, *parts: Part) -> Fact:
        cases = _pick(parts, Case)[:: -1 if "passive" in parts else 1]
        return self._solve(
            [Claim("pareto_dominates", tuple(self._chain(dict(case)) for case in cases))]
        )

    def _read_count_equilibria(self, *parts: Part) -> Fact:
        """Count pure equilibria; without that word mixed ones are meant too, and only a sole one is
        read."""
        count = _first(parts, WrittenNumber) or Fraction(int("sole" in parts))
        cases = [dict(case) for case in _pick(parts, Case)]
        sole = count == 1 and cases and self.shows_sole_equilibrium
        _require("pure" in parts or sole, "mixed equilibria may be counted")
        _require(len(cases) in (0, count), "others are listed than counted")
        equilibria = [Claim("equilibrium", (self._chain(case),)) for case in cases]
        return self._solve([Claim("pure_equilibria", (count,)), *equilibria])

    @cached_property
    def shows_sole_equilibrium(self) -> bool:
        """Whether the number of pure equilibria says if there is one equilibrium: in 2 x 2 where no
        reply is tied.

        With a tie one pure equilibrium may have mixed ones beside it, and with three players too.
        """
        payoffs = getattr(self.subject.game, "payoffs", np.zeros(0))
        return payoffs.shape == (2, 2, 2) and all(
            np.diff(payoffs[seat], axis=seat).all() for seat in self.everybody
        )

    def _read_mixed_equilibrium(self, *parts: Part) -> Fact:
        chosen = dict(pair for case in _pick(parts, Case) for pair in case)
        part = len(self.everybody) == 2 and len(chosen) == 1
        _require_said(
            not self.has_turns and (part or set(chosen) == set(self.everybody)),
            "it is not said who mixes how",
        )
        mixes = tuple(self._mix(*pair) for pair in sorted(chosen.items()))
        claims = [Claim("mixed_equilibrium_part" if part else "mixed_equilibrium", (mixes,))]
        if "sole" in parts:
            _require(self.shows_sole_equilibrium, "there may be others")
            claims.append(
                Claim("pure_equilibria", (Fraction(all(1 in mix for mix in chosen.values())),))
            )
        return self._solve(claims)

    def _read_at_equilibrium(self, *parts: Part) -> Fact:
        """Claim what somebody gets in equilibrium, where it is not said in which one."""
        party = _find_party(parts)
        amount = _pick(parts, _Amount)[0]
        _require(
            not self.has_turns and not party.we and party.players,
            "it may be a sum, or the moves come in turn",
        )
        _require(
            "sole" not in parts or self.shows_sole_equilibrium,
            "there may be others that pay the same",
        )
        return self._solve(
            [Claim("equilibrium_payoff", (*self._name(i), amount.value)) for i in party.players]
        )

    def _read_at_mixed(self, *parts: Part) -> Fact:
        """Claim what somebody gets in the mixed equilibrium."""
        party = _find_party(parts)
        amount = _pick(parts, _Amount)[0]
        _require(not self.has_turns and not party.we and party.players, "it may be a sum")
        names = [self._name(player) for player in party.players]
        return self._solve([Claim("mixed_equilibrium_payoff", (*n, amount.value)) for n in names])

    def _read_equilibrium_paying(self, *parts: Part) -> Fact:
        """Claim that an outcome is an equilibrium, and what it pays."""
        outcome = dict(_pick(parts, Case)[0])
        chain = self._chain(outcome)
        claims = [Claim("equilibrium", (chain,))]
        for party, amount in _pick(parts, Share):
            players = self._find_paid(outcome, party, amount, None)
            claims += [self._claim_payoff(outcome, player, amount) for player in players]
        return self._solve_anyhow(claims)

    def _judge_moves(self, form: str, *parts: Part) -> Fact:
        acts = _pick(parts, Act)[:: -1 if "passive" in parts else 1]
        owners = self._find_owners(acts, _find_party(parts))
        names = [self._name(player, *(act.index(player) for act in acts)) for player in owners]
        return self._solve([Claim(form, name, "denied" in parts) for name in names])

    def _dominate(self, form: str, *parts: Part) -> Fact:
        """Claim dominance: strict or weak as it is called, else in the weaker sense, and denied in
        the stricter one."""
        strict = "strictly" in parts or ("denied" in parts and "weakly" not in parts)
        return self._judge_moves(f"{'strictly' if strict else 'weakly'}_{form}", *parts)

    def _read_dominates(self, *parts: Part) -> Fact:
        """Claim that one move dominates another, perhaps in the game that is left without a
        third."""
        whole = self._dominate("dominates", *parts)

        def state(case: Choices) -> Iterable[Claim]:
            if set(case) != {_REMOVED}:
                return whole.state(case)
            (owner, index), *_ = case[_REMOVED].indices
            removed = (Move(*reversed(self._name(owner, index))),)
            args = ((claim, claim.args) for claim in whole.state({}))
            return [
                Claim(f"{c.form}_without", (*moves, removed, player), c.negated)
                for c, (*moves, player) in args
            ]

        return Fact(state)

    def _read_dominated(self, *parts: Part) -> Fact:
        """Claim that a move is dominated, where only one other could dominate it.

        With more moves a mixture may dominate it, of which no form speaks.
        """
        act = _pick(parts, Act)[0]
        (player,) = self._find_owners([act], _find_party(parts))
        other = Act(((player, self._other_index(player, act.index(player))),))
        said = [part for part in parts if not isinstance(part, Act)]
        return self._dominate("dominates", other, act, *said)

    _read_dominant = partialmethod(_dominate, "dominant")
    _read_higher_guaranteed = partialmethod(_judge_moves, "higher_guaranteed_payoff")
    _read_lower_guaranteed = partialmethod(_judge_moves, "lower_guaranteed_payoff")
    _read_maximin = partialmethod(_judge_moves, "highest_guaranteed_payoff_choice")

    def _read_no_dominant(self, *parts: Part) -> Fact:
        _require("strictly" not in parts, "no form says that")
        return self._judge_moves("no_dominant_choice", *parts)

    def _read_maximin_payoff(self, party: Party, amount: _Amount) -> Fact:
        _require_said(party.single is not None, "it is not said whose it is")
        names = self._name(party.players[0])
        return self._solve_anyhow([Claim("maximin_payoff", (amount.value, *names))])

    def _read_total(self, *parts: Part) -> Fact:
        """Claim the sum of payoffs of an outcome, or that no outcome has a higher or lower one."""
        outcome = _first(parts, Case)
        amount = _first(parts, _Amount)

        def state(case: Choices) -> list[Claim]:
            named = case if outcome is None else dict(outcome)
            chain = self._chain({who: move for who, move in named.items() if who != _EITHER_WAY})
            if amount is not None:
                return [Claim("total_payoff", (amount.value, chain))]
            chosen = {move.who: move.action for move in chain}
            actions = tuple(chosen[name] for name in self.subject.players)
            return [
                Claim(
                    "lowest_mutual_payoff" if "lowest" in parts else "highest_mutual_payoff",
                    (actions,),
                )
            ]

        return Fact(state, again=lambda party, act, amount: self._read_total(amount))

    # Games played move by move.

    def _foretell(self, party: Party, act: Act, case: Choices) -> Claim:
        _require(self.has_turns and len(party.players) <= 1, "all choose at once")
        player = party.single or 0
        return Claim(
            "will_play", (*reversed(self._name(player, act.index(player))), self._chain(case))
        )

    def _read_will_play(self, party: Party, act: Act) -> Fact:
        (player,) = party.players
        return Fact(
            lambda case: [self._foretell(party, act, case)], foretold=(player, act.index(player))
        )

    def _read_will_get(self, party: Party, amount: _Amount) -> Fact:
        """Claim what somebody ends up with after some moves, if everybody looks ahead."""
        _require(self.has_turns and party.single is not None, "all choose at once")

        def state(case: Choices) -> list[Claim]:
            _require(case, "it is not said after which move")
            name = self.subject.players[party.players[0]]
            return [Claim("continuation_payoff", (name, amount.value, self._chain(case)))]

        return Fact(state)

    def _read_worth(self, party: Party, amount: _Amount) -> Fact:
        def state(case: Choices) -> list[Claim]:
            _require_said(
                self.has_turns and not case,
                "it is not said of the start of a game played move by move",
            )
            return [
                Claim("continuation_payoff", (*self._name(player), amount.value, ()))
                for player in party.players
            ]

        return Fact(state)


STATEMENTS: Final[dict[str, Callable[..., Any]]] = {
    "acts": Meaning._read_acts,
    "all_pay": Meaning._read_all_pay,
    "alone": Meaning._read_alone,
    "amount": Meaning._read_amount,
    "at_equilibrium": Meaning._read_at_equilibrium,
    "at_least": Meaning._read_at_least,
    "at_mixed": Meaning._read_at_mixed,
    "at_most": Meaning._read_at_most,
    "best": Meaning._read_best,
    "better_amount": Meaning._read_better_amount,
    "caps": Meaning._read_caps,
    "changes": Meaning._read_changes,
    "compares": Meaning._read_compares,
    "count_equilibria": Meaning._read_count_equilibria,
    "both_extremes": Meaning._read_both_extremes,
    "dominant": Meaning._read_dominant,
    "dominated": Meaning._read_dominated,
    "dominates": Meaning._read_dominates,
    "equilibrium": Meaning._read_equilibrium,
    "equilibrium_paying": Meaning._read_equilibrium_paying,
    "everybody": Meaning._read_everybody,
    "expects": Meaning._read_expects,
    "extreme": Meaning._read_extreme,
    "extreme_at": Meaning._read_extreme_at,
    "facts": Meaning._read_facts,
    "gone": Meaning._read_gone,
    "happened": Meaning._read_happened,
    "higher": Meaning._read_higher,
    "higher_guaranteed": Meaning._read_higher_guaranteed,
    "indifferent": Meaning._read_indifferent,
    "loses": Meaning._read_loses,
    "lower": Meaning._read_lower,
    "lower_guaranteed": Meaning._read_lower_guaranteed,
    "maximin": Meaning._read_maximin,
    "maximin_payoff": Meaning._read_maximin_payoff,
    "mixed_equilibrium": Meaning._read_mixed_equilibrium,
    "mixes": Meaning._read_mixes,
    "mixes_each": Meaning._read_mixes_each,
    "mixes_evenly": Meaning._read_mixes_evenly,
    "mixes_some": Meaning._read_mixes_some,
    "no_dominant": Meaning._read_no_dominant,
    "nobody_acts": Meaning._read_nobody_acts,
    "often": Meaning._read_often,
    "one_and_other": Meaning._read_one_and_other,
    "pareto_dominates": Meaning._read_pareto_dominates,
    "pareto_optimal": Meaning._read_pareto_optimal,
    "pays": Meaning._read_pays,
    "pays_pair": Meaning._read_pays_pair,
    "profile": Meaning._read_profile,
    "several": Meaning._read_several,
    "short": Meaning._read_short,
    "should": Meaning._read_best,
    "start": Meaning._read_start,
    "then": Meaning._read_then,
    "total": Meaning._read_total,
    "under": Meaning._read_under,
    "up_to": Meaning._read_up_to,
    "whichever": Meaning._read_whichever,
    "will_get": Meaning._read_will_get,
    "will_play": Meaning._read_will_play,
    "worse_amount": Meaning._read_worse_amount,
    "would_leave": Meaning._read_would_leave,
    "worth": Meaning._read_worth,
}
"""What the kinds of statement in `claims.lark` mean in a game."""
