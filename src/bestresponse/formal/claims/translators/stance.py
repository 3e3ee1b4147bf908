"""What a sentence asserts: questions, doubts, other people's opinions and suppositions are set aside.

A question that is answered at once ("Is (B, B) an equilibrium? No.") is an assertion, and so is a doubt that is taken
back ("One might think that B is dominant, but it is not"): the reader gets the statement and whether it is denied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Statement", "find_statement"]

_OPINION: Final = re.compile(
    r"\b(?:(?:it is|it's|it may be|it might be|it seems) (?:\w+ )?(?:tempting|natural|easy|intuitive|common)"
    r" to (?:think|believe|say|assume|conclude|argue|suppose|guess)"
    r"|(?:one|you|some(?: people| players| readers)?|many(?: people)?|people|others|someone|somebody|critics?"
    r"|a naive \w+)"
    r" (?:\w+ )?(?:might|may|could|would|will|can)? ?(?:also |even |well )?"
    r"(?:think|say|argue|believe|claim|assume|object|suppose|guess|suggest|ask|(?:tell|assure) (?:you|us|me))s?"
    r"|(?:the|a) (?:naive|common|usual|first) (?:intuition|view|guess|reading|idea) (?:is|says|would be)"
    r"|at first (?:glance|sight|look)|on the (?:surface|face of it)|superficially|naively)\b",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|suppose|imagine|assuming|unless)\b[^,;]*\b(?:were|was|had been|happened to be|turned out)\b[^,;]*"
    r"\b(?:dominant|dominated|equilibri\w*|optimal|best response|better|worse)\b"
    r"|\b(?:whether(?! (?:or not )?[^,;:]{3,60} or [^,;:]{2,40},)"
    r"|would have been|could have been|wonder(?:s|ing)? if)\b",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"[,;]?\s+(?:but|yet|however,?)\s+(?:it|this|that|they)\s+(?:is not|isn't|does not|doesn't|are not|aren't"
    r"|is wrong"
    r"|is false|is incorrect)\W*$",
    re.IGNORECASE,
)
_THAT: Final = re.compile(
    r"^.*?\b(?:think|say|argue|believe|claim|assume|conclude|suppose|guess|(?:tell|assure) (?:you|us|me))s?(?: that)?"
    r"\s+",
    re.I,
)
_ASKS: Final = re.compile(
    r"^\W*(?:so |but |and |now,? )?(?:is|are|does|do|can|could|would|should|what|which|why|how|who)\b", re.I
)
_ANSWER: Final = re.compile(r"^\W*(?P<word>no|yes|not really|indeed|it is not|it isn't)\b", re.IGNORECASE)
_CONTRADICTION: Final = re.compile(
    r"^\W*(?:but |however,? )?(?:(?:it|this|that|they) (?:is not|isn't|is wrong|is false|are wrong)"
    r"|that's (?:wrong|false)|not so)\b",
    re.IGNORECASE,
)
_COPULA: Final = re.compile(r"^\W*(?:so |but |and |now,? )?(?P<verb>is|are)\s+(?P<subject>\([^()]*\)|[\w-]+)\s+", re.I)
_DOES: Final = re.compile(
    r"^\W*(?:so |but |and |now,? )?does\s+(?P<subject>[\w -]+?)\s+(?P<how>strictly |weakly )?dominate\b", re.I
)


@dataclass(frozen=True, slots=True)
class Statement:
    """The words that are asserted, none where nothing is; `denied`: that they are false is what is asserted."""

    text: str
    denied: bool = False


def find_statement(sentence: str, after: str = "") -> Statement:
    """Return what a sentence asserts; `after` is the sentence that follows, which may answer a question.

    >>> find_statement("Some would say that R is dominant.").text
    ''
    >>> find_statement("Is (R, R) an equilibrium?", "No, it is not.")
    Statement(text='(R, R) is an equilibrium', denied=True)
    """
    if sentence.rstrip(" \"')*").endswith("?"):
        return _read_question(sentence, after)
    back = _TAKEN_BACK.search(sentence)
    opinion = _OPINION.search(sentence)
    if opinion is not None and back is not None:
        return Statement(_THAT.sub("", sentence[: back.start()]), denied=True)
    if opinion is not None and _CONTRADICTION.match(after):
        return Statement(_THAT.sub("", sentence), denied=True)
    if opinion is not None:
        return Statement(sentence[: opinion.start()] if opinion.start() > 40 else "")
    return Statement("" if _SUPPOSED.search(sentence) else sentence)


def _read_question(sentence: str, after: str) -> Statement:
    """Turn an answered question into a statement; any other asserts nothing."""
    asked = sentence.rstrip(" ?\"'*")
    answer = _ANSWER.match(after)
    if answer is None:
        return Statement("")
    if copula := _COPULA.match(asked):
        said = f"{copula['subject']} {copula['verb'].lower()} {asked[copula.end() :]}"
    elif does := _DOES.match(asked):
        said = f"{does['subject']} {does['how'] or ''}dominates{asked[does.end() :]}"
    else:
        return Statement("")
    return Statement(said, denied=answer["word"].lower() not in ("yes", "indeed"))
