"""Programs that must not get out, through SWI-Prolog: with the gate, without it, and past the
server itself.

The whole programs are those of `tests/logic/hostile`.
"""

import os
import select
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from bestresponse.core.errors import LogicError, ProgramRefused
from bestresponse.logic.engine import Limits
from bestresponse.logic.language.library import LIBRARY_TEXT
from bestresponse.logic.language.terms import write
from bestresponse.logic.programs.solver_language import EXTRACTION, SOLVER, TRUSTED
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.logic.swi.sandbox import SandboxPolicy, start_confined
from bestresponse.logic.swi.worker import Worker, WorkerLost, find_swipl, start_worker

pytestmark = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)

PROGRAMS = sorted(Path(__file__).parent.with_name("hostile").glob("*.pl"))

DILEMMA = """
initial(s0).
initially(player(p1), s0).
initially(player(p2), s0).
initially(control(p1), s0).
initially(control(p2), s0).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
possible(move(P, 'C'), S) :- holds(player(P), S).
possible(move(P, 'D'), S) :- holds(player(P), S).
effect(did(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(do(_, do(_, S))) :- initial(S).
payoff('C', 'C', 3, 3).
payoff('C', 'D', 0, 5).
payoff('D', 'C', 5, 0).
payoff('D', 'D', 1, 1).
finally(goal(p1, U), S) :- final(S), holds(did(p1, M), S), holds(did(p2, N), S), payoff(M, N, U, _).
finally(goal(p2, U), S) :- final(S), holds(did(p1, M), S), holds(did(p2, N), S), payoff(M, N, _, U).
"""
TABLE = {("C", "C"): (3, 3), ("C", "D"): (0, 5), ("D", "C"): (5, 0), ("D", "D"): (1, 1)}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a folder to break into and a secret to find."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "breach").mkdir()
    (tmp_path / "secret.txt").write_text("the_secret.\n")
    return tmp_path


def aimed(text: str, place: Path) -> str:
    """The attack with full paths: a worker's own directory is elsewhere."""
    return text.replace("breach/", f"{place}/breach/").replace("secret.txt", f"{place}/secret.txt")


def untouched(place: Path) -> bool:
    return (
        list((place / "breach").iterdir()) == []
        and (place / "secret.txt").read_text() == "the_secret.\n"
    )


def table(engine: SwiEngine, source: str) -> dict[tuple[str, ...], tuple[object, ...]]:
    """The payoffs of a game, by the moves of its players in their order."""
    found: dict[tuple[str, ...], tuple[object, ...]] = {}
    for answer in engine.solutions(engine.load(source), "table_row(Steps, Goals)"):
        moves = [
            part.split(")")[0].split(",") for part in write(answer["Steps"]).split("move(")[1:]
        ]
        goals = [part.split(")")[0].split(",") for part in write(answer["Goals"]).split("'-'(")[1:]]
        key = tuple(name.strip("'") for _, name in sorted(moves))
        found[key] = tuple(int(value) if value.isdigit() else value for _, value in sorted(goals))
    return found


@pytest.fixture(scope="module")
def engine() -> Iterator[SwiEngine]:
    with closing(SwiEngine(Limits())) as engine:
        yield engine


class TestWithTheGate:
    def test_afterwards_another_program_answers_as_ever(
        self, engine: SwiEngine, place: Path
    ) -> None:
        for path in PROGRAMS[::12]:
            try:
                table(engine, path.read_text(encoding="utf-8", errors="surrogateescape"))
            except LogicError:
                continue
        assert table(engine, DILEMMA) == TABLE

    @pytest.mark.parametrize(
        "source",
        [
            DILEMMA + "filler(a).\n" * 900_000,
            DILEMMA + f"filler({'a' * 5_000_000}).\n",
            DILEMMA + f"filler({'(' * 100_000}a{')' * 100_000}).\n",
            DILEMMA + f"filler({'f(' * 100_000}a{')' * 100_000}).\n",
            DILEMMA + f"filler({'9' * 2_000_000}).\n",
        ],
        ids=["10 MB", "5 MB atom", "100,000 brackets", "100,000 deep", "two million digits"],
    )
    def test_a_giant_is_refused(self, engine: SwiEngine, source: str) -> None:
        with pytest.raises(ProgramRefused):
            engine.load(source)


ATTACKS = [
    "shell('touch breach/x')",
    "'sh\\x65\\ll'('touch breach/x')",
    "open('breach/x', write, S), close(S)",
    "tell('breach/x'), told",
    "append('breach/x'), told",
    "G = shell('touch breach/x'), G",
    "G = shell('touch breach/x'), call(G)",
    "call((true, G = shell('touch breach/x'), G))",
    "call(call, shell('touch breach/x'))",
    "call(call(call), shell('touch breach/x'))",
    "atom_codes(A, [115, 104, 101, 108, 108]), T =.. [A, 'touch breach/x'], T",
    "atom_codes(A, [115, 104, 101, 108, 108]), T =.. [A, 'touch breach/x'], findall(x, T, _)",
    "atom_codes(A, [115, 104, 101, 108, 108]), call(A, 'touch breach/x')",
    "T =.. [':', system, shell('touch breach/x')], call(T)",
    "T = system:shell('touch breach/x'), T",
    "system:shell('touch breach/x')",
    "user:shell('touch breach/x')",
    "bestresponse:shell('touch breach/x')",
    "@(shell('touch breach/x'), system)",
    "maplist(shell, ['touch breach/x'])",
    "maplist(once, [shell('touch breach/x')])",
    "maplist(\\+, [shell('touch breach/x')])",
    "maplist(','(true), [shell('touch breach/x')])",
    "maplist(system:shell, ['touch breach/x'])",
    "maplist(call(shell), ['touch breach/x'])",
    "M = shell, maplist(M, ['touch breach/x'])",
    "foldl([X, A, A] >> shell(X), ['touch breach/x'], 0, _)",
    "include(call, [shell('touch breach/x')], _)",
    "exclude(shell, ['touch breach/x'], _)",
    "partition(shell, ['touch breach/x'], _, _)",
    "predsort(shell, ['touch breach/x', b], _)",
    "foldl(call, [shell], 'touch breach/x', _)",
    "forall(shell('touch breach/x'), true)",
    "forall(true, shell('touch breach/x'))",
    "aggregate_all(count, shell('touch breach/x'), _)",
    "aggregate_all(count, call(shell('touch breach/x')), _)",
    "aggregate_all(count, _ ^ shell('touch breach/x'), _)",
    "setof(X, A ^ shell('touch breach/x'), _)",
    "bagof(X, A ^ B ^ G, _)",
    "findall(x, _ ^ shell('touch breach/x'), _, [])",
    "not(shell('touch breach/x'))",
    "\\+ \\+ shell('touch breach/x')",
    "(true ; shell('touch breach/x')), fail",
    "(shell('touch breach/x') -> true ; true)",
    "(shell('touch breach/x') *-> true ; true)",
    "ignore(shell('touch breach/x'))",
    "apply(shell, ['touch breach/x'])",
    "call_cleanup(true, shell('touch breach/x'))",
    "setup_call_cleanup(true, true, shell('touch breach/x'))",
    "catch(throw(x), _, shell('touch breach/x'))",
    "format('~@', [shell('touch breach/x')])",
    "format(atom(_), '~@', [shell('touch breach/x')])",
    "with_output_to(string(_), shell('touch breach/x'))",
    "term_to_atom(G, 'shell(\\'touch breach/x\\')'), G",
    "term_string(G, \"shell('touch breach/x')\"), G",
    "read_term_from_atom('shell(\\'touch breach/x\\')', G, []), G",
    "string_to_atom(\"shell\", A), call(A, 'touch breach/x')",
    "consult('secret.txt')",
    "load_files(x, [stream(user_input)])",
    "['secret.txt']",
    "see('secret.txt'), read(X), seen, X == the_secret",
    "read_file_to_terms('secret.txt', X, [])",
    "use_module(library(process)), process_create(path(touch), ['breach/x'], [])",
    "use_foreign_library(foreign(process))",
    "thread_create(shell('touch breach/x'), _)",
    "assertz(bestresponse:allowed(shell, 1)), G = shell('touch breach/x'), G",
    "assertz(allowed(shell, 1))",
    "retractall(bestresponse:defines(_, _, _))",
    "abolish(bestresponse:loop/2)",
    "bestresponse:unload(g0)",
    "bestresponse:run(system, shell('touch breach/x'))",
    "run(system, shell('touch breach/x'))",
    "set_prolog_flag(double_quotes, codes)",
    "op(1200, xfx, =)",
    "nb_setval(x, 1)",
    "b_setval(x, 1)",
    "halt",
    "halt(3)",
    "prolog",
    "abort",
    "throw(unwind(halt(0)))",
    "throw('$aborted')",
    "throw(inference_limit_exceeded)",
    "prolog_load_context(directory, _)",
    "on_signal(int, _, shell)",
    "current_prolog_flag(pid, P), P > 0",
    "getenv('PATH', _)",
    "garbage_collect",
    "tnot(shell('touch breach/x'))",
    "freeze(X, shell('touch breach/x')), X = 1",
    "when(true, shell('touch breach/x'))",
    "phrase(shell, 'touch breach/x', [])",
    "put_attr(X, shell, 'touch breach/x'), X = 1",
    "current_op(P, xfx, is)",
    "print_message(error, format('~@', [shell('touch breach/x')]))",
    "write(user_error, x)",
    "nb_setarg(1, f(a), b)",
    "expand_goal(true, _)",
    "absolute_file_name('secret.txt', _)",
    "sub_atom(shell_x, 0, 5, _, A), call(A, 'touch breach/x')",
    "length(L, 1), L = [shell('touch breach/x')], member(G, L), G",
    "copy_term(shell('touch breach/x'), G), call(G)",
    "functor(G, shell, 1), arg(1, G, 'touch breach/x'), once(G)",
]
HOOKS = """
term_expansion(_, shell('touch breach/x')).
goal_expansion(_, shell('touch breach/x')).
portray(_) :- shell('touch breach/x').
message_hook(_, _, _) :- shell('touch breach/x').
prolog_load_file(_, _) :- shell('touch breach/x').
exception(_, _, retry) :- shell('touch breach/x').
attr_unify_hook(_, _) :- shell('touch breach/x').
allowed(shell, 1).
meta(shell(_), [data]).
control(shell(_)).
checked(G, _, G).
shell(X) :- system:shell(X).
"""


FOREIGN_CLAUSES = [
    "attack => shell('touch breach/x').",
    "attack, true => shell('touch breach/x').",
    "attack ?=> shell('touch breach/x').",
    ":- dynamic(attack/0). attack => shell('touch breach/x').",
    ":- dynamic(attack/0). attack ?=> shell('touch breach/x').",
    ":- dynamic((=>)/2). attack => shell('touch breach/x').",
    "'|'(_, _). attack :- '|'(fail, shell('touch breach/x')).",
    "'@'(_, _). attack :- '@'(shell('touch breach/x'), system).",
    "':'(_, _). attack :- system:shell('touch breach/x').",
    "call(_). attack :- call(shell('touch breach/x')).",
    "call(_, _). attack :- call(shell, 'touch breach/x').",
    "once(_). attack :- once(shell('touch breach/x')).",
    "forall(_, _). attack :- forall(true, shell('touch breach/x')).",
    "not(_). attack :- not(shell('touch breach/x')).",
    "ignore(_). attack :- ignore(shell('touch breach/x')).",
    "apply(_, _). attack :- apply(shell, ['touch breach/x']).",
    "maplist(_, _). attack :- maplist(shell, ['touch breach/x']).",
    "findall(_, _, _, _). attack :- findall(x, shell('touch breach/x'), _, []).",
    "'$'. attack :- $, shell('touch breach/x').",
    "'$'(_). attack :- $(shell('touch breach/x')).",
    "'$meta_call'(_). attack :- '$meta_call'(shell('touch breach/x')).",
    "tnot(_). attack :- tnot(shell('touch breach/x')).",
    "'*->'(_, _). attack :- (shell('touch breach/x') *-> true).",
    "','(_, _). attack :- true, shell('touch breach/x').",
    "system:attack :- shell('touch breach/x').",
    "user:attack :- shell('touch breach/x').",
    "(attack :- true) :- shell('touch breach/x').",
    "attack --> {shell('touch breach/x')}.",
    ":- dynamic('|'/2). attack :- '|'(fail, shell('touch breach/x')).",
    ":- dynamic(shell/1). attack :- shell('touch breach/x').",
    ":- dynamic(system:attack/0). attack :- shell('touch breach/x').",
    ":- dynamic([attack/0, (:)/2]). attack :- system:shell('touch breach/x').",
    "shell(_) :- fail. attack :- G = shell('touch breach/x'), G.",
    "[attack] :- shell('touch breach/x').",
    "{attack} :- shell('touch breach/x').",
    "\"attack\" :- shell('touch breach/x').",
    "_{a:1}.attack := shell('touch breach/x').",
    "attack :- X = _{g:shell('touch breach/x')}, Y = X.g, Y.",
    "attack :- {|shell||touch breach/x|}.",
    "attack :- `shell`(x), 'touch breach/x'.",
]


ATTACKERS = count()
"""Numbers for the names of modules, none of which may be used twice."""


def served(layers: tuple[str, ...]) -> Worker:
    worker = start_worker(find_swipl(), layers=layers)
    worker.request("library", LIBRARY_TEXT, 60.0, 1 << 16)
    worker.request("solver(0)", SOLVER, 60.0, 1 << 16)
    worker.request("extraction", EXTRACTION, 60.0, 1 << 16)
    assert worker.request("load(victim,none)", DILEMMA, 60.0, 1 << 16) == ["loaded(victim)"]
    return worker


def victim(worker: Worker) -> list[str]:
    goal = "'-'(table_row(Steps,Goals),[Steps,Goals]).\n"
    return worker.request("ask(victim,1,100,100000,100000,100000,10000,20000)", goal, 60.0, 1 << 20)


@pytest.fixture(scope="module")
def worker() -> Iterator[list[Worker]]:
    """A worker without any confinement, in a list so that it can be replaced."""
    holder = [served(layers=())]
    yield holder
    holder[0].close()


class TestServerAlone:
    """No gate, and no confinement by the system: only what the server itself lets a program
    call."""

    def attack(self, holder: list[Worker], text: str, goal: str) -> list[str]:
        if not holder[0].alive:
            holder[0] = served(layers=())
        before = victim(holder[0])
        said = []
        try:
            attacker = f"attacker{next(ATTACKERS)}"
            said += holder[0].request(f"load({attacker},none)", text, 20.0, 1 << 16)
            said += holder[0].request(
                f"ask({attacker},1,10,200000,200000,100000,10000,20000)",
                f"'-'({goal},[]).\n",
                20.0,
                1 << 20,
            )
            after = victim(holder[0])
        except WorkerLost:
            holder[0] = served(layers=())
            after = victim(holder[0])
        assert after == before
        return said

    @pytest.mark.parametrize("goal", ATTACKS)
    def test_an_attack_reaches_nothing(self, worker: list[Worker], place: Path, goal: str) -> None:
        said = self.attack(worker, aimed(f"attack :- {goal}.\n", place), "attack")
        assert untouched(place)
        assert "the_secret" not in "".join(said)

    @pytest.mark.parametrize("goal", ATTACKS[::4])
    def test_a_goal_is_held_to_the_same(self, worker: list[Worker], place: Path, goal: str) -> None:
        self.attack(worker, "nothing.\n", aimed(f"({goal})", place))
        assert untouched(place)

    @pytest.mark.parametrize("clause", HOOKS.strip().splitlines())
    def test_a_hook_is_a_clause_like_any_other(
        self, worker: list[Worker], place: Path, clause: str
    ) -> None:
        call = "attack :- G = shell('touch breach/x'), write(G), print(G), G.\n"
        self.attack(worker, aimed(f"{clause}\n{call}", place), "attack")
        assert untouched(place)

    @pytest.mark.parametrize("text", FOREIGN_CLAUSES)
    def test_no_clause_of_another_kind_slips_through(
        self, worker: list[Worker], place: Path, text: str
    ) -> None:
        self.attack(worker, aimed(text.replace(". attack", ".\nattack") + "\n", place), "attack")
        assert untouched(place)

    @pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
    def test_a_recorded_program_reaches_nothing(
        self, worker: list[Worker], place: Path, path: Path
    ) -> None:
        text = aimed(path.read_text(encoding="utf-8", errors="replace"), place)
        said = self.attack(worker, text, "table_row(_,_)")
        assert untouched(place)
        assert "the_secret" not in "".join(said)

    def test_a_directive_is_not_run_and_the_program_not_kept(
        self, worker: list[Worker], place: Path
    ) -> None:
        said = self.attack(
            worker, aimed("fact(1).\n:- shell('touch breach/x').\n", place), "fact(_)"
        )
        assert said[0].startswith("error(permission_error(modify,static_procedure,/(:-,1))")
        assert said[1].startswith("error(existence_error(procedure,/(fact,1))")
        assert untouched(place)

    @pytest.mark.parametrize(
        "goal", ["table_row(_, _)", "G = table_row(_, _), G", "maplist(table_row, [_], [_])"]
    )
    def test_a_program_does_not_ask_about_itself(self, worker: list[Worker], goal: str) -> None:
        said = self.attack(worker, f"{DILEMMA}\nattack :- {goal}.\n", "attack")
        assert said[0].startswith("loaded(")
        assert said[1].startswith("error(existence_error(procedure,/(table_row,2))")

    def test_the_attack_would_work_where_a_trusted_clause_makes_it(self, place: Path) -> None:
        worker = start_worker(find_swipl(), layers=())
        worker.request(
            "solver(0)", aimed("hole :- shell('touch breach/x').\n", place), 60.0, 1 << 16
        )
        worker.request("load(attacker,attacker)", "attack :- hole.\n", 60.0, 1 << 16)
        worker.request(
            "ask(attacker,1,10,200000,200000,100000,10000,20000)",
            "'-'(attack,[]).\n",
            60.0,
            1 << 16,
        )
        worker.close()
        assert not untouched(place)


@pytest.mark.skipif(sys.platform != "linux", reason="the layers tested here are those of Linux")
class TestEachLayerAlone:
    """No gate and no server: SWI-Prolog consults the program with all its rights, behind one layer
    of the system."""

    @pytest.mark.parametrize(
        "layers", [("files",), ("calls", "descriptors")], ids=["files", "calls"]
    )
    def test_a_recorded_program_reaches_nothing(self, place: Path, layers: tuple[str, ...]) -> None:
        reaching = [
            path
            for path in PROGRAMS
            if path.stem.startswith(("host", "round"))
            or "breach" in path.read_text(errors="replace")
        ]
        for path in reaching:
            said = self.consulted(
                path.read_text(encoding="utf-8", errors="replace"), place, layers, 0.6
            )
            assert untouched(place), path.stem
            assert "the_secret" not in said, path.stem

    @pytest.mark.parametrize(
        "layers", [("files",), ("calls", "descriptors")], ids=["files", "calls"]
    )
    def test_a_program_cannot_tell_the_secret(self, place: Path, layers: tuple[str, ...]) -> None:
        text = DILEMMA + ":- see('secret.txt'), read(X), seen, write(X).\n"
        assert "the_secret" not in self.consulted(text, place, layers)
        assert "the_secret" in self.consulted(text, place, ()), (
            "the attack must work where nothing stops it"
        )

    def test_the_same_program_does_harm_where_nothing_stops_it(self, place: Path) -> None:
        self.consulted(DILEMMA + ":- shell('touch breach/x').\n", place, ())
        assert not untouched(place)

    @staticmethod
    def consulted(text: str, place: Path, layers: tuple[str, ...], seconds: float = 60.0) -> str:
        """All that a plain SWI-Prolog says while it loads a program from its input and plays it."""
        swipl = find_swipl()
        policy = SandboxPolicy(swipl.readable, (swipl.executable, *swipl.loaders), layers=layers)
        goal = (
            f"working_directory(_, '{place}'), write(ready), nl, flush_output, read(_), "
            "load_files(game, [stream(user_input)]), "
            "forall(game(s0, F), (finally(goal(P, U), F), print(P-U), nl)), halt"
        )
        options = ("-f", "none", "-q", "--no-tty", "--no-packs", f"--home={swipl.home}")
        confined = start_confined((swipl.executable, *options, "-g", goal, "-t", "halt"), policy)
        said = _read_until(confined.output, b"ready\n", 60.0)
        confined.seal()
        program = f"go.\n{TRUSTED}\n{text}\nend_of_file.\n".encode("utf-8", "replace")
        try:
            os.write(confined.input, program[:60_000])
        except BrokenPipeError:
            said += "gone"
        said += _read_until(confined.output, None, seconds)
        confined.end()
        return said


def _read_until(pipe: int, mark: bytes | None, seconds: float) -> str:
    text, end = b"", time.monotonic() + seconds
    while mark is None or not text.endswith(mark):
        if not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            break
        chunk = os.read(pipe, 1 << 16)
        if not chunk or len(text) > 1 << 20:
            break
        text += chunk
    return text.decode("utf-8", "replace")


class TestWithoutTheGate:
    """Raw text straight to the confined worker: every other layer at once, and the worst that can
    be used up."""

    def test_recorded_programs_stay_within_time_and_memory(self, place: Path) -> None:
        worker = served(layers=("privileges", "limits", "files", "calls", "descriptors"))
        expected = victim(worker)
        for path in PROGRAMS:
            if not worker.alive:
                worker = served(layers=("privileges", "limits", "files", "calls", "descriptors"))
            text = aimed(path.read_text(encoding="utf-8", errors="replace"), place)
            try:
                attacker = f"attacker{next(ATTACKERS)}"
                worker.request(f"load({attacker},none)", text, 3.0, 1 << 16)
                worker.request(
                    f"ask({attacker},1,1000,2000000,2000000,4000000,10000,20000)",
                    "'-'(table_row(A,B),[A,B]).\n",
                    3.0,
                    1 << 23,
                )
            except WorkerLost:
                continue
            assert _peak_kilobytes(worker.pid) < 512 << 10, path.stem
            assert victim(worker) == expected, path.stem
        worker.close()
        assert untouched(place)


def _peak_kilobytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    return next(
        int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")
    )


def test_nothing_is_left_running_when_an_engine_is_closed() -> None:
    engine = SwiEngine(Limits())
    program = engine.load("spin(X) :- spin(X).")
    engine.limits = Limits(seconds=0.5, steps=10**12)
    pid = engine._worker.pid
    engine.prove(program, "spin(x)")
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
