"""What a parsed sentence claims: one method for each kind of statement in `claims.lark`.

The statement `-> pays` of the grammar is read by the method `_read_pays`, of this class or of those
it is built on (`cases`, `amounts`). Where a part has several meanings (an outcome seen from the
second seat, words that two rules fit) all are followed; a reading that cannot be meant in the game
is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial, partialmethod
from itertools import chain, product
from math import prod
from typing import Any

from lark import Token, Tree

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.english.amounts import Amounts
from bestresponse.formal.claims.english.parts import (
    ALWAYS,
    NO_CASE,
    OPPONENT,
    Act,
    Case,
    Choices,
    Either,
    Fact,
    FactItem,
    Group,
    Impossible,
    MoveChance,
    PaidAmount,
    Part,
    Party,
    Relation,
    Share,
    Unsaid,
    find_first,
    find_party,
    find_sides,
    make_side,
    pick,
    require,
    require_said,
)
from bestresponse.formal.claims.form import Ungrounded, WrittenNumber
from bestresponse.formal.claims.grounding import ground

# Meanings of parts multiply: a sentence with more is left unread, so that no text takes long.
_MOST_READINGS = 64
_FLAGS = {
    "anybody",
    "average",
    "denied",
    "each",
    "highest",
    "lowest",
    "passive",
    "pure",
    "sole",
    "strictly",
    "weakly",
    "whole",
}

_KINDS: dict[str, Callable[..., Any]] = {
    "chance": MoveChance,
    "share": Share,
    "item": FactItem,
    "side": make_side,
    "more": partial(Relation, 1),
    "less": partial(Relation, -1),
    "pair": lambda *numbers: numbers,
    "always": lambda *others: Case(((ALWAYS, None),)),
    "opponent_acts": lambda act: Case(((OPPONENT, act),)),
    "case": lambda *cases: Case(pair for case in cases for pair in case),
}
"""Parts of a sentence that mean the same in every game."""


class Meaning(Amounts):
    """What a sentence means in one game."""

    def find_meanings(self, node: Tree[Token] | Token) -> list[object]:
        """Return what a part of the sentence may mean, whose words are numbers of `tokens`."""
        if isinstance(node, Token):
            return [self._mean(self.tokens[int(node)])]
        if node.data == "_ambig":
            readings = map(self.find_meanings, node.children)
            return list(chain.from_iterable(readings))
        if node.data in _FLAGS:
            return [str(node.data)]
        children = [self.find_meanings(child) for child in node.children]
        require(prod(map(len, children)) <= _MOST_READINGS, "too many readings")
        meanings: list[Any] = []
        for parts in product(*children):
            try:
                meaning = self._combine(str(node.data), parts)
            except Unsaid:
                meaning = Either([()] if node.data == "start" else [])
            except Impossible:
                continue
            meanings += meaning if isinstance(meaning, Either) else [meaning]
        return meanings

    def _combine(self, kind: str, parts: tuple[Any, ...]) -> object:
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

    # From facts to claims.

    def _read_start(self, *groups: Group) -> tuple[Claim, ...]:
        claims = tuple(chain.from_iterable(map(self._state, groups)))
        try:
            for claim in claims:
                ground(claim, self.subject)
        except Ungrounded as error:
            raise Impossible(str(error)) from error
        return claims

    def _read_under(self, case: Case, group: Group) -> Group:
        return group._replace(case=case)

    def _read_then(self, group: Group) -> Group:
        require_said(self.context, "it is not said when")
        return group

    def _read_short(self, *parts: Part) -> Callable[[Fact], FactItem]:
        """Say the fact before again with another number, perhaps of another player or move."""
        act = next((side.act for side in find_sides(parts) if side.act is not None), None)

        def go_on(before: Fact) -> FactItem:
            if before.again is None:
                raise Impossible("nothing is said before that could go on")
            amount = pick(parts, PaidAmount)[0]
            fact = before.again(find_party(parts), act, amount)
            return FactItem(fact, find_first(parts, Case))

        return go_on

    def _read_facts(self, *items: FactItem | Callable[[Fact], FactItem]) -> Group:
        whole: list[FactItem] = []
        for item in items:
            whole.append(item if isinstance(item, FactItem) else item(whole[-1].fact))
        return Group(tuple(whole))

    def _state(self, group: Group) -> Iterator[Claim]:
        """Yield the claims of facts."""
        outer = group.case
        for number, item in enumerate(group.items):
            near = _list_near_cases(group, number)
            for case in near:
                try:
                    claims = list(item.fact.state(self._join(outer, case)))
                    break
                except Impossible:
                    if case is near[-1]:
                        raise
            yield from claims
            if item.fact.foretold is not None:
                outer = Case((*outer, item.fact.foretold))

    # Solutions of the whole game.

    def _solve(self, claims: list[Claim]) -> Fact:
        """Make a fact about the whole game.

        It may not be under a case, unless that is its outcome.
        """

        def state(case: Choices) -> list[Claim]:
            same = not case or [self._chain(case)] == [claim.args[0] for claim in claims]
            require(same, "the game as a whole has no case")
            return claims

        return Fact(state)

    def _judge_outcomes(self, form: str, *parts: Part) -> Fact:
        """Claim something of outcomes.

        "this is an equilibrium" speaks of the one that a heading names.
        """
        denied = "denied" in parts
        cases = [dict(case) for case in pick(parts, Case)]
        if not cases:
            return Fact(lambda case: [Claim(form, (self._chain(case),), denied)])
        outcomes = [self._chain(case) for case in cases]
        return self._solve([Claim(form, (outcome,), denied) for outcome in outcomes])

    _read_equilibrium = partialmethod(_judge_outcomes, "equilibrium")

    _read_pareto_optimal = partialmethod(_judge_outcomes, "pareto_optimal")

    def _read_pareto_dominates(self, *parts: Part) -> Fact:
        cases = pick(parts, Case)
        if "passive" in parts:
            cases = cases[::-1]
        outcomes = tuple(self._chain(dict(case)) for case in cases)
        return self._solve([Claim("pareto_dominates", outcomes)])

    def _read_count_equilibria(self, *parts: Part) -> Fact:
        """Count pure equilibria.

        Without that word mixed ones are meant too, and only a sole one is read.
        """
        count = find_first(parts, WrittenNumber) or Fraction(int("sole" in parts))
        cases = [dict(case) for case in pick(parts, Case)]
        require("pure" in parts or count == 1, "mixed equilibria may be counted")
        require(len(cases) in (0, count), "others are listed than counted")
        form = "pure_equilibria" if "pure" in parts else "equilibria"
        equilibria = [Claim("equilibrium", (self._chain(case),)) for case in cases]
        return self._solve([Claim(form, (count,)), *equilibria])

    def _read_mixed_equilibrium(self, *parts: Part) -> Fact:
        chosen = dict(chain.from_iterable(pick(parts, Case)))
        part = len(self.everybody) == 2 and len(chosen) == 1
        is_said = part or set(chosen) == set(self.everybody)
        require_said(is_said and not self.has_turns, "it is not said who mixes how")
        mixes = tuple(self._mix(*pair) for pair in sorted(chosen.items()))
        form = "mixed_equilibrium_part" if part else "mixed_equilibrium"
        claims = [Claim(form, (mixes,))]
        if "sole" in parts:
            claims.append(Claim("equilibria", (Fraction(1),)))
        return self._solve(claims)

    def _read_at_equilibrium(self, *parts: Part) -> Fact:
        """Claim what somebody gets in equilibrium, where it is not said in which one."""
        party = find_party(parts)
        amount = pick(parts, PaidAmount)[0]
        is_each = not self.has_turns and not party.we and party.players
        require(is_each, "it may be a sum, or the moves come in turn")
        claims = []
        for player in party.players:
            claims.append(Claim("equilibrium_payoff", (*self._name(player), amount.value)))
        if "sole" in parts:
            claims.append(Claim("equilibria", (Fraction(1),)))
        return self._solve(claims)

    def _judge_moves(self, form: str, *parts: Part) -> Fact:
        acts = pick(parts, Act)
        if "passive" in parts:
            acts = acts[::-1]
        claims = []
        for player in self._find_owners(acts, find_party(parts)):
            indices = [act.index(player) for act in acts]
            claims.append(Claim(form, self._name(player, *indices), "denied" in parts))
        return self._solve(claims)

    def _dominate(self, form: str, *parts: Part) -> Fact:
        """Claim dominance, strict or weak as it is called.

        If neither is said, it is claimed in the weaker sense and denied in the stricter one.
        """
        strict = "strictly" in parts or ("denied" in parts and "weakly" not in parts)
        return self._judge_moves(f"{'strictly' if strict else 'weakly'}_{form}", *parts)

    def _read_dominated(self, *parts: Part) -> Fact:
        """Claim that a move is dominated, where only one other could dominate it.

        With more moves a mixture may dominate it, of which no form speaks.
        """
        act = pick(parts, Act)[0]
        (player,) = self._find_owners([act], find_party(parts))
        index = self._other_index(player, act.index(player))
        other = Act(((player, index),))
        said = [part for part in parts if not isinstance(part, Act)]
        return self._dominate("dominates", other, act, *said)

    _read_dominates = partialmethod(_dominate, "dominates")
    _read_dominant = partialmethod(_dominate, "dominant")
    _read_higher_guaranteed = partialmethod(_judge_moves, "higher_guaranteed_payoff")
    _read_lower_guaranteed = partialmethod(_judge_moves, "lower_guaranteed_payoff")
    _read_maximin = partialmethod(_judge_moves, "highest_guaranteed_payoff_choice")

    def _read_no_dominant(self, *parts: Part) -> Fact:
        require("strictly" not in parts, "no form says that")
        return self._judge_moves("no_dominant_choice", *parts)

    def _read_total(self, *parts: Part) -> Fact:
        """Claim the sum of payoffs of an outcome, or that no outcome has a higher or lower one."""
        outcome = find_first(parts, Case)
        amount = find_first(parts, PaidAmount)

        def state(case: Choices) -> list[Claim]:
            moves = self._chain(dict(case if outcome is None else outcome))
            if amount is not None:
                return [Claim("total_payoff", (amount.value, moves))]
            chosen = {move.who: move.action for move in moves}
            actions = tuple(chosen[name] for name in self.subject.players)
            kind = "lowest" if "lowest" in parts else "highest"
            return [Claim(f"{kind}_mutual_payoff", (actions,))]

        return Fact(state, again=lambda party, act, amount: self._read_total(amount))

    # Games played move by move.

    def _read_will_play(self, party: Party, act: Act) -> Fact:
        (player,) = party.players
        return Fact(
            lambda case: [self._foretell(party, act, case)], foretold=(player, act.index(player))
        )

    def _read_will_get(self, party: Party, amount: PaidAmount) -> Fact:
        """Claim what somebody ends up with after some moves, if everybody looks ahead."""
        require(self.has_turns and party.single is not None, "all choose at once")

        def state(case: Choices) -> list[Claim]:
            require(case, "it is not said after which move")
            name = self.subject.players[party.players[0]]
            return [Claim("continuation_payoff", (name, amount.value, self._chain(case)))]

        return Fact(state)

    _read_should = Amounts._read_best


def _list_near_cases(group: Group, number: int) -> list[Case]:
    """Return the cases that a fact may take.

    These are its own case, else none, or that of what another player gets beside it.
    """
    fact, own = group.items[number]
    if own is not None:
        return [own or NO_CASE]
    near = [NO_CASE]
    people = set(fact.party.players)
    behind = group.items[number + 1 : number + 2]
    before = group.items[max(0, number - 1) : number]
    for other, case in (*behind, *before):
        others = set(other.party.players)
        if case is not None and people and others and people.isdisjoint(others):
            near.append(case)
    return near


STATEMENTS: dict[str, Callable[..., Any]] = {
    name.removeprefix("_read_"): getattr(Meaning, name)
    for name in dir(Meaning)
    if name.startswith("_read_")
}
"""What the kinds of statement in `claims.lark` mean in a game, by the names behind the arrows."""
