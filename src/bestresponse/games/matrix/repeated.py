"""A matrix game played many times by the same players, who see everything that happened.

Payoffs are the sums over the rounds. With `continuation` below 1 nature decides after each round whether to go on; with
`discount` below 1 a payoff counts that much less with every round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.capabilities import PlayedRounds
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Action, Role, View
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.matrix.presentation import Format
from bestresponse.games.texts import TEXTS
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["RepeatedGame", "Rounds"]

_GO_ON, _STOP = "go on", "stop"


@dataclass(frozen=True, slots=True)
class Rounds:
    """The joint actions so far; `decided` says whether nature has allowed the next round."""

    played: tuple[tuple[str, ...], ...] = ()
    decided: bool = True
    over: bool = False


@dataclass(frozen=True)
class RepeatedGame:
    """`form` played for `rounds` rounds, or until nature stops it."""

    form: NormalForm
    rounds: int = 10
    continuation: float = 1.0
    shown_as: Format = "table"
    story: str = ""
    version: int = 1
    discount: float = 1.0

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise UsageError(f"a repeated game needs at least 1 round, got {self.rounds}")
        for what, given in (("continuation", self.continuation), ("discount", self.discount)):
            if not 0 < given <= 1:
                raise UsageError(f"{what} is {given:g}; expected a number above 0, at most 1")

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"repeated {self.form.name or 'matrix'}"

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.form.players

    @cached_property
    def stage(self) -> MatrixGame:
        """The game of one round."""
        return MatrixGame(self.form, shown_as=self.shown_as, story=self.story)

    def start(self) -> Rounds:
        """Return the state before anybody has moved."""
        return Rounds()

    def asks(self, state: Rounds) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.over or len(state.played) >= self.rounds:
            return {}
        if not state.decided:
            return {NATURE: Lottery(((_GO_ON, self.continuation), (_STOP, 1 - self.continuation)))}
        return {role: Choice(actions) for role, actions in zip(self.roles, self.form.actions, strict=True)}

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(role, "Is there another round?", f"after round {len(state.played)}")
        seat = self.roles.index(role)
        briefing = f"{self.stage.view((), role).briefing}\n\n{self._length()}"
        now, past = self._describe_rounds(state, seat)
        facts = {
            **self.stage.view((), role).facts,
            "history": [list(moves) for moves in state.played],
            "past": past,
            "now": now,
            "rivals": [other for other in self.roles if other != role],
        }
        return View(role, briefing, "\n".join((now, *past)), facts)

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: those of one round, and how many there are."""
        return f"{self.stage.word_rules(role)}\n\n{self._length()}"

    def list_rounds(self, state: Rounds, role: Role) -> PlayedRounds:
        """List what everybody chose and what the seat got, round by round."""
        seat = self.roles.index(role)
        others = [other for other in self.roles if other != role]
        rows: list[tuple[int | float | str, ...]] = []
        for number, moves in enumerate(state.played, 1):
            theirs = [moves[self.roles.index(other)] for other in others]
            rows.append((number, moves[seat], *theirs, self.stage.payoffs(moves)[role]))
        now = len(state.played) + 1 if self.asks(state) else None
        of = self.rounds if self.continuation == 1.0 else None
        return PlayedRounds(now, of, self.payoffs(state)[role], ("round", "you", *others, "your payoff"), tuple(rows))

    def apply(self, state: Rounds, moves: Mapping[Role, Action]) -> Rounds:
        """Return the state after these moves."""
        if NATURE in moves:
            return Rounds(state.played, True, moves[NATURE] == _STOP)
        played = (*state.played, tuple(moves[role] for role in self.roles))
        return Rounds(played, self.continuation == 1.0)

    def payoffs(self, state: Rounds) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        totals = dict.fromkeys(self.roles, 0.0)
        for number, moves in enumerate(state.played):
            for role, payoff in self.stage.payoffs(moves).items():
                totals[role] += payoff * self.discount**number
        return totals

    def _length(self) -> str:
        if self.continuation == 1.0:
            length = TEXTS.fill("repeated_fixed", rounds=self.rounds)
        else:
            length = TEXTS.fill("repeated_random", percent=f"{100 * self.continuation:g}", rounds=self.rounds)
        if self.discount == 1.0:
            return length
        return f"{length} {TEXTS.fill('repeated_discount', percent=f'{100 * self.discount:g}')}"

    def _describe_rounds(self, state: Rounds, seat: int) -> tuple[str, list[str]]:
        """Say which round it is, and what happened in each before."""
        lines: list[str] = []
        for number, moves in enumerate(state.played, 1):
            payoffs = self.stage.payoffs(moves)
            others = ", ".join(
                f"{who} chose {move}" for who, move in zip(self.roles, moves, strict=True) if who != self.roles[seat]
            )
            lines.append(f"Round {number}: you chose {moves[seat]}, {others}; you got {payoffs[self.roles[seat]]:g}.")
        return f"Round {len(state.played) + 1}." if self.asks(state) else "The game is over.", lines
