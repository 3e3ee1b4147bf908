"""A language model as translator: the text goes in as material, claims come out through the grammar.

Every text is a fresh conversation. The answer is JSON, held to a schema where the model can be. Whatever it answers is
only ever parsed: it cannot state a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bestresponse.core.json import JsonObject
from bestresponse.core.player import Call
from bestresponse.formal.claims.claim import FORMS, NO_CLAIM, OF_TABLES, OF_TREES, Claim, Malformed
from bestresponse.formal.claims.form import Form
from bestresponse.formal.claims.grammar import JsonAnswer, QuotedClaim, claims_schema, read_answer
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.texts import TEXTS
from bestresponse.formal.claims.translators.translation import LONGEST_TEXT, Translation, find_passages, refuse_rest
from bestresponse.formal.claims.wording import describe
from bestresponse.models.base import Finish, Message, Model, Request
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.schema import schema_text

_MOST_REPLIES: Final = 3


@dataclass(frozen=True, slots=True)
class ModelTranslator:
    """Asks a model for the claims of a text; a reply that is cut off is kept as far as it goes and gone on with."""

    model: Model
    max_tokens: int = 4096
    temperature: float | None = 0.0
    seed: int | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.id

    def translate(self, text: str, subject: Subject) -> Translation:
        """Return the claims the model finds; an answer that is none of the forms is a `Malformed`, never an error."""
        rows: list[QuotedClaim] = []
        calls: list[Call] = []
        cut = 0
        prompt = _prompt(text, subject)
        messages: tuple[Message, ...] = (Message("system", TEXTS.text("system")), Message("user", prompt))
        schema = schema_text(_schema(subject)) if self.model.abilities.schema else None
        for number in range(1, _MOST_REPLIES + 1):
            request = Request(
                messages, max_tokens=self.max_tokens, temperature=self.temperature, seed=self.seed, schema=schema
            )
            reply = self.model.complete(request)
            calls.append(Call(self.model.id, request_to_json(request), reply_to_json(reply)))
            answer = read_answer(reply.text)
            if reply.finish is Finish.LENGTH and all(isinstance(row.claim, Malformed) for row in answer.rows):
                answer = JsonAnswer((), complete=False, kept='{"claims": []}')
            rows += answer.rows
            if answer.complete:
                break
            cut += 1
            if number == _MOST_REPLIES:
                why = f"the reply was cut off {number} times; claims are missing"
                rows.append(QuotedClaim(Malformed("...", why, "cut off")))
            messages = (*messages, Message("assistant", answer.kept), Message("user", TEXTS.text("continue")))
        claims = [row.claim for row in rows if row.claim != Claim(NO_CLAIM)]
        if len(text) > LONGEST_TEXT:
            claims.append(refuse_rest(text))
        quoted = rows and all(row.quote for row in rows if isinstance(row.claim, Claim))
        passages = find_passages(text, subject, rows) if quoted else None
        return Translation(tuple(dict.fromkeys(claims)), tuple(calls), passages, cut)


def forms_for(subject: Subject) -> tuple[str, ...]:
    """The forms that can be claimed of a game."""
    empty = (form for form in FORMS if form not in OF_TABLES and form not in OF_TREES)
    return (*(OF_TABLES if subject.tree is None else OF_TREES), *empty)


def _schema(subject: Subject) -> JsonObject:
    actions = tuple(dict.fromkeys(action for own in subject.actions for action in own))
    players = subject.players if subject.table is not None else (*subject.players, "nature")
    return claims_schema(forms_for(subject), players, actions if subject.table is not None else ())


def _prompt(text: str, subject: Subject) -> str:
    return TEXTS.fill(
        "translate_json",
        people="\n".join(_people(subject)),
        actions="\n".join(
            f"- {who}: {', '.join(own)}" for who, own in zip(subject.players, subject.actions, strict=True)
        ),
        forms="\n".join(_field_line(FORMS[form]) for form in forms_for(subject) if form != NO_CLAIM),
        text=text[:LONGEST_TEXT],
    )


def _people(subject: Subject) -> Iterator[str]:
    """Which words of a text mean which player."""
    names = [subject.game.players[seat] for seat in subject.order]
    places = [f"Player {seat + 1}" for seat in subject.order]
    sides = [("the row player", "the column player")[seat] if len(names) == 2 else "" for seat in subject.order]
    for number, player in enumerate(subject.players):
        also = dict.fromkeys(word for word in (names[number], places[number], sides[number]) if word and word != player)
        words = [*(["I", "me", "my"] if number == 0 else ()), *also]
        if number == 1 and len(names) == 2:
            words += ["they", "he", "she", "the other player", "the opponent"]
        yield f"- {player}: {'the writer of the text, ' if number == 0 else ''}also called {', '.join(words)}"
    yield "- we, both, each, everybody: all players; write one claim for each."


def _field_line(form: Form) -> str:
    fields = ", ".join(f"{name} ({sort.value})" for name, sort in form.parameters)
    return f"- {form.name}: {fields}. Meaning: {describe(form)}"
