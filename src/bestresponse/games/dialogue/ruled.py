"""A dialogue with a referee, whose ruling both people read before it counts.

The referee quotes the sentence on which its ruling rests. Both say at once whether they accept the
ruling or object to it, and every answer is on record. What somebody objects to is not agreed: the
talk goes on, and without a message left it ends without a deal. Where nothing is agreed on, since a
judge decides or sealed notes are read, an objection is on record and the ruling counts all the
same.

    player 1, 2  a Choice after each ruling that would end the talk
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.game import REFEREE, Action, Role, View
from bestresponse.games.dialogue.deals import Verdict
from bestresponse.games.dialogue.game import Dialogue, PlainDialogue
from bestresponse.games.dialogue.told import Ruled, Terms

OBJECT = "object"
_ANSWERS = Choice(("accept the decision", OBJECT))


class RuledDialogue(PlainDialogue):
    """The dialogue of people who read each ruling and can object to it."""

    def asks(self, state: Dialogue) -> Mapping[Role, Ask]:
        """Ask both about a ruling that ends the talk."""
        if state.over and not state.answers:
            return dict.fromkeys(self.roles, _ANSWERS)
        return super().asks(state)

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves; an objection before the last message reopens it."""
        if not state.over:
            return replace(super().apply(state, moves), answers=())
        answers = tuple(moves[role] for role in self.roles)
        is_last = len(state.said) == self.messages
        answered = replace(state, answers=answers, over=is_last or OBJECT not in answers)
        return self._speak_plainly(answered)

    def payoffs(self, state: Dialogue) -> Mapping[Role, float]:
        """Return what each role has earned so far: nothing by a deal that somebody disputes."""
        is_disputed = OBJECT in state.answers and self._is_about_agreement()
        if not state.answers or is_disputed:
            return dict.fromkeys(self.roles, 0.0)
        return super().payoffs(state)

    def _is_about_agreement(self) -> bool:
        deal = self.domain.deal
        return not (deal.sealed or isinstance(deal, Verdict))

    def view(self, state: Dialogue, role: Role) -> View:
        """Return what `role` may know in `state`: also the ruling and who objects to it."""
        view = super().view(state, role)
        if role == REFEREE:
            return replace(view, facts={**view.facts, "quotes": True})
        ruled = self.list_ruling(state)
        if role not in self.roles or not ruled:
            return view
        facts = {**view.facts, "ruling": state.ruling, "answers": list(state.answers)}
        return replace(view, history=(*view.history, *ruled), facts=facts)

    def list_ruling(self, state: Dialogue) -> tuple[Ruled, ...]:
        """List the ruling that both are asked about, or have just answered."""
        if not state.ruling or not (state.over or state.answers):
            return ()
        objectors = []
        for name, answer in zip(self.names, state.answers, strict=False):
            if answer == OBJECT:
                objectors.append(name)
        terms = _list_terms(state.ruling, self.names)
        quote = json.loads(state.ruling).get("quote", "")
        return (Ruled(terms, quote, tuple(objectors)),)

    def word_question(self, ask: object) -> str:
        """Ask for the next message, or about the ruling, and say what an objection does."""
        if ask != _ANSWERS:
            return super().word_question(ask)
        if self._is_about_agreement():
            return (
                "Is this right? If one of you objects, nothing is agreed by it. Objections are"
                " kept in the data."
            )
        return "Is this right? Objections are kept in the data, and the decision counts even so."


def _list_terms(written: str, names: tuple[str, ...]) -> Terms:
    """List what a ruling says, each by a name."""
    ruling = json.loads(written)
    match ruling:
        case {"agreed": False}:
            return (("", "no deal"),)
        case {"terms": levels}:
            return tuple(levels.items())
        case {"gives": baskets}:
            pieces = []
            for name, basket in zip(names, baskets, strict=True):
                pieces += [(f"{name}: {item}", count) for item, count in basket.items()]
            return tuple(pieces)
        case {"moves": moves}:
            return tuple(zip(names, moves, strict=True))
        case {"winner": winner}:
            return (("winner", "tie" if winner is None else names[winner]),)
    return (("", ruling.get("choice", ruling.get("price"))),)
