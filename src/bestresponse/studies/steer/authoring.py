"""Scenarios written by a model from examples: names, situations or topics, and private information.

The examples are drawn by the domain's own generator, others for every question; replies are kept in the book like every
other answer, so the same scenarios are written once. What the model writes is checked (`games.dialogue.scenario`); what
is no scenario of the domain, or one that is there already, is rejected and the reason kept. If too few are left, that
is an error: the generator never fills in for the model.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from bestresponse.core.errors import InvalidGame, NotCached
from bestresponse.core.json import canonical, digest
from bestresponse.core.player import Reading, Status
from bestresponse.core.seeds import split
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.recorded import Book, Entry
from bestresponse.games.dialogue.scenario import Scenario, read_scenario, scenario_rules, scenario_schema, scenarios
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Finish, Message, Model, Reply, Request
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.models.schema import schema_text
from bestresponse.players.llm.reading import find_json_objects

__all__ = ["Author", "Written", "most_questions"]

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
        """The domain with these scenarios and no others; examples and other private information are still drawn."""
        return replace(domain, written=tuple(one.to_json() for one in self.scenarios))


def most_questions(count: int) -> int:
    """How many times a model is asked for `count` scenarios before that is given up."""
    return 2 * -(-count // _AT_ONCE) + 2


class Author:
    """Asks `model` for scenarios of `domain`; `seed` draws the examples."""

    def __init__(self, model: Model, domain: Domain, book: Book, keep: Callable[[Entry], None], seed: int) -> None:
        self._model, self._domain, self._book, self._keep, self._seed = model, domain, book, keep, seed
        self.calls = 0

    def write(self, count: int) -> Written:
        """`count` different scenarios; InvalidGame where the model does not write so many."""
        found: dict[str, Scenario] = {}
        rejected: list[str] = []
        for number in range(most_questions(count)):
            if len(found) == count:
                break
            examples = scenarios(self._domain, split(self._seed, "examples", number), _EXAMPLES)
            entry = self._answer(number, min(_AT_ONCE, count - len(found)), examples)
            taken = {_spelling(one) for one in examples} | set(found)
            fresh, refused = self._read(entry, taken)
            found |= dict(list(fresh.items())[: count - len(found)])
            rejected += refused
        if len(found) < count:
            raise InvalidGame(self._too_few(len(found), count, rejected))
        return Written(tuple(found.values()), tuple(rejected))

    def on_record(self, count: int) -> Written | None:
        """What is written already; None where the model would have to be asked."""
        offline = RecordedModel(self._model.id, self._model.identity, self._model.abilities)
        quiet = Author(offline, self._domain, self._book, self._keep, self._seed)
        try:
            return quiet.write(count)
        except NotCached:
            return None

    def _too_few(self, found: int, count: int, rejected: list[str]) -> str:
        reasons = Counter(rejected).most_common(1)
        why = f"{len(rejected)} were rejected, mostly because {reasons[0][0]}" if reasons else "it wrote no others"
        asked = most_questions(count)
        told = f"{self._model.id} wrote {found} scenarios that can be played, not {count}, in {asked} answers; {why}"
        return f"{told}; another --seed asks it again"

    def _read(self, entry: Entry, taken: set[str]) -> tuple[dict[str, Scenario], list[str]]:
        """The new scenarios of an answer by their spelling, and why others are rejected."""
        if entry.text is None:
            return {}, [entry.reading.how]
        fresh: dict[str, Scenario] = {}
        rejected: list[str] = []
        for data in json.loads(entry.text):
            try:
                scenario = read_scenario(self._domain, data)
            except InvalidGame as error:
                rejected.append(str(error))
                continue
            spelling = _spelling(scenario)
            if spelling in taken or spelling in fresh:
                rejected.append("it is there already")
                continue
            fresh[spelling] = scenario
        return fresh, rejected

    def _answer(self, number: int, count: int, examples: list[Scenario]) -> Entry:
        shown = [json.dumps(one.to_json(), ensure_ascii=False) for one in examples]
        content = TEXTS.fill(
            "dialogue_write",
            domain=self._domain.name,
            rules=scenario_rules(self._domain),
            examples="\n".join(shown),
            count=count,
            form=", ".join(["<scenario>"] * count),
        )
        key = f"write:{self._model.id}:{digest(content, 24)}"
        known = self._book.get(key, number)
        return known if known is not None else self._ask(key, number, count, content)

    def _ask(self, key: str, number: int, count: int, content: str) -> Entry:
        schema = schema_text(scenario_schema(self._domain, count)) if self._model.abilities.schema else None
        reply = self._model.complete(
            Request(
                (Message("system", TEXTS.text("dialogue_author")), Message("user", content)),
                max_tokens=_TOKENS_EACH * count,
                temperature=1.0,
                seed=split(self._seed, "author", number) % 2**31,
                schema=schema,
                replicate=number,
            )
        )
        self.calls += 1
        found, reading = _listed(reply)
        text = None if found is None else canonical(found)
        entry = Entry(key, number, text, self._model.id, reading, reply.text[:_LONGEST])
        self._book.add(entry)
        self._keep(entry)
        return entry


def _listed(reply: Reply) -> tuple[list[object] | None, Reading]:
    """The scenarios of a reply, as data: those of a list, or each object that has names."""
    if reply.finish is Finish.REFUSAL:
        return None, Reading(Status.REFUSED, "the provider's filter ended the reply")
    if len(reply.text) > _LONGEST:
        return None, Reading(Status.ILLEGAL, f"the answer has {len(reply.text)} characters; the limit is {_LONGEST}")
    found: list[object] = []
    for _, one in find_json_objects(reply.text):
        inner = one.get("scenarios")
        found += inner if isinstance(inner, list) else [one] if "names" in one else []
    if found:
        return found, Reading()
    status = Status.TRUNCATED if reply.finish is Finish.LENGTH else Status.UNPARSEABLE
    return None, Reading(status, f"there is no scenario in {reply.text.strip()[:80]!r}")


def _spelling(scenario: Scenario) -> str:
    """One spelling for scenarios that differ in capital letters only."""
    return canonical(scenario.to_json()).casefold()
