"""An object with a method `query(game)` as a model.

It is shown the payoffs themselves, not only words about them.

    class Cautious:
        def query(self, game):
            return int(game.payoffs.min(axis=1).argmax())

What `query` returns is an action's index (counted from 0), a probability for each action, or a text
that is read like the reply of any language model. Anything else is an answer that cannot be read.
It is kept as the text that a language model would have written, so that a run can be replayed
without the object.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import ModelError
from bestresponse.models.base import Reply, Request
from bestresponse.models.providers.function import FunctionModel, hash_function

QueryAnswer: TypeAlias = (
    "int | Sequence[float] | NDArray[np.float64] | Mapping[str, float] | str | Reply"
)
"""An index, probabilities in the order of the actions or by their names, or a text."""


@dataclass(frozen=True, slots=True, eq=False)
class AskedGame:
    """A payoff table of two players as the one who is asked sees it: its own actions are the rows.

    `prompt` is what a language model would be shown; `seat` is 0 for the row player of the game, 1
    for the other.
    """

    payoffs: NDArray[np.float64]
    other_payoffs: NDArray[np.float64]
    actions: tuple[str, ...]
    other_actions: tuple[str, ...]
    seat: int
    prompt: str


@runtime_checkable
class Queryable(Protocol):
    """Whatever answers a game by its method `query`."""

    def query(self, game: AskedGame) -> QueryAnswer:
        """Return an action's index, a probability for each action, or a text."""


class QueryModel(FunctionModel):
    """Answer by an object's method `query`; whatever it raises becomes a `ModelError`."""

    def __init__(self, name: str, player: Queryable) -> None:
        super().__init__(name, self._answer)
        self.identity = {
            "provider": "function",
            "model": name,
            "source": hash_function(player.query),
        }
        self._player = player

    def is_same(self, other: object) -> bool:
        """Say whether another model asks the same object."""
        return isinstance(other, QueryModel) and self._player is other._player

    def _answer(self, request: Request) -> str | Reply:
        facts = request.facts or {}
        if not {"seat", "actions", "payoffs"} <= set(facts):
            raise ModelError(
                f"{self.id} answers payoff tables by query(game), and this question is about none; "
                "give a function from prompt to text"
            )
        game = _read_game(facts, "\n\n".join(message.content for message in request.messages))
        answer = self._player.query(game)
        if isinstance(answer, str | Reply):
            return answer
        return _write(answer, game, bool(facts.get("mixture")))


def _read_game(facts: Mapping[str, object], prompt: str) -> AskedGame:
    """Turn a payoff table round so that the actions of the one who is asked are its rows."""
    seat = 0 if facts["seat"] == 0 else 1
    payoffs = np.asarray(facts["payoffs"], dtype=np.float64)
    own, other = (payoffs[0], payoffs[1]) if seat == 0 else (payoffs[1].T, payoffs[0].T)
    actions = facts["actions"]
    if not isinstance(actions, list) or len(actions) != 2:
        raise ModelError(
            "query(game) answers payoff tables of two players, and this game has others"
        )
    return AskedGame(
        payoffs=own,
        other_payoffs=other,
        actions=tuple(map(str, actions[seat])),
        other_actions=tuple(map(str, actions[1 - seat])),
        seat=seat,
        prompt=prompt,
    )


def _write(answer: object, game: AskedGame, mixture: bool) -> str:
    """Write an answer as a language model would.

    This is a label, or probabilities as JSON if a mixture is asked for.

    What cannot be an answer is said in words that no reading takes for one.
    """
    count = len(game.actions)
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        if not 0 <= answer < count:
            return f"query returned the index {int(answer)}; expected one from 0 to {count - 1}"
        chosen = [float(k == answer) for k in range(count)]
        return f"ANSWER: {json.dumps(chosen)}" if mixture else game.actions[int(answer)]
    if isinstance(answer, Mapping) and mixture and set(answer) <= set(game.actions):
        answer = [answer.get(action, 0.0) for action in game.actions]
    if not isinstance(answer, list | tuple | np.ndarray):
        return (
            f"query returned {type(answer).__name__}; expected an index, {count} probabilities or a"
            " text"
        )
    try:
        shares = [float(share) for share in answer]
    except (TypeError, ValueError):
        return (
            f"query returned a {type(answer).__name__} that holds no numbers; expected {count}"
            " probabilities"
        )
    if len(shares) != count:
        return f"query returned {len(shares)} numbers; expected {count} probabilities"
    if mixture:
        return f"ANSWER: {json.dumps(shares)}"
    one_move = [0.0] * (count - 1) + [1.0]
    if sorted(shares) == one_move:
        return game.actions[shares.index(1.0)]
    return "query returned probabilities; expected one action, or ask it for a mixture"
