"""How far two referees agree on the same dialogues, in payoffs; rulings that one of them could not make are counted."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from bestresponse.core.ask import Choice
from bestresponse.core.game import REFEREE
from bestresponse.core.player import Player
from bestresponse.games.dialogue.game import Dialogue
from bestresponse.games.dialogue.recorded import RecordedDialogue
from bestresponse.report.stats.agreement import krippendorff_alpha
from bestresponse.studies.steer.building import second_key

__all__ = ["Opinions", "compare_rulings", "pooled"]


@dataclass(frozen=True, slots=True)
class Opinions:
    """Pairs of payoffs (one per speaker and dialogue) on which both ruled, and dialogues the second left void."""

    pairs: tuple[tuple[float, float], ...] = ()
    void: int = 0

    @property
    def same(self) -> float | None:
        """The share of payoffs on which both agree."""
        return float(np.mean([abs(a - b) < 1e-9 for a, b in self.pairs])) if self.pairs else None

    @property
    def distance(self) -> float | None:
        """The mean absolute difference."""
        return float(np.mean([abs(a - b) for a, b in self.pairs])) if self.pairs else None

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha, interval scale; None where all payoffs are the same."""
        if len({value for pair in self.pairs for value in pair}) < 2:
            return None
        return krippendorff_alpha(np.array(self.pairs).T, "interval")


def compare_rulings(game: RecordedDialogue, second: Player) -> Opinions:
    """The recorded rulings of `game` beside those of `second` on the same dialogues."""
    pairs: list[tuple[float, float]] = []
    void = 0
    for state in _endings(game):
        entry = game.book.get(second_key(second, game.live.view(state, REFEREE)))
        if entry is None or entry.text is None:
            void += entry is not None
            continue
        ruling = json.loads(entry.text)
        private = game.live.cases[state.case].private
        other = ruling.get("payoffs") or game.live.domain.deal.utilities(ruling, private)
        pairs += zip(map(float, game.payoffs(state).values()), map(float, other), strict=True)
    return Opinions(tuple(pairs), void)


def pooled(opinions: list[Opinions]) -> Opinions:
    """All of them together."""
    return Opinions(tuple(p for one in opinions for p in one.pairs), sum(one.void for one in opinions))


def _endings(game: RecordedDialogue) -> list[Dialogue]:
    found, stack = [], [game.start()]
    while stack:
        state = stack.pop()
        asks = game.asks(state)
        if not asks:
            found.append(state)
        for role, ask in asks.items():
            moves = ask.options if isinstance(ask, Choice) else [outcome for outcome, _ in ask.chances]  # type: ignore[union-attr]
            stack.extend(game.apply(state, {role: move}) for move in moves)
    return found
