"""One play of the study: a model writes the game of one story, and the record keeps all it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bestresponse.core.episode import Record, Submission
from bestresponse.core.json import JsonObject, digest
from bestresponse.core.player import Call, Decision, Reading, Status
from bestresponse.formal.evaluate.dataset import stories
from bestresponse.formal.formalize.autoformalizer import Formalization, Formalizer
from bestresponse.formal.formalize.table_data import table_to_data
from bestresponse.logic.engine import LogicEngine
from bestresponse.models.base import Finish, Model
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.spec import Spec
from bestresponse.studies.stories.config import StoriesConfig

__all__ = ["STUDY", "make_player", "specs"]

STUDY = "stories"
AUTHOR = "author"


def specs(config: StoriesConfig) -> Iterator[Spec]:
    """Yield every story for every model, stories in the outermost loop. The story itself is part of the spec."""
    shared = {name: value for name, value in config.to_json().items() if name not in ("models", "games", "count")}
    for story in config.chosen():
        fixed = {"study": STUDY, "story": story.id, "hash": digest([story.text, table_to_data(story.table)])}
        for model in config.models:
            for sample in range(config.samples):
                yield Spec.of({**shared, **fixed, "model": model, "sample": sample})


def make_player(config: StoriesConfig, models: Mapping[str, Model], engine: LogicEngine) -> PlayOne:
    """Return the function that plays one spec, for `execute`."""
    texts = {story.id: story.text for story in stories()}

    def play(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        if not done:
            model = models[spec.data["model"]]
            found = Formalizer(model, engine, config.settings(spec.data["sample"])).formalize(texts[spec.data["story"]])
            done = [Submission(AUTHOR, _decision(found))]
            keep(done[0])
        right = float(done[0].decision.reading.status is Status.VALID)
        return Record(STUDY, 1, {AUTHOR: spec.data["model"]}, (done[0],), {AUTHOR: right})

    return play


def _decision(found: Formalization) -> Decision:
    prompt, completion = found.tokens
    action: JsonObject = {
        "program": found.source,
        "attempts": len(found.attempts),
        "first": found.attempts[0].ok if found.attempts else False,
        "examples": list(found.examples),
        "tokens": [prompt, completion],
        "no_game": found.no_game,
    }
    calls = tuple(
        Call(found.model, request_to_json(request), reply_to_json(reply))
        for one in found.attempts
        for request, reply in one.exchanges
    )
    last = found.attempts[-1].reply.text if found.attempts else ""
    return Decision(action, last, Reading(_status(found), found.trouble), calls)


def _status(found: Formalization) -> Status:
    if found.ok:
        return Status.VALID
    if found.no_game is not None:
        return Status.REFUSED
    best = found.best
    if best is not None and best.reply.finish is Finish.LENGTH:
        return Status.TRUNCATED
    return Status.UNPARSEABLE if best is None or best.report is None else Status.ILLEGAL
