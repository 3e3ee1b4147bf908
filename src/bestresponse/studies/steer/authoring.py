"""Scenarios written by a model from examples: names, situations or topics, and private information.

The examples are drawn by the domain's own generator, others for every question; replies are kept in the book like every
other answer, so the same scenarios are written once. What the model writes is checked (`games.dialogue.domain`); what
is no scenario of the domain, or one that is there already, is rejected and the reason kept. If too few are left, that
is an error: the generator never fills in for the model.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import canonical
from bestresponse.core.player import Reading, Status
from bestresponse.core.seeds import split
from bestresponse.games.dialogue.domain import (
    Domain,
    Scenario,
    read_scenario,
    scenario_rules,
    scenario_schema,
    scenarios,
)
from bestresponse.games.dialogue.game import Entry
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Finish, Message, Model, Reply, Request
from bestresponse.models.schema import schema_text
from bestresponse.players.llm.reading import find_json_objects
from bestresponse.studies.steer.building import AnswerStore

_AT_ONCE = 4
_EXAMPLES = 3
_TOKENS_EACH = 250
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Written:
    """The scenarios that can be played, and why others cannot."""

    scenarios: tuple[Scenario, ...]
    rejected: tuple[str, ...]

    def of(self, domain: Domain) -> Domain:
        """Return the domain with these scenarios and no others; other private information is still drawn."""
        return replace(domain, written=tuple(scenario.to_json() for scenario in self.scenarios))


def most_questions(count: int) -> int:
    """Say how many times a model is asked for `count` scenarios before that is given up."""
    return 2 * -(-count // _AT_ONCE) + 2


@dataclass(frozen=True, slots=True, eq=False)
class Author:
    """Asks `model` for scenarios of `domain`; `seed` draws the examples."""

    model: Model
    domain: Domain
    answers: AnswerStore
    seed: int

    def write(self, count: int) -> Written:
        """Write `count` different scenarios; InvalidGame where the model does not write so many."""
        written: dict[str, Scenario] = {}
        rejected: list[str] = []
        for number in range(most_questions(count)):
            if len(written) == count:
                break
            examples = scenarios(self.domain, split(self.seed, "examples", number), _EXAMPLES)
            entry = self._ask(number, min(_AT_ONCE, count - len(written)), examples)
            if entry.text is None:
                rejected.append(entry.reading.how)
                continue
            taken = {_spell(example) for example in examples}
            for data in json.loads(entry.text):
                try:
                    scenario = read_scenario(self.domain, data)
                except InvalidGame as error:
                    rejected.append(str(error))
                    continue
                spelling = _spell(scenario)
                if spelling in taken or spelling in written:
                    rejected.append("it is there already")
                elif len(written) < count:
                    written[spelling] = scenario
        if len(written) < count:
            common = Counter(rejected).most_common(1)
            why = f"{len(rejected)} were rejected, mostly because {common[0][0]}" if common else "it wrote no others"
            raise InvalidGame(
                f"{self.model.id} wrote {len(written)} scenarios that can be played, not {count}, in "
                f"{most_questions(count)} answers; {why}; another --seed asks it again"
            )
        return Written(tuple(written.values()), tuple(rejected))

    def _ask(self, number: int, count: int, examples: list[Scenario]) -> Entry:
        content = TEXTS.fill(
            "dialogue_write",
            domain=self.domain.name,
            rules=scenario_rules(self.domain),
            examples="\n".join(json.dumps(example.to_json(), ensure_ascii=False) for example in examples),
            count=count,
            form=", ".join(["<scenario>"] * count),
        )
        request = Request(
            (Message("system", TEXTS.text("dialogue_author")), Message("user", content)),
            max_tokens=_TOKENS_EACH * count,
            temperature=1.0,
            seed=split(self.seed, "author", number) % 2**31,
            schema=schema_text(scenario_schema(self.domain, count)) if self.model.abilities.schema else None,
            replicate=number,
        )
        return self.answers.ask_model("write", self.model, request, _list_scenarios)


def _list_scenarios(reply: Reply) -> tuple[str | None, Reading]:
    """List the scenarios of a reply, as JSON: those of a list, or each object that has names."""
    if reply.finish is Finish.REFUSAL:
        return None, Reading(Status.REFUSED, "the provider's filter ended the reply")
    if len(reply.text) > _LONGEST:
        return None, Reading(Status.ILLEGAL, f"the answer has {len(reply.text)} characters; the limit is {_LONGEST}")
    listed: list[object] = []
    for _, data in find_json_objects(reply.text):
        inner = data.get("scenarios")
        listed += inner if isinstance(inner, list) else [data] if "names" in data else []
    if listed:
        return canonical(listed), Reading()
    status = Status.TRUNCATED if reply.finish is Finish.LENGTH else Status.UNPARSEABLE
    return None, Reading(status, f"there is no scenario in {reply.text.strip()[:80]!r}")


def _spell(scenario: Scenario) -> str:
    """Return one spelling for scenarios that differ in capital letters only."""
    return canonical(scenario.to_json()).casefold()
