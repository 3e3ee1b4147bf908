"""Words that change what a sentence says and that no rule accounts for: a sentence with one of them is not read.

"Defecting pays me 2" and "defecting pays me 2 more" differ in one word. A rule that looks for a part of a sentence
finds the same claim in both, so the words are looked for before any rule is asked.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["has_unread_words"]

_FAMILIES: Final = (
    # Differences: the number is not what somebody gets.
    r"(?:more|less|extra|additional|fewer)(?! than\b)",
    r"(?:more|less|better|worse|higher|lower) (?:points )?than (?:\(|at\b|in\b|with\b|under\b|from\b|mutual)",
    r"(?:gains?|loses?|lost|costs?|improves?|raises?|rises?|drops?|falls?|increases?|decreases?)\b.*\bby",
    r"(?:gains?|lose|loses|losing|costs?)\b.*\b(?:instead|compared|relative|rather)",
    r"(?:switching|deviating|changing|moving)\b.*\b(?:gains?|costs?|earns?|pays?|loses?)",
    r"compared|relative to|difference|advantage|premium|twice|double|half as",
    # Frequencies: what the other does is not one move.
    r"of the time|percent|equally (?:often|likely)",
    r"on average|average|expect(?:ed|ation)|probability|probabilities|odds|chances?|likelihood|randomi[sz]\w*",
    r"mix(?:es|ing)?|fifty-fifty|uniform(?:ly)?|otherwise|sometimes|often|usually|rounds?|repeated|times",
    # Reduced games: the claim is about another game.
    r"(?:is|are|was|were|been|being|has|have) (?:gone|removed|eliminated|deleted|crossed out|ruled out|discarded)",
    r"once|reduced|remaining|surviving|after (?:removing|eliminating|deleting|crossing|ruling|elimination)",
    r"(?:removing|eliminating|deleting|discarding|ignoring|leaving out)|removed|eliminated|game without|given that",
    # Who is meant, and in which case: said in another place than the claim.
    r"the (?:first|second|former|latter)(?: (?:player|one|hunter|driver|firm|side|case|choice))?",
    r"in (?:which|that|this|the (?:best|worst|first|second|latter|former|other)) (?:\w+-)?(?:case|situation|event)",
    r"(?:therefore|thus|hence|so),? (?:\w+ ){1,4}(?:is|are) (?:better|worse|best)",
)
# Without a condition "the best choice" is a piece of advice, not the reply to a move.
_ADVICE: Final = r"^(?!.*\b(?:if|when|against)\b).*\b(?:best|optimal|right) (?:choice|option|move|decision)\b"
_UNREAD: Final = re.compile(rf"%|\b(?:{'|'.join(_FAMILIES)})\b|{_ADVICE}", re.IGNORECASE)


def has_unread_words(sentence: str) -> bool:
    """Return whether a sentence has words that could change its meaning and that the rules ignore.

    >>> has_unread_words("If they cooperate, defecting pays me 2 more"), has_unread_words("Defecting pays me 2")
    (True, False)
    """
    return _UNREAD.search(sentence) is not None
