"""A player who is asked what the rules pay it and what the other will do, before its move.

    Believing(LlmPlayer(model))

On the command line it is written `beliefs:MODEL`. The belief is a probability for each action of
the other; it is kept as a remark of the decision, and shown again when the move is asked for. One
that cannot be read is not made up: the remark says what was wrong, and the move is asked for
without it. The own payoffs are asked for in the first round, in a question of their own that
changes nothing about the others, and are kept as a remark too. In games without a payoff table of
two players nothing is asked. `analysis.beliefs` says what beliefs are worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf

from bestresponse.core.ask import Amount, Ask, Form, Mixture
from bestresponse.core.game import View
from bestresponse.core.player import Decision, find_forced
from bestresponse.players.llm.player import PlayerWrapper
from bestresponse.players.llm.texts import TEXTS

BELIEFS = "beliefs:"
"""What stands before the name of a model that is asked what it expects."""


@dataclass(frozen=True, slots=True)
class Believing(PlayerWrapper):
    """`player`, who says what it expects of the other and then decides."""

    @property
    def name(self) -> str:
        """The player's name in records."""
        return f"beliefs({self.player.name})"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Return the decision with both calls, and the belief as its last remark."""
        rivals = view.facts.get("rivals", ())
        if len(rivals) != 1 or "payoffs" not in view.facts:
            return self.player.decide(view, ask)
        options = tuple(view.facts["actions"][1 - view.facts["seat"]])
        # Facts are about the own move: who answers by them has no words to read the question in.
        plain = replace(view, facts={})
        read = Decision(None)
        if not view.facts.get("history"):
            own = view.facts["actions"][view.facts["seat"]]
            read = self._read_payoffs(plain, own, options)
        question = Mixture(options, TEXTS.fill("expect", rival=rivals[0]))
        expected = find_forced(question) or self.player.decide(plain, question)
        shown = view
        if expected.action is not None:
            shares = [
                f"{name} {share:g}" for name, share in zip(options, expected.action, strict=True)
            ]
            note = TEXTS.fill("expected", rival=rivals[0], shares=", ".join(shares))
            shown = replace(view, notes=(*view.notes, note))
        decision = self.player.decide(shown, ask)
        belief = None if expected.action is None else list(expected.action)
        remark = {"belief": belief, "how": expected.reading.how}
        return replace(
            decision,
            calls=(*read.calls, *expected.calls, *decision.calls),
            remarks=(*decision.remarks, *read.remarks, remark),
        )

    def _read_payoffs(self, view: View, own: Sequence[str], others: Sequence[str]) -> Decision:
        """Ask for the own payoffs, and keep them as a remark: a row for each own action."""
        cells = product(own, others)
        form = Form(tuple((f"{action}, {other}", Amount(-inf, inf)) for action, other in cells))
        answered = self.player.decide(replace(view, notes=(*view.notes, TEXTS.text("read"))), form)
        numbers = list((answered.action or {}).values())
        width = len(others)
        rows = [numbers[k : k + width] for k in range(0, len(numbers), width)]
        return replace(answered, remarks=({"payoffs": rows, "how": answered.reading.how},))
