"""The engine on SWI-Prolog: answers, limits, restarts, and games that do not see each other."""

import shutil
import subprocess
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import bestresponse.logic.swi.engine as engine_module
import bestresponse.logic.swi.worker as worker_module
from bestresponse.core.errors import LimitReached, LogicError, ProgramRefused, UsageError
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, RuntimeFault, Verdict, open_engine
from bestresponse.logic.gate.check import GatedClause, GatedProgram
from bestresponse.logic.language.library import LIBRARY_TEXT, RENAMED
from bestresponse.logic.language.predicates import CALLABLE, OUTPUT, SOLVER
from bestresponse.logic.language.terms import NIL, Atom, String, Struct, Var, list_of, write
from bestresponse.logic.swi.engine import SwiEngine, start_prolog
from bestresponse.logic.swi.sandbox import LAYERS
from bestresponse.logic.swi.terms import decode
from bestresponse.logic.swi.worker import Worker, WorkerLost, find_swipl, start_worker

needs_swipl = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)

FAMILY = """
parent(ann, bob).
parent(bob, cid).
parent(bob, dan).
ancestor(X, Y) :- parent(X, Y).
ancestor(X, Z) :- parent(X, Y), ancestor(Y, Z).
spin(X) :- spin(X).
long(0, []).
long(N, [N|T]) :- N > 0, M is N - 1, long(M, T).
broken(X) :- X is foo + 1.
missing(X) :- no_such_thing(X).
"""


@pytest.fixture(scope="module")
def engine():  # type: ignore[no-untyped-def]
    with closing(SwiEngine(Limits(steps=300_000))) as engine:
        yield engine


@pytest.fixture(scope="module")
def family(engine):  # type: ignore[no-untyped-def]
    return engine.load(FAMILY)


def texts(answers):  # type: ignore[no-untyped-def]
    return [{name: write(term) for name, term in answer.items()} for answer in answers]


@needs_swipl
class TestAnswers:
    def test_solutions_come_in_the_order_of_the_clauses(self, engine, family) -> None:
        found = engine.solutions(family, "ancestor(ann, Who)")
        assert texts(found) == [{"Who": "bob"}, {"Who": "cid"}, {"Who": "dan"}]

    def test_no_more_solutions_than_asked_for(self, engine, family) -> None:
        assert texts(engine.solutions(family, "parent(X, Y)", 2)) == [
            {"X": "ann", "Y": "bob"},
            {"X": "bob", "Y": "cid"},
        ]

    def test_a_goal_without_variables_succeeds_once_with_nothing_to_tell(
        self, engine, family
    ) -> None:
        assert engine.solutions(family, "parent(ann, bob)") == ({},)
        assert engine.solutions(family, "parent(bob, ann)") == ()

    def test_goals_may_be_terms(self, engine, family) -> None:
        goal = Struct("parent", (Atom("ann"), Var("Child")))
        assert texts(engine.solutions(family, goal)) == [{"Child": "bob"}]

    def test_values_keep_their_types(self, engine, family) -> None:
        (answer,) = engine.solutions(
            family, "A = 'two words', B = \"text\", C = -3, D = 0.5, E = f(x, [1|T]), F = []"
        )
        assert answer["A"] == Atom("two words")
        assert isinstance(answer["B"], String)
        assert (answer["C"], answer["D"]) == (-3, 0.5)
        assert write(answer["E"]) == "f(x,[1|_1])"
        assert answer["F"] == Atom("[]")

    def test_words_of_every_language_come_back(self, engine) -> None:
        program = engine.load(
            "word('日本'). word(été). word('Ünïted \U0001f600'). word(\"naïve\")."
        )
        assert texts(engine.solutions(program, "word(X)")) == [
            {"X": "'日本'"},
            {"X": "'été'"},
            {"X": "'Ünïted \U0001f600'"},
            {"X": '"naïve"'},
        ]

    def test_claims_are_proved_refuted_or_unknown(self, engine, family) -> None:
        assert engine.prove(family, "ancestor(ann, dan)").verdict is Verdict.PROVED
        assert engine.prove(family, "ancestor(dan, ann)").verdict is Verdict.REFUTED
        looping = engine.prove(family, "spin(x)")
        assert (looping.verdict, looping.why) == (
            Verdict.UNKNOWN,
            "A rule did not come to an end within 300,000 steps.",
        )
        refused = engine.prove(family, "shell(ls)")
        assert refused.verdict is Verdict.UNKNOWN
        assert "shell/1 is not allowed" in refused.why

    def test_what_is_given_holds_for_that_goal_only(self, engine) -> None:
        program = engine.load("initially(mood(p1, calm), s0).")
        assert texts(
            engine.solutions(program, "initialise(mood(p1, angry), s0), holds(mood(p1, M), s0)")
        ) == [{"M": "angry"}]
        assert texts(engine.solutions(program, "holds(mood(p1, M), s0)")) == [{"M": "calm"}]

    def test_goals_pass_the_gate(self, engine, family) -> None:
        with pytest.raises(ProgramRefused):
            engine.solutions(family, "halt")

    def test_a_program_of_another_engine_is_turned_away(self, engine) -> None:
        with pytest.raises(UsageError, match="another engine"):
            engine.solutions(EmbeddedEngine().load(FAMILY), "parent(X, Y)")


@needs_swipl
class TestFaultsAndLimits:
    def test_a_fault_names_the_clause_it_came_from(self, engine, family) -> None:
        with pytest.raises(RuntimeFault) as caught:
            engine.solutions(family, "broken(X)")
        assert caught.value.line == 10
        assert caught.value.source_line == "broken(X) :- X is foo + 1."

    def test_an_unknown_predicate_is_a_fault(self, engine, family) -> None:
        with pytest.raises(RuntimeFault, match="no_such_thing/1"):
            engine.solutions(family, "missing(X)")

    def test_steps_are_limited_and_the_engine_goes_on(self, engine, family) -> None:
        with pytest.raises(LimitReached, match="300,000 steps"):
            engine.solutions(family, "spin(x)")
        assert texts(engine.solutions(family, "parent(ann, X)")) == [{"X": "bob"}]

    def test_the_parent_counts_the_processor_time(self) -> None:
        with closing(SwiEngine(Limits())) as hasty:
            program = hasty.load(FAMILY)
            hasty.limits = Limits(steps=10**12, seconds=0.5)
            with pytest.raises(LimitReached, match=r"0\.5 seconds of processor time"):
                hasty.solutions(program, "spin(x)")
            hasty.limits = Limits()
            assert texts(hasty.solutions(program, "parent(ann, X)")) == [{"X": "bob"}]

    def test_memory_is_limited(self) -> None:
        with closing(SwiEngine(Limits(steps=10**9, cells=300_000))) as small:
            program = small.load(FAMILY)
            with pytest.raises(LimitReached, match="memory"):
                small.solutions(program, "long(10000000, L)")
            assert texts(small.solutions(program, "parent(ann, X)")) == [{"X": "bob"}]

    def test_answers_are_counted(self) -> None:
        with closing(SwiEngine(Limits(answers=10))) as brief:
            program = brief.load(FAMILY)
            assert len(brief.solutions(program, "between(1, 10, X)")) == 10
            assert len(brief.solutions(program, "between(1, 100, X)", 5)) == 5
            with pytest.raises(LimitReached, match="more than 10 answers"):
                brief.solutions(program, "between(1, 11, X)")

    def test_output_is_limited(self) -> None:
        with closing(SwiEngine(Limits(output=10_000))) as terse:
            program = terse.load(FAMILY)
            with pytest.raises(LimitReached, match="10,000 characters"):
                terse.solutions(program, "numlist(1, 20000, L)")
            with pytest.raises(LimitReached):
                terse.solutions(program, "findall(abcdefghij, between(1, 5000, _), L)")

    def test_no_term_contains_itself(self, engine, family) -> None:
        assert engine.solutions(family, "X = f(X)") == ()


@needs_swipl
class TestGamesAsModules:
    def test_programs_do_not_see_each_other(self, engine) -> None:
        first, second = engine.load("colour(red). only_first(1)."), engine.load("colour(blue).")
        assert texts(engine.solutions(first, "colour(X)")) == [{"X": "red"}]
        assert texts(engine.solutions(second, "colour(X)")) == [{"X": "blue"}]
        with pytest.raises(RuntimeFault, match="only_first/1"):
            engine.solutions(second, "only_first(X)")

    def test_what_the_server_refuses_is_an_error_at_the_first_question_and_harms_no_other_program(
        self, engine
    ) -> None:
        slipped = engine.load(
            GatedProgram("", (GatedClause(Atom("halt"), Atom("true")),), (), frozenset({"halt/0"}))
        )
        with pytest.raises(
            LogicError, match="SWI-Prolog does not accept the program: permission_error"
        ):
            engine.solutions(slipped, "halt")
        assert texts(engine.solutions(engine.load("colour(red)."), "colour(X)")) == [{"X": "red"}]

    def test_a_program_may_define_a_library_predicate_for_itself(self, engine) -> None:
        own = engine.load("member(X, anything(X)).")
        other = engine.load("item(X) :- member(X, [1, 2]).")
        assert texts(engine.solutions(own, "member(X, anything(5))")) == [{"X": "5"}]
        assert texts(engine.solutions(other, "item(X)")) == [{"X": "1"}, {"X": "2"}]

    def test_a_worker_that_was_given_is_used_to_the_end_of_a_job(self, monkeypatch) -> None:
        monkeypatch.setattr(engine_module, "_LOADS", 2)
        lent = SwiEngine(worker=start_prolog(Limits()))
        programs = [lent.load(f"value({i}).") for i in range(4)]
        assert [texts(lent.solutions(p, "value(X)")) for p in programs] == [
            [{"X": str(i)}] for i in range(4)
        ]
        assert lent.spent
        lent.close()

    def test_programs_survive_the_worker(self, engine, family) -> None:
        engine.close()
        assert texts(engine.solutions(family, "parent(ann, X)")) == [{"X": "bob"}]

    def test_what_earlier_programs_called_does_not_change_what_a_later_one_defines(
        self, engine
    ) -> None:
        for number in range(70):
            engine.load(f"first(X) :- member(X, [{number}]).")
        program = engine.load("first(X) :- member(X, [1]). member(own, _).")
        assert texts(engine.solutions(program, "first(X)")) == [{"X": "own"}]


@needs_swipl
class TestWorker:
    def test_anything_but_the_reply_ends_the_worker(self, monkeypatch: pytest.MonkeyPatch) -> None:
        talkative = f"write(fake), nl, {worker_module._GOAL}"
        monkeypatch.setattr(worker_module, "_GOAL", talkative)
        with pytest.raises(WorkerLost, match="not the answer") as caught:
            start_worker(find_swipl())
        assert caught.value.kind == "foreign"

    def test_every_predicate_the_gate_lets_through_exists_in_the_server(self) -> None:
        worker = start_worker(find_swipl())
        worker.request("library", LIBRARY_TEXT, 5.0, 1 << 16)
        worker.request("load(game,none)", "nothing.\n", 5.0, 1 << 16)
        called = {
            f"{RENAMED.get(key, key.rsplit('/', 1)[0])}/{key.rsplit('/', 1)[1]}"
            for key in CALLABLE - SOLVER - OUTPUT
        }
        absent = [key for key in sorted(called - {"aggregate_all/3"}) if not _exists(worker, key)]
        worker.close()
        assert absent == []

    def test_the_server_loads_without_a_word(self) -> None:
        server = Path(worker_module.__file__).with_name("server.pl")
        command = [find_swipl().executable, "-f", "none", "-q", "-g", "halt", str(server)]
        said = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        assert (said.returncode, said.stdout, said.stderr) == (0, "", "")

    def test_the_engine_tells_how_it_is_confined(self, engine) -> None:
        assert tuple(layer.name for layer in engine.layers) == LAYERS

    def test_the_seed_decides_what_random_predicates_give(self) -> None:
        def draws(seed: int) -> list[dict[str, str]]:
            engine = open_engine("swi", Limits(), seed=seed)
            try:
                program = engine.load("draw(X) :- random_between(1, 1000000000, X).")
                return texts(engine.solutions(program, "draw(X), draw(Y)"))
            finally:
                engine.close()

        assert draws(1) == draws(1)
        assert draws(1) != draws(2)

    def test_open_engine_finds_it(self) -> None:
        engine = open_engine("swi", Limits())
        assert engine.name == "swi"
        engine.close()


def _exists(worker: Worker, key: str) -> bool:
    """Whether a call with nothing but fresh variables gives anything but an existence error."""
    name, arity = key.rsplit("/", 1)
    arguments = tuple(Var() for _ in range(int(arity)))
    goal = Struct("-", (Struct(name, arguments) if arguments else Atom(name), NIL))
    said = worker.request(
        "ask(game,1,1,1000,1000,10000,100,1000)", f"{write(goal)}.\n", 5.0, 1 << 16
    )
    return "existence_error(procedure" not in said[0]


class TestDecoding:
    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("a", Atom("a")),
            ("'[]'", Atom("[]")),
            ("-1", -1),
            ("-(1)", Struct("-", (1,))),
            ("-(1,2)", Struct("-", (1, 2))),
            ("-(-(a))", Struct("-", (Struct("-", (Atom("a"),)),))),
            ("1r3", Fraction(1, 3)),
            ("-3r7", Fraction(-3, 7)),
            ("f(धोखा,'ร่วม',→+)", Struct("f", (Atom("धोखा"), Atom("ร่วม"), Atom("→+")))),
            ("123456789012345678901234567890", 123456789012345678901234567890),
            ("[]", Atom("[]")),
            ("[a,b|c]", list_of([Atom("a"), Atom("b")], Atom("c"))),
            ("[[1],[2,f(x)]]", list_of([list_of([1]), list_of([2, Struct("f", (Atom("x"),))])])),
            ("f(',','|',;,!)", Struct("f", (Atom(","), Atom("|"), Atom(";"), Atom("!")))),
            ("'a\\'b\\\\\\n\\u0001'", Atom("a'b\\\n\x01")),
            ('"a\\"b)"', String('a"b)')),
            ("'f('(x)", Struct("f(", (Atom("x"),))),
            ("{','(a,b)}", Struct("{}", (Struct(",", (Atom("a"), Atom("b"))),))),
            ("{}(a,b)", Struct("{}", (Atom("a"), Atom("b")))),
            (
                "f({},{}(a,{}),{a})",
                Struct(
                    "f",
                    (Atom("{}"), Struct("{}", (Atom("a"), Atom("{}"))), Struct("{}", (Atom("a"),))),
                ),
            ),
            ("f(:-,[:-|-])", Struct("f", (Atom(":-"), list_of([Atom(":-")], Atom("-"))))),
            ("日本(é)", Struct("日本", (Atom("é"),))),
        ],
    )
    def test_what_swi_prolog_writes_is_read_back(self, text: str, term: object) -> None:
        assert decode(text) == term

    def test_a_variable_is_one_variable_throughout(self) -> None:
        assert write(decode("f(_123,_9,_123)")) == "f(_1,_2,_1)"

    @pytest.mark.parametrize(
        "text", ["", "f(", "f)", "a b", "[1,2", "a,b", ")", "f(a))", "(a,b)", "()"]
    )
    def test_half_a_term_is_an_error(self, text: str) -> None:
        with pytest.raises(LogicError):
            decode(text)

    def test_large_answers_take_time_in_proportion(self) -> None:
        deep = "f(a," * 20_000 + "x" + ")" * 20_000
        wide = "[" + "a," * 100_000 + "g(h(X))]".replace("X", "_1")
        assert isinstance(decode(deep), Struct)
        assert isinstance(decode(wide), Struct)
        assert decode("f(g(a,1),[b],-(c,5r2))") == Struct(
            "f",
            (
                Struct("g", (Atom("a"), 1)),
                list_of([Atom("b")]),
                Struct("-", (Atom("c"), Fraction(5, 2))),
            ),
        )
