"""Programs that read each other: strategies as rules that see the rules of their opponent.

In an open-source game (A. Sistla, M. Kleiman-Weiner, "Evaluating LLMs in Open-Source Games", 2025,
arXiv:2512.00371) players submit programs, and each program is given the other's text before it
chooses. Here a program is a strategy for `select/4` that may ask three more goals:

- `source(Who, Text)`: the text of a program, `mine` or `theirs`, without comments and with its
  variables numbered, so that equal programs have equal texts;
- `rule_of(Who, Head, Body)`: every rule of a program as a term; a fact has the body `true`;
- `would_play(Opponent, Player, Situation, Move)`: what the other's `select/4` answers against mine.

`would_play/4` runs the other program, which may run mine, and so on. It ends after `LEVELS`
programs, where it fails: "not found out". That is simulation with a limit and no proof: two
programs that cooperate only if they find that the other cooperates defect against each other.

`link_programs` writes one program against one other as plain rules: the copies of both that
`would_play/4` runs are part of the text, with predicates of their own names. So they run where all
strategies run, in the sandbox with its limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.language.reader import Clause, read
from bestresponse.logic.language.terms import Atom, Struct, Term, write

LEVELS = 4
"""How many programs deep `would_play/4` looks."""

_SOURCE = "source/2"
_RULE_OF = "rule_of/3"
_WOULD_PLAY = "would_play/4"
READING = frozenset({_SOURCE, _RULE_OF, _WOULD_PLAY})
"""What a program may ask about the other."""

_OWN_ENDING = "__"
"""What sets the names of copies apart from those that programs may define."""
_OF_OTHER = "__other"
_GOALS = {
    ",/2": (0, 1),
    ";/2": (0, 1),
    "->/2": (0, 1),
    "*->/2": (0, 1),
    "\\+/1": (0,),
    "not/1": (0,),
    "call/1": (0,),
    "once/1": (0,),
    "ignore/1": (0,),
    "forall/2": (0, 1),
    "findall/3": (1,),
    "aggregate_all/3": (1,),
}
"""Which arguments of a goal are goals."""
_CLOSURES = {
    **{f"call/{count + 1}": count for count in range(1, 7)},
    **{f"maplist/{count + 1}": count for count in range(1, 5)},
    "foldl/4": 3,
    "foldl/5": 4,
    "include/3": 1,
    "exclude/3": 1,
    "partition/4": 1,
    "convlist/3": 2,
}
"""How many arguments are added to the first argument of a goal before it is called."""


@dataclass(frozen=True, slots=True)
class OpenProgram:
    """The rules of a program, read."""

    text: str
    clauses: tuple[Clause, ...]

    @classmethod
    def read(cls, text: str) -> OpenProgram:
        """Read a program; InvalidGame says what is wrong with it."""
        found = read(text)
        if found.diagnostics:
            raise InvalidGame(f"the program cannot be read: {found.diagnostics[0]}")
        rules = [clause for clause in found.clauses if _indicate(clause.term) != ":-/1"]
        program = cls(text, tuple(rules))
        taken = sorted(name for name in program.defined if name in READING or _OWN_ENDING in name)
        if taken:
            raise InvalidGame(
                f"the program defines {taken[0]}, a name that is used for what it may know of the"
                " other program; choose another name"
            )
        if "select/4" not in program.defined:
            raise InvalidGame("the program has no rule for select/4, so it gives no move")
        return program

    @property
    def defined(self) -> frozenset[str]:
        """The predicates that the program defines, as name/arity."""
        return frozenset(_indicate(clause.parts[0]) for clause in self.clauses)

    @property
    def source(self) -> str:
        """The program without comments and layout, with its variables numbered.

        >>> OpenProgram.read("select(P, _, S, M) :- holds(d(P, M), S). % why not").source
        "':-'(select(_1,_2,_3,_4),holds(d(_1,_4),_3))."
        """
        return "\n".join(f"{write(clause.term)}." for clause in self.clauses)

    @property
    def reads_other(self) -> bool:
        """Whether a rule of the program asks about the other one."""
        return any(
            goal in READING for clause in self.clauses for goal in _list_goals(clause.parts[1])
        )


def link_programs(own: OpenProgram, other: OpenProgram, levels: int = LEVELS) -> str:
    """Return a program as rules that can be played against one other.

    Its own rules come first, as they were written, so that line numbers in messages are right.
    """
    lines = [own.text, "% What it may know about the other program."]
    lines += _describe(own, other, "")
    lines += _describe(other, own, _OF_OTHER)
    # Program 0 is the deepest: it finds out nothing.
    caller = ""
    for level in reversed(range(levels)):
        is_other = (levels - level) % 2 == 1
        program = other if is_other else own
        lines.append(_write_would_play(caller, f"select__{level}"))
        names = dict.fromkeys(program.defined, f"__{level}")
        names[_WOULD_PLAY] = f"__{level}"
        if is_other:
            names[_SOURCE] = _OF_OTHER
            names[_RULE_OF] = _OF_OTHER
        for clause in program.clauses:
            head, body = clause.parts
            copy = Struct(":-", (_rename(head, names), _rename_goal(body, names)))
            lines.append(f"{write(copy)}.")
        caller = f"__{level}"
    lines.append(_write_would_play(caller, "fail"))
    return "\n".join(lines) + "\n"


def _write_would_play(ending: str, called: str) -> str:
    head = f"would_play{ending}(Opponent, Player, Situation, Move)"
    if called == "fail":
        return f"would_play{ending}(_, _, _, _) :- fail."
    return f"{head} :- {called}(Opponent, Player, Situation, Move)."


def _describe(own: OpenProgram, other: OpenProgram, ending: str) -> Iterator[str]:
    """Write what a program may read, under names with an ending of its own."""
    for who, program in (("mine", own), ("theirs", other)):
        yield f"source{ending}({who}, {write(Atom(program.source))})."
        for clause in program.clauses:
            head, body = clause.parts
            yield f"{write(Struct(f'rule_of{ending}', (Atom(who), head, body)))}."


def _indicate(term: Term, more: int = 0) -> str:
    """Return a goal as name/arity, with so many more arguments; empty for what is none."""
    if isinstance(term, Struct):
        return f"{term.name}/{len(term.args) + more}"
    return f"{term}/{more}" if isinstance(term, Atom) else ""


def _list_goals(goal: Term) -> Iterable[str]:
    """Yield every goal within a goal, as name/arity."""
    name = _indicate(goal)
    yield name
    if not isinstance(goal, Struct):
        return
    for place in _GOALS.get(name, ()):
        yield from _list_goals(goal.args[place])
    if name in _CLOSURES:
        yield _indicate(goal.args[0], _CLOSURES[name])


def _rename_goal(goal: Term, endings: dict[str, str]) -> Term:
    """Add the endings to the names of a goal and of the goals within it; data stays as it is."""
    name = _indicate(goal)
    if not isinstance(goal, Struct) or name in endings:
        return _rename(goal, endings)
    args = list(goal.args)
    for place in _GOALS.get(name, ()):
        args[place] = _rename_goal(args[place], endings)
    if name in _CLOSURES:
        args[0] = _rename(args[0], endings, _CLOSURES[name])
    return Struct(goal.name, tuple(args))


def _rename(term: Term, endings: dict[str, str], more: int = 0) -> Term:
    ending = endings.get(_indicate(term, more), "")
    if isinstance(term, Struct):
        return Struct(f"{term.name}{ending}", term.args)
    return Atom(f"{term}{ending}") if isinstance(term, Atom) else term
