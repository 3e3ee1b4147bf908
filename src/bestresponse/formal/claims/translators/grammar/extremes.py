"""Best and worst cases, guarantees, security levels, totals and changes of a payoff, in the kinds of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.translators.grammar.clauses import Clauses, Scope, Segment, is_unsure
from bestresponse.formal.claims.translators.words import Words

__all__ = ["Extremes", "Thread"]

_GLOBAL: Final = r"(?:P__?|F_)?"
_END: Final = re.compile(
    rf"(?P<before>[wfFh]h?a,?)?(?P<own>y)?(?P<lead>a)?(?P<k>[Mm])N?(?:F(?:y|(?P<ot>t)))?(?P<who>[yte])?(?:\??r)?{_GLOBAL}"
    rf"(?:[wfFP]h?(?P<a>a))?{_GLOBAL}(?:[=:]|N|F|v)+\??(?:yr)?(?:NF?)?(?P<n>n)(?![,&|]+n)(?P<after>,?[wf]h?a)?"
)
_UP_TO: Final = re.compile(r"(?P<who>y)\??r(?P<k>[Mm])N?F?(?P<n>n)(?![,&|]+n)(?:[wf]h?(?P<a>a))?")
_CASE_GIVES: Final = re.compile(r"P?(?P<k>[Mm]),?(?P<a>a)\??(?P<v>[vk])y?(?:NF?)?(?P<n>n)(?![,&|]+n)")
_BEST_AND_WORST: Final = re.compile(r"(?P<a>a)(?:,[_w]*,)?[v=][yt]?(?P<n>n)(?P<k>[Mm])[,&]+(?P<n2>n)(?P<k2>[Mm])")
_FLOOR: Final = re.compile(r"(?<![yte])(?<![yte]h)(?P<a>a)G[yte]?m?(?:NF?)?m?(?P<n>n)(?![,&|]+n|e)")
_ENDS: Final = re.compile(r"(?P<k>[Mm])N?[=:](?P<list>(?:n[F(]a\)?[,&]*){2,}|(?:an[,&]*){2,})")
_SECURES: Final = re.compile(r"y\??Gy?m?(?:NF?)?m?(?P<n>n)wh?(?P<a>a)")
_NEVER_LESS: Final = re.compile(r"(?:(?P<a>a)!v[yt]?|wh?(?P<b>a),?y!r)(?P<k>[WK])T(?P<n>n)(?:wh?(?P<c>a))?")
_WHATEVER: Final = re.compile(r"(?P<a>a)\??v[yt]?(?P<n>n)V|V,?(?P<b>a)\??v[yt]?(?P<m>n)")
_ELLIPSIS: Final = re.compile(r"^[wfF]?h?(?P<a>a)?(?P<k>[Mm])?[=:](?P<n>n)(?![,&|]+n)")
_MAXIMIN: Final = re.compile(r"(?P<k>[Jj])N?(?:F_)?[=:](?P<n>n)")
_MAXIMIN_CHOICE: Final = re.compile(r"(?P<a>a)=y?J(?![N=:])|J[=:](?:2|h)*(?P<b>a)")
_SAME: Final = re.compile(r"@=~(?:G|m)N?|@G~")
_TOTAL: Final = re.compile(r"S(?:[=:]|P|NF?)*(?P<n>n)(?:i|P|w|,)*(?:(?P<c>c)|e(?:h)?(?P<a>a))")
_TOTAL_AT: Final = re.compile(r"(?:(?P<c>c)|e(?:h)?(?P<a>a))(?:[=:v]|,|w)*SF?(?:[=:])?F?(?P<n>n)")
_MOST_TOTAL: Final = re.compile(
    r"(?:(?P<c>c)|e(?:h)?(?P<a>a))(?:=O&)?[=v]?M[_y]?S(?:[FP]?(?P<n>n))?|(?:S[=]?M|M[_y]?S)(?:[=:PiwF,(]|n|\))*(?:(?P<c2>c)|e(?:h)?(?P<a2>a))"
)
_CHANGE: Final = re.compile(
    r"(?:f(?P<old>a)2(?P<new>a)(?:ga?t?)?,?)?(?P<k>[uL])y?N?f(?P<n1>n)2(?P<n2>n)(?:i?yh(?P<to>a))?"
)
_BOUND: Final = re.compile(r"at (?:the )?(?:very )?(?:least|most)")
"""Words that bound an amount and do not say that it is reached."""
_GAINS: Final = re.compile(r"hf(?P<c>c)2(?P<a>a)(?P<k>[uL])y?N")


@dataclass(frozen=True, slots=True)
class Thread:
    """What an elliptical clause goes on about: highest or lowest, and of which action.

    `closed`: an action was named before, so that a best or worst case without one is not said of the whole game.
    """

    end: str = ""
    action: str = ""
    closed: bool = False


class Extremes:
    """Reads one segment at a time; `Thread` carries "the maximum for B is 3" over to "and the minimum is 0"."""

    def __init__(self, words: Words, clauses: Clauses) -> None:
        self.words = words
        self.subject = words.subject
        self.clauses = clauses

    def read(self, segment: Segment, scope: Scope, thread: Thread) -> tuple[list[Claim], Thread]:
        """Return the claims of a segment and what an ellipsis after it is about."""
        claims: list[Claim] = [*self._floors(segment), *self._whole(segment), *self._changes(segment, scope)]
        if re.search(r"[!KW]", segment.code) or is_unsure(segment.text):
            return claims, replace(thread, end="", action="")
        for part in _pieces(segment):
            found, thread = self._end(part, scope, thread)
            claims += found
        return claims, thread

    def _end(self, part: Segment, scope: Scope, thread: Thread) -> tuple[list[Claim], Thread]:
        """A best or worst case in one piece of a segment."""
        for pattern in (_CASE_GIVES, _UP_TO, _END):
            match = pattern.search(part.code)
            if match is not None:
                return self._stated(match, part, scope, thread)
        match = _ELLIPSIS.match(part.code)
        if match is None or not thread.end:
            return [], thread
        end = _end_name(match["k"]) if match["k"] else thread.end
        action = self._label(part, match, "a") or thread.action
        value = part.tokens[match.start("n")].value
        if not action or not isinstance(value, Fraction):
            return [], thread
        return [self._for_choice(end, value, action)], Thread(end, action, thread.closed)

    def _stated(self, match: re.Match[str], part: Segment, scope: Scope, thread: Thread) -> tuple[list[Claim], Thread]:
        groups = match.groupdict()
        value = part.tokens[match.start("n")].value
        end = _end_name(match["k"])
        if not isinstance(value, Fraction) or groups.get("ot") or (groups.get("who") or "y") != "y":
            return [], replace(thread, end="", action="")
        if groups.get("v") == "k" and value > 0:
            value = -value
        stated = _cut(part, 0, match.end("n"))
        late = re.match(r"\(?i?[te]", part.code[match.end("n") :])
        if late or 1 in self.clauses.conditions(stated, Scope()).chosen or set(scope.chosen) == {1}:
            return [], replace(thread, end="", action="")
        action = self._label(part, match, "a") or self._label(part, match, "lead") or self._before(part, match)
        if action is None:
            return [], replace(thread, end="", action="")
        if not action and (groups.get("after") or "a" in part.code[: match.start("n")]):
            return [], replace(thread, end="", action="")
        if not action and 0 in scope.chosen and 1 not in scope.chosen:
            action = self.subject.actions[0][scope.chosen[0]]
        loose = bool(_BOUND.fullmatch(_write(part, match, "k")))
        if action:
            return [self._for_choice(end, value, action, loose)], Thread(end, action, thread.closed)
        if loose:
            return [], replace(thread, end="", action="")
        if thread.action and not match["k"].isspace() and thread.end:
            return [self._for_choice(end, value, thread.action)], Thread(end, thread.action, thread.closed)
        if scope.chosen or thread.closed or "c" in part.code[: match.start("n")] or not self._is_global(match, part):
            return [], replace(thread, end="", action="")
        return [Claim(f"{end}_possible_individual_payoff", (value, self.subject.players[0]))], Thread(
            end, closed=thread.closed
        )

    def _is_global(self, match: re.Match[str], part: Segment) -> bool:
        """Whether a best or worst case is said of the whole game: what I can get, at all, in this game."""
        said = part.code[: match.end("n")]
        return "?r" in said or "Fy" in said or bool(re.search(r"\b(?:ever|possible|overall|game)\b", part.text))

    def _before(self, part: Segment, match: re.Match[str]) -> str | None:
        """The one action that a condition before or an adjunct after names; "" for none, None for several."""
        code = part.code
        found = [
            place for place in range(match.start("k")) if code[place] == "a" and re.search(r"[hwfFy]$", code[:place])
        ]
        late = re.match(r"[wf]h?a", code[match.end("n") :])
        if late is not None:
            found.append(match.end("n") + late.end() - 1)
        names = {self.words.action(0, str(part.tokens[place].value)) for place in found}
        names.discard(None)
        if len(names) > 1:
            return None
        return self.subject.actions[0][int(str(names.pop()))] if names else ""

    def _for_choice(self, end: str, value: Fraction, action: str, loose: bool = False) -> Claim:
        """Claim the extreme of an action or, where it is only said to be a bound, that it is one."""
        bound = "guaranteed" if end == "lowest" else "limited"
        form = f"{bound}_payoff_for_choice" if loose else f"{end}_individual_payoff_for_choice"
        return Claim(form, (value, action, self.subject.players[0]))

    def _label(self, part: Segment, match: re.Match[str], group: str) -> str:
        if not match.groupdict().get(group):
            return ""
        place = self.words.action(0, str(part.tokens[match.start(group)].value))
        return "" if place is None else self.subject.actions[0][place]

    def _floors(self, segment: Segment) -> Iterator[Claim]:
        """R guarantees me 1; R never gives me less than 1; R gives me 1 whatever they do."""
        for match in (found for one in (_FLOOR, _SECURES, _NEVER_LESS) for found in one.finditer(segment.code)):
            value, action = (
                segment.tokens[match.start("n")].value,
                self._label(segment, match, "a") or self._label(segment, match, "b"),
            )
            end = "highest" if match.groupdict().get("k") == "K" else "lowest"
            alone = not re.search(r"!G|[teicR]", segment.code) and not is_unsure(segment.text)
            if action and isinstance(value, Fraction) and (alone or match.re is _NEVER_LESS):
                yield self._for_choice(end, value, action, loose=True)
        for match in _ENDS.finditer(segment.code):
            yield from self._ends(segment, match)
        for match in _BEST_AND_WORST.finditer(segment.code):
            for number, kind in (("n", "k"), ("n2", "k2")):
                value, action = segment.tokens[match.start(number)].value, self._label(segment, match, "a")
                if action and isinstance(value, Fraction) and match["k"] != match["k2"]:
                    yield self._for_choice(_end_name(match[kind]), value, action)
        for match in _WHATEVER.finditer(segment.code):
            name, number = ("a", "n") if match["a"] else ("b", "m")
            value, action = segment.tokens[match.start(number)].value, self._label(segment, match, name)
            if action and isinstance(value, Fraction):
                yield from (self._for_choice(end, value, action) for end in ("lowest", "highest"))
                own = self.subject.index[0][action]
                yield from (self.clauses.payoff(0, value, {0: own, 1: k}) for k in range(len(self.subject.actions[1])))

    def _ends(self, segment: Segment, match: re.Match[str]) -> Iterator[Claim]:
        """The minimum payoffs are 0 for R and 1 for B."""
        tokens = segment.tokens[match.start("list") : match.end("list")]
        actions = [self.words.action(0, str(one.value)) for one in tokens if one.kind == "a"]
        values = [one.value for one in tokens if isinstance(one.value, Fraction)]
        for place, value in zip(actions, values, strict=True):
            if place is not None and not re.search(r"[teicX]", segment.code):
                yield self._for_choice(_end_name(match["k"]), value, self.subject.actions[0][place])

    def _whole(self, segment: Segment) -> Iterator[Claim]:
        """Maximin, minimax, equal guarantees, totals."""
        you = self.subject.players[0]
        if "!" in segment.code:
            return
        for match in _MAXIMIN.finditer(segment.code):
            value = segment.tokens[match.start("n")].value
            if isinstance(value, Fraction):
                yield Claim("maximin_payoff" if match["k"] == "J" else "minimax_payoff", (value, you))
        for match in _MAXIMIN_CHOICE.finditer(segment.code):
            if action := self._label(segment, match, "a") or self._label(segment, match, "b"):
                yield Claim("highest_guaranteed_payoff_choice", (action, you))
        if _SAME.search(segment.code) and len(self.subject.actions[0]) == 2:
            yield Claim("equal_guaranteed_payoff", (*self.subject.actions[0], you))
        for match in (*_TOTAL.finditer(segment.code), *_TOTAL_AT.finditer(segment.code)):
            yield from self._total(segment, match)
        yield from self._more_totals(segment)
        for match in _MOST_TOTAL.finditer(segment.code):
            if outcome := self._outcome(segment, match, "c", "a") or self._outcome(segment, match, "c2", "a2"):
                yield Claim("highest_mutual_payoff", (outcome,))
                if match["n"]:
                    yield from self._total(segment, match)

    def _total(self, segment: Segment, match: re.Match[str]) -> Iterator[Claim]:
        value = segment.tokens[match.start("n")].value
        outcome = self._outcome(segment, match, "c", "a")
        if isinstance(value, Fraction) and outcome:
            yield Claim("total_payoff", (value, outcome))

    def _more_totals(self, segment: Segment) -> Iterator[Claim]:
        """... and 2 when both choose R."""
        if "S" not in segment.code:
            return
        for match in re.finditer(r"[&,](?:R?)(?P<n>n)[iPw,]+(?:(?P<c>c)|e(?:h)?(?P<a>a))", segment.code):
            yield from self._total(segment, match)

    def _outcome(self, segment: Segment, match: re.Match[str], whole: str, single: str) -> tuple[str, ...]:
        """The outcome that a cell names, or an action that both choose."""
        actions = self.subject.actions
        if match[whole]:
            cell = segment.tokens[match.start(whole)].value
            return tuple(actions[i][int(k)] for i, k in enumerate(cell)) if isinstance(cell, tuple) else ()
        if not match[single]:
            return ()
        text = str(segment.tokens[match.start(single)].value)
        places = [self.words.action(i, text) for i in (0, 1)]
        return tuple(actions[i][k] for i, k in enumerate(places) if k is not None) if None not in places else ()

    def _changes(self, segment: Segment, scope: Scope) -> Iterator[Claim]:
        """My payoff rises from 3 to 5 if I switch to R; deviating from (B, B) to R raises my payoff."""
        if "!" in segment.code:
            return
        inside = self.clauses.conditions(segment, scope)
        for match in _CHANGE.finditer(segment.code):
            before, after = (segment.tokens[match.start(name)].value for name in ("n1", "n2"))
            if not isinstance(before, Fraction) or not isinstance(after, Fraction):
                continue
            new = self._label(segment, match, "new") or self._label(segment, match, "to")
            old = self._label(segment, match, "old")
            if not old and new and len(self.subject.actions[0]) == 2:
                old = next(name for name in self.subject.actions[0] if name != new)
            if 1 in inside.chosen and new and old:
                for name, value in ((old, before), (new, after)):
                    place = self.subject.index[0][name]
                    yield self.clauses.payoff(0, value, {0: place, 1: inside.chosen[1]})
            else:
                yield Claim("higher" if match["k"] == "u" else "lower", (after, before))
        for match in _GAINS.finditer(segment.code):
            cell, new = segment.tokens[match.start("c")].value, self._label(segment, match, "a")
            if isinstance(cell, tuple) and new:
                old = self.subject.actions[0][cell[0]]
                names = (new, old) if match["k"] == "u" else (old, new)
                yield Claim("better_response", (*names, self.clauses.against(Scope(dict(enumerate(cell)))), "you"))


def _write(segment: Segment, match: re.Match[str], group: str | int) -> str:
    """Return the words that a group of the kinds of words stands for, in small letters."""
    tokens = segment.tokens[match.start(group) : match.end(group)]
    offset = segment.tokens[0].start
    return segment.text[tokens[0].start - offset : tokens[-1].end - offset].lower() if tokens else ""


def _end_name(kind: str) -> str:
    return "highest" if kind == "M" else "lowest"


def _pieces(segment: Segment) -> Iterator[Segment]:
    """Cut a segment before an "and" that begins a further best or worst case."""
    last = 0
    for match in re.finditer(r",?&(?=[yt]?[Mm]|[wf]h?a[=:])|,(?=[wf]h?a[=:])", segment.code):
        yield _cut(segment, last, match.start())
        last = match.end()
    yield _cut(segment, last, len(segment.code))


def _cut(segment: Segment, start: int, end: int) -> Segment:
    tokens = segment.tokens[start:end]
    if not tokens:
        return Segment([], "", "")
    offset = segment.tokens[0].start
    return Segment(tokens, segment.code[start:end], segment.text[tokens[0].start - offset : tokens[-1].end - offset])
