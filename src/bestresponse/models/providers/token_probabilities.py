"""A mixed strategy read in one token.

It is how likely each action's letter is as the first token of the reply.

The probabilities a model reports are those of its whole vocabulary, whatever grammar the reply is
held to. They are summed over the tokens that spell a letter and divided by their total, the `mass`:
a small mass says that the model would rather have said something else, and that little can be read
from the rest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bestresponse.core.errors import BadReply, Flaw, InvalidMove, UsageError
from bestresponse.models.base import Model, Reply, Request


@dataclass(frozen=True, slots=True)
class Chances:
    """`probabilities` of the letters in order, summing to 1, and the call behind them.

    `mass` is what the letters had together before renormalising. Letters in `unseen` were not among
    the alternatives reported: their probability is 0 here and in truth at most `bound`, relative to
    the mass.
    """

    probabilities: tuple[float, ...]
    mass: float
    unseen: tuple[str, ...]
    bound: float
    request: Request
    reply: Reply


def choice_chances(model: Model, request: Request, letters: Sequence[str]) -> Chances:
    """Ask for one token and read the chances of the letters.

    `InvalidMove` if none of them was reported.
    """
    if model.abilities.logprobs < 1:
        raise UsageError(
            f"{model.id} offers no log-probabilities: ask for a stated mix or sample it instead"
        )
    if (
        len(set(letters)) != len(letters)
        or not letters
        or any(not letter.strip() for letter in letters)
    ):
        raise UsageError(f"the letters must be different and not empty, and are {list(letters)}")
    choices = tuple(letters) if model.abilities.choices else ()
    asked = replace(
        request,
        max_tokens=1,
        logprobs=model.abilities.logprobs,
        choices=choices,
        schema=None,
    )
    reply = model.complete(asked)
    if not reply.logprobs or not reply.logprobs[0]:
        raise BadReply(f"{model.id} was asked for log-probabilities and gave none")
    first = reply.logprobs[0]
    # Tokens that differ in white space only spell the same letter.
    weights = []
    for letter in letters:
        same = [chance for token, chance in first if token.strip() == letter]
        weights.append(math.fsum(map(math.exp, same)))
    mass = math.fsum(weights)
    if mass <= 0:
        raise InvalidMove(
            f"none of {', '.join(letters)} is among the {len(first)} likeliest first tokens",
            Flaw.UNPARSEABLE,
        )
    unseen = tuple(letter for letter, weight in zip(letters, weights, strict=True) if weight == 0)
    bound = 0.0
    if unseen:
        _, least = first[-1]
        bound = math.exp(least) / mass
    shares = [weight / mass for weight in weights]
    return Chances(
        tuple(shares),
        mass,
        unseen=unseen,
        bound=bound,
        request=asked,
        reply=reply,
    )
