"""Games played to their end by given or drawn answers, and what is told of them."""

import random

from bestresponse.core.ask import Amount, Choice, Form, Lottery, Mixture
from bestresponse.core.episode import Episode
from bestresponse.core.player import Decision
from bestresponse.report.document import Note, Paragraph, Table
from bestresponse.web.sessions.setup import make_game


def any_answer(ask, rng):
    match ask:
        case Choice(options):
            return rng.choice(options)
        case Amount(low, high):
            return float(rng.randint(int(low), int(high)))
        case Lottery(chances):
            return rng.choices([outcome for outcome, _ in chances], [p for _, p in chances])[0]
        case Mixture(options):
            return tuple(1 / len(options) for _ in options)
        case Form(fields):
            return {name: any_answer(part, rng) for name, part in fields}


def played(choice, **given):
    """A finished play: `given` answers by role (spaces as underscores), anything else at random."""
    episode, rng = Episode(make_game(choice)), random.Random(3)
    scripts = {role.replace("_", " "): list(answers) for role, answers in given.items()}
    while pending := episode.pending:
        for role, ask in pending.items():
            answer = scripts[role].pop(0) if scripts.get(role) else any_answer(ask, rng)
            episode.submit(role, Decision(answer))
    return episode.record({})


def words(blocks):
    return " ".join(block.text for block in blocks if isinstance(block, Paragraph | Note))


def cells(blocks):
    return [row for block in blocks if isinstance(block, Table) for row in block.rows]
