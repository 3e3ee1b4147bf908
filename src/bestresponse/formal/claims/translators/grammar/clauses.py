"""The clause grammar: who gets how much under which choices, read from the kinds of words of a sentence.

A sentence is cut into segments at semicolons and at "but", "while", "because". In a segment, conditions ("if they
choose B", "against B") and entries ("R gives me 5", "3 with B", "2 (Low)") follow each other; an entry belongs to the
conditions before it, or, where a segment begins with an entry, to the condition after it. Conditions hold on through a
sentence; a sentence that is only a condition, or that begins "in this case", hands them on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from bestresponse.formal.claims.claim import Claim, Mix, Move
from bestresponse.formal.claims.translators.grammar.tokens import Token, encode
from bestresponse.formal.claims.translators.words import Words

__all__ = ["Clauses", "Scope", "Segment", "is_unsure", "segments"]

_UNSURE: Final = re.compile(
    r"\b(?:unless|mistaken|incorrect|previous|avoid\w*|fear|wish|want|hope[sd]?(?! for)|risk|minus|times|squared"
    r"|gain\w*(?: \S+){1,3} (?:by|from|when|if)(?: \w+)? (?:switch|deviat|mov|chang)\w*"
    r"|incentive of|together"
    r"|(?:they|he|she|player|opponent|other) (?:might |may |could |will |would )?(?:think|believe|expect|assume)s?)\b",
    re.IGNORECASE,
)
_EVENT: Final = re.compile(
    r"(?P<difference>[yte]\??l(?P<dn>n)[wf]h?(?P<da>a)R[wf]?h?(?P<db>a))"
    r"|(?P<mix>t=?h?(?P<m1>a)%(?P<p1>n)(?:[,&]+h?(?P<m2>a)%(?P<p2>n))?)"
    r"|(?P<give>(?P<ga>a)?(?P<gv>(?<!\?)[vk]|(?<=^a)r(?=[yten])|(?<=[^yteh]a)r(?=[yten]))(?P<gwho>[yte])?[ENFw=]*(?P<gn>n)(?![,&|]+n)(?:F(?P<glast>[yt])(?!=))?)"
    r"|(?P<got>(?P<rwho>[yte])[&|,]?(?P<rmay>\?)?(?P<rv>[rl]|N=|E=)w?[ENF]*(?P<rn>n)(?![,&|]+n)(?P<ro>Rn)?(?:[wfF]h?(?P<ra>a)|\((?P<rb>a)\))?)"
    r"|(?P<beside>(?P<bl>l)?(?P<bn>n)(?:[wfF]h?(?P<ba>a)|\((?P<bb>a)\)))"
    r"|(?P<part>(?P<fn>n)F(?P<fwho>[yte])(?!=))"
    r"|(?P<gap>(?<=[,&:])(?P<pa>a)(?P<pn>n)(?![,&|]+n))"
    r"|(?P<equal>(?P<qa>a)[=:]:?(?:E[NF]*)?(?P<qn>n)(?![,&|]+n))"
    r"|(?P<chosen>(?P<cwho>[yte])\??(?P<cno>!)?h(?:f[ac]2?)?2?(?P<ca>a))"
    r"|(?P<done>(?P<owho>[yte])(?P<ono>!)?2?(?P<oa>a)(?![vkGDruLh=]))"
    r"|(?P<against>(?:g|^R)_?[yt]?(?P<xa>a)|^(?:_:?)?(?P<given>a)(?=:a)|i(?P<under>a)(?=[:,]))"
    r"|(?P<alone>(?<![!x])[hw]h?(?P<la>a)|^(?P<lead>a)(?=g))"
    r"|(?P<cell>c)"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The conditions that words stand under: what players choose, by seat, and how the other player mixes.

    `outcome` is the cell that was named last, which "this" refers to.
    """

    chosen: dict[int, int] = field(default_factory=dict)
    mix: tuple[Mix, ...] = ()
    outcome: dict[int, int] = field(default_factory=dict)

    def choose(self, who: tuple[int, ...], action: int) -> Scope:
        """Return the scope in which these players choose that action."""
        return replace(self, chosen=self.chosen | dict.fromkeys(who, action))


def is_unsure(text: str) -> bool:
    """Whether words only mention amounts: as a fear, a hope, a risk, or as what the other player thinks."""
    return _UNSURE.search(text) is not None


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a sentence: its tokens, their kinds as a string, and its text."""

    tokens: list[Token]
    code: str
    text: str


def segments(tokens: list[Token], sentence: str) -> Iterator[Segment]:
    """Cut a sentence at semicolons, contrasts and reasons, and before a further condition."""
    part: list[Token] = []
    for place, token in enumerate(tokens):
        further = token.kind in ",&" and encode(tokens[place + 1 : place + 2]) == "i" and "n" in encode(part)
        denied = token.kind == ":" and "!" in encode(part)
        if token.kind == "C" and _joins_choices(tokens, place):
            continue
        if token.kind in ";C" or further or denied or _begins_anew(tokens, place):
            if part:
                yield _segment(part, sentence)
            part = []
        elif token.kind in "&," and not part:
            continue
        else:
            part.append(token)
    if part:
        yield _segment(part, sentence)


def _joins_choices(tokens: list[Token], place: int) -> bool:
    """Whether "while" stands between what two players choose: I cooperate while they defect."""
    before, after = encode(tokens[:place]).rstrip(","), encode(tokens[place + 1 :])
    return bool(re.search(r"(?:^|[^a-zA-Z]|i)(?:[yt]h?|h)a$", before) and re.match(r"[yt]h?a(?:$|[,:;()])", after))


def _begins_anew(tokens: list[Token], place: int) -> bool:
    """Whether ", and" begins a statement of its own, not a further amount or action of a list."""
    code = encode(tokens[place : place + 4])
    return code.startswith(",&") and not re.match(r",&(?:n|a[,&|]|a$|c)", code)


def _segment(tokens: list[Token], sentence: str) -> Segment:
    return Segment(tokens, encode(tokens), sentence[tokens[0].start : tokens[-1].end])


@dataclass(frozen=True, slots=True)
class _Entry:
    """An amount: who gets it, by which own action where that is said."""

    who: tuple[int, ...]
    value: Fraction
    own: int | None


class Clauses:
    """Reads payoffs, rows of payoffs and averages in a game of two players."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.subject = words.subject

    def read(self, segment: Segment, scope: Scope) -> tuple[list[Claim], Scope]:
        """Return what a segment claims about amounts, and the conditions it leaves behind."""
        if self.is_open(segment):
            return [], self.conditions(segment, scope)
        code, claims = segment.code, list[Claim]()
        waiting: list[_Entry] = []
        forward = False
        receiver: tuple[int, ...] = (0,)
        ended = 0
        for number, event in enumerate(_EVENT.finditer(code)):
            entry = self._entry(event, segment, receiver)
            if entry is not None:
                receiver, ended = entry.who, event.end()
                forward = forward or (number == 0 and not self._settled(entry, scope))
                if forward:
                    waiting.append(entry)
                else:
                    claims += self._payoffs(entry, scope)
                continue
            if code[ended : event.start()].count("i") > 1:
                waiting = []  # the condition right after the amounts could not be read; this one is another's
            claims += self._difference(event, segment, scope)
            scope = self._condition(event, segment, scope)
            if forward and event.lastgroup is not None:
                claims += [claim for one in waiting for claim in self._payoffs(one, scope)]
                waiting = [one for one in waiting if not self._settled(one, scope)]
        claims += [claim for one in waiting for claim in self._payoffs(one, scope)]
        return claims, scope

    def heading(self, tokens: list[Token], scope: Scope) -> Scope:
        """Return the scope under a heading that names an action of the reasoner's."""
        place = self.words.action(0, str(next(token.value for token in tokens if token.kind == "a")))
        return scope if place is None else scope.choose((0,), place)

    def is_open(self, segment: Segment) -> bool:
        """Whether a segment denies, doubts or only mentions amounts."""
        return bool(re.search(r"[!XVS<>]|[KW]T|c.*c", segment.code) or is_unsure(segment.text))

    def conditions(self, segment: Segment, scope: Scope) -> Scope:
        """Return the scope with the choices that a segment names."""
        if "X" in segment.code:
            return scope
        for event in _EVENT.finditer(segment.code):
            scope = self._condition(event, segment, scope)
        return scope

    def _settled(self, entry: _Entry, scope: Scope) -> bool:
        others = {1 - who for who in entry.who} if len(entry.who) == 1 else set()
        own = set() if entry.own is not None else set(entry.who)
        return others | own <= set(scope.chosen) or bool(scope.mix and entry.who == (0,))

    def _entry(self, event: re.Match[str], segment: Segment, receiver: tuple[int, ...]) -> _Entry | None:
        who, number, action, loss = receiver, "", "", False
        match _kind(event):
            case "give":
                who = self._who(event, segment, "gwho", "glast") or (receiver if event["ga"] is None else (0,))
                number, action, loss = "gn", "ga", event["gv"] == "k"
            case "got":
                who = self._who(event, segment, "rwho") or receiver
                number, action, loss = "rn", "rb" if event["rb"] else "ra", event["rv"] == "l"
                if (event["rmay"] or event["ro"]) and not event["ra"]:
                    return None
            case "beside":
                number, action, loss = "bn", "ba" if event["ba"] else "bb", bool(event["bl"])
            case "part":
                who, number = self._who(event, segment, "fwho") or receiver, "fn"
            case "equal":
                who, number, action = (0,), "qn", "qa"
            case "gap":
                number, action = "pn", "pa"
            case _:
                return None
        value = segment.tokens[event.start(number)].value
        own = self._place(who[0], segment, event, action)
        if not isinstance(value, Fraction) or (action and event[action] and own is None):
            return None
        return _Entry(who, -value if loss and value > 0 else value, own)

    def _who(self, event: re.Match[str], segment: Segment, *groups: str) -> tuple[int, ...]:
        for group in groups:
            if event[group]:
                value = segment.tokens[event.start(group)].value
                return value if isinstance(value, tuple) else ()
        return ()

    def _place(self, who: int, segment: Segment, event: re.Match[str], group: str) -> int | None:
        """The number of the action that a group of the match names, for one player."""
        if not group or not event[group]:
            return None
        text = segment.tokens[event.start(group)].value
        return self.words.action(who, text) if isinstance(text, str) else None

    def _condition(self, event: re.Match[str], segment: Segment, scope: Scope) -> Scope:
        kind = _kind(event)
        if kind == "mix":
            return replace(scope, mix=self._mix(event, segment))
        if kind == "cell":
            value = segment.tokens[event.start()].value
            cell = dict(enumerate(value)) if isinstance(value, tuple) else {}
            return replace(scope, chosen=cell, outcome=cell) if cell else scope
        groups = {"chosen": ("cwho", "ca"), "done": ("owho", "oa"), "against": ("", "xa"), "alone": ("", "la")}
        if kind not in groups or event["cno"] or event["ono"]:
            return scope
        whose, action = groups[kind]
        action = "lead" if kind == "alone" and event["lead"] else action
        who = self._who(event, segment, whose) if whose else (1,) if kind == "against" else (0,)
        if event["given"] or event["under"]:
            action = "given" if event["given"] else "under"
            who = () if self.words.alike else (0, 1)
        if kind == "done" and not self._is_deed(segment.tokens[event.start("oa")]):
            return scope
        for one in who:
            place = self._place(one, segment, event, action)
            if place is not None:
                scope = scope.choose((one,), place)
        return scope

    def _is_deed(self, token: Token) -> bool:
        return isinstance(token.value, str) and re.fullmatch(self.words.deeds, token.value, re.IGNORECASE) is not None

    def _mix(self, event: re.Match[str], segment: Segment) -> tuple[Mix, ...]:
        """How the other player mixes; where one probability is said of two actions, the rest goes to the other."""
        weights: dict[int, Fraction] = {}
        for action, share in (("m1", "p1"), ("m2", "p2")):
            place = self._place(1, segment, event, action)
            value = segment.tokens[event.start(share)].value if event[share] else None
            if place is not None and isinstance(value, Fraction):
                weights[place] = value
        names = self.subject.actions[1]
        if len(weights) == 1 and len(names) == 2:
            (place,) = weights
            weights[1 - place] = 1 - weights[place]
        if sum(weights.values()) != 1 or min(weights.values(), default=Fraction(-1)) < 0:
            return ()
        return (Mix(self.subject.players[1], tuple((names[k], weights[k]) for k in sorted(weights))),)

    def uniform(self) -> tuple[Mix, ...]:
        """The mix in which the other player chooses every action equally often."""
        names = self.subject.actions[1]
        return (Mix(self.subject.players[1], tuple((name, Fraction(1, len(names))) for name in names)),)

    def _difference(self, event: re.Match[str], segment: Segment, scope: Scope) -> Iterator[Claim]:
        """I lose 2 by choosing B instead of R if they choose B: R is the better response."""
        if _kind(event) != "difference":
            return
        worse, better = (self._place(0, segment, event, group) for group in ("da", "db"))
        for later in _EVENT.finditer(segment.code, event.end()):
            scope = self._condition(later, segment, scope)
        if worse is not None and better is not None and 1 in scope.chosen:
            names = self.subject.actions[0]
            yield Claim("better_response", (names[better], names[worse], self.against(scope), self.subject.players[0]))

    def against(self, scope: Scope) -> tuple[Move, ...]:
        """What the other player chooses in a scope."""
        return (Move(self.subject.players[1], self.subject.actions[1][scope.chosen[1]]),)

    def _payoffs(self, entry: _Entry, scope: Scope) -> Iterator[Claim]:
        chosen = dict(scope.chosen)
        if entry.own is not None:
            chosen |= dict.fromkeys(entry.who, entry.own)
        if scope.mix and entry.who == (0,) and 1 not in scope.chosen and 0 in chosen:
            yield from self._average(entry.value, chosen[0], scope.mix)
        elif len(chosen) == 2 and not scope.mix:
            for who in entry.who:
                yield self.payoff(who, entry.value, chosen)

    def _average(self, value: Fraction, action: int, mix: tuple[Mix, ...]) -> Iterator[Claim]:
        """An average, unless it may be rounded: a decimal where the probabilities are none."""
        shares = [weight for one in mix for _, weight in one.weights]
        rounded = value.denominator > 1 and any(_has_other_primes(share.denominator) for share in shares)
        if not rounded:
            yield Claim("expected_payoff", (self.subject.players[0], value, self.subject.actions[0][action], mix))

    def payoff(self, who: int, value: Fraction, chosen: dict[int, int]) -> Claim:
        """Return the claim that a player gets an amount in an outcome."""
        you, them = self.subject.players
        mine, theirs = (self.subject.actions[i][chosen[i]] for i in (0, 1))
        return Claim("payoff", (self.subject.players[who], value, (Move(them, theirs), Move(you, mine))))


def _kind(event: re.Match[str]) -> str:
    """The name of the alternative of `_EVENT` that matched."""
    names = (
        "difference",
        "mix",
        "give",
        "got",
        "beside",
        "part",
        "gap",
        "equal",
        "chosen",
        "done",
        "against",
        "alone",
        "cell",
    )
    return next(name for name in names if event[name])


def _has_other_primes(number: int) -> bool:
    for prime in (2, 5):
        while number % prime == 0:
            number //= prime
    return number != 1
