"""The gate: default deny, canonical text, and words that help."""

import pytest
from games_for_logic import DILEMMA
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import ProgramRefused
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Verdict
from bestresponse.logic.gate.check import check_goal, check_source, find_similar
from bestresponse.logic.gate.goals import measure_depth
from bestresponse.logic.language.diagnostics import Severity
from bestresponse.logic.language.predicates import CALLABLE, FORBIDDEN
from bestresponse.logic.language.reader import read
from bestresponse.logic.language.terms import write


def test_a_plain_game_passes_without_a_word() -> None:
    program = check_source(DILEMMA)
    assert program.diagnostics == ()
    assert "':-'(possible(move(_1,'D'),_2),holds(player(_1),_2)).\n" in program.canonical


def test_canonical_text_holds_only_clauses_of_the_program_and_empty_solver_predicates() -> None:
    directives = ":- discontiguous a/1.\n:- dynamic b/2.\n:- use_module(library(lists)).\n"
    text = check_source(directives + "a(X) :- b(X, 1), nl.").canonical
    assert "':-'(a(_1),','(b(_1,1),true)).\n" in text
    assert "':-'(b(_1,_2),fail).\n" in text
    assert "dynamic" not in text
    assert "library" not in text


@pytest.mark.parametrize(
    "goal",
    [
        "shell('x')",
        "halt",
        "open(f, write, S)",
        "assertz(a)",
        "retract(a)",
        "catch(a, _, b)",
        "throw(a)",
        "consult(f)",
        "nb_setval(a, 1)",
        "thread_create(a, _, [])",
        "phrase(a, [])",
        "repeat",
        "current_op(_, _, _)",
        "read(X)",
        "setup_call_cleanup(true, a, b)",
        "tcp_connect(a, b, c)",
        "prolog",
        "garbage_collect",
    ],
)
def test_what_reaches_the_host_or_the_engine_is_refused(goal: str) -> None:
    refusals = check_source(f"a :- {goal}.\nb.").refusals
    assert [d.code for d in refusals] == ["forbidden"]
    assert "is not allowed in game programs" in refusals[0].message


@pytest.mark.parametrize(
    "goal",
    [
        "X",
        "call(X)",
        "findall(Y, X, _)",
        "\\+ X",
        "forall(a, X)",
        "call(X, 1)",
        "maplist(X, [1])",
        "(a ; X)",
        "setof(Y, Z^X, _)",
        "system:halt",
        "user:a",
        "X^a",
        "findall(x, X^a, _)",
        "maplist([Y]>>X, [1])",
        "maplist(once, [a])",
        "include(call, [a], _)",
        "maplist(\\+, [a])",
        "maplist(','(true), [a])",
        "call([_]>>call, a, b)",
        "aggregate_all(count, call(X), _)",
        "maplist(shell, [a])",
        "foldl(X, [1], 0, _)",
        "1",
        '"a"',
        "(X *-> a ; a)",
        "maplist(missing, [1])",
        "initialise(f(1), s0)",
        "maplist(findall(x), [a], [b])",
        "format(atom(X), a, [])",
        "maplist([Y]>>shell(Y), [1])",
        "maplist([Y]>>b, [1], [2])",
        "maplist(\\Y^b, [1])",
    ],
)
def test_goals_that_are_not_written_out_are_refused(goal: str) -> None:
    program = check_source(f"a :- b, {goal}.\nb.")
    assert program.refusals
    assert program.clauses == ()
    assert program.canonical == ""


@pytest.mark.parametrize(
    "text",
    [
        ":- initialization(a).",
        ":- op(700, xfx, =>).",
        ":- set_prolog_flag(double_quotes, atom).",
        ":- module(a, []).",
        ":- use_module(library(process)).",
        ":- use_module('f.pl').",
        ":- consult(f).",
        ":- if(true).",
        ":- table a(_, min).",
        "?- a.",
        ":- dynamic shell/1.",
        ":- dynamic user:a/1.",
        ":- dynamic foo.",
        "a --> b.",
        "a => b.",
        "term_expansion(a, b).",
        "end_of_file.",
        "X :- a.",
        "1.",
        "game(a, b).",
        "holds(a, b) :- a.",
        "a = b.",
        "(a, b).",
        "findall(a, b, c).",
        "'$x'(1).",
        "user:a.",
        "maplist(a, b).",
        "initialise(a, b).",
        "call(a).",
        "[a].",
        "a:b :- c.",
        "'undefined predicate'(x).",
        "table_row(a, b).",
    ],
)
def test_directives_rules_and_definitions_that_change_the_ground_rules_are_refused(
    text: str,
) -> None:
    assert check_source("b.\n" + text).refusals


def test_declarations_of_built_in_predicates_are_ignored_with_a_warning() -> None:
    program = check_source(":- discontiguous holds/2.\na.")
    assert program.refusals == ()
    assert [d.message for d in program.diagnostics] == [
        "the declaration of holds/2 is ignored: it is built in"
    ]


def test_the_solvers_own_clauses_may_be_repeated_but_not_changed() -> None:
    listing = "game(F, F) :- final(F).\nholds(F, do(M, S)) :- effect(F, M, S).\nfinal(x).\n"
    program = check_source(listing)
    assert program.refusals == ()
    assert "game(" not in program.canonical
    assert {d.code for d in program.diagnostics} == {"repeated"}
    assert check_source(listing.replace("final(F)", "true")).refusals


def test_a_program_may_define_library_predicates_itself() -> None:
    assert (
        check_source(
            "member(X, [X|_]).\nmember(X, [_|T]) :- member(X, T).\na :- member(1, [1])."
        ).errors
        == ()
    )


def test_undefined_predicates_are_errors_but_no_danger() -> None:
    program = check_source("a :- hold(x), payof(1), payoff(1, 2), zzz.\npayoff(1).")
    assert program.refusals == ()
    assert [(d.code, d.message, d.hint) for d in program.errors] == [
        ("undefined", "hold/1 is called but not defined", "did you mean holds?"),
        ("undefined", "payof/1 is called but not defined", "did you mean payoff?"),
        ("arity", "payoff/2 is called, but only payoff/1 is defined", ""),
        ("undefined", "zzz/0 is called but not defined", "define it or remove the call"),
    ]
    assert "'undefined predicate'('/'(zzz,0))" in program.canonical


def test_slips_are_warnings() -> None:
    program = check_source("a(X, Y) :- b(X).\nb(_Z) :- c(_Z).\nc(1).\na(1, 2).")
    assert {d.severity for d in program.diagnostics} == {Severity.WARNING}
    assert [(d.line, d.message) for d in program.diagnostics] == [
        (1, "singleton variable Y in a clause of a/2"),
        (2, "marked as unused but used more than once: _Z"),
        (4, "the clauses of a/2 are not together"),
    ]


def test_depth_and_number_of_clauses_are_limited() -> None:
    assert [d.code for d in check_source("a(1" + "+1" * 200 + ").").refusals] == ["depth"]
    assert [d.code for d in check_source("a.\n" * 5_001).refusals] == ["size"]
    assert check_source("a :- " + "b, " * 2_000 + "b.\nb.").refusals == ()


def test_a_clause_has_at_most_three_thousand_goals() -> None:
    assert check_source("final(_) :- " + "true, " * 2_999 + "true.").refusals == ()
    (refusal,) = check_source("final(_) :- " + "true, " * 3_000 + "true.").refusals
    assert refusal.message == "a clause of more than 3,000 goals"
    assert refusal.hint == "split it into several predicates"


def test_what_a_refused_clause_defines_is_not_called_missing_as_well() -> None:
    caller = "final(S) :- q(S).\n"
    wide = f"q({', '.join('_' * 61)})"
    for text in (
        caller + "q(S) :- S = " + "f(" * 101 + "1" + ")" * 101 + ".",
        f"final(_) :- {wide}.\n{wide}.",
    ):
        assert [one.code for one in check_source(text).errors] in (
            ["syntax"],
            ["depth"],
            ["reserved"],
        )


def test_goals_pass_the_same_gate() -> None:
    program = check_source(DILEMMA)
    goal = check_goal("game(s0, F), finally(goal(p1, _U), F)", program)
    assert goal.names == ("F",)
    assert goal.canonical == "'-'(','(game(s0,_1),finally(goal(p1,_2),_1)),[_1])"
    for text in ("halt", "X", "assertz(a)", "game(s0, F", "initialise(a(1), s0)", "a. b"):
        with pytest.raises(ProgramRefused, match="The goal was refused"):
            check_goal(text, program)


def test_initialise_before_a_goal_becomes_what_is_given() -> None:
    goal = check_goal(
        "initialise(last_move(p2, 'D'), s0), select(p1, p2, s0, M)", check_source(DILEMMA)
    )
    assert [(write(fluent), write(situation)) for fluent, situation in goal.fluents] == [
        ("last_move(p2,'D')", "s0")
    ]


def test_nothing_is_both_allowed_and_forbidden() -> None:
    assert {key.rsplit("/", 1)[0] for key in CALLABLE} & FORBIDDEN == set()


_WORDS = [
    "a",
    "b(X)",
    "X",
    "shell(x)",
    "call(X)",
    "maplist(b, L)",
    "findall(X, b(X), L)",
    "\\+",
    ",",
    ";",
    "->",
    ":-",
    "(",
    ")",
    "halt",
    "!",
    ".\n",
    ":- dynamic c/1.\n",
    "^",
    "setof(X, Y^b(X), L)",
    "=..",
    "[H|T]",
    "'halt'",
    ":",
    "once",
    "\\x68\\",
]


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(_WORDS), max_size=25).map(" ".join))
def test_whatever_passes_is_readable_and_calls_only_what_is_known(text: str) -> None:
    program = check_source(text)
    reading = read(program.canonical)
    assert reading.diagnostics == ()
    again = check_source(
        "".join(
            clause.text + "\n"
            for clause in reading.clauses
            if "undefined predicate" not in clause.text
        )
    )
    assert [d for d in again.refusals if d.code in ("forbidden", "goal", "directive")] == []


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        (
            "initialise(mood(p1, angry), s0)",
            ["mood(p2,calm)", "mood(p3,calm)", "weather(p1,dry)", "mood(p1,angry)"],
        ),
        (
            "initialise(mood(p1, angry), s9)",
            ["mood(p1,calm)", "mood(p2,calm)", "weather(p1,dry)", "mood(p1,angry)"],
        ),
        (
            "initialise(mood(p4, angry), s0)",
            [
                "mood(p1,calm)",
                "mood(p2,calm)",
                "mood(p3,calm)",
                "weather(p1,dry)",
                "mood(p4,angry)",
            ],
        ),
    ],
)
def test_what_is_given_replaces_what_is_said_of_the_same_name_and_first_argument(
    given_text, kept
) -> None:
    said = (
        "initially(mood(p1, calm), s0).\ninitially(mood(p2, calm), s0).\ninitially(mood(p3, calm),"
        " S).\n"
    )
    program = check_source(
        said + "initially(weather(p1, dry), s0).\nask(M) :- initially(mood(p1, M), s0)."
    )
    goal = check_goal(f"{given_text}, ask(M)", program)
    changed = program.initialise(goal.fluents)
    found = [
        write(c.head.args[0]) for c in changed.clauses if write(c.head).startswith("initially")
    ]
    assert sorted(found) == sorted(kept if "s9" not in given_text else [*kept, "mood(p3,calm)"])


def test_a_rule_about_everybody_gives_way_to_what_is_given_of_one() -> None:
    program = check_source("initially(mood(_, calm), s0).\nask(M) :- initially(mood(p1, M), s0).")
    changed = program.initialise(
        check_goal("initialise(mood(p1, angry), s0), ask(M)", program).fluents
    )
    assert "calm" not in changed.canonical
    assert changed.canonical.startswith("':-'(ask(_1),initially(mood(p1,_1),s0)).\n")


@pytest.mark.parametrize(
    "goal",
    [
        "random(3) =:= 1",
        "1 =:= random(3)",
        "X is 1 + random(3)",
        "random(3) < 2",
        "2 > 1 + cputime",
    ],
)
def test_both_sides_of_a_comparison_use_the_arithmetic_of_games_only(goal: str) -> None:
    (refusal,) = check_source(f"a(X) :- X = 1, {goal}.").refusals
    assert "is not part of the arithmetic of games" in refusal.message


def test_what_an_assignment_is_compared_with_is_no_arithmetic() -> None:
    assert check_source("a(pair(X, Y)) :- X is 1 + 2, Y is X * 2.").refusals == ()


def test_several_predicates_are_declared_at_once() -> None:
    for declared in ("a/1, b/2, c/0", "[a/1, b/2, c/0]"):
        program = check_source(f":- dynamic {declared}.\nd(X) :- a(X), b(X, X), c.")
        assert program.diagnostics == ()
        assert [
            f"':-'({head},fail).\n" in program.canonical for head in ("a(_1)", "b(_1,_2)", "c")
        ] == [True] * 3


@pytest.mark.parametrize(
    "declared", ["a(b, 1)", "a(b, c, d)", "a", "a/b", "a/(-1)", "a/101", "1/a", "'/'(a)"]
)
def test_what_is_declared_is_written_name_and_arity(declared: str) -> None:
    (refusal,) = check_source(f":- dynamic({declared}).\nb.").refusals
    assert refusal.message == ":- dynamic takes predicates written name/arity"


def test_a_diagnosis_quotes_the_first_line_of_its_clause_and_no_more_than_200_letters() -> None:
    long = "a(" + "x" * 300 + ")"
    (long_line,) = check_source(f"{long} :-\n  halt.").refusals
    assert long_line.source_line == long[:200]
    (short_line,) = check_source("a :-\n  b,\n  halt.\nb.").refusals
    assert short_line.source_line == "a :-"


def test_only_a_variable_marked_as_unused_by_a_capital_is_complained_about() -> None:
    program = check_source("a(_Move, _Move).\nb(_other, _other).\nc(_A, _A).")
    marked = [d.message for d in program.diagnostics if d.code == "marked"]
    assert marked == [
        "marked as unused but used more than once: _Move",
        "marked as unused but used more than once: _A",
    ]


def test_a_name_that_was_probably_meant_begins_alike_and_is_about_as_long() -> None:
    assert find_similar("payofff", ["payout", "payoff", "xayofff"]) == "payoff"
    assert find_similar("abcdefghijklm", ["abcdefghijklmnop"]) == "abcdefghijklmnop"
    assert find_similar("abcdefghijklm", ["abcdefghijklmnopq"]) == ""
    assert find_similar("payoff", ["dayoff"]) == ""


def test_limits_are_the_largest_sizes_that_are_accepted() -> None:
    assert check_source("".join(f"a({n}).\n" for n in range(5_000))).refusals == ()
    (many,) = check_source("".join(f"a({n}).\n" for n in range(5_001))).refusals
    assert many.message == "5,001 clauses; at most 5,000 are accepted"


@pytest.mark.parametrize(("count", "accepted"), [(60, True), (61, False)])
def test_a_predicate_has_sixty_arguments_at_most(count: int, accepted: bool) -> None:
    assert (check_source(f"a({', '.join('x' * count)}).").refusals == ()) is accepted


def test_a_program_that_is_required_but_refused_tells_three_reasons_and_counts_the_rest() -> None:
    with pytest.raises(ProgramRefused) as three:
        check_source("a :- halt.\nb :- halt.\nc :- halt.").require()
    assert str(three.value).startswith("The program was refused: ")
    assert str(three.value).count("halt/0 is not allowed") == 3
    assert "more)" not in str(three.value)
    with pytest.raises(ProgramRefused, match=r"\(and 1 more\)$") as four:
        check_source("".join(f"a{n} :- halt.\n" for n in range(4))).require()
    assert str(four.value).count("halt/0 is not allowed") == 3
    assert check_source("a.").require().refusals == ()


def test_calls_of_nothing_are_told_once_a_clause_and_at_most_fifty_times() -> None:
    twice = [
        d
        for d in check_source("a :- missing, missing.\nb :- missing.").diagnostics
        if d.code == "undefined"
    ]
    assert [d.line for d in twice] == [1, 2]
    many = check_source("".join(f"a{n} :- missing{n}.\n" for n in range(60))).diagnostics
    assert len([d for d in many if d.code == "undefined"]) == 50


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("count", "'list length'"),
        ("sum(X)", "'sum"),
        ("max(X)", "max"),
        ("min(X, Y)", "'smallest pair'"),
        ("max(X, Y)", "'largest pair'"),
        ("bag(X)", "findall(_2,p(_2,_3),_1)"),
    ],
)
def test_collecting_is_written_as_findall_and_what_is_made_of_the_list(
    spec: str, text: str
) -> None:
    program = check_source(f"p(1, a).\nq(R) :- aggregate_all({spec}, p(X, Y), R).")
    assert program.refusals == ()
    assert "findall(" in program.canonical
    assert text in program.canonical
    (refusal,) = check_source("p(1).\nq(R) :- aggregate_all(median(X), p(X), R).").refusals
    assert refusal.message == "aggregate_all cannot make median(_1)"


def test_what_shows_something_is_silent_also_where_it_is_handed_on() -> None:
    assert (
        check_source("a :- maplist(print, [1, 2]).\nb :- foldl(format, [1], [2], _).").diagnostics
        == ()
    )


@pytest.mark.parametrize(("levels", "accepted"), [(98, True), (99, False)])
def test_a_term_may_be_nested_a_hundred_deep(levels: int, accepted: bool) -> None:
    nested = "f(" * levels + "x" + ")" * levels
    assert (check_source(f"a({nested}).").refusals == ()) is accepted
    program = check_source("a(1).")
    if accepted:
        assert check_goal(f"a({nested})", program).names == ()
    else:
        with pytest.raises(ProgramRefused, match="the goal is nested deeper than 100"):
            check_goal(f"a({nested})", program)


@pytest.mark.parametrize(
    ("text", "levels"),
    [("a", 1), ("f(a)", 2), ("f(a, g(b))", 3), ("[a, b, c]", 2), ("a, b, c", 2), ("a ; f(b)", 2)],
)
def test_arguments_are_a_level_deeper_and_the_rest_of_a_chain_is_not(
    text: str, levels: int
) -> None:
    assert measure_depth(read(f"{text}.").clauses[0].term) == levels


def test_lists_and_conjunctions_are_as_long_as_they_like() -> None:
    items = ", ".join("x" * 300)
    assert (
        check_source(
            f"a([{items}]).\nb :- {', '.join(['c'] * 300)}.\nd :- {' ; '.join(['c'] * 300)}.\nc."
        ).refusals
        == ()
    )


def test_what_concerns_the_whole_program_has_no_line() -> None:
    (many,) = check_source("a.\n" * 5_001).refusals
    assert (many.line, many.column, many.source_line) == (0, 0, "")
    (one,) = check_source("b.\n  a :- halt.").refusals
    assert (one.line, one.column, one.source_line) == (2, 3, "a :- halt.")


def test_clauses_that_nobody_wrote_have_no_line() -> None:
    program = check_source("a(X) :- maplist([Y]>>(Y = 1), X).")
    assert [clause.line for clause in program.clauses if write(clause.head).startswith("a(")] == [1]
    assert {
        (c.line, c.column, c.source_line)
        for c in program.clauses
        if not write(c.head).startswith("a(")
    } == {(0, 0, "")}


def test_a_name_of_forty_letters_gets_a_hint_and_a_longer_one_none() -> None:
    meant = "p" * 41
    assert find_similar("p" * 40, [meant]) == meant
    assert find_similar("p" * 41, ["p" * 40]) == ""


def test_two_hundred_names_are_looked_at() -> None:
    others = [f"pzzzzz{n:03}" for n in range(199)]
    assert find_similar("payoffone", [*others, "payoffxne"]) == "payoffxne"
    assert find_similar("payoffone", [*others, "pzzzzz199", "payoffxne"]) == ""


def test_the_first_ten_calls_of_nothing_get_a_hint() -> None:
    program = check_source("payoff(1).\n" + "".join(f"a{n} :- payof({n}).\n" for n in range(12)))
    hints = [d.hint for d in program.errors]
    assert hints == ["did you mean payoff?"] * 10 + ["define it or remove the call"] * 2


def test_a_lambda_becomes_a_predicate_whose_name_the_program_does_not_use() -> None:
    lambdas = "a(X, Z) :- maplist([Y]>>(Y = Z), X).\n"
    assert "'lambda 0'(_1,_2)" in check_source(lambdas).canonical
    assert "'lambda 1'(_1,_2)" in check_source(lambdas + "'lambda 0'(1, 2).").canonical
    taken = check_source(lambdas + "'lambda 0'(1, 2).\n'lambda 1'(1, 2).").canonical
    assert "'lambda 2'(_1,_2)" in taken
    other_arity = check_source(lambdas + "'lambda 0'(1).\n'lambda 0'(1, 2, 3).").canonical
    assert "'lambda 0'(_1,_2)" in other_arity


def test_built_in_predicates_are_called_by_the_names_of_the_library_also_where_they_are_handed_on() -> (
    None
):
    program = check_source(
        "a(X, Y, O) :- length(X, Y), maplist(length, X, Y), maplist(compare(O), X, Y)."
    )
    assert program.canonical.startswith(
        "':-'(a(_1,_2,_3),','('list length'(_1,_2),"
        "','(maplist('list length',_1,_2),maplist('ordered as'(_3),_1,_2)))).\n"
    )


def test_what_is_handed_on_is_a_predicate_of_the_program_or_silent() -> None:
    assert check_source("a(X) :- maplist(b, X).\nb(_).").canonical.startswith(
        "':-'(a(_1),maplist(b,_1)).\n"
    )
    assert check_source("a(X) :- maplist(print, X).").canonical.startswith(
        "':-'(a(_1),maplist('say nothing',_1)).\n"
    )


def test_nothing_more_is_said_of_a_clause_that_may_not_be_defined() -> None:
    assert [d.message for d in check_source("halt :- shell(ls).").errors] == [
        "halt/0 is not allowed in game programs"
    ]


def test_an_expression_may_name_what_is_no_constant() -> None:
    assert check_source("a(X) :- X is b.").diagnostics == ()


def test_a_directive_makes_no_predicate() -> None:
    (refusal,) = check_source("a.\n:- maplist([X]>>(X = 1), [1]).").refusals
    assert refusal.message.endswith("is not allowed")


def test_everyday_words_may_name_predicates_of_a_game_unless_every_prolog_has_them() -> None:
    assert (
        check_source("help(ann, bob).\nopen(door).\na :- help(ann, bob), open(door).").diagnostics
        == ()
    )
    assert [d.message for d in check_source("halt.\nthrow(ball).").refusals] == [
        "halt/0 is not allowed in game programs",
        "throw/1 is not allowed in game programs",
    ]


def test_every_lambda_has_a_predicate_of_its_own() -> None:
    text = check_source(
        "a(X) :- maplist([Y]>>(Y = 1), X), maplist([Y]>>(Y = 2), X), maplist([Y]>>(Y = 3), X)."
    ).canonical
    assert [f"maplist('lambda {n}'(" in text for n in range(4)] == [True, True, True, False]


def test_variables_named_before_the_parameters_are_shared_and_others_copied() -> None:
    shared = check_source("a(X, Z) :- maplist(Z/[Y]>>(Y = Z), X).").canonical
    assert "maplist('lambda 0'(_2,of(_3)),_1)" in shared
    assert (
        "':-'('lambda 0'(_1,_2,_3),','('fresh copy'(_2,of(_4)),','('='(_4,_3),'='(_4,_1))))"
        in shared
    )
    plain = check_source("a(X) :- maplist([1]>>b, X).\nb.").canonical
    assert "maplist('lambda 0'([]),_1)" in plain
    assert "':-'('lambda 0'(_1,_2),','('fresh copy'(_1,[]),','('='(1,_2),b)))" in plain


def test_the_left_side_of_an_assignment_may_be_anything() -> None:
    assert check_source("a(X) :- pair(X, pi) is 1 + 2.").refusals == ()
    (refusal,) = check_source("a(X) :- X is pair(1, 2).").refusals
    assert refusal.message == "pair/2 is not part of the arithmetic of games"


@pytest.mark.parametrize(
    ("directive", "codes"),
    [
        (":- use_module(library(lists)).", []),
        (":- use_module(library(lists), [member/2]).", []),
        (":- ensure_loaded(library(lists)).", []),
        (":- ensure_loaded([library(lists), library(apply)]).", []),
        (":- ensure_loaded([library(lists), library(process)]).", ["directive"]),
        (":- ensure_loaded([]).", ["directive"]),
        (":- ensure_loaded(lists).", ["directive"]),
        (":- use_module(folder(lists)).", ["directive"]),
        (":- use_module.", ["directive"]),
        (":- dynamic.", ["directive"]),
        (":- load(library(lists)).", ["directive"]),
    ],
)
def test_only_libraries_that_do_nothing_are_loaded(directive: str, codes: list[str]) -> None:
    assert [d.code for d in check_source(f"{directive}\na.").refusals] == codes


@pytest.mark.parametrize("directive", ["style_check(-singleton)", "license(mit)", "encoding(utf8)"])
def test_directives_about_the_text_are_ignored_with_a_warning(directive: str) -> None:
    (told,) = check_source(f":- {directive}.\na.").diagnostics
    assert told.message == f"the directive {directive.partition('(')[0]} is ignored"
    assert told.severity is Severity.WARNING


@pytest.mark.parametrize("directive", [":- a.", ":- initialization(a).", "?- a."])
def test_a_directive_that_calls_the_program_itself_is_not_run_and_said_so(directive: str) -> None:
    program = check_source(f"a.\n{directive}")
    assert program.refusals == ()
    assert [(d.severity, d.line) for d in program.diagnostics] == [(Severity.WARNING, 2)]
    assert program.diagnostics[0].message.endswith("is not run")
    (refused,) = check_source(
        directive.replace("a", "b", 1) if "init" not in directive else ":- initialization(b)."
    ).refusals
    assert refused.message.endswith("is not allowed")


def test_only_what_is_declared_dynamic_may_have_no_clauses() -> None:
    assert check_source(":- dynamic b/1.\na :- b(1).").errors == ()
    assert [d.message for d in check_source(":- discontiguous b/1.\na :- b(1).").errors] == [
        "b/1 is called but not defined"
    ]


def test_goals_before_the_goal_are_given_only_where_they_are_fluents_without_variables() -> None:
    program = check_source(DILEMMA)
    for text in (
        "initialise(mood, s0), true",
        "initialise(mood(X), s0), true",
        "initialise(mood(1), S), true",
    ):
        with pytest.raises(
            ProgramRefused, match="takes a fluent and a situation without variables"
        ):
            check_goal(text, program)
    for text in ("initialise(mood(1), s0)", "initialise(mood(1), s0), initialise(mood(2), s0)"):
        with pytest.raises(ProgramRefused, match="stands before the goal it is meant for"):
            check_goal(text, program)
    two = check_goal("initialise(a(1), s0), initialise(b(2), s1), true", program)
    assert [(write(fluent), write(situation)) for fluent, situation in two.fluents] == [
        ("a(1)", "s0"),
        ("b(2)", "s1"),
    ]
    assert two.canonical == "'-'(true,[])"


def test_a_goal_makes_no_predicate() -> None:
    with pytest.raises(ProgramRefused, match="this lambda expression cannot be used"):
        check_goal("maplist([X]>>(X = 1), [1])", check_source("a."))


def test_diagnoses_come_errors_first_and_then_by_line() -> None:
    program = check_source("a(X).\nb :- missing.\nc(Y).\nd :- absent.")
    assert [(d.code, d.line) for d in program.diagnostics] == [
        ("undefined", 2),
        ("undefined", 4),
        ("singleton", 1),
        ("singleton", 3),
    ]


@pytest.mark.parametrize(
    "head",
    [
        "'say nothing'(1)",
        "'go on'(1, 2, 3, 4, 5, 6)",
        "'sum of'(1, 2)",
        "'raw sort'(1, 2, 3, 4)",
        "'list length'(1, 2)",
    ],
)
def test_what_the_solver_is_made_of_is_not_defined_anew(head: str) -> None:
    for text in (f"{head}.", f"{head} :- b."):
        (refusal,) = check_source(f"b.\n{text}").refusals
        assert refusal.message.endswith("belongs to the solver; a game cannot define it")


@pytest.mark.parametrize(
    "goal", ["table_row(A, B)", "maplist(table_row, [A], [B])", "call(table_rows(A), B)"]
)
def test_what_is_asked_about_a_whole_game_is_not_called_in_one(goal: str) -> None:
    (refusal,) = check_source(f"b :- {goal}.").refusals
    assert refusal.message.endswith("belongs to the solver; a game cannot call it")


def test_what_strategies_take_for_granted_is_there_unless_the_program_defines_it() -> None:
    engine = EmbeddedEngine()
    assert engine.prove(engine.load("a."), "highest([3-x, 2-y], x)").verdict is Verdict.PROVED
    assert (
        engine.prove(engine.load("highest(X, X)."), "highest([3-x, 2-y], x)").verdict
        is Verdict.REFUTED
    )


def test_a_game_says_whether_anybody_sees_anything() -> None:
    assert "':-'('has percepts',fail).\n" in check_source("a.").canonical
    assert "'has percepts'.\n" in check_source("sees(p1, x, s0).").canonical
