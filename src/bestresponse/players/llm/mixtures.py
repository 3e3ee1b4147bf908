"""Mixed strategies as models write them.

Actions and numbers that take turns, in many notations: `A: 0.25, B: 0.75`, `{"a": "1/4"}`,
`25 % A, 75 % B`, `A with probability 1/4 and B with probability 3/4`, `0,25; 0,75`, `A and B each
1/2`, `one half A, one half B`, `2:1:1`, `50/50`, `uniform over A and B`, `A` alone, all of them
also in LaTeX. Text is cut into actions, numbers and words; where a word is in between that is not
one of those with which strategies are told, nothing is read.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from bestresponse.core.ask import Mixture
from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import canonical

_ROUNDING = 0.05
"""How far a sum may be from 1: three probabilities of two decimals, rounded carelessly."""
_SAME = 0.006
"""Of a number that is written twice, as in `1/3 = 0.333` or `0.125 (12.5 %)`."""
_LARGEST_SHARE = 1_000  # more than any percentage that is rounded
_LONGEST_MIXTURE = 2_000
_NOTATION = "another notation"
"""What is said where nothing more particular can be."""
_TELLING = re.compile(
    "a|actions?|always|an|and|answer|are|as|at|be|by|choice|choos(e|es|ing)|columns?|each|equals?"
    "|equilibrium|final|for|go|i|is|it|its|line|mix|mixed|mixing|moves?|my|of|on|one|only|optimal"
    "|options?|or|p|percent|pi|pick|play|plays|playing|pr|prob|probabilit(y|ies)|pure|rows?"
    "|select|should|sigma|so|strateg(y|ies)|that|the|then|these|thus|times?|to|w|we|weights?|will"
    "|with|would|x|y|certain|certainty|remaining|σ|π|mit|wahrscheinlichkeit|avec|une|probabilité",
    re.IGNORECASE,
)
"""The words with which strategies are told."""
_EVEN = re.compile("uniform|uniformly|equal|equally|even|evenly", re.IGNORECASE)
"""Words that say that all actions named, or all there are, have one probability."""
_BESIDE_EVEN = re.compile(
    "across|all|among|between|both|chance|distribution|every|likely|mixture|over|random|randomly"
    "|two|three|four|five",
    re.IGNORECASE,
)
"""Words that are next to those."""
_PARTS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "thirds": 3,
    "quarter": 4,
    "quarters": 4,
    "fourth": 4,
    "fourths": 4,
    "fifth": 5,
    "fifths": 5,
    "sixth": 6,
    "sixths": 6,
    "eighth": 8,
    "eighths": 8,
    "tenth": 10,
    "tenths": 10,
}
_COUNTS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "seven": 7,
}
_FRACTION = re.compile(
    rf"\b(?:(?P<count>{'|'.join(_COUNTS)})[ -])?(?P<part>{'|'.join(_PARTS)})\b", re.IGNORECASE
)
_RATIO = re.compile(
    r"(?:in )?(?:an? |the )?(?:ratio )?(?:of )?(?P<names>[^=]*=)?"
    r"\s*(?P<parts>\d{1,6}(?: ?: ?\d{1,6})+)\.?",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\s*[(\[](?P<aside>[^()\[\]]{1,300})[)\]]\.?$"
    r"|[,;.]?\s+(?:because|since|which|giving|where|so that|summing|adding)\s(?P<reason>.{1,300})$"
    r"|\s+[-–—]+\s+(?P<note>[^\W\d_].{1,300})$",
    re.IGNORECASE | re.DOTALL,
)
_SPLIT = re.compile(r"\d{1,3}(?: ?[/-] ?\d{1,3})+")
"""Percentages in the order of the actions: 50/50."""
TAKES_BACK = re.compile(
    r"\b(?:or|unless|but|if|except|instead|otherwise|maybe|perhaps|rather|actually|wait|however"
    r"|although|though)\b",
    re.IGNORECASE,
)
"""Words behind an answer that may change it."""
_VULGAR = {
    "½": "1/2",
    "⅓": "1/3",
    "⅔": "2/3",
    "¼": "1/4",
    "¾": "3/4",
    "⅕": "1/5",
    "⅖": "2/5",
    "⅗": "3/5",
    "⅘": "4/5",
    "⅙": "1/6",
    "⅚": "5/6",
    "⅛": "1/8",
    "⅜": "3/8",
    "⅝": "5/8",
    "⅞": "7/8",
    "％": "%",
    "−": "-",
    "٫": ".",
    "⁄": "/",
}
_LATEX = (
    (re.compile(r"\\[dt]?frac\s*\{([^{}]{1,20})\}\s*\{([^{}]{1,20})\}"), r"\1/\2"),
    (re.compile(r"\\[dt]?frac\s*(\d)\s*(\d)"), r"\1/\2"),
    (
        re.compile(r"\\(?:text|textbf|mathrm|mathbf|mathit|operatorname|boxed|textit|texttt)\s*\{"),
        "{",
    ),
    (re.compile(r"\\(?:left|right|quad|qquad|,|;|!|:|\[|\]|\(|\)|\s)"), " "),
    (re.compile(r"\\approx"), "="),
    (re.compile(r"\\(?=(?:sigma|pi)\b)"), ""),
    (re.compile(r"\\(?:to|rightarrow|mapsto)\b"), "->"),
    (re.compile(r"\\([%{}_$#&])"), r"\1"),
)
_Stated = tuple[dict[str, float], list[str]]
"""Actions with their numbers, and what had to be done to read them."""
_CONTRACTED = re.compile(r"\b(?:I|we)['’](?:d|ll)\b", re.IGNORECASE)
"""I'd and we'll say nothing about a strategy, but could be taken for actions I and D."""
_DOT = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_COMMA = r"[-+]?(?:\d+,\d+(?![\d\"' ]*[:=])|\d+(?:\.\d+)?|\.\d+)"


def strip_latex(text: str) -> str:
    """Replace what LaTeX and Unicode write otherwise: fractions, boxes, fonts, spaces, percent
    signs.

    >>> strip_latex(r"\\boxed{\\text{A}: \\frac{1}{2},\\; \\text{B}: 50\\%}"), strip_latex("½")
    ('{{A}: 1/2,  {B}: 50%}', '1/2')
    """
    for character, plain in _VULGAR.items():
        text = text.replace(character, plain)
    for pattern, plain in _LATEX if "\\" in text else ():
        text = pattern.sub(plain, text)
    return text


def read_mixture(ask: Mixture, candidate: str) -> tuple[tuple[float, ...], str]:
    """Return the probabilities that an answer states, and what had to be done to read them.

    Returns an empty result if nothing had.

    Raises:
        InvalidMove: it states none, or none that are legal.
    """
    if len(candidate) > _LONGEST_MIXTURE:
        raise InvalidMove(
            f"expected a probability for each action, got {len(candidate)} characters",
            Flaw.UNPARSEABLE,
        )
    try:
        stated = _read_as_asked(ask, candidate)
    except InvalidMove:
        notation = _read_notation(ask, candidate)
        if notation is None:
            shorter = _drop_remark(ask.options, candidate)
            if shorter is None:
                raise
            mix, repair = read_mixture(ask, shorter)
            behind = "a remark behind it"
            return mix, f"{repair}, {behind}" if repair else behind
        stated = notation
    return _scale_to_one(ask, stated)


@dataclass(frozen=True, slots=True)
class _StatedMix:
    """A number for every action, and how the answer was read.

    Holds which actions the answer did not name, and what had to be done to read it.
    """

    numbers: list[float]
    unnamed: list[str]
    repairs: list[str]


def _read_as_asked(ask: Mixture, candidate: str) -> _StatedMix:
    """Read an answer in the notation that was asked for."""
    numbers = list(ask.read(candidate))
    repairs = []
    if re.search(r"[:=]\s*[\"']\s*[\d.]", candidate):
        repairs.append("numbers in quotes")
    unnamed = []
    if re.search("[:=]", candidate):
        for name in ask.options:
            if name not in candidate and canonical(name) not in candidate:
                unnamed.append(name)
    return _StatedMix(numbers, unnamed, repairs)


def _read_notation(ask: Mixture, candidate: str) -> _StatedMix | None:
    """Read an answer in another notation, None where it is in none of them."""
    reading = _read_ratio(ask.options, candidate)
    if reading is None:
        reading = next(_find_readings(ask.options, candidate), None)
    if reading is None:
        return None
    stated, repairs = reading
    numbers = [stated.get(name, 0.0) for name in ask.options]
    if max(map(abs, numbers)) > _LARGEST_SHARE:
        ask.check(tuple(numbers))  # refuses them before they are summed, which would overflow
    unnamed = [name for name in ask.options if name not in stated]
    return _StatedMix(numbers, unnamed, list(repairs))


def _scale_to_one(ask: Mixture, stated: _StatedMix) -> tuple[tuple[float, ...], str]:
    """Return the probabilities, of percentages and of rounded numbers too, with all repairs."""
    numbers = stated.numbers
    repairs = list(stated.repairs)
    total = math.fsum(numbers)
    if abs(total / 100 - 1) <= _ROUNDING:
        numbers = [p / 100 for p in numbers]
        total = math.fsum(numbers)
        repairs.append("percentages")
    if min(numbers) < 0 or abs(total - 1) > _ROUNDING:
        ask.check(tuple(numbers))
    if stated.unnamed:
        repairs.append(f"{', '.join(stated.unnamed)} not named: 0")
    if abs(total - 1) > 1e-9:
        repairs.append(f"scaled from a sum of {total:.4g}")
    particular = [repair for repair in repairs if repair != _NOTATION]
    return tuple([p / total for p in numbers]), ", ".join(particular or repairs)


def _read_ratio(options: tuple[str, ...], text: str) -> _Stated | None:
    """Return the probabilities of a ratio such as 2:1:1, None where the text is none.

    >>> _read_ratio(("A", "B", "C"), "2:1:1")
    ({'A': 0.5, 'B': 0.25, 'C': 0.25}, ['a ratio'])
    """
    if any(option[:1].isdigit() for option in options):
        return None
    if _SPLIT.fullmatch(text.strip()):
        percentages = [int(part) for part in re.split("[/-]", text)]
        if len(percentages) != len(options) or sum(percentages) != 100:
            return None
        shares = [percentage / 100 for percentage in percentages]
        return dict(zip(options, shares, strict=True)), ["percentages"]
    match = _RATIO.fullmatch(text.strip())
    if match is None:
        return None
    names = list(options)
    if match["names"]:
        written = match["names"].rstrip("= ").split(":")
        names = [name.strip() for name in written]
    parts = [int(part) for part in match["parts"].split(":")]
    if sorted(names) != sorted(options) or len(parts) != len(names) or not sum(parts):
        return None
    shares = [part / sum(parts) for part in parts]
    return dict(zip(names, shares, strict=True)), ["a ratio"]


def _drop_remark(options: tuple[str, ...], text: str) -> str | None:
    """Return an answer without the remark at its end, None where there is none or it may matter."""
    match = _REMARK.search(text)
    if match is None:
        return None
    remark = match["aside"] or match["reason"] or match["note"]
    names = "|".join(map(re.escape, options))
    another_share = re.search(rf"(?<!\w)(?:{names})(?!\w)[\s:=]{{0,3}}\d", remark)
    if another_share or TAKES_BACK.search(remark):
        return None
    return text[: match.start()]


def _write_fractions(text: str) -> str:
    """Return a text with fractions in words as numbers.

    >>> _write_fractions("one half A, two thirds B")
    '1/2 A, 2/3 B'
    """

    def write(match: re.Match[str]) -> str:
        count = match["count"] or "one"
        part = match["part"]
        return f"{_COUNTS[count.lower()]}/{_PARTS[part.lower()]}"

    text = re.sub(r"\bzero\b", "0", text, flags=re.IGNORECASE)
    return _FRACTION.sub(write, text)


def _find_readings(options: tuple[str, ...], text: str) -> Iterator[_Stated]:
    """Yield what a text states, in the given case first.

    It is read with decimal points first, then with commas.
    """
    plain = _CONTRACTED.sub("", strip_latex(text))
    if not any(_FRACTION.search(option) for option in options):
        plain = _write_fractions(plain)
    if not any("_" in option for option in options):
        plain = plain.replace("_", " ")
    if not any(re.search(r"\d|^e$", option, re.IGNORECASE) for option in options):
        names = "|".join(map(re.escape, options))
        plain = re.sub(rf"(?<=\d)(?=(?:{names})(?!\w))", " ", plain)
        plain = re.sub(r"^[ \t]*\d{1,2}[.)][ \t]+(?=\D)", "", plain, flags=re.MULTILINE)
    for number, notation in ((_DOT, [_NOTATION]), (_COMMA, ["decimal commas"])):
        for flags, spelling in ((0, []), (re.IGNORECASE, ["actions in another case"])):
            pieces = _cut(options, plain, number, flags)
            stated = None if pieces is None else _pair(options, pieces)
            if stated is not None:
                yield stated, spelling or notation
                return


@dataclass(frozen=True, slots=True)
class _Pieces:
    """What a text consists of: actions and numbers in their order, and the words between them."""

    tokens: tuple[str | float, ...]
    words: frozenset[str]

    @property
    def labels(self) -> list[str]:
        """The actions."""
        return [token for token in self.tokens if isinstance(token, str)]

    @property
    def numbers(self) -> list[float]:
        """The numbers."""
        return [token for token in self.tokens if isinstance(token, float)]


def _cut(
    options: tuple[str, ...],
    text: str,
    number: str,
    flags: int,
) -> _Pieces | None:
    """Cut a text into actions, numbers and words; None where a word does not tell a strategy."""
    spell = str.casefold if flags else str
    names = {spell(option): option for option in options}
    if len(names) < len(options):
        return None
    tokens: list[str | float] = []
    words = set()
    for match in re.finditer(_write_pattern(options, number), text, flags):
        if match["label"]:
            tokens.append(names[spell(match["label"])])
        elif match["above"]:
            value = _find_number(match)
            last = tokens[-1] if tokens else None
            before = text[: match.start()]
            is_same = isinstance(last, float) and abs(last - value) <= _SAME
            # As in `1/3 = 0.333`.
            is_again = is_same and re.search(r"[=≈(]\s*$", before)
            if not is_again:
                tokens.append(value)
        elif match["other"] or not _is_telling(match["word"]):
            return None
        else:
            words.add(match["word"].casefold())
    return _Pieces(tuple(tokens), frozenset(words))


def _write_pattern(options: tuple[str, ...], number: str) -> str:
    """Write the pattern of one piece of a text: an action, a number, a word or anything else."""
    # An action that looks like a number is one only where a colon or the like follows.
    numeric: list[str] = []
    worded: list[str] = []
    for name in sorted(options, key=len, reverse=True):
        kind = numeric if re.fullmatch(r"[\d.]+", name) else worded
        kind.append(re.escape(name))
    labels = []
    if worded:
        labels.append(rf"(?<![\w.])(?:{'|'.join(worded)})(?!\w)")
    if numeric:
        followed = r"(?=[\"'*`)\]}]{0,3} ?(?:[:=|]|->|→))"
        labels.append(rf"(?<![\w.,/])(?:{'|'.join(numeric)}){followed}")
    return (
        rf"(?P<label>{'|'.join(labels)})"
        rf"|(?P<above>{number})(?P<below> ?/ ?{_DOT})?(?P<percent> ?%)?"
        r"|(?P<word>[^\W\d_]+)"
        r"|(?P<other>[^\s:=()\[\]{}\"'*`,;.|>→+×·&~≈$<–—-])"
    )


def _find_number(match: re.Match[str]) -> float:
    """Return the number that a text writes as a decimal, a fraction or a percentage."""
    divisor = 1.0
    if match["below"]:
        divisor = float(match["below"].strip(" /"))
    if not divisor:
        return math.inf
    decimal = match["above"].replace(",", ".")
    value = float(decimal) / divisor
    return value / 100 if match["percent"] else value


def _is_telling(word: str) -> bool:
    kinds = (_TELLING, _EVEN, _BESIDE_EVEN)
    return any(kind.fullmatch(word) for kind in kinds)


def _pair(options: tuple[str, ...], pieces: _Pieces) -> dict[str, float] | None:
    """Give every action its number; None where it is not plain which is whose."""
    labels = pieces.labels
    numbers = pieces.numbers
    is_empty = not (pieces.tokens or pieces.words)
    if is_empty or len(set(labels)) < len(labels):
        return None
    named = labels or options
    is_even = any(map(_EVEN.fullmatch, pieces.words))
    if is_even and not numbers:
        return dict.fromkeys(named, 1 / len(named))
    if is_even or any(map(_BESIDE_EVEN.fullmatch, pieces.words)):
        return None
    has_others = bool(labels) or len(options) > 1
    if "each" in pieces.words and len(numbers) == 1 and has_others:
        return dict.fromkeys(named, numbers[0])
    if labels and not numbers:
        return {labels[0]: 1.0} if len(labels) == 1 and len(options) > 1 else None
    if numbers and not labels:
        is_one_each = len(numbers) == len(options)
        return dict(zip(options, numbers, strict=True)) if is_one_each else None
    return _pair_in_turns(pieces)


def _pair_in_turns(pieces: _Pieces) -> dict[str, float] | None:
    """Pair actions and numbers that take turns, or all actions with all numbers behind them."""
    count = len(pieces.labels)
    if count != len(pieces.numbers):
        return None
    kinds = [type(token) for token in pieces.tokens]
    if count > 1 and set(kinds[:count]) == {str}:
        return dict(zip(pieces.labels, pieces.numbers, strict=True))
    for kind, after in pairwise(kinds):
        if kind is after:
            return None
    return dict(zip(pieces.labels, pieces.numbers, strict=True))
