"""What a language model's reply says: an answer, a repaired answer, or which kind of no answer.

Nothing is guessed. An answer is VALID when it is where it was asked for and is legal as it is
written. It is REPAIRED when one rule of the list below makes it legal and the rule is recorded:

    the last ANSWER line, box or JSON object of several that differ
    the word ANSWER in another language, or <answer> tags
    what a server or a keyboard adds: end tokens, full-width punctuation, ticks behind a line
    words behind the ANSWER line that may take it back: the line counts, and the remark is recorded
    markdown, LaTeX or quotes around the answer, or a word such as "action" before it
    a reason or a remark behind the answer that takes nothing back: "B because it dominates A"
    an answer without its ANSWER line where the reply holds nothing else (thoughts in <think>
        aside), or in a box, or in one sentence such as "I choose B"
    the notations and roundings of mixed strategies (`mixtures`)
    an amount that is named in a sentence (`bids`)

Otherwise it is REFUSED (the model declines), TRUNCATED (it was cut off before an answer), ILLEGAL
(an answer that the ask does not allow) or UNPARSEABLE.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonObject, refuse_repeated_keys
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.players.llm.bids import read_bid
from bestresponse.players.llm.mixtures import TAKES_BACK, read_mixture, strip_latex

_LONGEST = 100_000
_BRACES = 50  # JSON is tried from every brace on, which a reply full of braces would make slow
_ANSWER = re.compile(
    r"^[ \t>*_#`\-]*(?:final[ \t])?(?P<word>tagged answer|answer|antwort"
    r"|réponse|reponse|respuesta|risposta"
    r"|resposta|antwoord|odpowiedź|ответ|答案|回答|答え)[ \t*_`]*(?:[:=：](?P<line>.*))?$",
    re.IGNORECASE | re.MULTILINE,
)
_THOUGHT = re.compile(
    r"\A.*(?:</think(?:ing)?>|</reasoning>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>)",
    re.IGNORECASE | re.DOTALL,
)
_LEAD = re.compile(
    r"(?:(?:i|we)(?:['’]ll| will| would| should| am going to)?"
    r"(?: (?:choose|pick|play|select|go with|go for|take))?"
    r"|(?:my|our|the) (?:final )?(?:choice|answer|action|move|decision)(?: is|:))"
    r"(?: to(?: play)?)?\s+|to\s+",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:,? (?:with certainty|for certain|for sure|with probability 1))?"
    r"(?:\s*(?:,|;|\.|-+|–|—)?\s*(?:because|since|given that|as (?:it|this|that|the))\b.{1,500}"
    r"|\s*(?:-+|–|—)\s*(?:it|this)\b.{1,500}|,? not [^,]{1,60}"
    r"|\s*\([^()%]{1,300}\))?\s*\.?",
    re.IGNORECASE | re.DOTALL,
)
_DECORATION = " \t\r\n*_`'\"“”‘’«».[](){}<>$€£\\"
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
_CORRECTS = re.compile(
    r"\b(?:wait|actually|instead|however|correction|mistake|on (?:second thought|reflection)"
    r"|take (?:it|that) back|kidding|changed my mind|scratch that|never ?mind)\b",
    re.IGNORECASE,
)
"""Words of a later sentence that may correct the choice."""
_SUPPOSES = re.compile(
    r"^\W*(?:if|when|whenever|should|suppose|unless|would)\b"
    r"|\b(?:not?|never|nobody|if|when|why|that|they|he|she|hopes?|expects?|says?)\W*$"
    r"|\b(?:hopes?|wants?|expects?|thinks?|says?|say|claims?)\b",
    re.IGNORECASE,
)
"""What a choice follows that is only supposed, denied or somebody else's word."""
_SHARE = re.compile(r"\bwith (?:a )?(?:probability|chance)\b(?! (?:of )?1(?![\d.,/]))|\d ?%")
"""What says that an option is chosen only sometimes."""
_KIND = re.compile(
    r"(?:the )?(?:pure )?(?:action|option|row|column|move|strategy|choice)[ :]+", re.IGNORECASE
)
_ANSWER_KEYS = frozenset({"answer", "action", "choice", "move", "decision", "option", "bid"})
"""Keys of a JSON object that hold the answer, where the object has only one of them."""
_OWN_KEY = re.compile(
    r"(?:(?:final|my|own|mixed|optimal|action|answer|strategy|mix|mixture|probabilit(?:y|ies)|probs?"
    r"|distribution|policy|weights|arg(?:ument)?s|parameters|input|output|result|response|choice"
    r"|move|decision|player)[ _-]?)+s?",
    re.IGNORECASE,
)
"""A key of a JSON object under which the own strategy stands, not payoffs or another player's."""
_LONGEST_BOX = 2_000
_BRACED = re.compile(r"\{([^{}:\"]{1,80})\}[.\s]{0,20}$")
"""An answer in curly brackets at the end, the form that some studies ask for."""
_FENCE = re.compile(r"^```\w*$", re.MULTILINE)
_END = re.compile(r"(?:<\|\w{1,30}\|>|</s>|<end_of_turn>|<eos>)$")
_DENIED = "\u2715-\u2718\u274c\u274e\u26d4\U0001f44e\U0001f6ab\U0001f645"
"""Crosses and thumbs down: no decoration."""
_TICKS = re.compile(
    rf"(?:(?![{_DENIED}])[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]){{1,20}}[ \t*]{{0,20}}$",
    re.MULTILINE,
)
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff]")
_WIDE = str.maketrans({"，": ", ", "、": ", ", "；": "; ", "：": ": ", "（": "(", "）": ")"})
_UNIT = re.compile(r"(\d+)(?:\.0+)?(?: (?:coin|point|dollar|euro|unit|token)s?)?", re.IGNORECASE)
_DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys)
_Readable: TypeAlias = Choice | Amount | Mixture | Form
"""What an answer in the words of a model is read for."""


def read_reply(
    ask: Ask,
    text: str,
    *,
    cut_off: bool = False,
    declined: bool = False,
) -> Decision:
    """Read `text` as a decision on `ask`, without an action where that cannot be.

    An amount may also be named in the middle of a sentence. `cut_off`: the reply ended at the token
    limit; `declined`: by a content filter.
    """
    if isinstance(ask, Lottery):
        raise TypeError("a reply is never read as a draw of nature")
    if declined:
        return Decision(
            None,
            text,
            Reading(Status.REFUSED, "the provider's filter ended the reply"),
        )
    if len(text) > _LONGEST:
        how = f"the reply has {len(text)} characters; the limit is {_LONGEST}"
        return Decision(None, text, Reading(Status.UNPARSEABLE, how))
    try:
        if isinstance(ask, Words):
            if cut_off:
                raise InvalidMove("the message was cut off", Flaw.TRUNCATED)
            value: object = ask.read(text.strip())
            how = ""
        else:
            value, how = _read_answer(ask, text, cut_off)
        ask.check(value)
    except InvalidMove as error:
        return Decision(None, text, Reading(Status(error.kind.value), str(error)))
    return Decision(value, text, Reading(Status.REPAIRED if how else Status.VALID, how))


def _read_answer(
    ask: _Readable,
    text: str,
    cut_off: bool,
) -> tuple[object, str]:
    """Return the answer and what had to be done to read it.

    InvalidMove says what kind of no answer there is.
    """
    flaw: InvalidMove | None = None
    text, added = _drop_added(ask, text)
    for candidate, how in _find_candidates(ask, text):
        try:
            value, repair = _read_candidate(ask, candidate)
            return value, "; ".join(part for part in (added, how, repair) if part)
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


def _drop_added(ask: Ask, text: str) -> tuple[str, str]:
    """Return a reply without what servers and keyboards add to it, and what that was."""
    plain = _INVISIBLE.sub("", text).rstrip()
    while end := _END.search(plain, max(0, len(plain) - 40)):
        plain = plain[: end.start()].rstrip()
    plain = re.sub(r"<answer>\s*:?", "\nTAGGED ANSWER: ", plain, flags=re.IGNORECASE)
    plain = re.sub(r"</answer>", "\n", plain, flags=re.IGNORECASE)
    if isinstance(ask, Choice | Mixture) and "".join(ask.options).isascii():
        plain = _TICKS.sub("", plain).translate(_WIDE)
    is_same = plain.split() == text.replace("：", ": ").split() or "TAGGED ANSWER" in plain
    return plain, "" if is_same else "signs around the answer"


def find_reasons(text: str) -> str:
    """Return what a reply says besides its answer: the reasons of a JSON object, else the words
    before ANSWER.

    >>> find_reasons('{"reasons": "Water is scarce.", "answer": 40}')
    'Water is scarce.'
    >>> find_reasons("Water is scarce.\\nANSWER: 40")
    'Water is scarce.'
    """
    for source, data in reversed(find_json_objects(text)):
        if isinstance(data.get("reasons"), str):
            return str(data["reasons"]).strip()
        if text.strip() == source:
            return ""
    return _ANSWER.split(text)[0].strip()


def _find_candidates(ask: _Readable, text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of the reply that can be the answer, likeliest first.

    Each comes with what had to be done to find it.
    """
    # What a model thinks to itself is no answer, unless it says nothing else.
    said = _THOUGHT.sub("", text)
    text = said if said.strip() else text
    marked = list(_ANSWER.finditer(text))
    filled = [match for match in marked if (match["line"] or "").strip(_DECORATION)]
    if filled and filled[-1] is marked[-1]:
        line, how = _take_last_line(filled)
        if _CORRECTS.search(text, filled[-1].end()):
            how = "; ".join(filter(None, (how, "words behind it may take it back")))
        yield line, how
    if marked and (isinstance(ask, Mixture) or filled[-1:] != marked[-1:]):
        last = marked[-1]
        below = text[last.end() if last["line"] is None else last.start("line") :]
        yield below.strip(" \t\r\n*_`"), "an answer of several lines"
    if not filled:
        yield from _find_unmarked(ask, text.strip())


def _take_last_line(filled: Sequence[re.Match[str]]) -> tuple[str, str]:
    """Return what the last of the ANSWER lines says, and what is odd about them."""
    repairs = []
    differing = {match["line"].strip(_DECORATION) for match in filled}
    if len(differing) > 1:
        repairs.append("the last of several answers")
    last = filled[-1]
    if last["word"].lower() != "answer":
        repairs.append(f"{last['word']} for ANSWER")
    return last["line"].strip(" \t\r*_`"), "; ".join(repairs)


def _find_unmarked(ask: _Readable, whole: str) -> Iterator[tuple[str, str]]:
    """Yield the answers of a reply without an ANSWER line.

    They are those of a JSON object, a box or a sentence, or the reply itself.
    """
    objects = find_json_objects(whole)
    if objects:
        last, data = objects[-1]
        inside = _from_object(ask, last, data)
        if inside is not None and whole == last:
            yield inside, ""
        elif inside is not None and len(objects) > 1:
            yield inside, "the last of several JSON objects"
        elif inside is not None:
            yield inside, "a JSON object among other text"
    _, *behind_boxes = whole.split("\\boxed{")
    groups = map(_take_group, behind_boxes[-_BRACES:])
    boxed = [box for box in groups if box.strip()]
    if boxed:
        differ = len(set(boxed)) > 1
        yield boxed[-1], "the last of several boxes" if differ else "a box"
    if isinstance(ask, Choice) and whole in ask.options:
        yield whole, ""
        return
    if isinstance(ask, Choice) and (braced := _BRACED.search(whole)):
        yield braced[1], "curly brackets at the end"
    bare, how = _bare(ask, _FENCE.sub("", whole).strip())
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


def _bare(ask: _Readable, whole: str) -> tuple[str | None, str]:
    """An answer without the line that was asked for, where it can be nothing else."""
    match ask:
        case Choice():
            return _find_choice_in_prose(ask, whole)
        case Amount():
            is_bare = re.fullmatch(r"\$?\s*-?\d+(?:\.\d+)?", whole) is not None
        case Mixture():
            is_bare = bool(whole)
        case Form():
            is_bare = False
    return (whole, "the bare answer") if is_bare else (None, "")


def _find_choice_in_prose(ask: Choice, whole: str) -> tuple[str | None, str]:
    """Return the option that a reply consists of, or the only one that it says it chooses."""
    options = [option.casefold() for option in ask.options]
    bare = whole.strip(_DECORATION).casefold()
    if options.count(bare) == 1:
        return whole, "the bare answer"
    longest_first = sorted(ask.options, key=len, reverse=True)
    names = "|".join(map(re.escape, longest_first))
    naming = rf"\b{_CHOSEN} [\"'*_`]*(?P<option>{names})(?!\w)(?P<behind>[^.!?\n]*\??)"
    found = list(re.finditer(naming, whole, re.IGNORECASE))
    chosen = {match["option"] for match in found}
    if len(chosen) == 1:
        behind = [match["behind"] for match in found]
        before = [
            re.split(r"[.!?\n]", whole[max(0, match.start() - 300) : match.start()])[-1]
            for match in found
        ]
        if any(map(_SUPPOSES.search, before)) or any("?" in part for part in behind):
            return None, ""
        corrects = _CORRECTS.search(whole, found[-1].end())
        if corrects or any(TAKES_BACK.search(part) or _SHARE.search(part) for part in behind):
            return None, ""
        return chosen.pop(), "a sentence that names the choice"
    if _LEAD.match(whole) and _read_explained(ask, whole) is not None:
        return whole, ""
    return None, ""


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
    ask: _Readable,
    text: str,
    data: Mapping[str, object],
) -> str | None:
    """Return the answer in a JSON object, None where it holds none."""
    if isinstance(ask, Form):
        inside = data.get("answer")
        is_wrapped = isinstance(inside, dict) and "answer" not in dict(ask.fields)
        return json.dumps(inside) if is_wrapped else text
    if isinstance(ask, Mixture):
        return _mixture_from_object(ask, text, data)
    keys = [key for key in data if re.sub("^final[ _]?", "", key.casefold()) in _ANSWER_KEYS]
    if "answer" in data:
        keys = ["answer"]
    if len(keys) != 1:
        return None
    value = data[keys[0]]
    return None if isinstance(value, dict | list | bool) else str(value)


def _mixture_from_object(ask: Mixture, text: str, data: Mapping[str, object]) -> str | None:
    """Return the part of a JSON object that has actions as keys, without its reasons; or a list."""
    inside = data.get("answer", data)
    actions = {option.casefold() for option in ask.options}
    own = []
    for key, value in data.items():
        if isinstance(value, dict) and _OWN_KEY.fullmatch(key):
            own += [value, *(part for name, part in value.items() if _OWN_KEY.fullmatch(name))]
    parts = [inside] if inside is not data else [data, *own]
    found = []
    for part in parts:
        if not isinstance(part, dict) or actions.isdisjoint(map(str.casefold, part)):
            continue
        shares = {}
        for key, value in part.items():
            is_reason = isinstance(value, str) and key.casefold() not in actions
            if not is_reason:
                shares[key] = value
        if part is data and len(shares) == len(part) and "\\" not in text:
            return text
        found.append(json.dumps(shares, ensure_ascii=False))
    if len(found) == 1:
        return found[0]
    return json.dumps(inside) if isinstance(inside, list) else None


def _read_candidate(ask: _Readable, candidate: str) -> tuple[object, str]:
    """Return the value of an answer and the repair it needed."""
    explained = _read_explained(ask, candidate)
    if isinstance(ask, Mixture):
        if explained is None:
            return read_mixture(ask, candidate)
        mix, repair = read_mixture(ask, explained.option)
        return mix, f"{explained.how}; {repair}"
    try:
        return ask.read(candidate), ""
    except InvalidMove:
        if explained is not None:
            return ask.read(explained.option), explained.how
        if isinstance(ask, Form):
            bare = candidate.strip("`* \t")
        else:
            bare = strip_latex(candidate).strip(_DECORATION)
        if isinstance(ask, Choice) and bare.casefold() not in map(str.casefold, ask.options):
            bare = _KIND.sub("", bare).strip(_DECORATION)
        if isinstance(ask, Choice):
            bare = _find_spelled(ask.options, bare) or bare
        if isinstance(ask, Amount):
            bare = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", bare)
        return ask.read(bare), "decoration around the answer"


def _find_spelled(options: tuple[str, ...], said: str) -> str | None:
    """Return the only option that is meant: STAY_SILENT, "3 coins" for 3, "2" for "action 2"."""
    amount = _UNIT.fullmatch(said)
    found = []
    for option in options:
        if amount:
            meant = option == amount[1] or (
                amount[1] not in options and re.fullmatch(rf"[a-z]+ {said}", option, re.IGNORECASE)
            )
        else:
            letters = re.sub(r"[ _-]", "", option).casefold()
            meant = letters.isalpha() and letters == re.sub(r"[ _-]", "", said).casefold()
        if meant:
            found.append(option)
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class _Explained:
    """An option that an answer names, and what stands around it."""

    option: str
    how: str


def _read_explained(ask: _Readable, candidate: str) -> _Explained | None:
    """Return the option of an answer such as "I choose B" or "B because it dominates A".

    None where the answer is more than one option with a reason, and where a word of the reason may
    take it back.
    """
    if not isinstance(ask, Choice | Mixture):
        return None
    plain = strip_latex(candidate).strip(" \t\r\n*_`'\"“”.!")
    lead = _LEAD.match(plain)
    said = plain[lead.end() :] if lead is not None else plain
    said = _KIND.sub("", said, count=1) if _KIND.match(said) else said
    option = _find_first_option(ask.options, said)
    if option is None:
        return None
    behind = said.lstrip(" \"'*_`“”")[len(option) :].lstrip("\"'*_`“”")
    if not behind.strip(" ."):
        if lead:
            return _Explained(option, "a sentence that names the choice")
        is_decorated = plain != candidate.strip()
        return _Explained(option, "decoration around the answer") if is_decorated else None
    behind = re.sub(r"^,? \(?(?:rather than|instead of) [^,.;]{1,40}$", ".", behind)
    reason = _REASON.fullmatch(behind)
    if reason is None or TAKES_BACK.search(behind):
        return None
    # In "A (0.4)" what stands behind may be a share.
    shares = re.sub(r"with probability 1(?![\d.,/])", "", behind)
    if isinstance(ask, Mixture) and re.search(r"\d", shares):
        return None
    return _Explained(option, "a remark behind the answer")


def _find_first_option(options: tuple[str, ...], text: str) -> str | None:
    """Return the option with which a text begins; of several the longest."""
    said = text.lstrip(" \"'*_`“”")
    for option in sorted(options, key=len, reverse=True):
        # "a because" is the article more often than the action A.
        beginning = said[: len(option)]
        rest = said[len(option) :]
        same = beginning == option
        if len(option) > 1:
            same = beginning.casefold() == option.casefold()
        if same and not re.match(r"\w", rest):
            return option
    return None
