"""Bids in the words of models that explain themselves.

Models that are asked for an amount and to explain themselves say it in the middle of the
explanation, beside balances, rivals' bids and bids of former days. Sentence by sentence the reply
is searched for statements of the reader's own bid (`read_bid`):

    a statement      "My bid: $90", "my adjusted bid for Day 9 will be 11 * $10 = $110", "BID $90"
    a commitment     "I will bid $90", "I have decided to place a bid of $90", "I'm going to offer
                     90 dollars"
    a consequence    "by bidding $90", "bidding $90 allows me", "a bid of $90 should be enough"

Sentences about former days, about others, about limits ("at most") and about what is not done do
not count. The strongest kind that occurs decides; where its amounts differ, a later sentence that
revises ("adjusted", "therefore", "however ... instead") replaces the earlier ones, and otherwise
there is no reading. A reply that declines to bid is a pass. Nothing is guessed: no reading is None.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from bestresponse.core.ask import PASS

_LONGEST_IN_WORDS = 20_000  # characters: patterns of sentences are slower than those of answers
_REACH = 240  # characters before a sum that can say whose it is
_MOST_SUMS = 200
_SENTENCE = re.compile(r"(?<=[.!?;])[\"')\]*_]*\s+(?=[\"'(\[*_$A-Z0-9-])|\n+")
_UNIT = r"(?:units?|days?|points?|HP|residents?|health|percent|people|rounds?|times)\b"
# With decimals where there are any, without giving them up again; a possessive group says so too,
# but Python before 3.11.5 reads the full stop of "3. " as part of the number then (CPython issue
# 106052).
_DIGITS = r"\d[\d,]*+(?:\.\d++|(?!\.\d))"
_SUM = re.compile(
    rf"(?:US)?[$€£][ ]?({_DIGITS})(?![ ]?(?:per|/|a|each)[ ]?(?:unit|day))"
    rf"|(?<![\d.,/$-])({_DIGITS})(?=[ ]?(?:dollars?|USD|bucks|[$€£])(?:\W|$))"
    rf"|(?<![\w$€£.,/%-])({_DIGITS})(?![\w%]|[ ]?{_UNIT}|[ ]?%)",
    re.IGNORECASE,
)
_BEFORE_A_BARE_NUMBER = re.compile(
    r"\b(?:bid|offer|bidding|offering)(?:\s+(?:of|is|will\s+be|at|to))?[\s*_:=]+$", re.IGNORECASE
)
_ADVERBS = (
    r"(?:\s+(?!not\b|never\b)\w+ly"
    r"|\s+(?:also|now|therefore|thus|hence|again|still|just|only|once|today|then|so))*"
)
_AUXILIARY = (
    r"(?:\s+(?:will|shall|would|should|must|could|am|have|had|decide|decided|plan|intend|propose|"
    r"choose|opt|opted|want|wish|need|going|aim|like|think|believe|feel|prefer|ready|willing|be|"
    r"to|that|it|is|best|continue|try|place|submit|make|put|set|keep|increase|raise|lower|reduce|"
    r"decrease|adjust|maintain|offer|for|in|my|a|an|the|daily|auction|today's|today|day|at|with|"
    r"confident|comfortable|wise|i|we))"
)
_GAP = r"[^.!?\n$€£=]{0,80}?"
_COMMITMENT = re.compile(
    rf"\b(?:i|we)(?:['’](?:ll|m|d|ve|re))?{_ADVERBS}(?:{_AUXILIARY}{_ADVERBS})*?\s+[\w-]*?\s*"
    rf"(?:bid(?:ding)?|offer(?:ing)?|submit(?:ting)?|plac(?:e|ing)|pay(?:ing)?)\b"
    rf"(?:[^.!?\n$€£=]|\bDay \d+){{0,80}}?$",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    rf"(?:\bmy(?:\s+[\w'-]+){{0,3}}?\s+(?:bid(?:ding)?|offer)"
    rf"|^[\s>*_#-]*(?:final\s+|today's\s+|the\s+)?(?:bid|offer))"
    rf"(?:\s+(?:amount|price|offer|proposal))?(?:\s*\*+)?"
    rf"(?:\s+(?:for|on|of|in|today|this|the)\b{_GAP})?"
    rf"\s*\**\s*(?::|=|\bis\b|\bwill\s+be\b|\bwould\s+be\b|\bshall\s+be\b"
    rf"|\bof\b|\bto\b|\bat\b|\bamounts?\s+to\b)"
    rf"(?:[^.!?\n$€£]{{0,40}}?|[^!?\n]{{0,60}}=\s*)$",
    re.IGNORECASE,
)
_CONSEQUENCE = re.compile(
    rf"(?:\b(?:by|with|me\s+to)\s+(?:bidding|offering)|\bbidding"
    rf"|\b(?:a|this|the)\s+(?:[\w-]+\s+){{0,2}}bid\s+of){_GAP}$",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:yesterday|previous(?:ly)?|earlier|last\s+(?:round|time|day|auction|bid|night)|"
    r"prior|former|"
    r"won|lost|was|were|been|had|did(?:n['’]t)?|failed|losing|winning\s+bids?\b|past)\b|"
    r"\bi\s+bid\s+[$€£\d]|\b(?:on|since|from|in|of)\s+day\s+\d+\b|"
    r"\b(?:he|she|they|others?|residents?|players?|everyone|opponents?|competitors?|rivals?)\b"
    r"(?:\s+\w+){0,3}?\s+(?:bids?|bidding|offers?|might|may|could|will|would)\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:up\s+to|at\s+most|no\s+more\s+than|maximum|between|from|range|"
    r"more\s+than|higher\s+than|less\s+than|lower\s+than|above|below|over|under|exceed\w*|"
    r"instead\s+of|rather\s+than|than|compared\s+to|if|"
    r"(?<!entire )(?<!whole )(?<!full )(?<!remaining )(?:balance|salary|budget|savings)|"
    r"not|n['’]t|never|without|avoid)\b[^$€£.!?]*$",
    re.IGNORECASE,
)
_NO_STATEMENT = re.compile(
    r"\b(?:than|at\s+least|at\s+most|up\s+to|between|above|below|under|over|"
    r"maximum|minimum|average|range|not)\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_BID_IF_FOLLOWED_BY = re.compile(
    r"\s*(?:=|,? (?:no|wait|or rather|make that),? [$€£\d]"
    r"|[*x×/+]\s*[$€£\d]|-\s*[$€£]?\d|or\b|to\s+[$€£\d]|was\b|were\b|yesterday\b|last\b|"
    r"(?:on|from|in)\s+(?:day\s+\d|the\s+(?:previous|last)))",
    re.IGNORECASE,
)
_REVISES = re.compile(
    r"\b(?:therefore|thus|hence|so|final(?:ly)?|adjust\w*|instead|ultimately|"
    r"in\s+conclusion|decided?|however)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:however|instead|but)\b.*\b(?:i|my)\b.*\bbid", re.IGNORECASE | re.DOTALL
)
_DECLINES = re.compile(
    r"\b(?:i|we)(?:['’](?:ll|m|d|ve))?(?:\s+\w+){0,6}?\s+(?:not|\w*n['’]t)(?:\s+to)?"
    r"(?:\s+\w+){0,2}?\s+(?:bid|participate|participating|bidding|place|submit|take\s+part)\b"
    r"(?!\s+(?:too|so|more|as|higher|lower|less|aggressive|over))"
    r"|\bno\s+need\s+(?:for\s+me\s+)?to\s+(?:\w+\s+)?(?:bid|participate|take\s+part|place|submit)\b"
    r"|\b(?:i|we)(?:['’]ll)?(?:\s+\w+){0,4}?\s+(?:abstain|skip|sit\s+out|refrain|pass)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NamedBid:
    """A bid and where the reply names it; `value` is PASS where the reply declines to bid."""

    value: float | str
    how: str


@dataclass(frozen=True, slots=True)
class _Claim:
    kind: int
    value: float
    revises: bool


_KINDS = ("a statement of the bid", "a commitment to the bid", "a consequence of the bid")


def read_bid(text: str) -> NamedBid | None:
    """Return the bid that a text names, or None where it names none or several.

    >>> read_bid("Bob bid $80 yesterday. I will bid $95 to stay ahead.").value
    95.0
    >>> read_bid("I will not participate in today's auction.").value
    'pass'
    >>> read_bid("I might bid $80 or $95.") is None
    True
    """
    claims = list(_all_claims(text[:_LONGEST_IN_WORDS]))
    for kinds in ((0, 1), (2,)):
        bid = _settled([claim for claim in claims if claim.kind in kinds])
        if bid is not None:
            return NamedBid(bid.value, _KINDS[bid.kind])
        if any(claim.kind in kinds for claim in claims):
            return None
    return NamedBid(PASS, "declines to bid") if _DECLINES.search(text[:_LONGEST_IN_WORDS]) else None


def _settled(claims: list[_Claim]) -> _Claim | None:
    """The claim that all agree on, or that the last revision makes; None where they differ."""
    for start in range(len(claims) - 1, -1, -1):
        if claims[start].revises or start == 0:
            latest = claims[start:]
            values = {claim.value for claim in latest}
            return latest[0] if len(values) == 1 else None
    return None


def _all_claims(text: str) -> Iterator[_Claim]:
    """The claims of every sentence.

    One that only announces a change makes the next claim a revision.
    """
    changing = False
    for sentence in _SENTENCE.split(text):
        claims = list(_claims(sentence))
        for claim in claims:
            yield replace(claim, revises=claim.revises or changing)
        changing = not claims and bool(_CHANGES.search(sentence))


def _claims(sentence: str) -> Iterator[_Claim]:
    """Every amount that the sentence names as the reader's own bid of today."""
    for match in islice(_SUM.finditer(sentence), _MOST_SUMS):
        reach = max(0, match.start() - _REACH)
        before = sentence[reach : match.start()]
        after = sentence[match.end() :]
        if match.group(3) and not _BEFORE_A_BARE_NUMBER.search(before):
            continue
        kind = _kind(before)
        if kind is None or _NO_BID_IF_FOLLOWED_BY.match(after):
            continue
        digits = next(group for group in match.groups() if group)
        value = float(digits.replace(",", "").rstrip("."))
        yield _Claim(kind, value, revises=bool(_REVISES.search(before)))


def _kind(before: str) -> int | None:
    statement = _STATEMENT.search(before)
    if statement:
        beside = _ELSEWHERE.search(statement.group()) or _NO_STATEMENT.search(statement.group())
        return None if beside else 0
    if _LIMIT.search(_clause(before)):
        return None
    commitment = _COMMITMENT.search(before)
    if commitment:
        if " than " in commitment.group() or _ELSEWHERE.search(_clause(before)):
            return None
        return 1
    if _CONSEQUENCE.search(before):
        return 2 if not _ELSEWHERE.search(before) else None
    return None


def _clause(before: str) -> str:
    """The part of the sentence that the commitment is in."""
    return re.split(r"[,;]|\bbut\b|\bso\b|\bsince\b|\bbecause\b", before)[-1]
