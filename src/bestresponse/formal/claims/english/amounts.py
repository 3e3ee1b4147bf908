"""Statements about amounts.

They say what somebody gets, which of two choices gives more, and name best responses, best cases
and worst cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partialmethod

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.english.cases import Cases
from bestresponse.formal.claims.english.parts import (
    ALWAYS,
    UNSAID,
    Act,
    Case,
    Choices,
    Either,
    Fact,
    Impossible,
    PaidAmount,
    Part,
    Party,
    Relation,
    Share,
    Side,
    Unsaid,
    find_first,
    find_party,
    find_side,
    find_sides,
    pick,
    require,
    require_said,
)


class Amounts(Cases):
    """What a sentence says of payoffs."""

    # What somebody gets.

    def _read_pays(self, *parts: Part) -> Fact:
        shares: list[Share] = []
        party = UNSAID
        for part in parts:
            if isinstance(part, Party) and shares:
                shares[-1] = Share(part, shares[-1].amount)
            elif isinstance(part, Party):
                party = part
            elif isinstance(part, PaidAmount):
                average = part.average or "average" in parts
                shares.append(Share(party, part._replace(average=average)))
            elif isinstance(part, Share):
                shares.append(part)
        return self._pay(tuple(shares), find_side(parts))

    def _pay(self, shares: tuple[Share, ...], side: Side) -> Fact:
        def state(case: Choices) -> Iterator[Claim]:
            if ALWAYS in case:
                for kind in ("guaranteed", "limited"):
                    yield from self._bound(case, kind, shares, side)
                return
            case, mover = self._enter(case, side, shares[0].party)
            for party, amount in shares:
                for player in self._find_paid(case, party, amount, mover):
                    yield self._claim_payoff(case, player, amount)

        def again(party: Party, act: Act | None, amount: PaidAmount) -> Fact:
            require(len(shares) == 1, "it is not clear what goes on")
            before = shares[0]
            average = amount.average or before.amount.average
            paid = party if party.players else before.party
            share = Share(paid, amount._replace(average=average))
            same_side = side if act is None else Side(act, side.case)
            return self._pay((share,), same_side)

        return Fact(state, shares[0].party if len(shares) == 1 else UNSAID, again)

    def _find_paid(
        self,
        case: Choices,
        party: Party,
        amount: PaidAmount,
        mover: int | None,
    ) -> tuple[int, ...]:
        """Return who gets an amount."""
        require(amount.each or not party.we, "what we get may be the sum")
        if party.players or amount.each:
            return party.players or self.everybody
        alike = mover is None and self.is_symmetric and len(set(case.values())) == 1
        require_said(mover == 0 or alike, "it is not said who gets it")
        return (0,)

    def _claim_payoff(self, case: Choices, player: int, amount: PaidAmount) -> Claim:
        name = self.subject.players[player]
        somebody_mixes = any(isinstance(choice, tuple) for choice in case.values())
        if somebody_mixes and not self.has_turns:
            choice = case.get(player)
            require_said(isinstance(choice, int), "it is not said what the player chooses")
            action = self.subject.actions[player][case[player]]
            _, mixes = self._against(case, player)
            return Claim("expected_payoff", (name, amount.value, action, mixes))
        require_said(not amount.average, "it is not said over what the average is taken")
        return Claim("payoff", (name, amount.value, self._chain(case)))

    def _read_pays_pair(self, *parts: Part) -> Either:
        """Pay two numbers: the reasoner's is the first, or they are in the order of the game."""
        require(len(self.everybody) == 2, "there are not two players")
        numbers = pick(parts, tuple)[0]
        facts = []
        for order in dict.fromkeys(((0, 1), self.subject.order)):
            shares = []
            for player, value in zip(order, numbers, strict=True):
                shares.append(Share(Party((player,)), PaidAmount(value)))
            facts.append(self._pay(tuple(shares), find_side(parts)))
        return Either(facts)

    # Comparisons.

    def _read_compares(self, *parts: Part) -> Fact:
        require(not self.has_turns, "moves in turn are not compared")
        sides = find_sides(parts)
        party = find_party(parts)
        relation = find_first(parts, Relation) or Relation(1)

        def state(case: Choices) -> Iterator[Claim]:
            acts = [side.act for side in sides if side.act is not None]
            if len(acts) < len(sides):
                outcomes = [dict(side.case) for side in sides if side.act is None]
                yield from self._compare_outcomes(outcomes, party, relation)
            elif ALWAYS in case:
                has_side_case = any(side.case for side in sides)
                alone = set(case) == {ALWAYS} and relation.by is None and not has_side_case
                require(alone, "always is said of a case")
                for player in self._find_owners(acts, party):
                    indices = self._order(acts, player, relation.sign)
                    yield Claim("strictly_dominates", self._name(player, *indices))
            else:
                require(not any(side.case for side in sides[1:]), "two cases are compared")
                case, mover = self._enter(case, sides[0], party)
                if mover is None or party.players not in ((), (mover,)):
                    raise Impossible("one moves and another gets it")
                indices = self._order(acts, mover, relation.sign)
                yield self._compare_moves(case, mover, indices, relation)

        return Fact(state)

    def _order(self, acts: list[Act], player: int, sign: int) -> list[int]:
        """Return the indices of two moves, the better one first.

        The other one of two where only one is named.
        """
        indices = [act.index(player) for act in acts]
        if len(indices) != 2:
            indices.append(self._other_index(player, indices[0]))
        return indices[::sign]

    def _compare_moves(
        self,
        case: Choices,
        player: int,
        indices: list[int],
        relation: Relation,
    ) -> Claim:
        if relation.by is not None:
            better, worse = (case | {player: index} for index in indices)
            return self._claim_size(player, relation.by, better, worse)
        *names, name = self._name(player, *indices)
        moves, mixes = self._against(case, player)
        form = "better_response_to_mix" if mixes else "better_response"
        return Claim(form, (*names, mixes or moves, name))

    def _compare_outcomes(
        self,
        cases: list[Choices],
        party: Party,
        relation: Relation,
    ) -> Iterator[Claim]:
        require_said(party.players and len(cases) == 2, "it is not said for whom, or than what")
        for player in party.players:
            better, worse = cases[:: relation.sign]
            if relation.by is not None:
                yield self._claim_size(player, relation.by, better, worse)
            else:
                name = self.subject.players[player]
                yield Claim("better_outcome", (name, self._chain(better), self._chain(worse)))

    def _claim_size(
        self,
        player: int,
        by: Fraction,
        better: Choices,
        worse: Choices,
    ) -> Claim:
        """Claim by how much one outcome pays more than another."""
        name = self.subject.players[player]
        return Claim("payoff_difference", (name, by, self._chain(better), self._chain(worse)))

    def _compare_numbers(self, form: str, *numbers: Fraction) -> Fact:
        return Fact(lambda case: [Claim(form, numbers)])

    _read_higher = partialmethod(_compare_numbers, "higher")
    _read_lower = partialmethod(_compare_numbers, "lower")

    def _read_better_amount(self, *numbers: Fraction) -> Fact:
        words = {word for move in self.words.moves for word in move}
        named = any(word[:1].isdigit() for word in words)
        require(not named, "moves have numbers for names: one of them may be better than another")
        return self._compare_numbers("higher", *numbers)

    # Best responses.

    def _read_best(self, *parts: Part) -> Fact:
        act, own_case = find_side(part for part in parts if not isinstance(part, Case))
        party = find_party(parts)
        to = find_first(parts, Case)

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
                require(set(case) <= set(self.context), "there are two things to respond to")
            case = (case if to is None else dict(to)) | dict(own_case)
            player = party.players[0] if party.players else self._find_mover(act, party, case)
            cases = [self._face(case, player)]
            if "always_flag" in parts or ALWAYS in case:
                alone = set(case) <= {ALWAYS} and len(self.everybody) == 2
                is_clear = alone and "denied" not in parts
                require(is_clear, "always is said of a case, or it may be not always")
                replies = range(len(self.subject.actions[1 - player]))
                cases = [{1 - player: index} for index in replies]
            for faced in cases:
                action, name = self._name(player, act.index(player))
                moves, mixes = self._against(faced, player)
                form = "best_response_to_mix" if mixes else "best_response"
                yield Claim(form, (action, mixes or moves, name), "denied" in parts)

        return Fact(state)

    # The best and the worst that can happen.

    def _read_extreme(self, *parts: Part) -> Fact:
        amount = pick(parts, PaidAmount)[0]
        act = find_side(parts).act
        kind = "highest" if "highest" in parts else "lowest"
        parties = list(dict.fromkeys(pick(parts, Party))) or [Party((0,))]

        def state(case: Choices) -> Iterator[Claim]:
            player = parties[0].single
            if player is None or len(parties) > 1 or amount.average:
                raise Impossible("several players, or an average")
            index = self._find_own_move(case, player, act)
            if index is not None:
                names = self._name(player, index)
                yield Claim(f"{kind}_individual_payoff_for_choice", (amount.value, *names))
            elif "anybody" in parts or not pick(parts, Party):
                require("anybody" in parts or "whole" in parts, "it may be the best of somebody")
                yield Claim(f"{kind}_payoff", (amount.value,))
            else:
                is_said = "whole" in parts or self.alone
                require(is_said, "a sentence before may have said by which move")
                names = self._name(player)
                yield Claim(f"{kind}_possible_individual_payoff", (amount.value, *names))

        return Fact(state)

    def _find_own_move(self, case: Choices, player: int, act: Act | None) -> int | None:
        """Return the player's own move, where nothing else is said of the case."""
        is_alone = set(case) <= {player, ALWAYS}
        require(is_alone and not (self.has_turns and act is not None), "the case says more")
        index = case.get(player) if act is None else act.index(player)
        once = index is None or (isinstance(index, int) and case.get(player, index) == index)
        require(once, "the player mixes, or chooses twice")
        return index

    def _bound(
        self,
        case: Choices,
        kind: str,
        shares: tuple[Share, ...],
        side: Side,
    ) -> Iterator[Claim]:
        """Bound what one player gets by one move, whatever the others do."""
        party, amount = shares[0]
        is_one_share = len(shares) == 1 and len(party.players) <= 1
        alone = is_one_share and not amount.average and not side.case
        require_said(alone, "it is not said of one player and one move alone")
        player = party.single
        if player is None and side.act:
            player = self._find_mover(side.act, party, case)
        index = None if player is None else self._find_own_move(case, player, side.act)
        if player is None or index is None:
            raise Unsaid("it is not said by which move")
        names = self._name(player, index)
        yield Claim(f"{kind}_payoff_for_choice", (amount.value, *names))

    def _limit(self, kind: str, *parts: Part) -> Fact:
        share = Share(find_party(parts), pick(parts, PaidAmount)[0])
        return Fact(lambda case: self._bound(case, kind, (share,), find_side(parts)))

    _read_at_least = partialmethod(_limit, "guaranteed")
    _read_at_most = partialmethod(_limit, "limited")
    _read_up_to = partialmethod(_limit, "highest_individual")
