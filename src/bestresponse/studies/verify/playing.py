"""One run of the feedback loop as a play: the verified reasoner in its seat, the others at an equilibrium.

The transcript of all attempts is the decision's reasoning, as JSON: reasoning, choice, claims with verdicts, feedback,
tokens and seconds of each. Everything that is measured later is a function of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bestresponse.core.ask import Ask
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.game import View
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Call, Decision, Player
from bestresponse.formal.claims.review import Review, Reviewer
from bestresponse.formal.claims.translators.model import ModelTranslator
from bestresponse.formal.claims.translators.rules import RulesTranslator
from bestresponse.formal.claims.translators.translation import Translator
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models.base import Model
from bestresponse.players.llm.player import LlmPlayer, Sampling
from bestresponse.players.llm.verified import Try, Verified, calls_of, tries
from bestresponse.runs.spec import Spec
from bestresponse.studies.verify.config import RULES, VerifyConfig
from bestresponse.studies.verify.setup import scene_of
from bestresponse.studies.verify.texts import TEXTS

__all__ = ["Transcribed", "make_player", "transcript"]


@dataclass(frozen=True, slots=True)
class Transcribed:
    """A verified player whose decision tells every attempt."""

    verified: Verified

    @property
    def name(self) -> str:
        """The name of the player."""
        return self.verified.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        made = tries(self.verified, view, ask)
        return replace(made[-1].decision, reasoning=transcript(made), calls=calls_of(made))


def transcript(made: tuple[Try, ...]) -> str:
    """All attempts as one JSON text."""
    return json.dumps([_attempt(one) for one in made], ensure_ascii=False)


def _attempt(one: Try) -> JsonObject:
    decision, review = one.decision, one.review or Review(())
    return {
        "reasoning": decision.reasoning,
        "choice": decision.action,
        "reading": decision.reading.status.value,
        "state": review.state.value,
        "claims": [
            {"claim": c.text, "form": c.form, "verdict": c.verdict.value, "why": c.proof.why} for c in review.checked
        ],
        "feedback": [correction.text for correction in review.corrections],
        "refuted": [
            {"claim": str(r.claim), "correction": r.correction, "places": [[p.start, p.end] for p in r.passages]}
            for r in review.refutations
        ],
        "unread": None if review.unread is None else len(review.unread),
        "reasoner": _used(decision.calls),
        "translator": _used(review.calls),
    }


def _used(calls: tuple[Call, ...]) -> JsonObject:
    """Calls, tokens and seconds; by model, so that they can be priced."""
    usages = [call.reply.get("usage") or {} for call in calls]
    return {
        "calls": len(calls),
        "prompt": sum(usage.get("prompt") or 0 for usage in usages),
        "completion": sum(usage.get("completion") or 0 for usage in usages),
        "seconds": sum(float(call.reply.get("latency") or 0.0) for call in calls),
        "models": [call.model for call in calls],
    }


def make_player(
    config: VerifyConfig, models: Mapping[str, Model]
) -> Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]:
    """Return the function that plays one spec, for `execute`."""
    scene = scene_of(config)
    translator: Translator = (
        RulesTranslator()
        if config.translator == RULES
        else ModelTranslator(models[config.translator], seed=config.seed)
    )
    reviewer = Reviewer(translator, EmbeddedEngine, tone=config.manner, unit=config.unit)  # type: ignore[arg-type]

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        sampling = Sampling(
            config.temperature, max_tokens=config.max_tokens, seed=config.seed, replicate=spec.data["repeat"]
        )
        reasoner = LlmPlayer(models[config.model], sampling, system=TEXTS.text("reasoner"))
        verified = Verified(reasoner, reviewer, config.attempts, scene.subject)
        seats: dict[str, Player] = {scene.game.roles[config.seat]: Transcribed(verified)}
        return play(scene.game, seats | scene.others(spec.data["repeat"]), submissions=done, on_submission=keep)

    return play_one
