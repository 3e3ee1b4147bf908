"""Claims are decided by logic and by theory, independently, and the two agree."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from deciding import prove
from drawn_claims import KINDS, TABLE_FORMS, TREE_FORMS, table_claims, tables, tree_claims, trees
from hypothesis import given, settings, strategies as st

from bestresponse.formal.claims import Checker, Claim, Malformed, Subject, parse, parse_json
from bestresponse.formal.claims.checker import TheoryCheck
from bestresponse.formal.claims.claim import FORMS, claims_schema
from bestresponse.formal.claims.logic_check import LogicCheck
from bestresponse.logic import EmbeddedEngine, Proof, Verdict, open_engine
from bestresponse.logic.engine import Program
from bestresponse.logic.language.terms import Term
from bestresponse.theory.catalogue.trees import tree_entry
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree

DILEMMA = NormalForm.bimatrix([[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(("R", "B"), ("R", "B")))
PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


ON_THE_DILEMMA = [
    ("finally(goal(you, 5), do(choice(you, 'R'), do(choice(them, 'B'), s0))).", PROVED),
    ("finally(goal(them, 5), do(choice(them, 'R'), do(choice(you, 'B'), s0))).", PROVED),
    ("finally(goal(you, 3), do(choice(you, 'R'), do(choice(them, 'B'), s0))).", REFUTED),
    ("highest_possible_individual_payoff(5).", PROVED),
    ("lowest_individual_payoff_for_choice(1, 'R').", PROVED),
    ("highest_guaranteed_payoff_choice('R').", PROVED),
    ("lowest_guaranteed_payoff_choice('B').", PROVED),
    ("higher_guaranteed_payoff('R', 'R').", REFUTED),
    ("equal_guaranteed_payoff('R', 'R').", PROVED),
    ("highest_mutual_payoff('B', 'B').", PROVED),
    ("total_payoff(6, do(choice(you, 'B'), do(choice(them, 'B'), s0))).", PROVED),
    ("total_payoff(6, do(choice(you, 'B'), do(choice(them, 'R'), s0))).", REFUTED),
    ("not(equilibrium(do(choice(you, 'B'), do(choice(them, 'B'), s0)))).", PROVED),
    ("\\+ strictly_dominant('R').", REFUTED),
    ("not(strictly_dominant('X')).", UNKNOWN),
    ("highest_payoff(5).", PROVED),
    ("lowest_payoff(1).", REFUTED),
    ("expected_payoff(you, 3, 'R', [mix(them, ['R'-0.5, 'B'-0.5])]).", PROVED),
    ("expected_payoff(you, 2.5, 'R', [mix(them, ['R'-0.5, 'B'-0.5])]).", REFUTED),
    ("best_response('R', do(choice(them, 'B'), s0)).", PROVED),
    ("strictly_dominant('R', them).", PROVED),
    ("equilibrium(do(choice(you, 'R'), do(choice(them, 'R'), s0))).", PROVED),
    ("equilibrium(do(choice(you, 'B'), do(choice(them, 'B'), s0))).", REFUTED),
    (
        (
            "pareto_dominates(do(choice(you, 'B'), do(choice(them, 'B'), s0)), "
            "do(choice(you, 'R'), do(choice(them, 'R'), s0)))."
        ),
        PROVED,
    ),
    ("pareto_optimal(do(choice(you, 'R'), do(choice(them, 'R'), s0))).", REFUTED),
    ("maximin_payoff(1).", PROVED),
    ("equilibrium_payoff(you, 1).", PROVED),
    ("equilibrium_payoff(them, 3).", REFUTED),
    ("minimax_payoff(1).", PROVED),
    ("will_play(them, 'R', s0).", UNKNOWN),
    ("higher(5, 5).", REFUTED),
    ("equal(5, 5.0).", PROVED),
]


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(Subject(DILEMMA), EmbeddedEngine())


def verdict(checker: Checker, query: str) -> Verdict:
    (claim,) = parse(query)
    return checker.check(claim).verdict


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_logic_and_theory_agree_on_every_form_about_tables(kind: str, data: st.DataObject) -> None:
    subject = data.draw(tables(KINDS[kind][0]))
    logic, theory = LogicCheck(subject, EmbeddedEngine()), TheoryCheck(subject)
    for form in KINDS[kind] * 2:
        claim = data.draw(table_claims(subject, form))
        found = prove(theory, claim)
        if "more than two best replies" not in found.why:
            assert found.verdict is not UNKNOWN or "rounded" in found.why
            assert prove(logic, claim) == found, str(claim)


def test_logic_and_theory_agree_on_what_is_paid_in_equilibrium() -> None:
    rng = np.random.default_rng(2)
    verdicts: Counter[Verdict] = Counter()
    for _ in range(4):
        subject = Subject(
            NormalForm.bimatrix(*rng.integers(0, 3, (2, 2, 2)).tolist()), int(rng.integers(2))
        )
        logic, theory = LogicCheck(subject, EmbeddedEngine()), TheoryCheck(subject)
        for who, value in product(("you", "them"), ("0", "1/2", "2")):
            claim = Claim("equilibrium_payoff", (who, Fraction(value)))
            by_theory, by_logic = prove(theory, claim).verdict, prove(logic, claim).verdict
            # Between two equilibria that pay less and more, theory knows whether they are joined;
            # logic leaves it open.
            assert by_logic is by_theory or (by_logic, by_theory) == (UNKNOWN, REFUTED), str(claim)
            verdicts[by_theory] += 1
    assert verdicts == {PROVED: 4, REFUTED: 13, UNKNOWN: 7}


@pytest.mark.parametrize(
    ("payoffs", "value", "expected"),
    [
        # The dilemma has one equilibrium, which pays both 1.
        ((((3, 0), (5, 1)), ((3, 5), (0, 1))), "1", PROVED),
        ((((3, 0), (5, 1)), ((3, 5), (0, 1))), "3", REFUTED),
        # Battle of the sexes: 2 and 1 in the pure equilibria, 2 * 1/3 = 2/3 in the mixed one.
        ((((2, 0), (0, 1)), ((1, 0), (0, 2))), "2", UNKNOWN),
        ((((2, 0), (0, 1)), ((1, 0), (0, 2))), "2/3", UNKNOWN),
        ((((2, 0), (0, 1)), ((1, 0), (0, 2))), "0.67", UNKNOWN),
        ((((2, 0), (0, 1)), ((1, 0), (0, 2))), "3/2", REFUTED),
        # Against a second player who does not care the first gets anything from 1 to 2.
        ((((1, 2), (0, 0)), ((1, 1), (1, 1))), "3/2", UNKNOWN),
        # Matching pennies with 1 and -2: at 1/2 each the first loses half a point on average.
        ((((1, -2), (-2, 1)), ((-1, 2), (2, -1))), "-1/2", PROVED),
    ],
)
def test_what_is_paid_in_equilibrium_is_open_where_equilibria_differ(
    payoffs, value, expected
) -> None:
    checker = Checker(Subject(NormalForm.bimatrix(*payoffs)), EmbeddedEngine())
    assert checker.check(Claim("equilibrium_payoff", ("you", Fraction(value)))).verdict is expected
    denied = {PROVED: REFUTED, REFUTED: PROVED, UNKNOWN: UNKNOWN}[expected]
    assert (
        checker.check(Claim("equilibrium_payoff", ("you", Fraction(value)), negated=True)).verdict
        is denied
    )


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_logic_and_theory_agree_on_every_form_about_trees(data: st.DataObject) -> None:
    subject = data.draw(trees())
    logic, theory = LogicCheck(subject, EmbeddedEngine()), TheoryCheck(subject)
    for form in TREE_FORMS:
        claim = data.draw(tree_claims(subject, form))
        assert prove(logic, claim).verdict is prove(theory, claim).verdict, str(claim)


@pytest.mark.parametrize("form", TABLE_FORMS)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_what_is_printed_reads_back_as_the_same_claim(form: str, data: st.DataObject) -> None:
    claim = data.draw(table_claims(data.draw(tables(form)), form))
    assert parse(str(claim)) == (claim,)


@pytest.mark.parametrize(
    ("payoffs", "value", "expected"),
    [
        # Battle of the sexes: the mixed equilibrium pays the first 2 * 1/3, the pure ones 2 and 1.
        ((((2, 0), (0, 1)), ((1, 0), (0, 2))), "2/3", PROVED),
        ((((2, 0), (0, 1)), ((1, 0), (0, 2))), "0.67", PROVED),
        ((((2, 0), (0, 1)), ((1, 0), (0, 2))), "2", REFUTED),
        # The dilemma has no mixed equilibrium.
        ((((3, 0), (5, 1)), ((3, 5), (0, 1))), "1", REFUTED),
        # Against a second player who does not care the first gets anything from 1 to 2.
        ((((1, 2), (0, 0)), ((1, 1), (1, 1))), "3/2", UNKNOWN),
    ],
)
def test_what_the_mixed_equilibrium_pays_is_told_from_what_the_pure_ones_pay(
    payoffs, value, expected
) -> None:
    checker = Checker(Subject(NormalForm.bimatrix(*payoffs)), EmbeddedEngine())
    claim = Claim("mixed_equilibrium_payoff", ("you", Fraction(value)))
    assert checker.check(claim).verdict is expected


class Contrarian(EmbeddedEngine):
    """An engine that says the opposite of what it proves."""

    def prove(self, program: Program, goal: str | Term) -> Proof:
        proof = super().prove(program, goal)
        return Proof({PROVED: REFUTED, REFUTED: PROVED}.get(proof.verdict, UNKNOWN))


@pytest.mark.parametrize(
    "query", ["strictly_dominant('R').", "strictly_dominant('B').", "not(higher(1, 2))."]
)
def test_where_logic_and_theory_contradict_each_other_there_is_no_verdict(query: str) -> None:
    checked = Checker(Subject(DILEMMA), Contrarian()).check(parse(query)[0])
    assert checked.verdict is UNKNOWN
    said = {"strictly_dominant('B').": "theory says refuted and logic says proved"}
    assert checked.proof.why.startswith(
        said.get(query, "theory says proved and logic says refuted")
    )


@pytest.mark.parametrize(("query", "wanted"), ON_THE_DILEMMA)
def test_verdicts_on_the_prisoners_dilemma(checker: Checker, query: str, wanted: Verdict) -> None:
    assert verdict(checker, query) is wanted


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            "finally(goal(judge, 5), do(choice(you, 'R'), do(choice(them, 'B'), s0))).",
            "there is no player 'judge'",
        ),
        ("highest_guaranteed_payoff_choice('X').", "cannot choose 'X'"),
        ("finally(goal(you, 5), do(choice(you, 'R'), s0)).", "does not say what them chooses"),
        ("finally(goal(you, 5), do(choice(you, 'R'), do(choice(you, 'R'), s0))).", "chooses twice"),
        ("expected_payoff(you, 3, 'R', [mix(them, ['R'-0.5])]).", "must sum to 1"),
        ("higher(5, X).", "a number was expected"),
        ("shell('rm -rf /').", "there is no form of claim"),
        ("higher(5, 3) :- halt.", "there is no form of claim"),
        ("higher(5", "this is no term"),
        ("PROVED", "a claim has a name and arguments"),
        ("higher(" + "9" * 3000 + ", 1).", "the limit is 2,000"),
        ("higher(\x00, 1).", "this is no term"),
    ],
)
def test_what_cannot_be_decided_is_unknown_and_says_why(
    checker: Checker, query: str, why: str
) -> None:
    (claim,) = parse(query)
    proof = checker.check(claim).proof
    assert proof.verdict is UNKNOWN
    assert why in proof.why


def test_an_outcome_with_two_payoffs_is_two_claims() -> None:
    claims = parse("finally(outcome(you, 'B', 0, them, 'R', 5), s0).")
    assert [claim["value"] for claim in claims if isinstance(claim, Claim)] == [
        Fraction(0),
        Fraction(5),
    ]


def test_json_and_text_give_the_same_claim() -> None:
    moves = '[{"who": "them", "action": "R"}, {"who": "you", "action": "B"}]'
    by_json = parse_json(
        f'{{"claims": [{{"form": "payoff", "who": "you", "value": 0, "outcome": {moves}}}]}}'
    )
    assert by_json == parse(
        "finally(goal(you, 0), do(choice(you, 'B'), do(choice(them, 'R'), s0)))."
    )


def test_json_that_breaks_its_schema_is_malformed_claim_by_claim() -> None:
    text = (
        '{"claims": [{"form": "higher", "first": 5}, {"form": "nonsense"}, {"form": "equal",'
        ' "first": 1, "second": 1}]}'
    )
    first, second, third = parse_json(text)
    assert isinstance(first, Malformed)
    assert isinstance(second, Malformed)
    assert str(third) == "equal(1, 1)."
    assert isinstance(parse_json("PROVED")[0], Malformed)


def test_a_name_means_the_same_sort_in_every_form() -> None:
    sorts = {(name, sort) for form in FORMS.values() for name, sort in form.parameters}
    assert len({name for name, _ in sorts}) == len(sorts)


def test_the_schema_names_every_form() -> None:
    assert claims_schema()["properties"]["claims"]["items"]["properties"]["form"]["enum"] == list(
        FORMS
    )


def test_looking_ahead_in_the_centipede_everybody_takes() -> None:
    tree = tree_entry("centipede").make()
    checker = Checker(Subject(tree), EmbeddedEngine())
    first, second = tree.infosets[0], tree.infosets[1]
    assert first.moves[0] == "take"
    taken = parse(f"will_play(them, take, do(choice(you, {first.moves[1]}), s0)).")[0]
    passed = parse(f"will_play(them, {second.moves[1]}, do(choice(you, {first.moves[1]}), s0)).")[0]
    assert checker.check(taken).verdict is PROVED
    assert checker.check(passed).verdict is REFUTED


def test_a_game_too_large_for_the_logic_engine_is_decided_by_theory() -> None:
    large = NormalForm.zero_sum([[float(i + j) for j in range(60)] for i in range(60)])
    checker = Checker(Subject(large), EmbeddedEngine())
    assert checker.logic is not None
    (claim,) = parse("highest_payoff(118).")
    assert isinstance(claim, Claim)
    assert "the logic engine takes" in prove(checker.logic, claim).why
    assert checker.check(claim).verdict is PROVED


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        (48, ""),
        (50, "the tree has 2,551 nodes; the logic engine takes 2,400"),
    ],  # of n moves each: 1 + n + n * n nodes
)
def test_a_tree_is_proved_by_logic_up_to_the_clauses_that_an_engine_takes(
    moves: int, why: str
) -> None:
    def expand(path: tuple[int, ...]) -> Leaf | Turn:
        if len(path) == 2:
            return Leaf([path[0] + path[1], path[0] - path[1]])
        player = ("ann", "bob")[len(path)]
        return Turn(player, f"{player} {path}", {f"m{k}": (*path, k) for k in range(moves)})

    logic = LogicCheck(Subject(build_tree(["ann", "bob"], (), expand)), EmbeddedEngine())
    (claim,) = parse("finally(goal(you, 3), do(choice(them, m2), do(choice(you, m1), s0))).")
    assert isinstance(claim, Claim)
    assert prove(logic, claim) == Proof(UNKNOWN if why else PROVED, why)


def test_the_engine_that_is_installed_gives_the_same_verdicts() -> None:
    engine = open_engine("auto")
    try:
        checker = Checker(Subject(DILEMMA), engine)
        assert checker.logic is not None
        for query, wanted in ON_THE_DILEMMA:
            (claim,) = parse(query)
            assert isinstance(claim, Claim)
            assert prove(checker.logic, claim).verdict is wanted, query
    finally:
        engine.close()


class Undecided(EmbeddedEngine):
    """An engine that never comes to an end."""

    def prove(self, program: Program, goal: str | Term) -> Proof:
        return Proof(UNKNOWN, "more steps than the limit")


def test_where_logic_cannot_tell_theory_decides() -> None:
    checked = Checker(Subject(DILEMMA), Undecided()).check(parse("strictly_dominant('R').")[0])
    assert checked.proof == Proof(PROVED)


def test_where_theory_cannot_tell_logic_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    checker = Checker(Subject(DILEMMA), EmbeddedEngine())
    monkeypatch.setattr(checker.theory, "decide", lambda grounded: Proof(UNKNOWN, "too large"))
    assert checker.check(parse("strictly_dominant('R').")[0]).proof == Proof(PROVED)
    assert checker.check(parse("strictly_dominant('B').")[0]).proof == Proof(REFUTED)


def test_every_claim_is_checked_once_and_what_claims_nothing_is_left_out(checker: Checker) -> None:
    claims = (*parse("higher(2, 1)."), Claim("no_claim"), *parse("PROVED"), *parse("higher(2, 1)."))
    found = checker.check_all(claims)
    assert [(one.form, one.text, one.verdict) for one in found] == [
        ("higher", "higher(2, 1).", PROVED),
        ("malformed", "PROVED", UNKNOWN),
    ]
