"""The words by which plain English speaks of players, choices and payoffs, as patterns for one game."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.subject import Subject

__all__ = ["BOTH", "Words", "plain"]

BOTH: Final = -1
NUMBER: Final = (
    r"(?P<number>(?<![\d.])-?\d{1,12}(?:\.\d{1,12})?)(?![\d.]*\d|\s*(?:%|percent\b|or\s+-?\d|to\s+-?\d|-\s*\d|/\s*\d))"
)
_YOU = r"I|you|me|myself"
_THEM = (
    r"they|them|she|he|the other (?:player|person|one|side|party|participant)|(?:the |my |your |an? )?(?:opponent"
    r"|counterpart)"
    r"|(?:the |an? )?(?:other |anonymous )(?:anonymous )?(?:player|person)|the other|other"
)
_BOTH = (
    r"both(?: of (?:us|you|them)| players| sides| parties|(?: of)? (?:I|you|me) and [a-z ]{2,30}?)?|we both"
    r"|we each|we"
    r"|each (?:player|of us|of you|person)|everyone|(?:I|you) and (?:the )?(?:other|anonymous) player(?: both)?"
)
_ADVERB = (
    r"(?:,|also|both|each|will|would|could|can|might|may|should|do|does|did|only|just|still|then|all|likewise"
    r"|similarly"
    r"|instead|always|decide to|decides to|chooses to|choose to|happens to|end up|ends up|were to|was to"
    r"|am going to|to)"
)
_CHOOSE = (
    r"(?:choose|chooses|chose|choosing|pick|picks|picked|picking|select|selects|selecting|play|plays|playing"
    r"|go(?:es)? (?:with|for)|going (?:with|for)|opt(?:s|ing)? for)"
)
_GET = (
    r"(?:get|gets|getting|receive|receives|receiving|earn|earns|earning|gain|gains|gaining|make|makes|win|wins|obtain"
    r"|obtains|secure|secures|end up with|ends up with|walk away with|(?:payoff|reward|gain)s? (?:is|are"
    r"|would be|will be))"
)
_SUM = (
    r"(?:(?:a |an |the |my |their |our )?(?:(?:maximum|minimum|lower|higher|highest|lowest|low|high|moderate"
    r"|mutual|good"
    r"|decent|smaller|larger|possible|positive|individual|full|equal) )*(?:payoff|payout|reward|outcome|amount"
    r"|total|sum)s?"
    r" ?(?:of|is|:|\()? ?|nothing \(|only |just |exactly |a |the )?"
)


def plain(text: str) -> str:
    """The text without markup, currency signs and characters that nobody sees; lines and indentation stay."""
    text = re.sub(r"\\(?:text|textbf|mathbf|mathrm)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\[()\[\]]", "", text)
    text = re.sub(r"[*_`#]{2,}|[*`]", "", text.replace("’", "'").replace("‘", "'").replace("−", "-"))
    text = re.sub(r"\\?\$\s?(?=-?\d)|(?<=\d)\s?\\?\$|(?<=\d)\s?(?:dollars?|USD|points?|units?)\b", "", text)
    text = re.sub(r"[\"“”'](\w{1,20})[\"“”']", r"\1", text)
    return "".join(c for c in text if c in "\n\t" or c.isprintable())


class Words:
    """Patterns for one game: its actions are its labels, `(?P<action>...)`."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @cached_property
    def labels(self) -> str:
        found = sorted({action for own in self.subject.actions for action in own}, key=lambda a: (-len(a), a))
        cased = "-i" if max(map(len, found)) == 1 else ""
        return rf"(?{cased}:(?<![\w'])(?:{'|'.join(map(re.escape, found))})(?![\w']))"

    @property
    def _numeric(self) -> bool:
        """Whether some action is called by a number, so that a number alone tells nothing."""
        return any(action[:1].isdigit() for own in self.subject.actions for action in own)

    @cached_property
    def people(self) -> dict[str, int]:
        """Names of single players, longest first."""
        named = {name.casefold(): i for i, name in enumerate(self.subject.players)}
        named |= {self.subject.game.players[seat].casefold(): i for i, seat in enumerate(self.subject.order)}
        if len(self.subject.players) == 2:
            named |= {f"player {seat + 1}": i for i, seat in enumerate(self.subject.order)}
        return {name: named[name] for name in sorted(named, key=len, reverse=True) if len(name) > 1}

    @cached_property
    def _who(self) -> str:
        others = "|".join(map(re.escape, self.people)) or "(?!)"
        them = _THEM if len(self.subject.players) == 2 else "(?!)"
        return (
            rf"(?P<both>\b(?:{_BOTH})\b)|(?P<them>\b(?:{them})\b)|(?P<you>\b(?:{_YOU})\b)|(?P<named>\b(?:{others})\b)"
        )

    @cached_property
    def choice(self) -> re.Pattern[str]:
        """Somebody chooses something."""
        kind = r"(?:(?:the )?(?:option|action|choice|strategy)\s+)?"
        chosen = rf"{_CHOOSE}\s+{kind}(?P<action>{self.labels})|(?P<deed>{self._deeds})(?:e?s|d|ed|ing)?\b"
        return self._compiled(rf"(?:{self._who})(?:\s*{_ADVERB}){{0,4}}\s+(?:{chosen})")

    @cached_property
    def _deeds(self) -> str:
        """Labels that can be a verb: I cooperate, they defect."""
        found = sorted({a for own in self.subject.actions for a in own if a.isalpha() and len(a) > 2}, key=len)
        return rf"\b(?:{'|'.join(map(re.escape, reversed(found)))})" if found else "(?!)"

    @cached_property
    def choosing(self) -> re.Pattern[str]:
        """Choosing R: nobody is named, so the reasoner is meant."""
        return self._compiled(rf"\b(?:choosing|picking|selecting|playing)\s+(?P<action>{self.labels})")

    @cached_property
    def payment(self) -> re.Pattern[str]:
        """Somebody gets some amount."""
        return self._compiled(rf"(?:{self._who})(?:\s*{_ADVERB}){{0,4}}\s+{_GET}\s+{_SUM}{NUMBER}")

    @cached_property
    def owned(self) -> re.Pattern[str]:
        """My payoff: 3; their payoff is 0."""
        mine = r"(?P<you>\b(?:my|your)\b)"
        theirs = r"(?P<them>\b(?:their|his|her|(?:the )?other(?: player)?'s|(?:the |my )?opponent's)\b)"
        return self._compiled(
            rf"(?:{mine}|{theirs})\s+(?:payoff|payout|reward|outcome|gain)\s*(?:is|=|:|of|would be)+\s*{NUMBER}"
        )

    @cached_property
    def shared(self) -> re.Pattern[str]:
        """Payoff: 3 for both."""
        return self._compiled(
            rf"{NUMBER}\s+(?:each\b|for (?:each|both)\b|for (?P<you>me|you)\b|for (?P<them>them|the other player)\b)"
        )

    @cached_property
    def pair(self) -> re.Pattern[str]:
        """(5, 1): what I get, what they get."""
        return self._compiled(
            r"\(\s*(?P<first>(?<![\d.])-?\d{1,12}(?:\.\d{1,12})?)\s*,\s*(?P<second>(?<![\d.])-?\d{1,12}(?:\.\d{1,12})?)\s*\)"
        )

    @cached_property
    def cell(self) -> re.Pattern[str]:
        """(R, B): my choice, their choice."""
        if self._numeric:
            return self._compiled(r"(?!)(?P<first>)(?P<second>)")
        return self._compiled(rf"\(\s*(?P<first>{self.labels})\s*,\s*(?P<second>{self.labels})\s*\)")

    @cached_property
    def safest(self) -> re.Pattern[str]:
        """R is the safer choice."""
        verb = r"(?:is|seems|appears|offers|provides|gives|has|ensures|guarantees|becomes|looks|as)"
        middle = (
            r"(?: (?:me|you|us|to be|like|a|an|the|much|also|still|generally|more|and|with|choice|option|that"
            r"|it|which"
            r"|rational|logical|strategic|reasonable|better))*"
        )
        safe = (
            r"(?:safer|safest|less risky|least risky|(?:highest|higher|best|better) (?:guaranteed|worst-case"
            r"|minimum))"
        )
        chosen = rf"(?:is|would be) (?:to )?(?:{_CHOOSE} )?(?P<last>{self.labels})"
        back = rf"(?:safer|safest|least risky) (?:[a-z]+ ){{0,5}}{chosen}"
        return self._compiled(rf"(?P<action>{self.labels})\s+{verb}{middle}\s+{safe}\b|{back}")

    @cached_property
    def best(self) -> re.Pattern[str]:
        """My best response is B."""
        mine = r"\b(?:my|your) best (?:response|reply|choice|option|move|action|strategy)"
        earning = r"(?:,? ?\(?(?:to get|getting|to receive|receiving|to earn|earning|for|which gives me|yielding) "
        chosen = rf"(?: (?:also|again|still|clearly|to))* (?:{_CHOOSE} )?(?P<action>{self.labels})"
        return self._compiled(rf"{mine} (?:is|would be){chosen}(?: too| as well)?{earning}(?:a payoff of )?{NUMBER})?")

    @cached_property
    def heading(self) -> re.Pattern[str]:
        """A line that is about one choice of the reasoner's."""
        kind = r"(?:option|action|choice|strategy|if|when|case)\s*:?\s*"
        chosen = rf"(?:(?:I|you|if I|if you)?\s*{_CHOOSE}\s+)"
        named = rf"(?:{kind})?{chosen}" if self._numeric else rf"(?:{kind})?{chosen}?"
        return self._compiled(rf"^\W*(?:\d+\.?\s*)?{named}(?P<action>{self.labels})\b[^.]{{0,40}}$")

    def action(self, match: re.Match[str]) -> str:
        """The label of what is chosen."""
        return str(match["action"] or match["deed"])

    def who(self, match: re.Match[str]) -> int | None:
        """Which player a match speaks of: a number, BOTH, or None where it does not say."""
        groups = match.groupdict()
        if groups.get("both"):
            return BOTH
        if groups.get("them"):
            return 1
        if groups.get("you"):
            return 0
        return self.people.get(groups.get("named", "").casefold()) if groups.get("named") else None

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)
