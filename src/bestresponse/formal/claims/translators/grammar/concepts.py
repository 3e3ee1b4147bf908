"""Equilibria, dominance and Pareto comparisons, stated or denied, in the kinds of words.

A word without "strictly" or "weakly" is taken in its weaker sense: "dominant" claims weak dominance, "not dominant"
denies strict dominance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Final

from bestresponse.formal.claims.claim import Chain, Claim, Mix, Move
from bestresponse.formal.claims.translators.grammar.clauses import Clauses, Scope, Segment
from bestresponse.formal.claims.translators.words import Words

__all__ = ["Concepts"]

_MOST_OUTCOMES: Final = 25
_OUTCOME: Final = r"(?P<c>c|e\??h?a)"
_EQUILIBRIUM: Final = re.compile(rf"(?<!\?){_OUTCOME}(?:,[^,c]*,)?=(?P<no>!?)(?P<only>1?)F?(?:[yt])?Q(?![c(])")
_EQUILIBRIA: Final = re.compile(r"(?<!\?)(?P<list>c(?:[,&]+c)+)=(?P<no>!?)(?P<only>1?)F?Q")
_NOBODY_GAINS: Final = re.compile(r"(?<![yt])![^cia!]{0,8}hf(?P<c>c)|(?P<d>c),?(?<![yt])![^cia!]{0,8}/")
_SOMEBODY_GAINS: Final = re.compile(r"f(?P<c>c),?[yte]=_2(?:a|/)|(?P<d>c),?[yte]=_2(?:a|/)")
_MIXTURE: Final = re.compile(r"(?P<who>[yte])h?(?P<a>a)%(?P<n>n)(?:[,&]+h?(?P<b>a)%(?P<m>n))?")
_EQUILIBRIUM_IS: Final = re.compile(rf"(?P<only>1)?Q(?:_?P_?|[=:,]|P)+{_OUTCOME}(?![=!])")
_THIS_IS: Final = re.compile(r"H=(?P<no>!?)(?:1)?Q")
_NO_SADDLE: Final = re.compile(r"(?:^|=)!Q")
_PARETO_IS: Final = re.compile(rf"(?<!\?){_OUTCOME}=(?P<no>!?)O")
_PARETO_LESS: Final = re.compile(r"(?P<c>c)=(?P<no>!?)z(?:[w](?P<d>c))?")
_PARETO_MORE: Final = re.compile(r"(?P<c>c)(?P<no>!?)o(?P<d>c)")
_OTHER: Final = r"(?P<d>c|e\??h?a)"
_BOTH_GAIN: Final = (
    re.compile(rf"ep{_OUTCOME}(?:[2TR]{_OTHER})?(?![&,]c)"),
    re.compile(rf"{_OUTCOME}(?:[=vr]eK|=KFe|\^)(?:[TR][PF]?)?{_OTHER}(?P<end>Fe)?"),
    re.compile(rf"e=K[PFwi]{_OUTCOME}[TR][PFwi]?{_OTHER}"),
    re.compile(rf"{_OTHER}=WFe[TR][PF]?{_OUTCOME}"),
)
_ALL_BUT: Final = re.compile(r"AX(?P<c>c)\??=(?P<no>!?)(?P<k>[OQ])")
_ONLY_ONE_NOT: Final = re.compile(r"(?P<c>c)=1N[_H]?=!(?P<k>O)|(?P<c2>c)=1N[_H]?=(?P<k2>O)")
_DOMINATES: Final = re.compile(r"(?P<a>a)(?P<no>!?)(?P<how>[sq]?)D(?P<b>a)(?:F(?P<who>[yte]))?")
_DOMINATED: Final = re.compile(r"(?P<a>a)=(?P<no>!?)(?P<how>[sq]?)x(?:w(?:(?P<b>a)|[_1]))?_?(?:F(?P<who>[yte]))?")
_DOMINANT: Final = re.compile(r"(?<!!)(?<!!h)(?P<a>a)=(?P<no>!?)(?P<own>[yt]?)(?P<how>[sq]?)d(?:F(?P<who>[yte]))?")
_HAS_DOMINANT: Final = re.compile(r"(?P<who>[yte])=?(?P<how>[sq]?)d(?:=|2|h|:)+(?P<a>a)")
_NONE_DOMINATES: Final = re.compile(r"!_?(?:a[&,|!]*a|_)?D_?|!(?:_|@)?=d$|!h?a[!&|,]+h?a=d$")
_NOBODY_HAS: Final = re.compile(r"!(?P<who>[te_])?_?=[sq]?d")


class Concepts:
    """Reads one segment at a time, under the conditions that hold there."""

    def __init__(self, words: Words, clauses: Clauses) -> None:
        self.words = words
        self.subject = words.subject
        self.clauses = clauses

    def read(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """Yield what a segment says of solutions of the game."""
        yield from self._equilibria(segment, scope)
        yield from self._pareto(segment)
        yield from self._both_gain(segment, scope)
        if "i" not in segment.code:
            yield from self._dominance(segment)

    def _equilibria(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        mixed = re.search(r"\bmix", segment.text, re.IGNORECASE)
        if mixed or "X" in segment.code or not re.search(r"[Q/]|hf", segment.code):
            yield from self._all_but(segment)
            return
        for match in _EQUILIBRIUM.finditer(segment.code):
            outcome = self._outcome(segment, match, "c")
            if outcome and "i" not in segment.code[: match.start()]:
                yield Claim("equilibrium", (outcome,), negated=bool(match["no"]) and not match["only"])
                if match["only"] and not match["no"]:
                    yield Claim("pure_equilibria", (Fraction(1),))
        for match in _EQUILIBRIA.finditer(segment.code):
            cells = [one.value for one in segment.tokens[match.start("list") : match.end("list")] if one.kind == "c"]
            if not re.search(r"[!i]", segment.code[: match.start()]):
                found = [self._chain(dict(enumerate(cell))) for cell in cells if isinstance(cell, tuple)]
                yield from (Claim("equilibrium", (one,), negated=bool(match["no"])) for one in found)
                if match["only"] and not match["no"]:
                    yield Claim("pure_equilibria", (Fraction(len(found)),))
        for match in _EQUILIBRIUM_IS.finditer(segment.code):
            outcome = self._outcome(segment, match, "c")
            several = re.match(r"[,&]+(?:c|e\??h?a)", segment.code[match.end() :])
            if outcome and not re.search(r"[!i]", segment.code[: match.end()]):
                yield Claim("equilibrium", (outcome,))
                if match["only"] and several is None:
                    yield Claim("pure_equilibria", (Fraction(1),))
        yield from self._deviations(segment)
        for match in _THIS_IS.finditer(segment.code):
            if scope.outcome:
                yield Claim("equilibrium", (self._chain(scope.outcome),), negated=bool(match["no"]))
        if _NO_SADDLE.search(segment.code) and "saddle" in segment.text and self._is_zero_sum():
            yield Claim("pure_equilibria", (Fraction(0),))

    def _deviations(self, segment: Segment) -> Iterator[Claim]:
        """Nobody gains by deviating from (R, R); from (R, R) everybody has a reason to."""
        for pattern, denied in ((_NOBODY_GAINS, False), (_SOMEBODY_GAINS, True)):
            for match in pattern.finditer(segment.code):
                if outcome := self._outcome(segment, match, "c") or self._outcome(segment, match, "d"):
                    yield Claim("equilibrium", (outcome,), negated=denied)

    def read_mixture(self, sentence: Segment) -> Iterator[Claim]:
        """In the mixed equilibrium I choose R with probability 2/3 and they do with probability 1/2."""
        if "Q" not in sentence.code or re.search(r"[!iX?]", sentence.code) or "mix" not in sentence.text.lower():
            return
        weights: dict[int, dict[int, Fraction]] = {}
        for match in _MIXTURE.finditer(sentence.code):
            whom = sentence.tokens[match.start("who")].value
            for who in whom if isinstance(whom, tuple) else ():
                weights[who] = weights.get(who, {}) | self._weights(who, sentence, match)
        if set(weights) != {0, 1}:
            return
        for who, own in weights.items():
            if len(own) == 1 and len(self.subject.actions[who]) == 2:
                ((place, share),) = own.items()
                own[1 - place] = 1 - share
        if all(sum(own.values()) == 1 and min(own.values()) >= 0 for own in weights.values()):
            names = self.subject.actions
            mixes = (
                Mix(self.subject.players[who], tuple((names[who][k], weights[who][k]) for k in sorted(weights[who])))
                for who in (0, 1)
            )
            yield Claim("mixed_equilibrium", (tuple(mixes),))

    def _weights(self, who: int, sentence: Segment, match: re.Match[str]) -> dict[int, Fraction]:
        found: dict[int, Fraction] = {}
        for action, share in (("a", "n"), ("b", "m")):
            place = self.words.action(who, str(sentence.tokens[match.start(action)].value)) if match[action] else None
            value = sentence.tokens[match.start(share)].value if match[share] else None
            if place is not None and isinstance(value, Fraction):
                found[place] = value
        return found

    def _is_zero_sum(self) -> bool:
        return bool((self.subject.cells.sum(axis=0) == 0).all())

    def _all_but(self, segment: Segment) -> Iterator[Claim]:
        """Every outcome except (R, R) is Pareto-optimal: a claim about each of the others."""
        for match in _ALL_BUT.finditer(segment.code):
            cell = segment.tokens[match.start("c")].value
            others = [one for one in self._everywhere() if one != cell]
            form = "pareto_optimal" if match["k"] == "O" else "equilibrium"
            for one in others[:_MOST_OUTCOMES]:
                yield Claim(form, (self._chain(dict(enumerate(one))),), negated=bool(match["no"]))

    def _everywhere(self) -> list[tuple[int, ...]]:
        return list(product(*(range(len(own)) for own in self.subject.actions)))

    def _pareto(self, segment: Segment) -> Iterator[Claim]:
        if "X" in segment.code or not re.search(r"[Ooz]", segment.code):
            return
        for match in _ONLY_ONE_NOT.finditer(segment.code):
            group, denied = ("c", True) if match["c"] else ("c2", False)
            cell = segment.tokens[match.start(group)].value
            for one in self._everywhere()[:_MOST_OUTCOMES]:
                yield Claim("pareto_optimal", (self._chain(dict(enumerate(one))),), negated=(one == cell) == denied)
        for match in _PARETO_IS.finditer(segment.code):
            if outcome := self._outcome(segment, match, "c"):
                yield Claim("pareto_optimal", (outcome,), negated=bool(match["no"]))
        for match in _PARETO_LESS.finditer(segment.code):
            worse, better = (self._outcome(segment, match, name) for name in "cd")
            if worse and better:
                yield Claim("pareto_dominates", (better, worse), negated=bool(match["no"]))
            elif worse and not match["d"]:
                yield Claim("pareto_optimal", (worse,), negated=not match["no"])
        for match in _PARETO_MORE.finditer(segment.code):
            better, worse = (self._outcome(segment, match, name) for name in "cd")
            if worse and better:
                yield Claim("pareto_dominates", (better, worse), negated=bool(match["no"]))

    def _both_gain(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """Both prefer (R, R) to (B, B); (R, R) is better for both than (B, B)."""
        if re.search(r"[!XV]", segment.code):
            return
        for match in (found for pattern in _BOTH_GAIN for found in pattern.finditer(segment.code)):
            better, worse = self._outcome(segment, match, "c"), self._outcome(segment, match, "d")
            if better and not match["d"] and len(scope.outcome) == 2:
                worse = self._chain(scope.outcome)
            if better and worse and better != worse:
                yield Claim("pareto_dominates", (better, worse))

    def _dominance(self, segment: Segment) -> Iterator[Claim]:
        code = segment.code
        for match in _DOMINATES.finditer(code):
            yield from self._beats(segment, match, "a", "b")
        for match in _DOMINATED.finditer(code):
            yield from self._is_beaten(segment, match)
        for match in _DOMINANT.finditer(code):
            who = self._players(segment, match)
            yield from self._is_dominant(segment, match, who, bool(match["no"]))
        for match in _HAS_DOMINANT.finditer(code):
            value = segment.tokens[match.start("who")].value
            if "!" not in code[: match.start()]:
                yield from self._is_dominant(segment, match, value if isinstance(value, tuple) else (), denied=False)
        if _NONE_DOMINATES.search(code) and len(self.subject.actions[0]) == 2:
            yield Claim("no_dominant_choice", (self.subject.players[0],))
        elif nobody := _NOBODY_HAS.search(code):
            both = nobody["who"] == "e" or re.search(r"\b(?:neither|no) player\b", segment.text, re.IGNORECASE)
            for player in self.subject.players if both else ():
                yield Claim("no_dominant_choice", (player,))

    def _said_for(self, segment: Segment, match: re.Match[str]) -> tuple[int, ...]:
        """The players named by "for them" after a statement; none where nobody is named."""
        value = segment.tokens[match.start("who")].value if match["who"] else ()
        return value if isinstance(value, tuple) else ()

    def _players(self, segment: Segment, match: re.Match[str]) -> tuple[int, ...]:
        """Whose action is called dominant: said after it, before it, or by the action's name."""
        if match["who"]:
            return self._said_for(segment, match)
        if match["own"] == "t":
            return (1,)
        return (0,) if self._label(0, segment, match, "a") else (1,)

    def _is_dominant(
        self, segment: Segment, match: re.Match[str], who: tuple[int, ...], denied: bool
    ) -> Iterator[Claim]:
        how = {"s": "strictly", "q": "weakly"}.get(match["how"], "strictly" if denied else "weakly")
        for one in who:
            if label := self._label(one, segment, match, "a"):
                yield Claim(f"{how}_dominant", (label, self.subject.players[one]), negated=denied)

    def _beats(self, segment: Segment, match: re.Match[str], better: str, worse: str) -> Iterator[Claim]:
        denied = bool(match["no"])
        how = {"s": "strictly", "q": "weakly"}.get(match["how"], "strictly" if denied else "weakly")
        said = self._said_for(segment, match)
        for who in said or (0, 1):
            first, second = self._label(who, segment, match, better), self._label(who, segment, match, worse)
            if first and second:
                yield Claim(f"{how}_dominates", (first, second, self.subject.players[who]), negated=denied)
                if not said:
                    return

    def _is_beaten(self, segment: Segment, match: re.Match[str]) -> Iterator[Claim]:
        """B is dominated, by A or by the only other action."""
        if match["b"]:
            yield from self._beats(segment, match, "b", "a")
            return
        who = next(iter(self._said_for(segment, match)), 0 if self._label(0, segment, match, "a") else 1)
        worse = self._label(who, segment, match, "a")
        denied = bool(match["no"])
        if not worse:
            return
        if match["how"] == "s" or denied:
            yield Claim("strictly_dominated", (worse, self.subject.players[who]), negated=denied)
        elif len(self.subject.actions[who]) == 2:
            better = next(name for name in self.subject.actions[who] if name != worse)
            yield Claim("weakly_dominates", (better, worse, self.subject.players[who]))

    def _label(self, who: int, segment: Segment, match: re.Match[str], group: str) -> str:
        if not match[group]:
            return ""
        place = self.words.action(who, str(segment.tokens[match.start(group)].value))
        return "" if place is None else self.subject.actions[who][place]

    def _chain(self, chosen: dict[int, int]) -> Chain:
        return tuple(Move(self.subject.players[i], self.subject.actions[i][chosen[i]]) for i in (1, 0))

    def _outcome(self, segment: Segment, match: re.Match[str], group: str) -> Chain:
        if not match[group]:
            return ()
        if match[group] == "c":
            cell = segment.tokens[match.start(group)].value
            return self._chain(dict(enumerate(cell))) if isinstance(cell, tuple) else ()
        text = str(segment.tokens[match.end(group) - 1].value)
        places = [self.words.action(i, text) for i in (0, 1)]
        return self._chain({i: k for i, k in enumerate(places) if k is not None}) if None not in places else ()
