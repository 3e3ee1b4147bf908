"""A dialogue with offers: people, models and bots write freely, and their moves alone agree.

With each message the writer makes an offer, accepts or rejects the last offer of the other, only
talks, or walks away. An offer is filled in as a form of its own (`DealRules.list_terms`); a later
offer takes the place of an earlier one. The deal is what was accepted; nothing is read out of the
text. Where the deal is about moves (`deals.Moves`), both talk first and then choose at once.

    nature       draws the private information, where several draws are possible
    player 1, 2  a Form of message and move, then a Form with the terms of an offer; or a Choice
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Words
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import NATURE, Action, Role, View
from bestresponse.core.player import Player
from bestresponse.core.told import Event, PrivateProse, Prose, Statement, Worded, prose
from bestresponse.games.dialogue.conceding import ACCEPT, CONCEDER, LEAVE, OFFER, Conceder
from bestresponse.games.dialogue.deals import Deal
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.game import Dialogue, PlainDialogue, make_plain_dialogue
from bestresponse.games.dialogue.ruled import RuledDialogue
from bestresponse.games.dialogue.told import (
    Moved,
    NobodyWrote,
    OfferOpen,
    OfferRule,
    Settles,
    Terms,
    Wrote,
)

_LONGEST = 4000
_MOST_DEALS = 20_000
REJECT = "reject the offer"
TALK = "only talk"


@dataclass(frozen=True, slots=True)
class TalkTurn:
    """What one person wrote and did; `terms` are those of the offer made or accepted."""

    text: str
    move: str
    terms: Terms = ()


@dataclass(frozen=True, slots=True)
class TalkState:
    """The private information drawn, the turns so far, and the sealed moves.

    `drafted` is the text of a turn whose offer is being filled in.
    """

    case: int
    turns: tuple[TalkTurn, ...] = ()
    drafted: str | None = None
    sealed: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class OfferDialogue:
    """The dialogue of `talk`, in which moves make the deal; `replies` messages of each at most."""

    talk: PlainDialogue
    replies: int
    unit = "points"

    @property
    def domain(self) -> Domain:
        """What it is about."""
        return self.talk.domain

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"{self.domain.name} dialogue with offers"

    @property
    def version(self) -> int:
        """The version of the rules."""
        return self.domain.version

    @property
    def title(self) -> str:
        """What the dialogue is called."""
        return self.talk.title

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.talk.roles

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the people."""
        return self.talk.names

    @property
    def messages(self) -> int:
        """How many messages both write together, at most."""
        return self.replies * len(self.roles)

    def start(self) -> TalkState:
        """Return the state before anybody has moved."""
        is_drawn = len(self.talk.cases) > 1
        return TalkState(case=-1 if is_drawn else 0)

    def asks(self, state: TalkState) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        deal = self.domain.deal
        if state.case < 0:
            cases = range(len(self.talk.cases))
            return {NATURE: Lottery.uniform(tuple(cases))}
        if self._is_over(state):
            return {}
        if len(state.turns) == self.messages:
            return dict.fromkeys(self.roles, Choice(deal.names))
        role = self.roles[len(state.turns) % 2]
        if state.drafted is not None:
            return {role: Form(deal.list_terms(self.names, self.domain.generate))}
        if deal.sealed:
            return {role: Words(_LONGEST)}
        move = Choice(self._list_moves(state))
        return {role: Form((("message", Words(_LONGEST)), ("move", move)))}

    def _is_over(self, state: TalkState) -> bool:
        if state.turns and state.turns[-1].move in (ACCEPT, LEAVE):
            return True
        if self.domain.deal.sealed:
            return bool(state.sealed)
        return len(state.turns) == self.messages

    def _list_moves(self, state: TalkState) -> tuple[str, ...]:
        """List what the writer of the next message can do.

        An offer that cannot be carried out cannot be accepted, and the last message makes none,
        since nobody could answer it.
        """
        standing = self._find_offer(state)
        moves = []
        if standing and self._can_settle(state, standing):
            moves.append(ACCEPT)
        if len(state.turns) < self.messages - 1:
            moves.append(OFFER)
        moves.append(REJECT if standing else TALK)
        return (*moves, LEAVE)

    def _find_offer(self, state: TalkState) -> Terms:
        """Return the terms of the last turn's offer, empty where it made none."""
        if not state.turns or state.turns[-1].move != OFFER:
            return ()
        return state.turns[-1].terms

    def _can_settle(self, state: TalkState, terms: Terms) -> bool:
        try:
            self._settle(state, terms)
        except InvalidMove:
            return False
        return True

    def _settle(self, state: TalkState, terms: Terms) -> Deal:
        """Return the deal with these terms; without terms there is none."""
        deal = self.domain.deal
        ruling: Mapping[str, object] = {"agreed": False}
        if terms:
            ruling = deal.make_ruling(dict(terms), self.names)
        return deal.read(ruling, self.names, self.talk.cases[state.case].private)

    def apply(self, state: TalkState, moves: Mapping[Role, Action]) -> TalkState:
        """Return the state after these moves."""
        if NATURE in moves:
            return replace(state, case=moves[NATURE])
        if len(state.turns) == self.messages:
            sealed = [moves[role] for role in self.roles]
            return replace(state, sealed=tuple(sealed))
        (answer,) = moves.values()
        if state.drafted is not None:
            turn = TalkTurn(state.drafted, OFFER, tuple(answer.items()))
        elif self.domain.deal.sealed:
            turn = TalkTurn(answer, TALK)
        elif answer["move"] == OFFER:
            return replace(state, drafted=answer["message"])
        else:
            terms = self._find_offer(state) if answer["move"] == ACCEPT else ()
            turn = TalkTurn(answer["message"], answer["move"], terms)
        return replace(state, turns=(*state.turns, turn), drafted=None)

    def payoffs(self, state: TalkState) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if state.case < 0 or not self._is_over(state):
            return dict.fromkeys(self.roles, 0.0)
        private = self.talk.cases[state.case].private
        if self.domain.deal.sealed:
            deal: Deal = {"moves": list(state.sealed)}
        else:
            last = state.turns[-1]
            deal = self._settle(state, last.terms if last.move == ACCEPT else ())
        earned = self.domain.deal.utilities(deal, private)
        return dict(zip(self.roles, earned, strict=True))

    def view(self, state: TalkState, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(NATURE, prose(self.name), facts={"case": state.case})
        seat = self.roles.index(role)
        shown = Dialogue(case=state.case)
        scenario = self.talk.cases[max(state.case, 0)]
        facts = {
            "seat": seat,
            "private": dict(scenario.private[seat]),
            "public": dict(scenario.public),
            "said": [[k % 2, 1 - k % 2, turn.text] for k, turn in enumerate(state.turns)],
            "moves": [[turn.move, dict(turn.terms)] for turn in state.turns],
            "sealed": list(state.sealed),
        }
        if state.drafted is not None and len(state.turns) % 2 == seat:
            facts["drafted"] = state.drafted
        rules: tuple[Statement, ...] = (
            Prose(self.talk.task(shown)),
            PrivateProse(self.talk.tell_private(shown, seat)),
        )
        return View(role, (*rules, *self._list_rule()), self._list_events(state, seat), facts)

    def _list_rule(self) -> tuple[Statement, ...]:
        return () if self.domain.deal.sealed else (OfferRule(),)

    def list_turn_moves(self, state: TalkState) -> Sequence[Moved]:
        """List what each turn did, beside its text."""
        return [
            Moved(self.names[number % 2], turn.move, turn.terms)
            for number, turn in enumerate(state.turns)
        ]

    def find_settled(self, view: View, action: Action) -> Settles | None:
        """Return what an answer settles for good; None where the talk goes on."""
        move = action.get("move") if isinstance(action, Mapping) else None
        if move == ACCEPT:
            _, offered = view.facts["moves"][-1]
            return Settles(ACCEPT, tuple(offered.items()))
        return Settles(LEAVE) if move == LEAVE else None

    def _list_events(self, state: TalkState, seat: int) -> tuple[Event, ...]:
        events: list[Event] = []
        moved = self.list_turn_moves(state)
        for number, turn in enumerate(state.turns):
            writer = self.names[number % 2]
            reader = self.names[1 - number % 2]
            events.append(Wrote(number + 1, writer, reader, turn.text))
            if turn.move != TALK:
                events.append(moved[number])
        for name, choice in zip(self.names, state.sealed, strict=False):
            events.append(Moved(name, "sealed", (("move", choice),)))
        if not self._is_over(state) and len(state.turns) < self.messages:
            is_writer = len(state.turns) % 2 == seat
            standing = self._find_offer(state)
            if is_writer:
                events += self.talk.list_turn(len(state.turns) + 1)
            if is_writer and standing:
                events.append(OfferOpen(standing))
        return tuple(events) if state.turns else (NobodyWrote(), *events)

    def list_deals(self, state: TalkState) -> list[tuple[float, ...]]:
        """List what both would earn by each offer that can be carried out, in whole numbers."""
        fields = self.domain.deal.list_terms(self.names, self.domain.generate)
        names = [name for name, _ in fields]
        options = [_list_values(ask) for _, ask in fields]
        num_deals = math.prod(map(len, options))
        if not fields or num_deals > _MOST_DEALS:
            return []
        earned = []
        for values in product(*options):
            with suppress(InvalidMove):
                deal = self._settle(state, tuple(zip(names, values, strict=True)))
                earned.append(self.domain.deal.utilities(deal, self.talk.cases[state.case].private))
        return earned

    @property
    def strategy_names(self) -> tuple[str, ...]:
        """Who makes offers without a model."""
        return (CONCEDER,)

    def make_strategy(self, name: str, role: Role, seed: int) -> Player | None:
        """Make the player of that name; None where the dialogue has no such player."""
        if name != CONCEDER:
            return None
        deal = self.domain.deal
        fields = deal.list_terms(self.names, self.domain.generate)
        return Conceder(deal, self.names, fields, self.replies, seed)

    def list_rules(self, role: Role) -> tuple[Statement, ...]:
        """State the rules for people."""
        return (*self.talk.list_rules(role), *self._list_rule())

    def list_private(self, state: TalkState, role: Role) -> tuple[Worded, ...]:
        """State what the seat knows about itself."""
        shown = Dialogue(case=state.case, over=True)
        return self.talk.list_private(shown, role)

    def word_question(self, ask: object) -> str:
        """Ask for the message and the move, for the terms of an offer, or for the sealed move."""
        match ask:
            case Form((("message", _), _)):
                return "What do you write, and what do you do?"
            case Form():
                return "What do you offer?"
            case Choice():
                return "Which move do you choose?"
        return "What do you write?"


def _list_values(ask: Ask) -> Sequence[str | float]:
    """List what can be filled in, of amounts whole numbers."""
    if isinstance(ask, Choice):
        return ask.options
    assert isinstance(ask, Amount)
    return range(math.ceil(ask.low), math.floor(ask.high) + 1)


def make_dialogue(domain: str, parameters: Mapping[str, object]) -> PlainDialogue | OfferDialogue:
    """Make the dialogue of that domain as people play it.

    With the parameter `offers`, which is usual where the domain has something to offer, moves make
    the deal; else a referee says what was agreed, and both can object.
    """
    settings = dict(parameters)
    wanted = settings.pop("offers", None)
    talk = make_plain_dialogue(domain, settings)
    if wanted is not None and not isinstance(wanted, bool):
        raise UsageError(f"the parameter offers is {wanted!r}; expected true or false")
    offered = talk if wanted is False else add_offers(talk)
    if offered is not talk:
        return offered
    if wanted:
        raise UsageError(
            f"there is nothing to offer in {domain}; leave offers out and name a referee"
        )
    return RuledDialogue(
        talk.domain, talk.cases, talk.manners, replies=talk.replies, early_end=talk.early_end
    )


def add_offers(talk: PlainDialogue) -> PlainDialogue | OfferDialogue:
    """Let moves make the deal of a talk; the talk itself where two have nothing to offer."""
    deal = talk.domain.deal
    has_offers = deal.sealed or bool(deal.list_terms(talk.names, talk.domain.generate))
    if not has_offers or len(talk.roles) != 2:
        return talk
    return OfferDialogue(replace(talk, early_end=True), talk.replies)
