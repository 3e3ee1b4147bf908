"""Claims about best and worst cases, safety and best responses that lean on the choices a clause speaks under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.claim import Claim, Move
from bestresponse.formal.claims.translators.words import CHOOSE, NUMBER, Words, read_amount

__all__ = ["Cases", "read_comparisons"]

_CASE: Final = re.compile(
    r"(?<![\w-])(?<!better )(?<!higher )(?P<kind>best|worst)[- ](?:case|possible)"
    r"(?: scenario| outcome| result| payoff)?s?\b"
    r"(?:(?!for (?:them|him|her|the other|my opponent)|their\b|(?:when|if) (?:both|we|they)\b)[^.\d]){0,70}?"
    r"(?<![\d.])(?P<number>-?\d{1,12}(?:\.\d{1,12})?)(?![\d.]*\d|\s*(?:or|to|and)\b)",
    re.IGNORECASE,
)
_FLOOR: Final = re.compile(
    r"(?<!could )(?<!might )(?<!may )(?<!can )(?<!the )(?<!a )\b(?:guarantee|ensure|secure|assure)(?:s|ing|d)?\s+"
    r"(?:(?:that )?(?:me|you|us|I|myself) )?(?:get )?"
    r"(?P<bound>(?:a guaranteed )?at least|(?:a |the )?(?:guaranteed )?minimum(?: payoff| payout)? of"
    r"|a (?:guaranteed |minimum )?payoff of at least)?\s*(?:(?:a |the )(?:\w+ )?(?:payoff|payout|reward) of )?"
    r"(?<![\d.])(?P<number>-?\d{1,12}(?:\.\d{1,12})?)(?![\d.]*\d|\s*(?:or|to|each|if)\b)",
    re.IGNORECASE,
)
_LOSS: Final = re.compile(r"\b(?:cost|los[es]|avoid|risk)", re.IGNORECASE)
"""Words beside a best or worst case that turn its sign or say that it is another's."""
_ONE, _OTHER = (rf"(?P<{name}>(?<![\w.])-?\d{{1,12}}(?:\.\d{{1,12}})?)" for name in ("first", "second"))
_BETWEEN: Final = r"\)?,?\s*(?:which is|is|being|are)?\s*(?:still |always |clearly |strictly )?"
_ORDER: Final = (
    re.compile(
        rf"{_ONE}{_BETWEEN}(?:(?:better|higher|more|greater|larger) than|>|beats|exceeds)\s*"
        rf"(?:getting |a payoff of |the |only )?{_OTHER}(?![\d.]*\d)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_ONE}{_BETWEEN}(?:(?:worse|lower|less|smaller) than|<)\s*"
        rf"(?:getting |a payoff of |the |only )?{_OTHER}(?![\d.]*\d)",
        re.IGNORECASE,
    ),
)


def read_comparisons(clause: str) -> Iterator[Claim]:
    """5 is better than 3; 1 < 3."""
    for form, pattern in zip(("higher", "lower"), _ORDER, strict=True):
        for match in pattern.finditer(clause):
            first, second = read_amount(match["first"]), read_amount(match["second"])
            if first is not None and second is not None:
                yield Claim(form, (first, second))


class Cases:
    """Reads clauses about one choice of the reasoner's, or about one choice of the other's."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.you = words.subject.players[0]

    def read(self, clause: str, chosen: Mapping[int, int]) -> Iterator[Claim]:
        """What a clause claims under these choices."""
        if 0 in chosen:
            yield from self._extremes(clause, self.words.subject.actions[0][chosen[0]], alone=set(chosen) == {0})
        yield from self._safest(clause)

    def read_responses(self, clause: str, chosen: Mapping[int, int]) -> Iterator[Claim]:
        """If they choose R, my best response is B."""
        if self.words.count != 2 or 1 not in chosen:
            return
        against = (Move(self.words.subject.players[1], self.words.subject.actions[1][chosen[1]]),)
        for match in self._best.finditer(clause):
            place = self.words.action(0, match["action"])
            if place is None:
                continue
            label = self.words.subject.actions[0][place]
            yield Claim("best_response", (label, against, self.you))
            value = read_amount(match["number"]) if match["number"] else None
            if value is not None:
                yield Claim("payoff", (self.you, value, (*against, Move(self.you, label))))

    def _extremes(self, clause: str, label: str, alone: bool) -> Iterator[Claim]:
        """Best and worst case of a choice; `alone`: nothing is said about what the others choose."""
        found = [("lowest", match) for match in _FLOOR.finditer(clause) if match["bound"] or alone]
        for match in _CASE.finditer(clause):
            found.append(("highest" if match["kind"].lower() == "best" else "lowest", match))
        for form, match in found:
            value = read_amount(match["number"])
            if value is not None and not _LOSS.search(match.group()):
                loose = match.re is _FLOOR
                name = "guaranteed_payoff_for_choice" if loose else f"{form}_individual_payoff_for_choice"
                yield Claim(name, (value, label, self.you))

    def _safest(self, clause: str) -> Iterator[Claim]:
        """R is the safer choice; choosing R gives the highest guaranteed payoff."""
        if re.search(r"\b(?:if|they|he|she|we both|both of us|other) (?:think|believe|assume|feel)", clause):
            return
        for match in self._safe.finditer(clause):
            place = self.words.action(0, match["action"] or match["last"])
            if place is not None:
                label = self.words.subject.actions[0][place]
                yield Claim("highest_guaranteed_payoff_choice", (label, self.you))

    @cached_property
    def _safe(self) -> re.Pattern[str]:
        verb = r"(?:is|seems|appears|offers|provides|gives|has|ensures|guarantees|becomes|looks|as)"
        middle = (
            r"(?: (?:me|you|us|to be|like|a|an|the|much|also|still|generally|more|and|with|choice|option|that|it|which"
            r"|rational|logical|strategic|reasonable|better))*"
        )
        safe = (
            r"(?:safer|safest|less risky|least risky|(?:highest|higher|best|better) (?:guaranteed|worst-case|minimum)"
            r"|safe (?:choice|option|action|strategy|move|play))"
        )
        chosen = rf"(?:is|would be) (?:to )?(?:{CHOOSE} )?(?P<last>{self.words.things})"
        back = rf"(?:safer|safest|least risky) (?:[a-z]+ ){{0,5}}{chosen}"
        start = r"(?<!both choosing )(?<!both picking )(?<!both playing )"
        return self.words.compiled(rf"{start}(?P<action>{self.words.things})\s+{verb}{middle}\s+{safe}\b|{back}")

    @cached_property
    def _best(self) -> re.Pattern[str]:
        mine = r"\b(?:my|your) best (?:response|reply|choice|option|move|action|strategy)"
        earning = r"(?:,? ?\(?(?:to get|getting|to receive|receiving|to earn|earning|for|which gives me|yielding) "
        chosen = rf"(?: (?:also|again|still|clearly|to))* (?:{CHOOSE} )?(?P<action>{self.words.labels})"
        return self.words.compiled(
            rf"{mine} (?:is|would be){chosen}(?: too| as well)?{earning}(?:a payoff of )?{NUMBER})?"
        )
