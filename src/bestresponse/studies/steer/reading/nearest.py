"""A policy for words that were not on record: at an unknown information set it does as at the most similar known one.

A policy of a recorded tree knows the texts that were drawn when the tree was built. In a fresh dialogue other words
come, so the speaker looks for the information set of its own with the same private information, the same choices of
its own and as many messages, whose messages are nearest: largest mean cosine between the embedded messages, place by
place.
"""

from __future__ import annotations

import json
from collections import Counter

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.studies.steer.reading.embedding import Embedding
from bestresponse.theory.trees.policy import Policy

__all__ = ["Nearest"]


class Nearest:
    """`policy` where it knows the situation, and its nearest neighbour elsewhere; InvalidGame where there is none.

    `met` counts the situations: known, nearest or unknown.
    """

    def __init__(self, policy: Policy, embed: Embedding) -> None:
        self._policy, self._embed = policy, embed
        self._alike: dict[str, list[tuple[str, list[str]]]] = {}
        for infoset in policy.tree.infosets:
            place, said = _parts(infoset.key)
            self._alike.setdefault(place, []).append((infoset.key, said))
        self.met: Counter[str] = Counter()

    def at(self, player: str, label: str) -> dict[str, float]:
        """The probabilities of the moves at this information set, or at the most similar one."""
        if (player, label) in self._policy.tree.infoset_index:
            self.met["known"] += 1
            return self._policy.at(player, label)
        place, said = _parts(label)
        candidates = self._alike.get(place, [])
        if not candidates:
            self.met["unknown"] += 1
            raise InvalidGame("the policy knows no situation like this one")
        self.met["nearest"] += 1
        return self._policy.at(player, self._closest(said, candidates))

    def _closest(self, said: list[str], candidates: list[tuple[str, list[str]]]) -> str:
        own = self._embed(said)
        near = [float(np.mean(np.sum(own * self._embed(texts), axis=1))) if said else 0.0 for _, texts in candidates]
        return candidates[int(np.argmax(near))][0]


def _parts(key: str) -> tuple[str, list[str]]:
    """What has to be the same (who speaks, what it was told, its own choices, how many messages), and the messages."""
    role, briefing, _, facts, *_ = json.loads(key)
    said = [text for _, _, text in facts["said"]]
    return json.dumps([role, briefing, facts["own"], len(said)]), said
