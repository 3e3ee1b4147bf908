"""The program in a model's answer: between fences, or bare among prose.

Fences are lines that begin with three or more backticks or tildes, which no clause of Prolog does; the published study
used `@`, which is an operator there. An answer may hold several blocks, an unclosed one, or none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bestresponse.formal.formalize.json_answer import Answer, Question

_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+-]*)\s*$")
_CLAUSE = re.compile(r"^\s*(?::-|%|/\*|[a-z]\w*\s*(?:\(|:-|\.\s*(?:%.*)?$))")
_FACT = re.compile(r"^\s*[a-z]\w*\s*\(")
_REFUSAL = re.compile(r"^[*_#>%\"' ]{0,10}(NO GAME|DOES NOT FIT)\b[ \t:*.-]{0,10}(.*)", re.MULTILINE)
_QUESTION = re.compile(r"^[ \t]{0,10}%{1,5}[ \t]{0,10}QUESTION:[ \t]{0,10}([^\n]{1,600})", re.MULTILINE)
_ASSUMED = re.compile(r"\bASSUMED:[ \t]{0,10}")
_BEGINNING = re.compile(r"^\s*initial\s*\(", re.MULTILINE)
_MOST_QUESTIONS = 10
_LONGEST_REASON = 300
_LONGEST_ANSWER = 1_000_000
_LONGEST_FENCE = 100


@dataclass(frozen=True, slots=True)
class Code:
    """A program, and how it was found: `fenced`, `unclosed` (the answer ended inside a fence) or `bare`.

    `programs` counts those in the answer; the last one is taken, since models correct themselves.
    """

    text: str
    how: str
    programs: int = field(default=1, repr=False)


def find_code(answer: str) -> Code | None:
    """The program in an answer; None where there is nothing like one.

    >>> find_code("Here it is:\\n```prolog\\ninitial(s0).\\n```\\nGood luck!")
    Code(text='initial(s0).', how='fenced')
    """
    answer = answer[:_LONGEST_ANSWER]
    blocks, closed = _blocks(answer)
    programs = [block for block in blocks if _looks_like_a_program(block)]
    if programs:
        begun = sum(bool(_BEGINNING.search(block)) for block in programs)
        return Code(_joined(programs), "fenced" if closed else "unclosed", max(1, begun))
    bare = _bare("\n".join(line for line in answer.splitlines() if not _fence(line)))
    return Code(bare, "bare") if bare else None


def find_asides(answer: str) -> Answer:
    """Return the questions in the comments of an answer, and its reason for giving no game or not this form.

    >>> find_asides("% QUESTION: Does Bo see the offer? ASSUMED: yes").questions
    (Question(text='Does Bo see the offer?', assumed='yes'),)
    """
    answer = answer[:_LONGEST_ANSWER]
    pairs = (_ASSUMED.split(found, maxsplit=1) for found in _QUESTION.findall(answer)[:_MOST_QUESTIONS])
    questions = tuple(Question(pair[0].strip(), pair[1].strip() if len(pair) > 1 else "") for pair in pairs)
    found = _REFUSAL.search(answer)
    if found is None:
        return Answer(questions=questions)
    reason = found.group(2).strip()[:_LONGEST_REASON] or "it gave no reason"
    if found.group(1) == "NO GAME":
        return Answer(questions=questions, no_game=reason)
    return Answer(questions=questions, misfit=reason)


def _blocks(answer: str) -> tuple[list[str], bool]:
    blocks: list[list[str]] = []
    fence = ""
    for line in answer.splitlines():
        found = _fence(line)
        if found and not fence:
            fence = found.group(1)[:3]
            blocks.append([])
        elif found and found.group(1).startswith(fence):
            fence = ""
        elif fence:
            blocks[-1].append(line)
    return ["\n".join(lines).strip("\n") for lines in blocks], not fence


def _fence(line: str) -> re.Match[str] | None:
    return _FENCE.match(line) if len(line) <= _LONGEST_FENCE else None


def _looks_like_a_program(block: str) -> bool:
    return any(_FACT.match(line) for line in block.splitlines())


def _joined(blocks: list[str]) -> str:
    """Blocks that begin a game anew replace what came before; others continue it."""
    kept: list[str] = []
    for block in blocks:
        if kept and _BEGINNING.search(block):
            kept = [old for old in kept if not _BEGINNING.search(old)]
        kept.append(block)
    return "\n\n".join(kept)


def _bare(answer: str) -> str:
    kept: list[str] = []
    inside = False
    for line in answer.splitlines():
        starts = bool(_CLAUSE.match(line))
        if starts or (inside and line.strip()):
            kept.append(line)
            inside = not _ends(line)
        elif not line.strip() and kept:
            kept.append("")
            inside = False
    if not _looks_like_a_program("\n".join(kept)):
        return ""
    while kept and not _ends(kept[-1]):
        kept.pop()
    return "\n".join(kept).strip("\n")


def _ends(line: str) -> bool:
    """Whether a clause or a comment ends with this line."""
    plain = line.split("%")[0].rstrip()
    return plain.endswith(".") or line.lstrip().startswith("%") or line.rstrip().endswith("*/")
