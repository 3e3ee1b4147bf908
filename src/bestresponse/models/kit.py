"""Check a model; whoever writes a provider runs this.

    from bestresponse.models.kit import check_model

It raises `Broken` (an AssertionError) that says which promise was broken.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from bestresponse.core.conformance import hold
from bestresponse.models.base import Abilities, Model, Reply, Request, ask
from bestresponse.models.codec import reply_from_json, reply_to_json


def check_model(model: Model, request: Request | None = None) -> None:
    """Check every promise of `Model`: who answers, what it can do, and two calls at once.

    The calls are made; give a `request` that the model can answer if it does not answer anything.
    """
    for part in ("id", "identity", "abilities", "complete"):
        hold(hasattr(model, part), f"{type(model).__name__} has no `{part}`, which a model needs")
    hold(isinstance(model.id, str) and model.id.strip() != "", "a model needs an id")
    hold(isinstance(model.abilities, Abilities), f"{model.id}: abilities are no Abilities")
    identity = json.dumps(dict(model.identity), sort_keys=True)
    wanted = request or ask("Say one word.", max_tokens=16)
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(model.complete, (wanted, wanted)))
    for reply in replies:
        _check_reply(model.id, reply)
    after = json.dumps(dict(model.identity), sort_keys=True)
    hold(identity == after, f"{model.id}: who answers changed with a call")


def _check_reply(name: str, reply: Reply) -> None:
    hold(isinstance(reply, Reply), f"{name}: complete() returned {type(reply).__name__}, no Reply")
    hold(isinstance(reply.text, str), f"{name}: the text of the reply is no text")
    for count in (reply.usage.prompt, reply.usage.completion):
        hold(count is None or count >= 0, f"{name}: {count} tokens were used")
    written = json.loads(json.dumps(reply_to_json(reply)))
    hold(reply_from_json(written) == reply, f"{name}: the reply changes when it is kept")
