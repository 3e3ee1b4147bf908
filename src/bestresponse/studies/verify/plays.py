"""The runs of the loop: a verified reasoner in its seat, the others at an equilibrium.

And what they cost.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from string import Template

from bestresponse.core.ask import Ask
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.game import AnyGame, View
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Decision, Player
from bestresponse.formal.claims.review import Reviewer
from bestresponse.formal.claims.texts import TEXTS as CLAIM_TEXTS
from bestresponse.formal.claims.translation import (
    TRANSLATION_TOKENS,
    ModelTranslator,
    Translator,
    find_translator,
    translators,
    write_translation_prompt,
)
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models.base import Finish, Message, ModelsByName
from bestresponse.players.llm.player import LlmPlayer, ModelPlayer, Sampling, Thinking
from bestresponse.players.llm.reading import read_reply
from bestresponse.players.llm.verified import Verified
from bestresponse.runs.execution import KeepAnswer, PlayOne
from bestresponse.runs.store.folder import Spec
from bestresponse.runs.study import Estimate
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.scenes import Scene
from bestresponse.telling.render import write_history, write_rules

_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Templated(ModelPlayer):
    """Asks the model by the user's own prompt, in one message to which nothing is added.

    The rules of the game take the place `$game`; what a checker found comes after the text.
    """

    sampling: Sampling
    template: str

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        told = "\n\n".join(filter(None, (write_rules(view), write_history(view))))
        parts = (Template(self.template).safe_substitute(game=told).strip(), *view.notes)
        reply, call = self.sampling.ask(self.model, (Message("user", "\n\n".join(parts)),))
        decision = read_reply(
            ask,
            reply.text,
            cut_off=reply.finish is Finish.LENGTH,
            declined=reply.finish is Finish.REFUSAL,
        )
        return replace(decision, calls=(call,))


def list_runs(config: VerifyConfig) -> Iterator[dict[str, object]]:
    """Yield every run of the loop as plain data."""
    shared = {name: value for name, value in config.to_json().items() if name != "repeats"}
    for model in config.model:
        for game in config.game:
            own = {**shared, "study": "verify", "model": str(model), "game": game.to_json()}
            for repeat in range(config.repeats):
                yield {**own, "repeat": repeat}


def prepare_runs(config: VerifyConfig, models: ModelsByName) -> PlayOne:
    """Return the function that makes one run.

    The verified reasoner is in its seat, and the others are at an equilibrium.
    """
    reviewers = {str(name): _make_reviewer(config, str(name), models) for name in config.model}

    def play_one(spec: Spec, done: list[Submission], keep: KeepAnswer) -> Record:
        repeat: int = spec.data["repeat"]
        scene = config.scenes[read_game_name(spec.data)]
        sampling = Sampling(
            config.temperature, max_tokens=config.max_tokens, seed=config.llm_seed, replicate=repeat
        )
        model = models[spec.data["model"]]
        reasoner: Player = LlmPlayer(model, sampling, system=config.system)
        if config.is_template:
            reasoner = Templated(model, sampling, config.system)
        elif config.think:
            reasoner = Thinking(reasoner)
        reviewer = reviewers[spec.data["model"]]
        verified = Verified(reasoner, reviewer, config.attempts, scene.subject)
        game: AnyGame = scene.game
        seats: dict[str, Player] = {game.roles[scene.seat]: verified}
        return play(game, seats | scene.others(repeat), submissions=done, on_submission=keep)

    return play_one


def _make_reviewer(config: VerifyConfig, reasoner: str, models: ModelsByName) -> Reviewer:
    """Return what reviews what a model writes."""
    name = config.name_translator(reasoner)
    translator: Translator
    if name in translators.names():
        translator = find_translator(name)
    else:
        translator = ModelTranslator(models[name], seed=config.llm_seed, forms=config.forms)
    return Reviewer(
        translator,
        EmbeddedEngine,
        tone=config.feedback,
        forms=config.forms,
        solver=config.solver,
    )


def read_game_name(data: JsonMapping) -> str:
    """Return the name of the game of one run."""
    return str(data["game"]["name"])


def estimate_runs(config: VerifyConfig) -> Estimate:
    """Count every attempt at every decision.

    A prompt is the briefing and the feedback before it.
    """
    runs = config.repeats * len(config.game) * len(config.model)
    decisions = sum(scene.decisions for scene in config.scenes.values())
    most = config.repeats * config.attempts * decisions
    longest = max(len(write_briefing(scene)) for scene in config.scenes.values())
    told = longest // _CHARACTERS_PER_TOKEN + config.max_tokens
    what = f"{runs} runs of at most {config.attempts} attempts"
    calls = dict.fromkeys(map(str, config.model), most)
    reasoning = Estimate.of_calls(runs, what, calls, told, config.max_tokens)
    return Estimate.add((reasoning, _estimate_translations(config, most)), what)


def _estimate_translations(config: VerifyConfig, most: int) -> Estimate:
    """Estimate one call for each text, of so many from each reasoner; rules make none."""
    calls: Counter[str] = Counter()
    for model in config.model:
        translator = config.name_translator(model)
        if translator not in translators.names():
            calls[translator] += most
    longest = max(map(_count_asked, config.scenes.values()))
    asked = longest // _CHARACTERS_PER_TOKEN + config.max_tokens
    return Estimate.of_calls(None, "", calls, asked, TRANSLATION_TOKENS)


def _count_asked(scene: Scene) -> int:
    """Count the characters that a model reads with each text to translate."""
    view = scene.game.view(scene.opening, scene.game.roles[scene.seat])  # type: ignore[arg-type]
    subject = scene.subject(view)
    if subject is None:
        return 0
    return len(CLAIM_TEXTS.text("system")) + len(write_translation_prompt("", subject))


def write_briefing(scene: Scene) -> str:
    """Return what the reasoner is told where it first has to choose."""
    view = scene.game.view(scene.opening, scene.game.roles[scene.seat])  # type: ignore[arg-type]
    return "\n\n".join(filter(None, (write_rules(view), write_history(view))))
