"""Who chooses what: cases of a sentence, joined and named as the game names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from lark import Token

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.english.parts import (
    OPPONENT,
    Act,
    Case,
    Choices,
    Either,
    MoveChance,
    PaidAmount,
    Part,
    Party,
    Side,
    find_first,
    pick,
    require,
    require_said,
)
from bestresponse.formal.claims.english.vocabulary import Vocabulary
from bestresponse.formal.claims.form import Mix, Move, WrittenNumber


class Cases:
    """What a sentence says of moves and players.

    `context` is the case that a heading above it sets; if `alone`, no move is named before it.
    """

    def __init__(
        self,
        words: Vocabulary,
        tokens: list[Token],
        context: Case,
        *,
        alone: bool = False,
    ) -> None:
        self.words = words
        self.tokens = tokens
        self.subject = words.subject
        self.context = dict(context)
        self.alone = alone
        self.everybody = tuple(range(len(self.subject.players)))
        self.has_turns = self.subject.tree is not None

    # Who, what, how much.

    def _read_everybody(self) -> Party:
        return Party(self.everybody)

    def _read_several(self, *parties: Party) -> Party:
        players = {player for party in parties for player in party.players}
        return Party(tuple(sorted(players)))

    def _read_amount(self, *parts: Part) -> PaidAmount:
        number = pick(parts, WrittenNumber)[0]
        return PaidAmount(number, "average" in parts, "each" in parts)

    # Cases.

    def _read_expects(self, believer: Party, case: Case) -> Case:
        require(believer.single == 0, "what others believe need not be so")
        return case

    def _read_acts(self, *parts: Part) -> Case:
        """Say what somebody chooses, the reasoner where nobody is named."""
        party = find_first(parts, Party) or Party((0,))
        act = pick(parts, Act)[0]
        return Case((player, act.index(player)) for player in party.players)

    def _read_profile(self, *acts: Act) -> Either:
        """Name an outcome, with the players in the order of the game or the reasoner first."""
        cases = []
        in_game = tuple(map(int, np.argsort(self.subject.order)))
        for order in dict.fromkeys((self.everybody, in_game)):
            if len(order) != len(acts):
                continue
            pairs = list(zip(order, acts, strict=True))
            if all(player in act.owners for player, act in pairs):
                choices = sorted((player, act.index(player)) for player, act in pairs)
                cases.append(Case(choices))
        return Either(dict.fromkeys(cases))

    def _read_mixes(self, party: Party, *chances: MoveChance) -> Case:
        """Return the probabilities of all moves.

        What is left belongs to the only move that has none.
        """
        return Case((player, self._complete(player, chances)) for player in party.players)

    def _complete(self, player: int, chances: Sequence[MoveChance]) -> tuple[Fraction, ...]:
        """Return the probabilities of all moves of a player."""
        weights = {act.index(player): chance for act, chance in chances}
        left = Fraction(1) - sum(weights.values())
        indices = range(len(self.subject.actions[player]))
        others = [index for index in indices if index not in weights]
        require(left == 0 or (left > 0 and len(others) == 1), "these are not all probabilities")
        weights |= dict.fromkeys(others, left)
        return tuple(weights.get(index, Fraction(0)) for index in indices)

    def _read_mixes_evenly(self, party: Party | None = None) -> Case:
        party = party or Party(self.everybody[1:])
        mixes = []
        for player in party.players:
            count = len(self.subject.actions[player])
            mixes.append((player, (Fraction(1, count),) * count))
        return Case(mixes)

    def _other_index(self, player: int, index: int) -> int:
        """Return the other move of a player who has two."""
        require(len(self.subject.actions[player]) == 2, "there are more than two moves")
        return 1 - index

    # From parts to the moves of the game.

    def _join(self, *cases: Case) -> Choices:
        """Return who chooses what.

        What a heading says gives way; in a tree the moves are numbered in their order.
        """
        pairs = [pair for case in cases for pair in case]
        if self.has_turns:
            return dict(enumerate((*self.context.items(), *pairs)))
        case: Choices = {}
        for player, choice in pairs:
            require(case.setdefault(player, choice) == choice, "somebody chooses twice")
        return case if OPPONENT in case else self.context | case

    def _enter(
        self,
        case: Choices,
        side: Side,
        party: Party,
    ) -> tuple[Choices, int | None]:
        """Add the outcome or the move that a fact names to its case.

        Also return whose move it is, if one player's.
        """
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
                may_change = player in self.context or case.get(player, choice) == choice
                require(may_change, "somebody chooses twice")
                case[player] = choice
        about = mover if mover is not None else party.single or 0
        require(about == 0 or OPPONENT not in case, "it is not clear against whom")
        return self._face(case, about), mover

    def _face(self, case: Choices, player: int) -> Choices:
        """Say who is meant by "against R" in a fact about one player."""
        if OPPONENT not in case:
            return case
        opponent = 1 - player
        is_clear = len(self.everybody) == 2 and opponent not in case
        require(is_clear, "it is not clear against whom")
        faced = dict(case)
        act = faced.pop(OPPONENT)
        return faced | {opponent: act.index(opponent)}

    def _find_mover(self, act: Act, party: Party, case: Choices) -> int:
        """Return whose move a named move is.

        It is that of the player whose payoff is spoken of, else of the one whose choice is not said
        yet.
        """
        movers = list(act.owners)
        if not self.has_turns:
            movers = []
            for player, index in act.indices:
                if player in self.context or case.get(player, index) == index:
                    movers.append(player)
        if party.single in movers:
            return party.players[0]
        return self._choose_one([player for player in act.owners if player not in case])

    def _find_owners(self, acts: Iterable[Act], party: Party) -> tuple[int, ...]:
        """Return for whom something is said of moves in the whole game."""
        owners = set(self.everybody)
        for act in acts:
            owners &= set(act.owners)
        require(set(party.players) <= owners, "somebody does not have these moves")
        return party.players or (self._choose_one(sorted(owners)),)

    def _choose_one(self, players: list[int]) -> int:
        """Return the player that is meant: the only one, or the reasoner where all are alike."""
        if len(players) == 1:
            return players[0]
        require(0 in players and self.is_symmetric, "it is not clear who is meant")
        return 0

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether the game is the same for everybody, so that what holds for one holds for all."""
        if self.has_turns or len(set(self.subject.actions)) > 1:
            return False
        cells = self.subject.cells
        for player in self.everybody:
            if not np.array_equal(cells[player], np.swapaxes(cells[0], 0, player)):
                return False
        return True

    def _name(self, player: int, *indices: int) -> tuple[str, ...]:
        """Return the names of a player's moves and then of the player, as most claims take them."""
        actions = self.subject.actions[player]
        names = [actions[index] for index in indices]
        return (*names, self.subject.players[player])

    def _name_move(self, player: int, index: int) -> Move:
        return Move(self.subject.players[player], self.subject.actions[player][index])

    def _chain(self, case: Choices) -> tuple[Move, ...]:
        """Return an outcome, in which everybody chooses one move; in a tree, the moves so far."""
        if self.has_turns:
            pairs = list(case.values())
        else:
            everybody_chooses = set(case) == set(self.everybody)
            require_said(everybody_chooses, "it is not said what everybody chooses")
            pairs = sorted(case.items(), reverse=True)
        require(all(isinstance(index, int) for _, index in pairs), "somebody mixes")
        return tuple(self._name_move(player, index) for player, index in pairs)

    def _against(self, case: Choices, player: int) -> tuple[tuple[Move, ...], tuple[Mix, ...]]:
        """Return what the others choose: moves, or mixes where somebody mixes."""
        others = [pair for pair in sorted(case.items()) if pair[0] != player]
        choosers = {other for other, _ in others}
        require_said(
            choosers == set(self.everybody) - {player}, "it is not said what the others choose"
        )
        if all(isinstance(choice, int) for _, choice in others):
            moves = [self._name_move(other, index) for other, index in reversed(others)]
            return tuple(moves), ()
        return (), tuple(self._mix(other, choice) for other, choice in others)

    def _mix(self, player: int, choice: int | tuple[Fraction, ...]) -> Mix:
        actions = self.subject.actions[player]
        weights = [(choice, Fraction(1))] if isinstance(choice, int) else list(enumerate(choice))
        named = [(actions[index], share) for index, share in weights if share]
        return Mix(self.subject.players[player], tuple(named))

    def _foretell(self, party: Party, act: Act, case: Choices) -> Claim:
        require(self.has_turns and len(party.players) <= 1, "all choose at once")
        player = party.single or 0
        move = self._name_move(player, act.index(player))
        return Claim("will_play", (move.who, move.action, self._chain(case)))
