"""The forms in which a model can write a game, and how it is asked for each.

As a *program* it can write any game. A JSON form, held to a schema where the model can be, is
within reach of smaller models: a *tree* with chance and hidden moves.

`find_code` finds the program in a model's answer: between fences, or bare among prose. Fences are
lines that begin with three or more backticks or tildes, which no clause of Prolog does; the
published study used `@`, which is an operator there. An answer may hold several blocks, an unclosed
one, or none.

`what_is_wrong` tells the author of a program only the faults that count, each once, with its line.
Faults of one kind are told together: a payoff that is missing at four ends is one thing to repair,
not eight.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.json_answer import (
    NO_PLAYERS,
    TREE_SCHEMA,
    OpenQuestion,
    ProgramAnswer,
    read_asides,
    read_object,
    read_tree,
)
from bestresponse.formal.formalize.plan import Example, FormName, library
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.games.logic.tables import write_table_program
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, numbered
from bestresponse.logic.programs.table import GameTable
from bestresponse.logic.programs.validate import Report
from bestresponse.models.base import Finish, Model, Reply

_LONGEST_QUOTE = 4_000
_CUT = "the answer was cut off"
_CHARACTERS_PER_TOKEN = 4
_USUAL_REPLY = 350
"""Tokens of a program: 175 to 450 in fifty stories."""


class ProgramForm:
    """A program in the solver language, after some examples."""

    name: FormName = "program"

    def __init__(self, shown: Sequence[Example]) -> None:
        self._shown = tuple(shown)
        self.examples = tuple(example.name for example in shown)

    def system(self) -> str:
        """Return the rules of the solver language."""
        return TEXTS.text("system")

    def schema(self, model: Model) -> str | None:
        """Return None: a program is no JSON."""
        return None

    def task(self, story: str) -> str:
        """Show the examples, then the story."""
        examples = []
        for example in self._shown:
            examples.append(TEXTS.fill("example", story=example.story, program=example.program))
        return TEXTS.fill("task", examples="\n\n".join(examples), story=story).lstrip("\n")

    def read(self, reply: Reply) -> ProgramAnswer:
        """Find the program in a reply, between fences or bare."""
        code = find_code(reply.text)
        asides = find_asides(reply.text)
        if code is None:
            return replace(asides, problem=_no_program(reply))
        cut = code.how == "unclosed" or (code.how == "bare" and reply.finish is Finish.LENGTH)
        questions = asides.questions
        refusal = asides.no_game or asides.misfit
        if refusal is not None:
            said = "there is no game" if asides.no_game is not None else "a program does not fit"
            questions += (
                OpenQuestion(
                    f"The answer says that {said} ({refusal}) and gives a program: which holds?",
                    "the program",
                ),
            )
        if code.programs > 1:
            questions += (
                OpenQuestion(
                    f"Which of the {code.programs} programs in the answer is meant?", "the last one"
                ),
            )
        return ProgramAnswer(code.text, _CUT if cut else "", questions)

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        """Show the faults and the numbered program, or ask anew where there was none."""
        if not source:
            return TEXTS.fill("no_program", task=self.task(story))
        return TEXTS.fill("repair", story=story, wrong=wrong, program=numbered(source))

    def revise(self, story: str, source: str, game: str, remark: str) -> str:
        """Show the program, its game and the reader's remark."""
        return TEXTS.fill(
            "revise",
            story=story,
            program=numbered(source),
            game=game,
            remark=remark,
        )


class TreeForm:
    """Chance, choices with what is known, and ends as nested JSON.

    The program is written by rule.
    """

    name: FormName = "tree"
    examples: tuple[str, ...] = ("hidden_coin",)

    def system(self) -> str:
        """Return the description of the JSON, and how to ask or to refuse."""
        return f"{TEXTS.text(f'system_{self.name}')}\n{TEXTS.text('asides')}"

    def schema(self, model: Model) -> str | None:
        """Return the schema of a tree."""
        return TREE_SCHEMA if model.abilities.schema else None

    def task(self, story: str) -> str:
        """Show one example, then the story."""
        return TEXTS.fill(f"task_{self.name}", story=story)

    def read(self, reply: Reply) -> ProgramAnswer:
        """Read the tree in a reply."""
        return _read_json(reply, read_tree)

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        """Show the last answer and what is wrong with it."""
        return TEXTS.fill(
            "repair_json",
            task=self.task(story),
            answer=reply.text[:_LONGEST_QUOTE],
            wrong=wrong,
        )

    def revise(self, story: str, source: str, game: str, remark: str) -> str:
        """Show the game and the reader's remark."""
        return TEXTS.fill(
            "revise_json",
            task=self.task(story),
            game=game,
            remark=remark,
        )


Form = ProgramForm | TreeForm
"""How a game is asked for and read."""


def estimate_formalizing(story: str) -> tuple[int, int]:
    """Return about how many tokens a story's prompt and program take.

    A token is counted as four characters.
    """
    examples = library()
    lengths = [len(example.story) + len(example.program) for example in examples]
    usual = sum(lengths) // len(examples)
    characters = len(TEXTS.text("system")) + usual + len(story)
    return characters // _CHARACTERS_PER_TOKEN, _USUAL_REPLY


def _read_json(reply: Reply, read: Callable[[str], GameTable]) -> ProgramAnswer:
    """Read the game in a reply and write its program; what the model asks or refuses is kept."""
    try:
        asides = read_asides(read_object(reply.text))
    except InvalidGame:
        asides = find_asides(reply.text)
    if asides.no_game is not None or asides.misfit is not None:
        return asides
    try:
        return replace(asides, source=write_table_program(read(reply.text)))
    except InvalidGame as error:
        wrong = _CUT if reply.finish is Finish.LENGTH else str(error)
        return replace(
            asides,
            problem=wrong,
            no_game="it lists no players" if wrong == NO_PLAYERS else None,
        )


def _no_program(reply: Reply) -> str:
    if reply.finish is Finish.REFUSAL:
        return "it declined to answer"
    if reply.finish is Finish.LENGTH and not reply.text.strip():
        return "it had no room left for an answer"
    if not reply.text.strip():
        return "its answer is empty"
    start = " ".join(reply.text.split())[:80]
    return f"it answered in prose, beginning {start!r}"


_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+-]*)\s*$")
_CLAUSE = re.compile(r"^\s*(?::-|%|/\*|[a-z]\w*\s*(?:\(|:-|\.\s*(?:%.*)?$))")
_FACT = re.compile(r"^\s*[a-z]\w*\s*\(")
_REFUSAL = re.compile(
    r"^[*_#>%\"' ]{0,10}(NO GAME|DOES NOT FIT)\b[ \t:*.-]{0,10}(.*)", re.MULTILINE
)
_QUESTION = re.compile(
    r"^[ \t]{0,10}%{1,5}[ \t]{0,10}QUESTION:[ \t]{0,10}([^\n]{1,600})", re.MULTILINE
)
_ASSUMED = re.compile(r"\bASSUMED:[ \t]{0,10}")
_BEGINNING = re.compile(r"^\s*initial\s*\(", re.MULTILINE)
_MOST_QUESTIONS = 10
_LONGEST_REASON = 300
_LONGEST_ANSWER = 1_000_000
# No fence is longer; on a long line of spaces its pattern would take quadratic time.
_LONGEST_FENCE = 100


@dataclass(frozen=True, slots=True)
class ExtractedCode:
    """A program and how it was found.

    It was `fenced`, `unclosed` (the answer ended inside a fence) or `bare`.

    `programs` counts those in the answer; the last one is taken, since models correct themselves.
    """

    text: str
    how: str
    programs: int = field(default=1, repr=False)


def find_code(answer: str) -> ExtractedCode | None:
    """The program in an answer; None where there is nothing like one.

    >>> find_code("Here it is:\\n```prolog\\ninitial(s0).\\n```\\nGood luck!")
    ExtractedCode(text='initial(s0).', how='fenced')
    """
    answer = answer[:_LONGEST_ANSWER]
    blocks, closed = _blocks(answer)
    programs = [block for block in blocks if _looks_like_a_program(block)]
    if programs:
        begun = [block for block in programs if _BEGINNING.search(block)]
        how = "fenced" if closed else "unclosed"
        return ExtractedCode(_joined(programs), how, max(1, len(begun)))
    unfenced = [line for line in answer.splitlines() if not _fence(line)]
    bare = _bare("\n".join(unfenced))
    return ExtractedCode(bare, "bare") if bare else None


def find_asides(answer: str) -> ProgramAnswer:
    """Return the questions in an answer's comments and its reason for refusing.

    The reason is for giving no game or not this form.

    >>> find_asides("% QUESTION: Does Bo see the offer? ASSUMED: yes").questions
    (OpenQuestion(text='Does Bo see the offer?', assumed='yes'),)
    """
    answer = answer[:_LONGEST_ANSWER]
    asked = []
    for text in _QUESTION.findall(answer)[:_MOST_QUESTIONS]:
        question, *assumed = _ASSUMED.split(text, maxsplit=1)
        asked.append(OpenQuestion(question.strip(), "".join(assumed).strip()))
    questions = tuple(asked)
    refusal = _REFUSAL.search(answer)
    if refusal is None:
        return ProgramAnswer(questions=questions)
    kind, reason = refusal.group(1, 2)
    return ProgramAnswer.refuse(questions, reason.strip()[:_LONGEST_REASON], kind == "NO GAME")


def _blocks(answer: str) -> tuple[list[str], bool]:
    blocks: list[list[str]] = []
    fence = ""
    for line in answer.splitlines():
        match = _fence(line)
        if match and not fence:
            fence = match.group(1)[:3]
            blocks.append([])
        elif match and match.group(1).startswith(fence):
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
        if inside or _CLAUSE.match(line):
            kept.append(line)
            # A comment or an empty line within a clause does not end it: what follows belongs to
            # the clause.
            if line.strip() and not line.lstrip().startswith("%"):
                inside = not _ends(line)
        elif not line.strip() and kept:
            kept.append("")
    if not _looks_like_a_program("\n".join(kept)):
        return ""
    while kept and not _ends(kept[-1]):
        kept.pop()
    return "\n".join(kept).strip("\n")


def _ends(line: str) -> bool:
    """Whether a clause or a comment ends with this line."""
    plain = line.split("%")[0].rstrip()
    return plain.endswith(".") or line.lstrip().startswith("%") or line.rstrip().endswith("*/")


_MOST = 12
_MOST_ENDS = 9
_LONGEST_LINE = 160
_NO_PAYOFF = re.compile(r"^(?P<player>.*) has no payoff after (?P<end>.*)$", re.DOTALL)
_ALSO = (
    (
        re.compile(r"before '(?:and|or|not)'"),
        "write a comma for and, a semicolon for or, \\+ for not",
    ),
    (re.compile(r"before '(?:=>|->|<-|if|:)'"), "write rules as head :- body."),
    (re.compile(r"before '='|before '=='"), "write X is Y to compute, X =:= Y to compare numbers"),
    (re.compile(r"^[:+-]=/2"), "write X is Y to compute"),
    (re.compile(r"^if/|^else/"), "write ( Condition -> Then ; Otherwise )"),
    (re.compile(r"before '<='"), "write =< for at most"),
    (re.compile(r"before '!'"), "write A \\== B for two that differ"),
    (re.compile(r"before .*\n\s*(?:#|//)"), "a comment begins with %"),
    (re.compile(r"before .*\n.*\bnot \w"), "write \\+ Goal for not"),
)
"""Habits of other languages, and what to write instead."""
_LIMIT = (
    "does every rule come to an end? if so, tell the game with fewer moves, players or rounds, or"
    " with simpler rules"
)
"""Who writes a program cannot raise a limit; who runs it is told how."""


def what_is_wrong(report: Report, problem: str = "") -> str:
    """The errors of a report and what may cause them, or its warnings if there is no error."""
    causes = [fault for fault in report.warnings if fault.code == "fluent"]
    faults = (*report.errors, *causes) if report.errors else report.warnings
    others = [fault for fault in faults if _NO_PAYOFF.match(fault.message) is None]
    lines = [
        f"- {problem}: write a shorter program" if problem else "",
        *_unpaid(report, faults),
        *_grouped(others),
    ]
    shown = [line for line in lines if line]
    more = len(shown) - _MOST
    if more > 0:
        shown[_MOST:] = [f"- and {more} more of the same kinds"]
    return "\n".join(shown)


def _unpaid(report: Report, faults: Iterable[Diagnostic]) -> list[str]:
    """The ends without a payoff in one line, and predicates of inconsistent arity.

    These are predicates written with different numbers of arguments.
    """
    matches = [match for fault in faults if (match := _NO_PAYOFF.match(fault.message))]
    if not matches:
        return []
    players = dict.fromkeys(match["player"] for match in matches)
    ends = list(dict.fromkeys(match["end"] for match in matches))
    more = f" and {len(ends) - _MOST_ENDS} more" if len(ends) > _MOST_ENDS else ""
    line = (
        f"- {', '.join(players)} got no payoff at these ends:"
        f" ({'), ('.join(ends[:_MOST_ENDS])}){more} (finally(goal(Player, Payoff), S) must give"
        " every player a number at every end: is there a payoff fact for each combination of"
        " moves, and can the rule find it?)"
    )
    kinds: dict[str, list[str]] = {}
    for key in sorted(report.defined):
        name, _, arity = key.rpartition("/")
        kinds.setdefault(name, []).append(arity)
    lines = [line]
    for name, arities in kinds.items():
        if len(arities) > 1:
            listed = " and with ".join(arities)
            lines.append(
                f"- {name} is written with {listed} arguments, which are different predicates"
            )
    return lines


def _grouped(faults: Sequence[Diagnostic]) -> list[str]:
    """Faults that differ only in their place become one line."""
    groups: dict[tuple[str, str, Severity], list[Diagnostic]] = {}
    for fault in faults:
        hint = _LIMIT if fault.code == "limit" else fault.hint
        groups.setdefault((fault.message, hint, fault.severity), []).append(fault)
    return [_line(message, hint, alike) for (message, hint, _), alike in groups.items()]


def _line(message: str, hint: str, faults: Sequence[Diagnostic]) -> str:
    read = f"{message}\n{faults[0].source_line}"
    hint = next((advice for habit, advice in _ALSO if habit.search(read)), hint)
    lines = sorted({fault.line for fault in faults if fault.line})
    where = ""
    if lines:
        listed = ", ".join(map(str, lines[:6]))
        more = ", ..." if len(lines) > 6 else ""
        where = f"line {listed}{more}: "
    shown = ""
    source = faults[0].source_line.strip()
    if source and len(lines) == 1:
        shown = f"\n    {source[:_LONGEST_LINE]}"
    return f"- {where}{message}{f' ({hint})' if hint else ''}{shown}"
