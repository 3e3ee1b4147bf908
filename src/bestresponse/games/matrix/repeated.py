"""A matrix game played many times by the same players, who see everything that happened.

Payoffs are the sums over the rounds. With `continuation` below 1 nature decides after each round whether to go on; with
`discount` below 1 a payoff counts that much less with every round. With `noise` above 0 players say which move they
mean and nature draws, seat by seat, which is made: the one that was meant, or with probability `noise` one of the
others, each as likely as the next (as `theory.repeated.round_robin.Rules.noise` has it for automata). Players are told
so; of their own moves they see what was meant and what was made, of the others' only what was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from bestresponse.core import NATURE, Action, Ask, Choice, Lottery, Role, View
from bestresponse.core.capabilities import PlayedRounds
from bestresponse.core.errors import UsageError
from bestresponse.games.matrix.game import Format, MatrixGame, Others
from bestresponse.games.texts import TEXTS
from bestresponse.theory.games.normal_form import NormalForm

_GO_ON, _STOP = "go on", "stop"


@dataclass(frozen=True, slots=True)
class Rounds:
    """The joint moves so far, as they were made and as they were meant.

    While nature draws the moves of a round, `meant` has an entry more than `played`, and `drawn` holds the moves of the
    seats that it has come to. `decided` says whether nature has allowed the next round.
    """

    played: tuple[tuple[str, ...], ...] = ()
    decided: bool = True
    over: bool = False
    meant: tuple[tuple[str, ...], ...] = ()
    drawn: tuple[str, ...] = ()

    @property
    def drawing(self) -> bool:
        """Tell whether nature is asked which moves are made."""
        return len(self.meant) > len(self.played)


@dataclass(frozen=True)
class RepeatedGame:
    """`form` played for `rounds` rounds, or until nature stops it."""

    form: NormalForm
    rounds: int = 10
    continuation: float = 1.0
    shown_as: Format = "table"
    story: str = ""
    version: int = 2
    discount: float = 1.0
    noise: float = 0.0
    others: Others = "unsaid"

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise UsageError(f"a repeated game needs at least 1 round, got {self.rounds}")
        for what, given in (("continuation", self.continuation), ("discount", self.discount)):
            if not 0 < given <= 1:
                raise UsageError(f"{what} is {given:g}; expected a number above 0, at most 1")
        if not 0 <= self.noise <= 1:
            raise UsageError(f"noise is {self.noise:g}; expected a probability")

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
        return MatrixGame(self.form, shown_as=self.shown_as, story=self.story, others=self.others)

    def start(self) -> Rounds:
        """Return the state before anybody has moved."""
        return Rounds()

    def asks(self, state: Rounds) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.over or len(state.played) >= self.rounds:
            return {}
        if state.drawing:
            return {NATURE: self._draw_move(state)}
        if not state.decided:
            return {NATURE: Lottery(((_GO_ON, self.continuation), (_STOP, 1 - self.continuation)))}
        return {role: Choice(actions) for role, actions in zip(self.roles, self.form.actions, strict=True)}

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE and state.drawing:
            mover = self.roles[len(state.drawn)]
            return View(role, f"Is the move made that {mover} means?", f"round {len(state.meant)}")
        if role == NATURE:
            return View(role, "Is there another round?", f"after round {len(state.played)}")
        seat = self.roles.index(role)
        briefing = f"{self.stage.view((), role).briefing}\n\n{self._length()}".strip()
        now, past = self._describe_rounds(state, role)
        facts = {
            **self.stage.view((), role).facts,
            "history": [list(moves) for moves in state.played],
            "past": past,
            "now": now,
            "rivals": [other for other in self.roles if other != role],
        }
        if self.noise:
            facts["meant"] = [moves[seat] for moves in state.meant]
        return View(role, briefing, "\n".join((now, *past)), facts)

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: those of one round, how many there are, and what can go wrong."""
        return f"{self.stage.word_rules(role)}\n\n{self._length()}".strip()

    def list_rounds(self, state: Rounds, role: Role) -> PlayedRounds:
        """List which moves were made and what the seat got, round by round; under noise also what the seat meant."""
        seat = self.roles.index(role)
        others = [other for other in self.roles if other != role]
        rows: list[tuple[int | float | str, ...]] = []
        for number, moves in enumerate(state.played, 1):
            theirs = [moves[self.roles.index(other)] for other in others]
            meant = (state.meant[number - 1][seat],) if self.noise else ()
            rows.append((number, *meant, moves[seat], *theirs, self.stage.payoffs(moves)[role]))
        now = len(state.played) + 1 if self.asks(state) else None
        of = self.rounds if self.continuation == 1.0 else None
        columns = ("round", *(("you meant",) if self.noise else ()), "you", *others, "your payoff")
        return PlayedRounds(now, of, self.payoffs(state)[role], columns, tuple(rows))

    def apply(self, state: Rounds, moves: Mapping[Role, Action]) -> Rounds:
        """Return the state after these moves."""
        if state.drawing:
            drawn = (*state.drawn, moves[NATURE])
            if len(drawn) < len(self.roles):
                return replace(state, drawn=drawn)
            return Rounds((*state.played, drawn), self.continuation == 1.0, meant=state.meant)
        if NATURE in moves:
            return replace(state, decided=True, over=moves[NATURE] == _STOP)
        meant = tuple(moves[role] for role in self.roles)
        if self.noise:
            return replace(state, meant=(*state.meant, meant))
        return Rounds((*state.played, meant), self.continuation == 1.0)

    def payoffs(self, state: Rounds) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        totals = dict.fromkeys(self.roles, 0.0)
        for number, moves in enumerate(state.played):
            for role, payoff in self.stage.payoffs(moves).items():
                totals[role] += payoff * self.discount**number
        return totals

    def _draw_move(self, state: Rounds) -> Lottery:
        """Return the draw of the next seat's move; what was meant comes first, so that a slip is the same draw."""
        seat = len(state.drawn)
        meant = state.meant[-1][seat]
        others = [move for move in self.form.actions[seat] if move != meant]
        slip = self.noise if others else 0.0
        return Lottery(((meant, 1 - slip), *((move, slip / len(others)) for move in others)))

    def _length(self) -> str:
        if self.rounds == 1:
            length = ""
        elif self.continuation == 1.0:
            length = TEXTS.fill("repeated_fixed", rounds=self.rounds)
        else:
            length = TEXTS.fill("repeated_random", percent=f"{100 * self.continuation:g}", rounds=self.rounds)
        parts = [length]
        if self.discount != 1.0:
            parts.append(TEXTS.fill("repeated_discount", percent=f"{100 * self.discount:g}"))
        if self.noise:
            parts.append(TEXTS.fill("repeated_noise", percent=f"{100 * self.noise:g}"))
        return " ".join(part for part in parts if part)

    def _describe_rounds(self, state: Rounds, role: Role) -> tuple[str, list[str]]:
        """Say which round it is, and what happened in each before."""
        seat, lines = self.roles.index(role), []
        for number, moves in enumerate(state.played, 1):
            if self.noise:
                mine = f"you meant {state.meant[number - 1][seat]}, {moves[seat]} was made"
            else:
                mine = f"you chose {moves[seat]}"
            did = "made the move" if self.noise else "chose"
            others = ", ".join(
                f"{other} {did} {moves[self.roles.index(other)]}" for other in self.roles if other != role
            )
            lines.append(f"Round {number}: {mine}, {others}; you got {self.stage.payoffs(moves)[role]:g}.")
        return f"Round {len(state.played) + 1}." if self.asks(state) else "The game is over.", lines
