"""A dialogue in which nobody chooses a manner first: seats write messages, and a referee says what was agreed.

This is what people play. Every seat writes in the neutral manner of the domain, so that a turn is one message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, REFEREE, Action, Role
from bestresponse.games.dialogue.domain import Domain, load_domain
from bestresponse.games.dialogue.game import Dialogue, DialogueGame
from bestresponse.games.dialogue.scenario import scenarios, variants

__all__ = ["PlainDialogue", "draw_plain_dialogue", "make_plain_dialogue"]

_RANGES = {"seed": (0, 2**31 - 1), "cases": (1, 100), "replies": (1, 50)}
_NAMES = "seed, cases, replies, early_end"
_PARAMETERS = set(_NAMES.split(", "))


class PlainDialogue(DialogueGame):
    """A dialogue in the neutral manner."""

    def start(self) -> Dialogue:
        """Return the state before anybody has moved."""
        return self._speak_plainly(super().start())

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves."""
        return self._speak_plainly(super().apply(state, moves))

    def _speak_plainly(self, state: Dialogue) -> Dialogue:
        asked = [role for role in self.asks(state) if role not in (NATURE, REFEREE)]
        return replace(state, manner=self.neutral(self.turn(state))[0]) if asked and not state.manner else state

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: what the talk is about, and how many messages there are."""
        ends = " The talk ends as soon as you agree." if self.early_end else ""
        ends = " Then each of you hands in a sealed note with a move." if self.domain.deal.sealed else ends
        seat = self.roles.index(role)
        task = self._task(super().start())
        return f"You are {self.names[seat]}. {task}\n\nEach of you writes {self.replies} messages, in turn.{ends}"

    def word_private(self, state: Dialogue, role: Role) -> str:
        """Say what the seat knows about itself and, on its turn, which message it writes and what comes after it."""
        if state.case < 0:
            return ""
        seat = self.roles.index(role)
        own = self._private_text(state, seat)
        if state.over or self.to_rule(state) or self.turn(state) != seat:
            return own
        note = f" {self._note_text(state, seat)}" if self.is_sealed(len(state.said)) else ""
        return f"{own}\n\n{self._protocol(len(state.said) + 1)}{note}"

    def _note_text(self, state: Dialogue, seat: int) -> str:
        """Ask for the sealed note."""
        return self.domain.fill("note", self._places(self.cases[state.case], seat))

    @property
    def title(self) -> str:
        """What the dialogue is called."""
        return f"A talk: {self.domain.name}"

    unit = "points"

    def word_question(self, ask: object) -> str:
        """Ask for the next message."""
        return "What do you write?"


def make_plain_dialogue(domain: str, parameters: Mapping[str, object]) -> PlainDialogue:
    """Make the dialogue of that domain with the parameters seed, cases, replies and early_end.

    Nature draws one of `cases` sets of private information.
    """
    given = {"seed": 0, "cases": 1, "replies": 2, "early_end": True, **parameters}
    seed, cases, replies = (_read_whole(given, name) for name in ("seed", "cases", "replies"))
    if set(given) > _PARAMETERS:
        raise UsageError(f"a dialogue has no parameter {min(set(given) - _PARAMETERS)!r}; it has {_NAMES}")
    found = load_domain(domain)
    if found.players != 2:
        raise UsageError(f"{domain} has {found.players} speakers; expected a dialogue of two")
    return draw_plain_dialogue(found, seed, cases, replies=replies, early_end=given["early_end"] is True)


def draw_plain_dialogue(
    domain: Domain, seed: int = 0, cases: int = 20, *, replies: int = 2, early_end: bool = True
) -> PlainDialogue:
    """Draw a dialogue in which nature draws one of `cases` sets of private information, or as many as there are."""
    drawn = variants(domain, scenarios(domain, seed, 1)[0], seed, cases, fewer=True)
    return PlainDialogue(domain, drawn, domain.manners(), replies=replies, early_end=early_end)


def _read_whole(given: Mapping[str, object], name: str) -> int:
    value, (low, high) = given[name], _RANGES[name]
    if not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"the parameter {name} is {value!r}; expected {low} to {high}")
    return value
