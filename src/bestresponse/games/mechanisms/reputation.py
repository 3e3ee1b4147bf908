"""Reputation: a payoff table is played round after round, and nobody sees more than labels.

Definition: everybody has a public label, good at first. A move of each player is agreed on. Whoever
makes another one in a round in which all labels are good is labelled bad for the rest of the game.
Moves and payoffs of rounds are not seen before the end. To make the agreed moves while all labels
are good, and those of an equilibrium of one round afterwards, is an equilibrium if the future
weighs enough; so is to play an equilibrium of one round in every round.

M. Kandori, "Social norms and community enforcement", Review of Economic Studies 59, 1992, with
labels that are never forgiven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from bestresponse.core.capabilities import PlayedRounds
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Game, Role, S, View
from bestresponse.core.told import (
    Chose,
    Event,
    GameEvent,
    GameRule,
    Over,
    Repetition,
    Round,
    Statement,
    TextPlace,
)
from bestresponse.games.capabilities import HasNormalForm
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame, Rounds
from bestresponse.games.mechanisms.plays import choose_play, tell_moves
from bestresponse.games.statements import read_exactly


@dataclass(frozen=True, slots=True)
class ReputationRule(GameRule):
    """How many rounds there are, what is agreed on, and what labels tell."""

    message = "reputation"
    rounds: int
    percent: Fraction
    agreed: TextPlace


@dataclass(frozen=True, slots=True)
class Blamed(GameEvent):
    """A player is labelled bad from now on."""

    message = "blamed"
    who: str


@dataclass(frozen=True)
class ReputationGame(RepeatedGame):
    """`form` played round after round by players who see labels alone."""

    agreed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"{self.form.name or 'matrix'} with reputation"

    def find_blamed(self, state: Rounds) -> tuple[int, tuple[Role, ...]]:
        """Return the first round in which somebody left what is agreed on, and who did.

        >>> from bestresponse.games.lookup import find_game
        >>> game = find_game("stag-hunt with reputation").playable()
        >>> game.find_blamed(game.apply(game.start(), {"row": "hare", "col": "stag"}))
        (1, ('row',))
        """
        for number, moves in enumerate(state.played, 1):
            blamed = []
            for role, move, wanted in zip(self.roles, moves, self.agreed, strict=True):
                if move != wanted:
                    blamed.append(role)
            if blamed:
                return number, tuple(blamed)
        return 0, ()

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`: its own moves, and the labels."""
        seen = super().view(state, role)
        if role == NATURE:
            return seen
        seat = self.roles.index(role)
        own = [moves[seat] for moves in state.played]
        facts = {
            **self.stage.view((), role).facts,
            "history": own,
            "blamed": list(self.find_blamed(state)[1]),
        }
        return replace(seen, rules=self._state(seen.rules), facts=facts)

    def list_rules(self, role: Role) -> tuple[Statement, ...]:
        """State the rules for people."""
        return self._state(super().list_rules(role))

    def list_rounds(self, state: Rounds, role: Role) -> PlayedRounds:
        """List the own moves, and who was labelled bad in which round."""
        shown = super().list_rounds(state, role)
        when, blamed = self.find_blamed(state)
        rows = []
        for number, own, *_ in shown.rows:
            rows.append((number, own, ", ".join(blamed) if number == when else ""))
        total = None if self.asks(state) else shown.total
        return replace(shown, total=total, columns=("round", "you", "bad"), rows=tuple(rows))

    def _state(self, rules: tuple[Statement, ...]) -> tuple[Statement, ...]:
        course = tuple(zip(self.roles, self.agreed, strict=True))
        agreed = tell_moves("agreed", [course])
        percent = 100 * read_exactly(float(self.continuation))
        own = ReputationRule(self.rounds, percent, agreed)
        return tuple(own if isinstance(rule, Repetition) else rule for rule in rules)

    def _list_events(self, state: Rounds, role: Role) -> Iterator[Event]:
        """Yield the own move of each round, and who was labelled bad in it."""
        when, blamed = self.find_blamed(state)
        for number, moves in enumerate(state.played, 1):
            yield Round(number)
            yield Chose(role, (moves[self.roles.index(role)],))
            yield from map(Blamed, blamed if number == when else ())
        yield Round(len(state.played) + 1) if self.asks(state) else Over()


def with_reputation(
    game: Game[S], rounds: int = 10, continuation: float = 1.0, **moves: str
) -> ReputationGame:
    """Return `game` played round after round by players who see labels alone.

    `moves` are agreed on, by default those that pay all together the most, and of several the
    poorest the most.
    """
    if not isinstance(game, HasNormalForm):
        raise UsageError(
            f"a reputation follows from moves that all make at the same time, round after round;"
            f" {game.name} has none, so put the reputation before other mechanisms"
        )
    if len(game.roles) < 2:
        raise UsageError(f"a reputation is seen by others; {game.name} has one player")
    rule = game.rule if isinstance(game, MatrixGame) else None
    best, _ = choose_play(MatrixGame(game.normal_form), moves, "a reputation")
    agreed = tuple(str(move) for _, move in best.steps[0])
    return ReputationGame(game.normal_form, rounds, continuation, rule=rule, agreed=agreed)
