"""Best and better responses, and what is better whatever the other player does, in the kinds of words.

A comparison of two actions ("B is better than A", "I do better with B", "B (5) beats A (3)") speaks of the choice that
its clause stands under; with "whatever they do" it claims strict dominance; without either it claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from bestresponse.formal.claims.claim import Claim, Move
from bestresponse.formal.claims.translators.grammar.clauses import Clauses, Scope, Segment
from bestresponse.formal.claims.translators.words import Words

__all__ = ["Responses"]

_FACED: Final = r"e?(?P<to>a(?:[,&|]+a)*)"
_BEST: Final = (
    re.compile(rf"(?P<who>[yt])?B(?:2|g){_FACED}=(?:2|h|:)*(?P<a>a)"),
    re.compile(rf"(?P<a>a)=(?P<who>[yt])?B(?:2|g){_FACED}"),
    re.compile(r"(?P<who>[yt])?B\((?P<to>a)\)=(?P<a>a)(?![&,|])"),
)
_BEST_LIST: Final = re.compile(r"B(?::|2)a=a(?:[,&;]+2?a=(?:2|h)*a)+")
_BEST_PAIR: Final = re.compile(r"(?P<who>(?!))?(?P<to>a)=(?:2|h)*(?P<a>a)")
_BEST_HERE: Final = (
    re.compile(r"(?P<who>[yt])?B=(?:2|h|:)*(?P<a>a)(?P<always>V)?"),
    re.compile(r"(?P<a>a)v(?P<who>[yt])?MN?(?![FSPw_])(?P<always>V)?"),
    re.compile(r"(?P<who>[yt])p(?P<a>a)(?![2TR])(?P<always>V)?"),
    re.compile(r"(?P<a>a)=(?P<who>[yt])?[BM](?![2gNSF_c])(?P<always>V)?"),
)
_AMOUNT: Final = r"(?:\(n\))?"
_THAN: Final = rf"(?:[TR][wfi]?y?h?(?P<b>a){_AMOUNT})"
_BETTER: Final = (
    re.compile(rf"(?P<a>a){_AMOUNT}\??(?:=|v[yt]?|r)s?KN?(?:F(?P<who>[yt]))?{_THAN}?(?:g(?P<to>a))?(?P<rest>.?)"),
    re.compile(rf"(?P<who>[yt])\??(?:=|r|_)?K(?:[wif]?(?:[yt])?h?)(?P<a>a){_AMOUNT}{_THAN}?(?P<rest>.?)"),
    re.compile(rf"(?P<who>[yt])p(?P<a>a){_AMOUNT}[2TR](?P<b>a){_AMOUNT}(?P<rest>.?)"),
    re.compile(rf"(?P<a>a){_AMOUNT}\^(?P<b>a){_AMOUNT}(?P<rest>.?)"),
)
_BEST_MIXED: Final = re.compile(r"(?P<a>a)\??=?(?P<k>[MK])")
_BESIDE: Final = re.compile(r"(?P<a>a)(?:\((?P<k>n)\)|(?:[=v][yt]?K)?[(,:]+(?P<n>n)[>R](?P<m>n)\)?)")


class Responses:
    """Reads one segment at a time, under the conditions that hold there."""

    def __init__(self, words: Words, clauses: Clauses) -> None:
        self.words = words
        self.subject = words.subject
        self.clauses = clauses

    def read(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """Yield what a segment says of responses to the other player."""
        if "!" in segment.code:
            return
        for match in (found for pattern in _BEST for found in pattern.finditer(segment.code)):
            yield from self._best(segment, match)
        for listed in _BEST_LIST.finditer(segment.code):
            for pair in _BEST_PAIR.finditer(segment.code, listed.start(), listed.end()):
                yield from self._best(segment, pair)
        yield from self._best_here(segment, scope)
        yield from self._better(segment, scope)
        yield from self._beside(segment, scope)
        yield from self._mixed(segment, scope)

    def narrow(self, segment: Segment, scope: Scope) -> Scope:
        """Return the scope that "in that case" refers to after a best response was named."""
        for match in (found for pattern in _BEST for found in pattern.finditer(segment.code)):
            place = self.words.action(1, str(segment.tokens[match.end("to") - 1].value))
            if place is not None and match["who"] != "t":
                scope = Scope({1: place})
        return scope

    def _best(self, segment: Segment, match: re.Match[str]) -> Iterator[Claim]:
        """My best response to Left and to Right is Up."""
        who = 1 if match["who"] == "t" or not self._label(0, segment, match, "a") else 0
        action = self._label(who, segment, match, "a")
        for token in segment.tokens[match.start("to") : match.end("to")]:
            place = self.words.action(1 - who, str(token.value)) if token.kind == "a" else None
            if action and place is not None:
                yield self._claim("best_response", who, place, action)

    def _best_here(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """If they choose Left, Up is best; my best reply is Up in both cases."""
        if scope.mix:
            return
        for match in (found for pattern in _BEST_HERE for found in pattern.finditer(segment.code)):
            who = self._whose(segment, match, scope)
            action = self._label(who, segment, match, "a")
            always = match["always"] or (not scope.chosen and self._is_always(segment))
            if action and always:
                for place in range(len(self.subject.actions[1 - who])):
                    yield self._claim("best_response", who, place, action)
            elif action and 1 - who in scope.chosen:
                yield self._claim("best_response", who, scope.chosen[1 - who], action)

    def _is_always(self, segment: Segment) -> bool:
        return "V" in segment.code or re.search(r"\balways\b", segment.text, re.IGNORECASE) is not None

    def _whose(self, segment: Segment, match: re.Match[str], scope: Scope) -> int:
        """Who responds: who is named, who has such an action, else whoever's choice is open."""
        if match.groupdict().get("who"):
            return 0 if match["who"] == "y" else 1
        if not self.words.alike:
            return 0 if self._label(0, segment, match, "a") else 1
        return 1 if set(scope.chosen) == {0} else 0

    def _better(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """Against Left, Up is better; I prefer Up to Down whatever they do; I am indifferent in that case."""
        you = self.subject.players[0]
        for match in (found for pattern in _BETTER for found in pattern.finditer(segment.code)):
            who = self._whose(segment, match, scope)
            first, second = self._two(who, segment, match)
            faced = self._faced(who, segment, match, scope)
            alone = "^" in match[0] and not re.search(r"[ig]", segment.code[: match.start()])
            if alone or not first or not second or first == second or scope.mix or match["rest"] in tuple("_PwiEGm"):
                continue
            if faced is not None and "V" not in segment.code:
                yield self._claim("better_response", who, faced, first, second)
            elif self._is_always(segment) and not scope.chosen and "i" not in segment.code:
                yield Claim("strictly_dominates", (first, second, self.subject.players[who]))
        indifferent = not scope.mix and 1 in scope.chosen and re.search(r"y\??=Z", segment.code)
        if indifferent and len(self.subject.actions[0]) == 2:
            yield Claim("equal_response", (*self.subject.actions[0], self.clauses.against(scope), you))

    def _two(self, who: int, segment: Segment, match: re.Match[str]) -> tuple[str, str]:
        """The better and the worse action; of two actions the one that is not named is the other one."""
        names = self.subject.actions[who]
        first, second = self._label(who, segment, match, "a"), self._label(who, segment, match, "b")
        if first and not match["b"] and len(names) == 2:
            second = next(name for name in names if name != first)
        return first, second

    def _faced(self, who: int, segment: Segment, match: re.Match[str], scope: Scope) -> int | None:
        if match.groupdict().get("to"):
            return self.words.action(1 - who, str(segment.tokens[match.start("to")].value))
        return scope.chosen.get(1 - who)

    def _beside(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """If they choose Left, Up (5) is better than Down (3); my best reply is Up (5 > 3)."""
        if len(scope.chosen) != 1 or scope.mix or re.search(r"[EGJVXSmj?]", segment.code):
            return
        ((other, faced),) = scope.chosen.items()
        who = 1 - other
        for match in _BESIDE.finditer(segment.code):
            own = self.words.action(who, str(segment.tokens[match.start("a")].value))
            values = [segment.tokens[match.start(name)].value for name in "knm" if match[name]]
            places = [own] if len(values) == 1 or own is None or len(self.subject.actions[who]) > 2 else [own, 1 - own]
            for place, value in zip(places, values, strict=False):
                if place is not None and isinstance(value, Fraction):
                    yield self.clauses.payoff(who, value, {who: place, other: faced})

    def _mixed(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """Up is better given this belief."""
        if not scope.mix or 1 in scope.chosen:
            return
        for match in _BEST_MIXED.finditer(segment.code):
            action = self._label(0, segment, match, "a")
            alone = match["k"] == "M" or (len(self.subject.actions[0]) == 2 and "T" not in segment.code)
            if action and alone:
                yield Claim("best_response_to_mix", (action, scope.mix, self.subject.players[0]))

    def _claim(self, form: str, who: int, faced: int, *actions: str) -> Claim:
        """Claim something of a player's actions against one of the other player's."""
        other = 1 - who
        against = (Move(self.subject.players[other], self.subject.actions[other][faced]),)
        return Claim(form, (*actions, against, self.subject.players[who]))

    def _label(self, who: int, segment: Segment, match: re.Match[str], group: str) -> str:
        if not match.groupdict().get(group):
            return ""
        place = self.words.action(who, str(segment.tokens[match.start(group)].value))
        return "" if place is None else self.subject.actions[who][place]
