"""A language model as translator: the text goes in as material, claims come out through the grammar.

Every text is a fresh conversation. A model that can follow a schema answers in JSON, any other in the paper's notation
of queries in braces. Whatever it answers is only ever parsed: it cannot state a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestresponse.core.player import Call
from bestresponse.formal.claims.claim import FORMS, Claim, Form, Malformed, Sort
from bestresponse.formal.claims.grammar import parse_queries
from bestresponse.formal.claims.grammar_json import claims_schema, parse_json
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.texts import TEXTS
from bestresponse.formal.claims.translators.translation import LONGEST_TEXT, Translation
from bestresponse.models.base import Message, Model, Request
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.schema import schema_text

__all__ = ["ModelTranslator", "forms_for"]

_EXAMPLES = {
    Sort.WHO: "who",
    Sort.NUMBER: "10",
    Sort.ACTION: "'X'",
    Sort.JOINT: "'X', 'Y'",
    Sort.CHAIN: "do(choice(you, 'X'), do(choice(them, 'Y'), s0))",
    Sort.MIXES: "[mix(them, ['X'-0.5, 'Y'-0.5])]",
}
_SEQUENTIAL = ("payoff", "higher", "lower", "equal", "will_play", "continuation_payoff")


@dataclass(frozen=True, slots=True)
class ModelTranslator:
    """Asks a model for the claims of a text."""

    model: Model
    max_tokens: int = 1024
    temperature: float | None = 0.0
    seed: int | None = None

    @property
    def name(self) -> str:
        return self.model.id

    def translate(self, text: str, subject: Subject) -> Translation:
        """The claims the model finds; an answer that is none of the forms is a `Malformed`, never an error."""
        schema = self.model.abilities.schema
        request = Request(
            (Message("system", TEXTS.text("system")), Message("user", _prompt(text, subject, schema))),
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.seed,
            schema=schema_text(_schema(subject)) if schema else None,
        )
        reply = self.model.complete(request)
        claims = parse_json(reply.text) if schema else parse_queries(reply.text)
        if len(text) > LONGEST_TEXT:
            why = f"the text has {len(text):,} characters; the first {LONGEST_TEXT:,} were looked at"
            claims = (*claims, Malformed(text[LONGEST_TEXT : LONGEST_TEXT + 40], why))
        told = tuple(one for one in claims if one != Claim("no_claim"))
        return Translation(told, (Call(self.model.id, request_to_json(request), reply_to_json(reply)),))


def forms_for(subject: Subject) -> tuple[str, ...]:
    """The forms that can be claimed of a game."""
    if subject.tree is not None:
        return (*_SEQUENTIAL, "highest_payoff", "lowest_payoff", "no_claim")
    return tuple(form for form in FORMS if form not in ("will_play", "continuation_payoff"))


def _schema(subject: Subject) -> dict[str, Any]:
    actions = tuple(dict.fromkeys(action for own in subject.actions for action in own))
    players = subject.players if subject.table is not None else (*subject.players, "nature")
    return claims_schema(forms_for(subject), players, actions if subject.table is not None else ())


def _prompt(text: str, subject: Subject, schema: bool) -> str:
    lines = _field_line if schema else _query_line
    return TEXTS.fill(
        "translate_json" if schema else "translate_queries",
        players=", ".join(subject.players),
        actions="\n".join(
            f"- {who}: {', '.join(own)}" for who, own in zip(subject.players, subject.actions, strict=True)
        ),
        forms="\n".join(lines(FORMS[form]) for form in forms_for(subject) if form != "no_claim"),
        text=text[:LONGEST_TEXT],
    )


def _field_line(form: Form) -> str:
    fields = ", ".join(f"{name} ({sort.value})" for name, sort in form.parameters)
    return f"- {form.name}: {fields}. Meaning: {form.meaning}"


def _query_line(form: Form) -> str:
    if form.name == "payoff":
        return f"- {{finally(goal(who, 10), {_EXAMPLES[Sort.CHAIN]}).}} {form.meaning}"
    inside = ", ".join(_EXAMPLES[sort] for _, sort in form.parameters)
    return f"- {{{form.name}({inside}).}} {form.meaning}"
