"""Rows of amounts: several in a list, or several that each carry their own condition.

`A pays 3, 0 and 1` goes through the other player's actions in order; `B gives 5 if they choose A, 1 if they choose
B` and `I get 3 if we both cooperate, 1 if we both defect` say with each amount when it is paid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.translators.grammar.clauses import Clauses, Scope, Segment
from bestresponse.formal.claims.translators.words import Words

__all__ = ["Rows"]

_LIST: Final = re.compile(r"(?P<list>n(?:[,&|]+n)+)(?P<faced>[gF](?:a[,&|]*)+)?")
_LIST_HEAD: Final = re.compile(
    r"(?:(?P<a>a)(?:[yte]r|v[yt]?|,?yr)N?|(?:i?t)h(?P<b>a),?y(?:r|N=)|[yw]h?(?P<c>a),?(?:yr)?|g(?P<d>a),?y(?:r|N=))\|?$"
)
_WHEN: Final = r"\(?(?:i?[yte]h?2?a(?:[&,]+[yte]h?2?a)?|[gR]_?t?a|[iP]?c)\)?"
_CASES: Final = re.compile(rf"\|?n{_WHEN}(?:[,&|;]+n{_WHEN})+")
_CASE: Final = re.compile(rf"(?P<n>n)(?P<when>{_WHEN})")
_CASES_HEAD: Final = re.compile(
    r"(?P<who>[yte])(?P<v>r|l|N(?:f(?P<f>a))?=)N?F?$|(?P<a>a)(?:N?[=:]:?|[vr](?P<to>[yte])?)$|^(?P<none>)$"
)


class Rows:
    """Reads the rows of one segment."""

    def __init__(self, words: Words, clauses: Clauses) -> None:
        self.words = words
        self.subject = words.subject
        self.clauses = clauses

    def read(self, segment: Segment, scope: Scope) -> tuple[list[Claim], str]:
        """Return the claims of the rows, and the kinds of words with those of the rows left blank."""
        code, claims = segment.code, list[Claim]()
        if self.clauses.is_open(segment):
            return claims, code
        for match in _CASES.finditer(segment.code):
            if head := _CASES_HEAD.search(segment.code[: match.start()]):
                claims += self._cases(segment, scope, match, head)
                code = _blank(code, match)
        for match in _LIST.finditer(code):
            head = _LIST_HEAD.search(code[: match.start()])
            if head is not None:
                claims += self._row(segment, head, match)
            code = _blank(code, match)
        return claims, code

    def _cases(self, segment: Segment, scope: Scope, row: re.Match[str], head: re.Match[str]) -> Iterator[Claim]:
        """B gives 5 if they choose A, 1 if they choose B."""
        who = self._receiver(segment, head)
        own = self._own(who, segment, head)
        before = Segment(segment.tokens[: row.start()], segment.code[: row.start()], "")
        scope = self.clauses.conditions(before, scope)
        if own is not None:
            scope = scope.choose(who[:1], own)
        for match in _CASE.finditer(row[0]):
            start = row.start() + match.start("when")
            when = segment.tokens[start : start + len(match["when"])]
            value = segment.tokens[row.start() + match.start("n")].value
            there = self.clauses.conditions(Segment(when, match["when"].replace("R", "g"), ""), scope)
            if isinstance(value, Fraction) and len(there.chosen) == 2 and not there.mix:
                value = -value if head["v"] == "l" and value > 0 else value
                yield from (self.clauses.payoff(one, value, there.chosen) for one in who)

    def _receiver(self, segment: Segment, head: re.Match[str]) -> tuple[int, ...]:
        for group in ("who", "to"):
            if head[group]:
                value = segment.tokens[head.start(group)].value
                return value if isinstance(value, tuple) else (0,)
        return (0,)

    def _own(self, who: tuple[int, ...], segment: Segment, head: re.Match[str]) -> int | None:
        place = next((head.start(group) for group in ("a", "f") if head[group]), None)
        if place is None or len(who) != 1:
            return None
        return self.words.action(who[0], str(segment.tokens[place].value))

    def _row(self, segment: Segment, head: re.Match[str], match: re.Match[str]) -> Iterator[Claim]:
        """A pays 3, 0 and 1."""
        tokens = segment.tokens[match.start("list") : match.end("list")]
        values = [one.value for one in tokens if isinstance(one.value, Fraction)]
        either = "|" in match["list"]
        group = next(name for name in "abcd" if head[name])
        seats = (1,) if group in "bd" else (0, 1)
        text = str(segment.tokens[head.start(group)].value)
        who = next((seat for seat in seats if self.words.action(seat, text) is not None), None)
        place = None if who is None else self.words.action(who, text)
        if who is None or place is None:
            return
        faced = self._faced(segment, match, 1 - who)
        wanted = len(self.subject.actions[1 - who])
        if faced is None and len(values) == wanted and not (either and who == 0):
            faced = list(range(wanted))
        if faced is not None and len(faced) == len(values):
            for other, value in zip(faced, values, strict=True):
                yield self.clauses.payoff(0, value, {who: place, 1 - who: other})
        elif who == 0 and either and len(values) == 2:
            label = self.subject.actions[0][place]
            for form, value in (("lowest", min(values)), ("highest", max(values))):
                yield Claim(f"{form}_individual_payoff_for_choice", (value, label, self.subject.players[0]))

    def _faced(self, segment: Segment, match: re.Match[str], who: int) -> list[int] | None:
        if not match["faced"]:
            return None
        span = segment.tokens[match.start("faced") : match.end("faced")]
        found = [self.words.action(who, str(one.value)) for one in span if one.kind == "a"]
        return [place for place in found if place is not None]


def _blank(code: str, match: re.Match[str]) -> str:
    return code[: match.start()] + " " * len(match[0]) + code[match.end() :]
