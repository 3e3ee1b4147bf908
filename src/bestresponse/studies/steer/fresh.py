"""Guided against unguided on fresh draws, many dialogues at the same time.

The dialogues are in words that the solver has not seen.

For every draw the same talk is held once with everybody unguided and once with each speaker guided
in turn, on the same game, the same private information and the same number of the draw for every
text (common random numbers: as long as the choices are the same, so are the words). What guidance
earns here is an honest estimate, where the exact gain on the recorded tree is optimistic, because
the policy was fitted to just those texts.

A policy of a recorded tree knows the texts that were drawn when the tree was built. Where other
words come, the speaker looks for the information set of its own with the same private information,
the same choices of its own and as many messages, whose messages are nearest: the smallest distance,
which is 1 less the mean cosine between the embedded messages, place by place. Beyond a stated
distance there is no advice, and it speaks unguided.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import inf
from threading import Lock

import numpy as np

from bestresponse.core.episode import play
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import Role
from bestresponse.core.seeds import split
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.players.dialogue.speaker import Guided
from bestresponse.studies.steer.answers import AnswerStore, Cast, seat_players
from bestresponse.studies.steer.embedding import Embedding
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import Policy


@dataclass(frozen=True, slots=True, eq=False)
class FreshPlays:
    """Payoffs of fresh dialogues; a row of NaN is a dialogue that could not be read.

    `unguided` has a row for each draw and a column for each seat; `guided` has such a table for
    each guided seat. `met` counts the situations in which the guided chose: known to the policy,
    decided as the nearest, or without advice; `distances` are those of the nearest.
    """

    unguided: Array
    guided: Array
    met: Counter[str] = field(default_factory=Counter)
    distances: tuple[float, ...] = ()

    @property
    def gains(self) -> Array:
        """For every draw, what the guided earn above staying unguided, mean over seats.

        NaN where all are void.
        """
        return _average_seats(self._own - self.unguided.T[: len(self.guided)])

    @property
    def _own(self) -> Array:
        """What the guided seat earns: a row for each seat, a column for each draw."""
        return np.array([table[:, seat] for seat, table in enumerate(self.guided)])

    def _combine_others(self, combine: Callable[..., Array]) -> Array:
        """Combine what the others earn beside a guided seat: rows and columns as above."""
        others = []
        for seat, table in enumerate(self.guided):
            others.append(combine(np.delete(table, seat, axis=1), axis=1))
        return np.array(others)

    @property
    def margins(self) -> Array:
        """For every draw, what the guided earn above others in the dialogue, mean over seats."""
        return _average_seats(self._own - self._combine_others(np.mean))

    @property
    def wins(self) -> Array:
        """For every draw, the share of its dialogues in which the guided earn most.

        Ties count for half, and the share is the mean over seats.
        """
        own = self._own
        won = (np.sign(own - self._combine_others(np.max)) + 1) / 2
        return _average_seats(np.where(np.isnan(own), np.nan, won))

    @property
    def plays(self) -> int:
        """The number of plays."""
        return len(self.unguided) * (1 + len(self.guided))

    @property
    def void(self) -> int:
        """Dialogues that could not be read."""
        unguided = np.isnan(self.unguided[:, 0]).sum()
        guided = np.isnan(self.guided[..., 0]).sum()
        return int(unguided + guided)


def _average_seats(by_seat: Array) -> Array:
    """Average the seats whose dialogues could be read, for every draw."""
    count = np.isfinite(by_seat).sum(axis=0)
    means = np.nansum(by_seat, axis=0) / np.maximum(count, 1)
    return np.asarray(np.where(count, means, np.nan))


class Nearest:
    """`policy` if it knows the situation, else that of its nearest neighbour.

    The neighbour must be within `farthest`.

    InvalidGame where there is none. `met` counts the situations: known, nearest or no advice. Talks
    may follow it at the same time.
    """

    def __init__(self, policy: Policy, embed: Embedding, farthest: float = 0.5) -> None:
        self.policy = policy
        self._embed = embed
        self._farthest = farthest
        situations = [(infoset.key, *_split_key(infoset.key)) for infoset in policy.tree.infosets]
        texts = list(dict.fromkeys(text for *_, messages in situations for text in messages))
        vectors = dict(zip(texts, embed(texts), strict=True))
        self._alike: dict[str, list[tuple[str, list[Array]]]] = {}
        for key, setting, messages in situations:
            self._alike.setdefault(setting, []).append((key, [vectors[text] for text in messages]))
        self.met: Counter[str] = Counter()
        self.distances: list[float] = []
        self._lock = Lock()

    def at(self, player: str, label: str) -> dict[str, float]:
        """Return the move probabilities at this information set, or at the most similar one."""
        known = (player, label) in self.policy.tree.infoset_index
        if known:
            with self._lock:
                self.met["known"] += 1
            return self.policy.at(player, label)

        distance, key = self._find_closest(label)
        near = distance <= self._farthest
        with self._lock:
            self.met["nearest" if near else "no advice"] += 1
            if near:
                self.distances.append(distance)
        if not near:
            raise InvalidGame(
                f"the policy knows no situation like this one: the nearest is at {distance:.2f}"
            )
        return self.policy.at(player, key)

    def _find_closest(self, label: str) -> tuple[float, str]:
        """Find the nearest situation and its distance (infinite if nothing is comparable)."""
        setting, messages = _split_key(label)
        embedded = self._embed(messages)
        closest = ""
        least = inf
        for key, vectors in self._alike.get(setting, ()):
            distance = 0.0
            if messages:
                similarities = np.sum(embedded * np.array(vectors), axis=1)
                distance = 1 - float(np.mean(similarities))
            if distance < least:
                closest = key
                least = distance
        return least, closest


def _split_key(key: str) -> tuple[str, list[str]]:
    """Split what has to be the same in a key from the messages.

    The same must be who speaks, knows what, chose what, and after how many messages.
    """
    role, briefing, _, facts, *_ = json.loads(key)
    messages = [text for _, _, text in facts["said"]]
    return json.dumps([role, briefing, facts["own"], len(messages)]), messages


def play_fresh(
    game: DialogueGame,
    policy: Nearest,
    cast: Cast,
    answers: AnswerStore,
    draws: range,
    seed: int = 0,
    workers: int = 1,
) -> FreshPlays:
    """Play every draw, guided by `policy` and unguided."""

    def hold(wanted: tuple[int, Role | None]) -> tuple[float, ...]:
        number, guided = wanted
        return hold_talk(
            game,
            cast,
            number=number,
            seed=seed,
            answers=answers,
            guided=(guided, policy) if guided else None,
        )

    guided = [(number, role) for role in game.roles for number in draws]
    with ThreadPoolExecutor(workers, thread_name_prefix="fresh") as pool:
        # Unguided talks come last: once one of them is on record, so are the others of its draw.
        held = [*pool.map(hold, guided), *pool.map(hold, [(number, None) for number in draws])]
    rows = np.array(held).reshape(len(game.roles) + 1, len(draws), -1)
    return FreshPlays(rows[-1], rows[:-1], policy.met, tuple(sorted(policy.distances)))


def hold_talk(
    game: DialogueGame,
    cast: Cast,
    number: int,
    seed: int,
    answers: AnswerStore,
    guided: tuple[Role, Nearest] | None = None,
) -> tuple[float, ...]:
    """Hold one dialogue and return what every seat earns; NaN where it could not be read."""
    seed = split(seed, "fresh", number)
    neutral = [game.neutral(seat) for seat in range(len(game.roles))]
    seated = seat_players(
        game,
        cast,
        answers=answers,
        draw=number,
        manners=neutral,
        seed=seed,
    )
    if guided is not None:
        role, policy = guided
        seated[role] = Guided(seated[role], policy, seed)
    payoffs = play(game, seated).payoffs
    return tuple(payoffs.get(role, float("nan")) for role in game.roles)
