"""What a language model's reply says: an answer, a repaired answer, or which kind of no answer.

Nothing is guessed. An answer is VALID when it stands where it was asked for and is legal as it
stands. It is REPAIRED when one rule of the list below makes it legal and the rule is recorded:

    the last ANSWER line, box or JSON object of several that differ; markdown, LaTeX or quotes around the answer; a word
    such as "action" before it; an answer without its ANSWER line where the reply holds nothing else, or in a box, or in
    one sentence such as "I choose B"; the notations and roundings of mixed strategies (`read_mixture`)

Otherwise it is REFUSED (the model declines), TRUNCATED (it was cut off before an answer), ILLEGAL
(an answer that the ask does not allow) or UNPARSEABLE.

Models that are asked for an amount and to explain themselves say it in the middle of the
explanation, beside balances, rivals' bids and bids of former days. Sentence by sentence the reply
is searched for statements of the reader's own bid (`read_bid`):

    a statement      "My bid: $90", "my adjusted bid for Day 9 will be 11 * $10 = $110", "BID $90"
    a commitment     "I will bid $90", "I have decided to place a bid of $90", "I'm going to offer
                     90 dollars"
    a consequence    "by bidding $90", "bidding $90 allows me", "a bid of $90 should be enough"

Sentences about former days, about others, about limits ("at most") and about what is not done do
not count. The strongest kind that occurs decides; where its amounts differ, a later sentence that
revises ("adjusted", "therefore", "however ... instead") replaces the earlier ones, and otherwise
there is no reading. A reply that declines to bid is a pass. Nothing is guessed: no reading is None.

Mixed strategies are actions and numbers that take turns, in many notations: `A: 0.25, B: 0.75`,
`{"a": "1/4"}`, `25 % A, 75 % B`, `A with probability 1/4 and B with probability 3/4`, `0,25; 0,75`,
`A and B each 1/2`, `A` alone, all of them also in LaTeX. Text is cut into actions, numbers and
words; where a word stands in between that is not one of those with which strategies are told,
nothing is read.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonObject, refuse_repeated_keys
from bestresponse.core.player import Decision, Reading, Status

_ROUNDING = 0.05
"""How far a sum may be from 1: three probabilities of two decimals, rounded carelessly."""
_SAME = 0.006
"""Of a number that is written twice, as in `1/3 = 0.333` or `0.125 (12.5 %)`."""
_LARGEST_SHARE = 1_000  # more than any percentage that is rounded
_LONGEST_MIXTURE = 2_000
_NOTATION = "another notation"
"""What is said where nothing more particular can be."""
_TELLING = re.compile(
    "a|actions?|always|an|and|answer|are|as|at|be|by|choice|choos(e|es|ing)|columns?|each|equals?|equilibrium|final|for|go"
    "|i|is|it|its|line|mix|mixed|mixing|moves?|my|of|on|one|only|optimal|options?|or|p|percent|pi|pick|play|plays|playing"
    "|player|pr|prob|probabilit(y|ies)|pure|rows?|select|should|sigma|so|strateg(y|ies)|that|the|then|these|thus|times?|to"
    "|w|we|weights?|will|with|would|x|y",
    re.IGNORECASE,
)
"""The words with which strategies are told."""
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
    (re.compile(r"\\(?:to|rightarrow|mapsto)\b"), "->"),
    (re.compile(r"\\([%{}_$#&])"), r"\1"),
)
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
    """Return the probabilities that an answer states, and what had to be done to read them; empty
    if nothing had.

    Raises:
        InvalidMove: it states none, or none that are legal.
    """
    repairs: list[str] = []
    if len(candidate) > _LONGEST_MIXTURE:
        raise InvalidMove(
            f"expected a probability for each action, got {len(candidate)} characters",
            Flaw.UNPARSEABLE,
        )
    try:
        numbers = list(ask.read(candidate))
        if re.search(r"[:=]\s*[\"']\s*[\d.]", candidate):
            repairs.append("numbers in quotes")
        unnamed = [
            name for name in ask.options if name not in candidate and re.search("[:=]", candidate)
        ]
    except InvalidMove:
        reading = next(_find_readings(ask.options, candidate), None)
        if reading is None:
            raise
        stated, notation = reading
        repairs += notation
        unnamed = [name for name in ask.options if name not in stated]
        numbers = [stated.get(name, 0.0) for name in ask.options]
        if any(abs(p) > _LARGEST_SHARE for p in numbers):
            ask.check(tuple(numbers))  # refuses them before they are summed, which would overflow
    if abs(math.fsum(numbers) / 100 - 1) <= _ROUNDING:
        numbers = [p / 100 for p in numbers]
        repairs.append("percentages")
    total = math.fsum(numbers)
    if min(numbers) < 0 or abs(total - 1) > _ROUNDING:
        ask.check(tuple(numbers))
    if unnamed:
        repairs.append(f"{', '.join(unnamed)} not named: 0")
    if abs(total - 1) > 1e-9:
        repairs.append(f"scaled from a sum of {total:.4g}")
    mix = tuple([p / total for p in numbers])
    return mix, ", ".join([part for part in repairs if part != _NOTATION] or repairs)


def _find_readings(
    options: tuple[str, ...], text: str
) -> Iterator[tuple[dict[str, float], list[str]]]:
    """Yield what a text states, read with decimal points first, then with commas, in the given case
    first."""
    plain = strip_latex(text)
    plain = plain if any("_" in option for option in options) else plain.replace("_", " ")
    for number, notation in ((_DOT, [_NOTATION]), (_COMMA, ["decimal commas"])):
        for flags, spelling in ((0, []), (re.IGNORECASE, ["actions in another case"])):
            tokens = _cut(options, plain, number, flags)
            stated = None if tokens is None else _pair(options, *tokens)
            if stated is not None:
                yield stated, spelling or notation
                return


def _cut(
    options: tuple[str, ...], text: str, number: str, flags: int
) -> tuple[list[str | float], frozenset[str]] | None:
    """Cut a text into actions, numbers and words; None where a word does not tell a strategy."""
    names = {option.casefold() if flags else option: option for option in options}
    if len(names) < len(options):
        return None
    # An action that looks like a number is one only where a colon or the like follows.
    numeric = [re.escape(name) for name in options if re.fullmatch(r"[\d.]+", name)]
    worded = [
        re.escape(name)
        for name in sorted(options, key=len, reverse=True)
        if re.escape(name) not in numeric
    ]
    parts = [rf"(?<![\w.])(?:{'|'.join(worded)})(?!\w)"] if worded else []
    parts += (
        [rf"(?<![\w.,/])(?:{'|'.join(numeric)})(?=[\"'*`)\]}}]{{0,3}} ?(?:[:=|]|->|→))"]
        if numeric
        else []
    )
    pattern = (
        rf"({'|'.join(parts)})|({number})( ?/ ?{_DOT})?("
        r" ?%)?|([^\W\d_]+)|([^\s:=()\[\]{}\"'*`,;.|>→+×·&~≈$<-])"
    )
    tokens: list[str | float] = []
    words = set()
    for match in re.finditer(pattern, text, flags):
        label, above, below, percent, word, other = match.groups()
        if label:
            tokens.append(names[label.casefold() if flags else label])
        elif above:
            divisor = float(below.strip(" /")) if below else 1.0
            value = float(above.replace(",", ".")) / divisor if divisor else math.inf
            value = value / 100 if percent else value
            again = tokens and isinstance(tokens[-1], float) and abs(tokens[-1] - value) <= _SAME
            if not (again and re.search(r"[=≈(]\s*$", text[: match.start()])):
                tokens.append(value)
        elif other or not _TELLING.fullmatch(word):
            return None
        else:
            words.add(word.casefold())
    return tokens, frozenset(words)


def _pair(
    options: tuple[str, ...], tokens: Sequence[str | float], words: frozenset[str]
) -> dict[str, float] | None:
    """Give every action its number; None where it is not plain which is whose."""
    labels = [token for token in tokens if isinstance(token, str)]
    numbers = [token for token in tokens if isinstance(token, float)]
    if len(set(labels)) < len(labels) or not tokens:
        return None
    if not labels and len(numbers) == len(options):
        return dict(zip(options, numbers, strict=True))
    if "each" in words and len(numbers) == 1:
        return dict.fromkeys(labels or options, numbers[0])
    if len(labels) == 1 and not numbers and len(options) > 1:
        return {labels[0]: 1.0}
    takes_turns = all(
        isinstance(token, str) != isinstance(after, str) for token, after in pairwise(tokens)
    )
    return (
        dict(zip(labels, numbers, strict=True))
        if takes_turns and len(labels) == len(numbers)
        else None
    )


_LONGEST = 100_000
_BRACES = 50  # JSON is tried from every brace on, which a reply full of braces would make slow
_ANSWER = re.compile(
    r"^[ \t>*_#`\-]*(?:final[ \t])?answer[ \t*_`]*[:=：](.*)$", re.IGNORECASE | re.MULTILINE
)
_DECORATION = " \t\r\n*_`'\"“”‘’.[](){}<>$\\"
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am)? (?:can(?:no|')t|unable|not able|won't|will not|must decline|sorry)|i(?:'m|"
    r" am) sorry"
    r"|as an ai\b|i (?:decline|refuse)\b)",
    re.IGNORECASE,
)
_CHOSEN = (
    r"(?:i|we)(?:'ll| will| would| should)? (?:choose|pick|play|select|go with|take)(?: action|"
    r" option| row| column)?"
)
_KIND = re.compile(
    r"(?:the )?(?:pure )?(?:action|option|row|column|move|strategy|choice)[ :]+", re.IGNORECASE
)
_LONGEST_BOX = 2_000
_DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys)


def read_reply(ask: Ask, text: str, *, cut_off: bool = False, declined: bool = False) -> Decision:
    """Read `text` as a decision on `ask`, without an action where that cannot be.

    An amount may also be named in the middle of a sentence. `cut_off`: the reply ended at the token
    limit; `declined`: by a content filter.
    """
    if isinstance(ask, Lottery):
        raise TypeError("a reply is never read as a draw of nature")
    if declined:
        return Decision(
            None, text, Reading(Status.REFUSED, "the provider's filter ended the reply")
        )
    if len(text) > _LONGEST:
        how = f"the reply has {len(text)} characters; the limit is {_LONGEST}"
        return Decision(None, text, Reading(Status.UNPARSEABLE, how))
    try:
        if isinstance(ask, Words) and cut_off:
            raise InvalidMove("the message was cut off", Flaw.TRUNCATED)
        value, how = (
            (ask.read(text.strip()), "")
            if isinstance(ask, Words)
            else _read_answer(ask, text, cut_off)
        )
        ask.check(value)
    except InvalidMove as error:
        return Decision(None, text, Reading(Status(error.kind.value), str(error)))
    return Decision(value, text, Reading(Status.REPAIRED if how else Status.VALID, how))


def _read_answer(
    ask: Choice | Amount | Mixture | Form, text: str, cut_off: bool
) -> tuple[object, str]:
    """Return the answer and what had to be done to read it; InvalidMove says what kind of no answer
    there is."""
    flaw: InvalidMove | None = None
    for candidate, how in _find_candidates(ask, text):
        try:
            value, repair = _read_candidate(ask, candidate)
            return value, "; ".join(part for part in (how, repair) if part)
        except InvalidMove as error:
            flaw = flaw or error
    if flaw is not None and flaw.kind is not Flaw.UNPARSEABLE:
        raise flaw
    if cut_off and flaw:
        raise InvalidMove(f"the reply was cut off in its answer: {flaw}", Flaw.TRUNCATED)
    if isinstance(ask, Amount) and not cut_off and (named := read_bid(text)):
        return named.value, named.how
    if _REFUSAL.search(text):
        raise InvalidMove("the model declines to answer", Flaw.REFUSED)
    if flaw:
        raise flaw
    if not text.strip():
        raise InvalidMove("the reply is empty", Flaw.TRUNCATED if cut_off else Flaw.UNPARSEABLE)
    if cut_off:
        raise InvalidMove("the reply was cut off before an answer", Flaw.TRUNCATED)
    raise InvalidMove("the reply holds no answer in the form that was asked for", Flaw.UNPARSEABLE)


def find_reasons(text: str) -> str:
    """Return what a reply says besides its answer: the reasons of a JSON object, else the words
    before ANSWER.

    >>> find_reasons('{"reasons": "Water is scarce.", "answer": 40}'), find_reasons("Water is scarce.\\nANSWER: 40")
    ('Water is scarce.', 'Water is scarce.')
    """
    for source, data in reversed(find_json_objects(text)):
        if isinstance(data.get("reasons"), str):
            return str(data["reasons"]).strip()
        if text.strip() == source:
            return ""
    return _ANSWER.split(text)[0].strip()


def _find_candidates(ask: Choice | Amount | Mixture | Form, text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of the reply that can be the answer, likeliest first, and what had to be done
    to find each."""
    marked = list(_ANSWER.finditer(text))
    lines = [line.strip(" \t\r*_`") for match in marked if (line := match[1]).strip(_DECORATION)]
    if lines:
        differ = len({line.strip(_DECORATION) for line in lines}) > 1
        yield lines[-1], "the last of several answers" if differ else ""
    if marked and (isinstance(ask, Mixture) or not lines):
        yield text[marked[-1].start(1) :].strip(" \t\r\n*_`"), "an answer of several lines"
    if lines:
        return
    whole = text.strip()
    objects = find_json_objects(whole)
    if objects:
        last, data = objects[-1]
        inside = _from_object(ask, last, data)
        if inside is not None:
            several = (
                "the last of several JSON objects"
                if len(objects) > 1
                else "a JSON object among other text"
            )
            yield inside, "" if whole == last else several
    boxed = [
        box for part in whole.split("\\boxed{")[1:][-_BRACES:] if (box := _take_group(part)).strip()
    ]
    if boxed:
        yield boxed[-1], "the last of several boxes" if len(set(boxed)) > 1 else "a box"
    if isinstance(ask, Choice) and whole in ask.options:
        yield whole, ""
    else:
        bare, how = _bare(ask, whole)
        if bare is not None:
            yield bare, how


def _take_group(text: str) -> str:
    """Return the text up to the brace that closes the one before it."""
    depth = 1
    for index, character in enumerate(text[:_LONGEST_BOX]):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[:index]
    return ""


def _bare(ask: Choice | Amount | Mixture | Form, whole: str) -> tuple[str | None, str]:
    """An answer without the line that was asked for, where it can be nothing else."""
    if isinstance(ask, Choice):
        if [option.casefold() for option in ask.options].count(
            whole.strip(_DECORATION).casefold()
        ) == 1:
            return whole, "the bare answer"
        names = "|".join(re.escape(option) for option in sorted(ask.options, key=len, reverse=True))
        chosen = set(re.findall(rf"\b{_CHOSEN} [\"'*_`]*({names})(?!\w)", whole, re.IGNORECASE))
        if len(chosen) == 1:
            return chosen.pop(), "a sentence that names the choice"
        return None, ""
    if isinstance(ask, Amount):
        return (
            (whole, "the bare answer")
            if re.fullmatch(r"\$?\s*-?\d+(?:\.\d+)?", whole)
            else (None, "")
        )
    return (whole, "the bare answer") if isinstance(ask, Mixture) and whole else (None, "")


def find_json_objects(text: str) -> list[tuple[str, dict[str, object]]]:
    """Find the JSON objects in `text` that are not inside another one, each as text and as data.

    Of very many braces only the first and the last are tried.
    """
    starts = [match.start() for match in re.finditer(r"\{", text)]
    if len(starts) > 2 * _BRACES:
        starts = starts[:_BRACES] + starts[-_BRACES:]
    objects: list[tuple[str, JsonObject]] = []
    end = 0
    for start in starts:
        if start < end:
            continue
        try:
            data, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        objects.append((text[start:end], data))
    return objects


def _from_object(
    ask: Choice | Amount | Mixture | Form, text: str, data: Mapping[str, object]
) -> str | None:
    if isinstance(ask, Form):
        inside = data.get("answer")
        return (
            json.dumps(inside)
            if isinstance(inside, dict) and "answer" not in dict(ask.fields)
            else text
        )
    if isinstance(ask, Mixture):
        inside = data.get("answer", data)
        named = {option.casefold() for option in ask.options}
        for part in (inside, *data.values()):
            if isinstance(part, dict) and {str(key).casefold() for key in part} & named:
                words = [
                    key
                    for key, value in part.items()
                    if isinstance(value, str) and key.casefold() not in named
                ]
                if part is data and not words and "\\" not in text:
                    return text
                return json.dumps(
                    {key: value for key, value in part.items() if key not in words},
                    ensure_ascii=False,
                )
        return json.dumps(inside) if isinstance(inside, list) else None
    if "answer" not in data or isinstance(data["answer"], dict | list | bool):
        return None
    return str(data["answer"])


def _read_candidate(ask: Choice | Amount | Mixture | Form, candidate: str) -> tuple[object, str]:
    """Return the value of an answer and the repair it needed."""
    if isinstance(ask, Mixture):
        return read_mixture(ask, candidate)
    try:
        return ask.read(candidate), ""
    except InvalidMove:
        bare = (
            candidate.strip("`* \t")
            if isinstance(ask, Form)
            else strip_latex(candidate).strip(_DECORATION)
        )
        if isinstance(ask, Choice) and bare.casefold() not in map(str.casefold, ask.options):
            bare = _KIND.sub("", bare).strip(_DECORATION)
        return (
            ask.read(bare.replace(",", "") if isinstance(ask, Amount) else bare),
            "decoration around the answer",
        )


_LONGEST_IN_WORDS = 20_000  # characters: patterns of sentences are slower than those of answers
_REACH = 240  # characters before a sum that can say whose it is
_MOST_SUMS = 200
_SENTENCE = re.compile(r"(?<=[.!?;])[\"')\]*_]*\s+(?=[\"'(\[*_$A-Z0-9-])|\n+")
_UNIT = r"(?:units?|days?|points?|HP|residents?|health|percent|people|rounds?|times)\b"
# With decimals where there are any, without giving them up again; a possessive group says so too,
# but Python before 3.11.5 reads the full stop of "3. " as part of the number then (CPython issue
# 106052).
_DIGITS = r"\d[\d,]*+(?:\.\d++|(?!\.\d))"
_SUM = re.compile(
    rf"(?:US)?[$€£][ ]?({_DIGITS})(?![ ]?(?:per|/|a|each)[ ]?(?:unit|day))"
    rf"|(?<![\d.,/$-])({_DIGITS})(?=[ ]?(?:dollars?|USD|bucks|[$€£])(?:\W|$))"
    rf"|(?<![\w$€£.,/%-])({_DIGITS})(?![\w%]|[ ]?{_UNIT}|[ ]?%)",
    re.IGNORECASE,
)
_BEFORE_A_BARE_NUMBER = re.compile(
    r"\b(?:bid|offer|bidding|offering)(?:\s+(?:of|is|will\s+be|at|to))?[\s*_:=]+$", re.IGNORECASE
)
_ADVERBS = r"(?:\s+(?!not\b|never\b)\w+ly|\s+(?:also|now|therefore|thus|hence|again|still|just|only|once|today|then|so))*"
_AUXILIARY = (
    r"(?:\s+(?:will|shall|would|should|must|could|am|have|had|decide|decided|plan|intend|propose|choose|opt|opted|want|"
    r"wish|need|going|aim|like|think|believe|feel|prefer|ready|willing|be|to|that|it|is|best|continue|try|place|submit|"
    r"make|put|set|keep|increase|raise|lower|reduce|decrease|adjust|maintain|offer|for|in|my|a|an|the|daily|auction|today's|"
    r"today|day|at|with|confident|comfortable|wise|i|we))"
)
_GAP = r"[^.!?\n$€£=]{0,80}?"
_COMMITMENT = re.compile(
    rf"\b(?:i|we)(?:['’](?:ll|m|d|ve|re))?{_ADVERBS}(?:{_AUXILIARY}{_ADVERBS})*?\s+[\w-]*?\s*"
    rf"(?:bid(?:ding)?|offer(?:ing)?|submit(?:ting)?|plac(?:e|ing)|pay(?:ing)?)\b(?:[^.!?\n$€£=]|\bDay"
    rf" \d+){{0,80}}?$",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    rf"(?:\bmy(?:\s+[\w'-]+){{0,3}}?\s+(?:bid(?:ding)?|offer)|^[\s>*_#-]*(?:final\s+|today's\s+|the\s+)?(?:bid|offer))"
    rf"(?:\s+(?:amount|price|offer|proposal))?(?:\s*\*+)?(?:\s+(?:for|on|of|in|today|this|the)\b{_GAP})?"
    rf"\s*\**\s*(?::|=|\bis\b|\bwill\s+be\b|\bwould\s+be\b|\bshall\s+be\b|\bof\b|\bto\b|\bat\b|\bamounts?\s+to\b)"
    rf"(?:[^.!?\n$€£]{{0,40}}?|[^!?\n]{{0,60}}=\s*)$",
    re.IGNORECASE,
)
_CONSEQUENCE = re.compile(
    rf"(?:\b(?:by|with|me\s+to)\s+(?:bidding|offering)|\bbidding|\b(?:a|this|the)\s+(?:[\w-]+\s+){{0,2}}bid\s+of){_GAP}$",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:yesterday|previous(?:ly)?|earlier|last\s+(?:round|time|day|auction|bid|night)|prior|former|"
    r"won|lost|was|were|been|had|did(?:n['’]t)?|failed|losing|winning\s+bids?\b|past)\b|"
    r"\bi\s+bid\s+[$€£\d]|\b(?:on|since|from|in|of)\s+day\s+\d+\b|"
    r"\b(?:he|she|they|others?|residents?|players?|everyone|opponents?|competitors?|rivals?)\b"
    r"(?:\s+\w+){0,3}?\s+(?:bids?|bidding|offers?|might|may|could|will|would)\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:up\s+to|at\s+most|no\s+more\s+than|maximum|between|from|range|more\s+than|higher\s+than|less\s+than|"
    r"lower\s+than|above|below|over|under|exceed\w*|instead\s+of|rather\s+than|than|compared\s+to|if|"
    r"(?<!entire )(?<!whole )(?<!full )(?<!remaining )(?:balance|salary|budget|savings)|"
    r"not|n['’]t|never|without|avoid)\b[^$€£.!?]*$",
    re.IGNORECASE,
)
_NO_STATEMENT = re.compile(
    r"\b(?:than|at\s+least|at\s+most|up\s+to|between|above|below|under|over|maximum|minimum|average|range|not)\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_BID_IF_FOLLOWED_BY = re.compile(
    r"\s*(?:=|[*x×/+]\s*[$€£\d]|-\s*[$€£]?\d|or\b|to\s+[$€£\d]|was\b|were\b|yesterday\b|last\b|"
    r"(?:on|from|in)\s+(?:day\s+\d|the\s+(?:previous|last)))",
    re.IGNORECASE,
)
_REVISES = re.compile(
    r"\b(?:therefore|thus|hence|so|final(?:ly)?|adjust\w*|instead|ultimately|in\s+conclusion|decided?|however)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:however|instead|but)\b.*\b(?:i|my)\b.*\bbid", re.IGNORECASE | re.DOTALL
)
_DECLINES = re.compile(
    r"\b(?:i|we)(?:['’](?:ll|m|d|ve))?(?:\s+\w+){0,6}?\s+(?:not|\w*n['’]t)(?:\s+to)?(?:\s+\w+){0,2}?\s+"
    r"(?:bid|participate|participating|bidding|place|submit|take\s+part)\b(?!\s+(?:too|so|more|as|higher|lower|less|aggressive|over))"
    r"|\bno\s+need\s+(?:for\s+me\s+)?to\s+(?:\w+\s+)?(?:bid|participate|take\s+part|place|submit)\b"
    r"|\b(?:i|we)(?:['’]ll)?(?:\s+\w+){0,4}?\s+(?:abstain|skip|sit\s+out|refrain|pass)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NamedBid:
    """A bid and where the reply names it; `value` is PASS where the reply declines to bid."""

    value: float | str
    how: str


@dataclass(frozen=True, slots=True)
class _Claim:
    kind: int
    value: float
    revises: bool


_KINDS = ("a statement of the bid", "a commitment to the bid", "a consequence of the bid")


def read_bid(text: str) -> NamedBid | None:
    """The bid that `text` names, or None where it names none or several.

    >>> read_bid("My balance is $210 and Bob bid $80 yesterday. I will bid $95 to stay ahead.").value
    95.0
    >>> read_bid("I will not participate in today's auction.").value
    'pass'
    >>> read_bid("I might bid $80 or $95.") is None
    True
    """
    claims = list(_all_claims(text[:_LONGEST_IN_WORDS]))
    for kinds in ((0, 1), (2,)):
        bid = _settled([claim for claim in claims if claim.kind in kinds])
        if bid is not None:
            return NamedBid(bid.value, _KINDS[bid.kind])
        if any(claim.kind in kinds for claim in claims):
            return None
    return NamedBid(PASS, "declines to bid") if _DECLINES.search(text[:_LONGEST_IN_WORDS]) else None


def _settled(claims: list[_Claim]) -> _Claim | None:
    """The claim that all agree on, or that the last revision makes; None where they differ."""
    for start in range(len(claims) - 1, -1, -1):
        if claims[start].revises or start == 0:
            latest = claims[start:]
            return latest[0] if len({claim.value for claim in latest}) == 1 else None
    return None


def _all_claims(text: str) -> Iterator[_Claim]:
    """The claims of every sentence; one that only announces a change makes the next claim a
    revision."""
    changing = False
    for sentence in _SENTENCE.split(text):
        claims = list(_claims(sentence))
        yield from (replace(claim, revises=claim.revises or changing) for claim in claims)
        changing = not claims and bool(_CHANGES.search(sentence))


def _claims(sentence: str) -> Iterator[_Claim]:
    """Every amount that the sentence names as the reader's own bid of today."""
    for match in islice(_SUM.finditer(sentence), _MOST_SUMS):
        before = sentence[max(0, match.start() - _REACH) : match.start()]
        after = sentence[match.end() :]
        if match.group(3) and not _BEFORE_A_BARE_NUMBER.search(before):
            continue
        kind = _kind(before)
        if kind is None or _NO_BID_IF_FOLLOWED_BY.match(after):
            continue
        digits = next(group for group in match.groups() if group)
        yield _Claim(
            kind, float(digits.replace(",", "").rstrip(".")), bool(_REVISES.search(before))
        )


def _kind(before: str) -> int | None:
    statement = _STATEMENT.search(before)
    if statement:
        beside = _ELSEWHERE.search(statement.group()) or _NO_STATEMENT.search(statement.group())
        return None if beside else 0
    if _LIMIT.search(_clause(before)):
        return None
    commitment = _COMMITMENT.search(before)
    if commitment:
        compared = " than " in commitment.group()
        return None if compared or _ELSEWHERE.search(_clause(before)) else 1
    if _CONSEQUENCE.search(before):
        return 2 if not _ELSEWHERE.search(before) else None
    return None


def _clause(before: str) -> str:
    """The part of the sentence that the commitment stands in."""
    return re.split(r"[,;]|\bbut\b|\bso\b|\bsince\b|\bbecause\b", before)[-1]
