"""Guided dialogues as examples to train a model on.

The model learns to speak as the policy advises without being told.

One line of a file is one conversation, as `export sft` writes them: what an unguided speaker is
told in a situation, and as the answer a recorded message in the manner that the policy advises
there; `task` says where it comes from and how likely the policy takes that manner. Situations that
the policy leads to among unguided partners are taken, one speaker guided at a time, and manners
that it takes with at least 5 %.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bestresponse.core.ask import Choice, Lottery
from bestresponse.core.errors import UsageError
from bestresponse.games.dialogue.game import Dialogue, RecordedDialogue, prompt_key
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.report.files import write_text
from bestresponse.runs.run import load_run
from bestresponse.studies.steer.advising import StoredRun
from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.solving import mixed_policy
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.trees.tree import Policy

_OFTEN = 0.05
"""A manner that the policy takes less often is no example."""


@dataclass(frozen=True, slots=True)
class GuidedMessage:
    """What an unguided speaker is told, and a message in a manner that the policy takes.

    The policy takes the manner with this probability.
    """

    game: int
    domain: str
    question: str
    answer: str
    manner: str
    probability: float

    def to_json(self) -> dict[str, object]:
        """Return the example as a conversation, as trainers read it."""
        turns = (
            ("system", TEXTS.text("dialogue_speaker")),
            ("user", self.question),
            ("assistant", self.answer),
        )
        task = {
            "kind": "dialogue",
            "domain": self.domain,
            "manner": self.manner,
            "probability": self.probability,
            "game": self.game,
        }
        return {"messages": [{"role": who, "content": text} for who, text in turns], "task": task}


def export_dialogues(run: str | Path | StoredRun, output: str | Path) -> int:
    """Write the guided dialogues of a run of `steer` to a file of JSON lines.

    Return how many examples it has.
    """
    loaded = load_run(run if isinstance(run, str | Path) else run.path)
    results = getattr(loaded.results, "results", None)
    if not isinstance(results, SteerResults) or not results.solved:
        raise UsageError(
            f"{loaded.path} has no guided dialogues; expected a run of steer with solved trees"
        )
    lines = [json.dumps(example.to_json(), ensure_ascii=False) for example in list_guided(results)]
    write_text(Path(output), "".join(f"{line}\n" for line in lines))
    return len(lines)


def list_guided(results: SteerResults) -> Iterator[GuidedMessage]:
    """List the examples of all games, each once."""
    for game in results.games:
        if game.recorded is None or game.solved is None:
            continue
        seen: set[tuple[str, str]] = set()
        for seat in range(len(game.recorded.roles)):
            guided = mixed_policy(game.solved.unguided, {seat: game.solved.policy})
            for example in _walk(game.recorded, guided, seat, game.number):
                if (example.question, example.answer) not in seen:
                    seen.add((example.question, example.answer))
                    yield example


def _walk(
    game: RecordedDialogue,
    policy: Policy,
    seat: int,
    number: int,
) -> Iterator[GuidedMessage]:
    """Follow a policy through the recorded dialogue and yield what the guided seat says."""
    stack: list[Dialogue] = [game.start()]
    while stack:
        state = stack.pop()
        for role, ask in game.asks(state).items():
            match ask:
                case Lottery(chances):
                    stack += [game.apply(state, {role: outcome}) for outcome, _ in chances]
                case Choice(options):
                    mix = policy.at(role, game.view(state, role).key)
                    taken = [option for option in options if mix.get(option, 0.0) >= _OFTEN]
                    after = [game.apply(state, {role: option}) for option in taken]
                    if game.roles.index(role) == seat:
                        for chosen in after:
                            messages = _list_messages(game, state, chosen, number)
                            yield from (
                                replace(one, probability=mix[chosen.manner]) for one in messages
                            )
                    stack += after


def _list_messages(
    game: RecordedDialogue,
    state: Dialogue,
    chosen: Dialogue,
    number: int,
) -> Iterator[GuidedMessage]:
    """Yield the recorded messages of a manner as answers to an unguided speaker's prompt."""
    seat = game.live.turn(state)
    role = game.roles[seat]
    manner, to = game.live.addressed(chosen.manner, seat)
    plain = next(one for one in game.live.neutral(seat) if game.live.addressed(one, seat)[1] == to)
    told = game.live.view(game.live.apply(state, {role: plain}), role)
    for text in game.book.wordings(prompt_key(game.view(chosen, role)), game.wordings):
        yield GuidedMessage(
            game=number,
            domain=game.live.domain.name,
            question="\n\n".join(filter(None, (write_rules(told), write_history(told)))),
            answer=text,
            manner=manner,
            probability=1.0,
        )
