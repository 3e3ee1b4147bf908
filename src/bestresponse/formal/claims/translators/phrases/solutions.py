"""Claims about responses, dominance, equilibrium, extremes and safety, as plain English states them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.claim import Chain, Claim, Move
from bestresponse.formal.claims.translators.phrases.outcomes import Choices
from bestresponse.formal.claims.translators.words import CHOOSE, NUMBER, Words, read_amount

__all__ = ["Solutions"]

_OPEN: Final = re.compile(
    r"\b(?:not|never|nor|cannot|without|might|may|could|perhaps|maybe|if|unless|whether|suppose|assuming|would)\b"
    r"|n't\b|\?",
    re.IGNORECASE,
)
_NONE: Final = re.compile(
    r"\bno (?:pure(?:[- ]strategy)?|(?:Nash )?equilibri(?:um|a) in pure)(?: Nash)?(?: equilibri| strateg)",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(
    r"\b(?P<number>one|two|three|four|five|six|\d{1,4}) (?:pure(?:[- ]strategy)?) (?:Nash )?equilibri(?:um|a)\b",
    re.IGNORECASE,
)
_EQUILIBRIUM: Final = re.compile(
    r"(?P<only>\b(?:only|unique|sole)\b)?(?: pure(?:[- ]strategy)?)?(?: Nash)? ?\bequilibri(?:um|a)\b", re.IGNORECASE
)
_NO_DOMINANT: Final = re.compile(
    r"\b(?:have|has|there is|is|there's) no (?:weakly )?dominant (?:strategy|choice|action|move|option)"
    r"|\b(?:neither|no) (?:strategy|choice|action|move|option)(?: of mine)? is (?:weakly )?dominant\b",
    re.IGNORECASE,
)
_ALWAYS: Final = re.compile(
    r"\b(?:whatever|no matter (?:what|which)|regardless of (?:what|which|whether|the|their|how)|irrespective of)\b",
    re.IGNORECASE,
)
_TOGETHER: Final = re.compile(
    r"\b(?P<how>highest|best|maximum|greatest|largest|lowest|worst|smallest)\s+(?:possible )?(?:mutual|collective|joint"
    r"|combined|total)\s+(?:payoff|benefit|outcome|reward|gain|return|sum)s?"
    r"|\b(?:mutual|collective|joint|combined|total) (?:payoff|benefit|reward|gain|return|sum)s? (?:is|are) "
    r"(?:the )?(?P<so>highest|greatest|largest|maximal|maximi[sz]ed|lowest|smallest)\b",
    re.IGNORECASE,
)
_ALL_BUT: Final = re.compile(r"\b(?:other than|except|apart from|besides|only|all but)\b", re.IGNORECASE)
_WHOSE: Final = r"(?:(?P<mine>my|your|the|a|an)|(?P<theirs>their|his|her|(?:the )?[a-z ]{2,20}'s)) "
_HOW: Final = r"(?P<how>strictly |weakly )?"
_KIND: Final = r"(?: (?:strategy|choice|action|move|option))?"


class Solutions:
    """Reads one sentence at a time. What is negated, doubted or conditional is left alone."""

    def __init__(self, words: Words, choices: Choices) -> None:
        self.words = words
        self.choices = choices
        self.subject = words.subject

    def read(self, sentence: str) -> Iterator[Claim]:
        """What a sentence claims of the game as a whole."""
        none = _NONE.search(sentence)
        if none is not None:
            yield Claim("pure_equilibria", (Fraction(0),))
        undominated = _NO_DOMINANT.search(sentence)
        if undominated is not None:
            yield from self._nothing_dominant(sentence[: undominated.start()], sentence[undominated.end() :])
        yield from self._always(sentence)
        if _OPEN.search(sentence):
            return
        for match in _COUNT.finditer(sentence):
            value = read_amount(match["number"])
            if value is not None:
                yield Claim("pure_equilibria", (value,))
        if none is None:
            yield from self._equilibria(sentence)
        if undominated is None:
            yield from self._dominance(sentence)
        yield from self._responses(sentence)
        yield from self._pareto(sentence)
        yield from self._extremes(sentence)
        yield from self._floors(sentence)

    def _nothing_dominant(self, before: str, after: str) -> Iterator[Claim]:
        owner = re.search(rf"(?:{self.words.who})\s*$", before, re.IGNORECASE)
        whom = re.match(rf" for (?:{self.words.who})", after, re.IGNORECASE) or owner
        for who in self.words.whom(whom) if whom is not None else (0,):
            yield Claim("no_dominant_choice", (self.subject.players[who],))

    def _label(self, who: int, text: str | None) -> str | None:
        place = self.words.action(who, text) if text else None
        return None if place is None else self.subject.actions[who][place]

    def _outcome(self, made: dict[int, int]) -> Chain:
        return tuple(
            Move(self.subject.players[i], self.subject.actions[i][made[i]]) for i in sorted(made, reverse=True)
        )

    def _outcomes(self, text: str) -> list[Chain]:
        """The outcomes that a text names, each once: cells, or what everybody is said to choose."""
        cells = sorted(self.choices.cells(text), key=lambda cell: cell.start)
        found = [self._outcome(dict(enumerate(cell.actions))) for cell in cells]
        if not found:
            made, _ = self.choices.read_choices(text)
            found = [self._outcome(made)] if len(made) == self.words.count else []
        return list(dict.fromkeys(found))

    def _equilibria(self, sentence: str) -> Iterator[Claim]:
        match = _EQUILIBRIUM.search(sentence)
        if match is None or re.search(r"\bmix|\bpareto", sentence, re.IGNORECASE):
            return
        found = self._outcomes(sentence)
        if not re.search(r"\b(?:is|are|as|at|where|both|in which|:|form)\b|:", sentence, re.IGNORECASE):
            return
        for outcome in found:
            yield Claim("equilibrium", (outcome,))
        if match["only"] and len(found) == 1:
            yield Claim("pure_equilibria", (Fraction(1),))

    def _dominance(self, sentence: str) -> Iterator[Claim]:
        for match in self._dominates.finditer(sentence):
            how = (match["how"] or "weakly ").strip().lower()
            for who in self._named_after(match, sentence) or (0, 1)[: self.words.count]:
                better, worse = self._label(who, match["action"]), self._label(who, match["other"])
                if better and worse:
                    yield Claim(f"{how}_dominates", (better, worse, self.subject.players[who]))
                    break
        for match in self._dominated.finditer(sentence):
            yield from self._is_dominated(match, self._named_after(match, sentence))
        for pattern in self._dominant:
            for match in pattern.finditer(sentence):
                how = (match["how"] or "weakly ").strip().lower()
                for who in self._about(match, sentence):
                    if label := self._label(who, match["action"]):
                        yield Claim(f"{how}_dominant", (label, self.subject.players[who]))

    def _about(self, match: re.Match[str], sentence: str) -> tuple[int, ...]:
        """Whose action: said by `for them`, by a possessive, by the name of the action, else the reasoner's."""
        whom = re.match(rf"{_KIND} (?:for|of) (?:{self.words.who})", sentence[match.end() :], re.IGNORECASE)
        if whom is not None:
            return self.words.whom(whom)
        if match.groupdict().get("theirs"):
            return (1,) if self.words.count == 2 else ()
        return (0,) if self._label(0, match["action"]) else (1,)

    def _named_after(self, match: re.Match[str], sentence: str) -> tuple[int, ...]:
        """The players that "for them" names somewhere after a statement."""
        whom = re.search(rf"\bfor (?:{self.words.who})", sentence[match.end() :], re.IGNORECASE)
        return self.words.whom(whom) if whom is not None else ()

    def _is_dominated(self, match: re.Match[str], named: tuple[int, ...]) -> Iterator[Claim]:
        who = next(iter(named), 0 if self._label(0, match["action"]) else 1)
        worse, better = self._label(who, match["action"]), self._label(who, match["other"])
        how = (match["how"] or "").strip().lower()
        if worse and better:
            yield Claim(f"{how or 'weakly'}_dominates", (better, worse, self.subject.players[who]))
        elif worse and how == "strictly" and not match["other"]:
            yield Claim("strictly_dominated", (worse, self.subject.players[who]))

    @cached_property
    def _dominates(self) -> re.Pattern[str]:
        a, b = (rf"(?P<{name}>{self.words.things})" for name in ("action", "other"))
        return self.words.compiled(rf"{a}\s+{_HOW}dominates\s+{b}")

    @cached_property
    def _dominated(self) -> re.Pattern[str]:
        a, b = (rf"(?P<{name}>{self.words.things})" for name in ("action", "other"))
        return self.words.compiled(rf"{a} is (?:an? )?{_HOW}dominated{_KIND}(?: by {b})?")

    @cached_property
    def _dominant(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        label = rf"(?P<action>{self.words.things})"
        whose = r"(?:(?:clearly|also|the|an?|my|your|(?P<theirs>their|his|her)) )*"
        return (
            self.words.compiled(rf"{label} (?:is|remains) {whose}{_HOW}dominant\b"),
            self.words.compiled(
                rf"(?:(?P<theirs>\b(?:their|his|her))|\b(?:my|your|the|an?)) {_HOW}dominant"
                rf" (?:strategy|choice|action|move|option) is (?:to )?(?:{CHOOSE} )?{label}"
            ),
        )

    def _always(self, sentence: str) -> Iterator[Claim]:
        """Whatever they do, B earns me more than A."""
        if self.words.count != 2 or not _ALWAYS.search(sentence) or re.search(r"\bnot\b|n't\b|\bif\b", sentence):
            return
        for match in self._more.finditer(sentence):
            first, second = self._label(0, match["action"]), self._label(0, match["other"])
            if first and second and first != second:
                yield Claim("strictly_dominates", (first, second, self.subject.players[0]))

    @cached_property
    def _more(self) -> re.Pattern[str]:
        verb = r"(?:is|earns|gives|pays|yields|brings|leaves|gets|makes)"
        a, b = (rf"(?P<{name}>{self.words.things})" for name in ("action", "other"))
        return self.words.compiled(
            rf"{a} (?:always |still |strictly )*{verb} (?:(?:me|you|always|a|strictly|off|payoff|with) )*"
            rf"(?:more|better|higher)(?: payoff| off| for me)?s? than (?:choosing |playing |picking )?{b}"
        )

    def _responses(self, sentence: str) -> Iterator[Claim]:
        """My best response to Left is Up; against Left, Up is better than Down."""
        if self.words.count != 2:
            return
        for pattern in self._best_to:
            for match in pattern.finditer(sentence):
                who = 1 if match["theirs"] or self._label(0, match["action"]) is None else 0
                action, faced = self._label(who, match["action"]), self._label(1 - who, match["to"])
                if action and faced:
                    against = (Move(self.subject.players[1 - who], faced),)
                    yield Claim("best_response", (action, against, self.subject.players[who]))
        for match in self._better.finditer(sentence):
            action, other, faced = (
                self._label(who, match[name]) for who, name in ((0, "action"), (0, "other"), (1, "to"))
            )
            if action and other and faced and action != other:
                against = (Move(self.subject.players[1], faced),)
                yield Claim("better_response", (action, other, against, self.subject.players[0]))

    @cached_property
    def _best_to(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        label, to = rf"(?P<action>{self.words.things})", rf"(?:their |my |an? |the )?(?P<to>{self.words.things})"
        best = r"(?:(?:only|unique|strict) )?best (?:response|reply|answer)"
        is_ = rf"(?:is|would be) (?:also |again |to )*(?:{CHOOSE} )?"
        return (
            self.words.compiled(rf"{_WHOSE}{best} (?:to|against) {to} {is_}{label}"),
            self.words.compiled(rf"{label} (?:is|would be) (?:also )?{_WHOSE}{best} (?:to|against) {to}"),
        )

    @cached_property
    def _better(self) -> re.Pattern[str]:
        a, b = (rf"(?P<{name}>{self.words.things})" for name in ("action", "other"))
        return self.words.compiled(
            rf"\bagainst (?:their |an? |the )?(?P<to>{self.words.things}),? {a} is (?:strictly )?better"
            rf"(?: for (?:me|you))? than {b}"
        )

    def _pareto(self, sentence: str) -> Iterator[Claim]:
        match = re.search(r"\bPareto[- ](?P<what>dominates|optimal|efficient|superior)", sentence, re.IGNORECASE)
        if match is None or _ALL_BUT.search(sentence):
            return
        before, after = self._outcomes(sentence[: match.start()]), self._outcomes(sentence[match.end() :])
        if match["what"].lower() in ("optimal", "efficient"):
            yield from (Claim("pareto_optimal", (outcome,)) for outcome in before if not after)
        elif len(before) == len(after) == 1:
            yield Claim("pareto_dominates", (before[0], after[0]))

    def _extremes(self, sentence: str) -> Iterator[Claim]:
        """The least I can get by choosing Down is 1; 5 is the most anybody can get."""
        made, _ = self.choices.read_choices(sentence)
        named = re.search(f"(?i:{self.words.things})", sentence) is not None
        for pattern in self._bounds:
            for match in pattern.finditer(sentence):
                value = read_amount(match["number"])
                best = re.match(r"most|highest|best|maximum|largest|greatest", match["how"], re.IGNORECASE)
                end = "highest" if best else "lowest"
                action = self._label(0, match["action"])
                if value is None or (action is None and (match["action"] or made or named)):
                    continue
                if action:
                    yield Claim(f"{end}_individual_payoff_for_choice", (value, action, self.subject.players[0]))
                elif match.groupdict().get("anybody"):
                    yield Claim(f"{end}_payoff", (value,))
                else:
                    yield Claim(f"{end}_possible_individual_payoff", (value, self.subject.players[0]))

    @cached_property
    def _bounds(self) -> tuple[re.Pattern[str], ...]:
        how = r"(?P<how>most|highest|best|maximum|largest|greatest|least|lowest|worst|minimum|smallest)"
        by = rf"(?:(?:by|from|with|for|when) (?:me )?(?:{CHOOSE} )?(?P<action>{self.words.things}))"
        gain = r"(?: possible)?(?: individual)?(?: payoff| payout| amount| outcome| result)?"
        can = r"(?:can|could) (?:get|earn|receive|make|win|happen to me)"
        whom = r"(?:(?:that )?(?:I|you)|(?P<anybody>(?:that )?(?:anyone|anybody|any player|a player)))"
        tail = r"(?: (?:at all|in this game|in the game|overall))?"
        value = rf"(?: is| are|:) (?:a payoff of )?{NUMBER}"
        return (
            self.words.compiled(rf"\bthe {how}{gain} {whom} {can}{tail}(?: {by})?{tail}{value}"),
            self.words.compiled(rf"\bthe {how} (?P<nobody>that) {can}{tail}(?: {by})?{value}"),
            self.words.compiled(rf"\b(?:my|your) {how}{gain} {by}{value}"),
            self.words.compiled(rf"{NUMBER} is the {how}{gain} {whom} {can}{tail}(?: {by})?"),
            self.words.compiled(
                rf"{NUMBER} is (?:the|my|your) {how}(?: possible)? individual (?:payoff|outcome)"
                rf" (?:for|from|of) (?:choice |choosing )?(?P<action>{self.words.things})"
            ),
        )

    def _floors(self, sentence: str) -> Iterator[Claim]:
        """Up has a higher guaranteed payoff than Down; Up is the maximin choice."""
        for match in self._worse_case.finditer(sentence):
            action, other = self._label(0, match["action"]), self._label(0, match["other"])
            how = "higher" if match["how"].lower() in ("higher", "better") else "lower"
            if action and other:
                yield Claim(f"{how}_guaranteed_payoff", (action, other, self.subject.players[0]))
        for match in self._maximin.finditer(sentence):
            if action := self._label(0, match["action"]):
                yield Claim("highest_guaranteed_payoff_choice", (action, self.subject.players[0]))

    @cached_property
    def _worse_case(self) -> re.Pattern[str]:
        a, b = (rf"(?P<{name}>{self.words.things})" for name in ("action", "other"))
        floor = r"(?:guaranteed|worst-case|worst case|minimum)(?: payoff| outcome| scenario)*"
        return self.words.compiled(
            rf"{a} (?:has|offers|gives(?: me)?|provides) a (?P<how>higher|lower|better|worse) {floor} than {b}"
        )

    @cached_property
    def _maximin(self) -> re.Pattern[str]:
        return self.words.compiled(
            rf"(?P<action>{self.words.things}) is (?:the|my|your) (?:maximin|max-min)"
            r"(?: choice| strategy| action| option)?"
        )

    def together(self, clause: str, chosen: dict[int, int]) -> Iterator[Claim]:
        """If both choose B, the sum is highest."""
        match = _TOGETHER.search(clause)
        if match is None or self.choices.read_choices(clause)[0] != chosen:
            return
        least = re.match("lowest|worst|smallest", match["how"] or match["so"], re.IGNORECASE)
        actions = tuple(self.subject.actions[i][k] for i, k in sorted(chosen.items()))
        yield Claim("lowest_mutual_payoff" if least else "highest_mutual_payoff", (actions,))
