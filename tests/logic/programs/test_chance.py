"""Chance and secrets: nature's moves with exact probabilities, and players who know only what they
see."""

import shutil
from collections.abc import Iterator
from fractions import Fraction

import pytest
from games_for_logic import KUHN
from hypothesis import given, settings, strategies as st

from bestresponse.formal.formalize.plan import library
from bestresponse.games.logic.game import LogicGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.programs.game_table import ChanceNode, DecisionNode, spell_knowledge, tree
from bestresponse.logic.programs.table import extract
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import Limits
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.theory.trees.normal_form import to_normal_form

ENGINES = ["embedded", "swi"] if shutil.which("swipl") else ["embedded"]

BET = """
initial(s0).
initially(player(ann), s0).
chance(move(nature, rain), 1/4, s0).
chance(move(nature, sun), 0.75, s0).
effect(weather(W), move(nature, W), _).
legal(move(ann, M), S) :- holds(weather(_), S), \\+ holds(did(_), S), member(M, [stay, go]).
effect(did(M), move(ann, M), _).
final(S) :- holds(did(_), S).
finally(goal(ann, U), S) :- holds(weather(W), S), holds(did(M), S), worth(W, M, U).
worth(rain, stay, 0). worth(rain, go, -4). worth(sun, stay, 0). worth(sun, go, 7/2).
"""
BLIND = BET + "sees(ann, clouds, do(move(nature, _), _)).\n"


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[LogicEngine]:
    opened: LogicEngine = EmbeddedEngine() if request.param == "embedded" else SwiEngine(Limits())
    yield opened
    opened.close()


def errors(source: str, engine: LogicEngine) -> list[str]:
    return [d.message for d in validate(source, engine).errors]


def test_nature_moves_with_exact_probabilities_and_is_seen(engine: LogicEngine) -> None:
    table = extract(engine, engine.load(BET)).require()
    assert table.players == ("ann",)
    assert [(row.moves[0][1], row.chances[0], row.payoffs[0]) for row in table.rows] == [
        ("rain", Fraction(1, 4), 0),
        ("rain", Fraction(1, 4), -4),
        ("sun", Fraction(3, 4), 0),
        ("sun", Fraction(3, 4), Fraction(7, 2)),
    ]
    root = tree(table)
    assert isinstance(root, ChanceNode)
    assert root.probabilities == (Fraction(1, 4), Fraction(3, 4))
    knowing = [
        spell_knowledge(child.knowledge)
        for child in root.children
        if isinstance(child, DecisionNode)
    ]
    assert knowing == ["nature:rain", "nature:sun"]


def test_with_percepts_a_player_knows_only_what_it_sees(engine: LogicEngine) -> None:
    root = tree(extract(engine, engine.load(BLIND)).require())
    assert isinstance(root, ChanceNode)
    assert {
        spell_knowledge(child.knowledge)
        for child in root.children
        if isinstance(child, DecisionNode)
    } == {"sees:clouds"}


def test_the_normal_form_has_expected_payoffs(engine: LogicEngine) -> None:
    form = to_normal_form(LogicGame(extract(engine, engine.load(BLIND)).require()).tree)
    assert form.actions == (("you saw clouds: stay", "you saw clouds: go"),)
    assert form.payoffs.tolist() == [[0, 13 / 8]]


def test_poker_with_three_cards_has_its_thirty_ends_and_twelve_information_sets(
    engine: LogicEngine,
) -> None:
    report = validate(KUHN, engine)
    assert report.diagnostics == ()
    assert report.table is not None
    sets = {
        (row.moves[d][0], report.table.knowledge(row, d, row.moves[d][0]))
        for row in report.table.rows
        for d in range(1, len(row.moves))
    }
    assert (len(report.table.rows), len(sets)) == (30, 12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "1/4, s0",
            "1/3, s0",
            "The probabilities of nature's moves at the start sum to 13/12, not to 1",
        ),
        ("1/4, s0", "-1/4, s0", "the probability of rain at the start is -1/4"),
        ("1/4, s0", "often, s0", "the probability of rain at the start is often"),
        ("1/4, s0", "P, s0", "a legal move is not fully known: nature: rain"),
        (
            "nature, sun",
            "nature, rain",
            "after no move at all nature has the move move(nature,rain) twice",
        ),
        (
            "player(ann), s0).",
            "player(ann), s0).\ninitially(player(nature), s0).",
            "nature is not a player; its moves are drawn at random",
        ),
    ],
)
def test_wrong_chances_are_told(engine: LogicEngine, old: str, new: str, message: str) -> None:
    assert errors(BET.replace(old, new), engine)[0] == message


@pytest.mark.parametrize(("weight", "total"), [("1", "less"), ("3 ** 3000", "more")])
def test_odds_whose_sum_nobody_can_read_are_told_without_it(
    engine: LogicEngine, weight: str, total: str
) -> None:
    """The sum of four fractions with denominators of 1,432 digits has some 5,700: more than Python
    writes."""
    source = BET.replace("chance(move(nature, rain), 1/4, s0).", "").replace(
        "chance(move(nature, sun), 0.75, s0).",
        f"chance(move(nature, N), P, s0) :- member(N, [1, 2, 4, 10]), P is {weight} / (3 ** 3000"
        " + N).",
    )
    assert errors(source.replace("worth(W, M, U).", "U = 1."), engine) == [
        f"The probabilities of nature's moves at the start sum to {total} than 1"
    ]


def test_a_percept_for_nobody_is_told(engine: LogicEngine) -> None:
    assert errors(BLIND + "sees(bob, x, do(move(ann, _), _)).\n", engine) == [
        "bob sees something, but is not a player"
    ]


def test_moves_that_give_away_a_secret_are_told(engine: LogicEngine) -> None:
    source = BLIND.replace(
        "member(M, [stay, go]).", "holds(weather(W), S), worth(W, M, U), U >= 0."
    )
    assert errors(source, engine) == [
        "ann, knowing sees:clouds, has different moves depending on what it cannot know"
    ]


@pytest.mark.skipif(len(ENGINES) < 2, reason="SWI-Prolog (swipl) is not on PATH")
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.lists(st.sampled_from(["ann", "bob"]), max_size=2, unique=True),
    st.integers(1, 3),
)
def test_the_engines_agree_on_games_with_chance(
    weights: list[int], seers: list[str], moves: int
) -> None:
    total = sum(weights)
    chances = "".join(
        f"chance(move(nature, c{n}), {w}/{total}, s0).\n" for n, w in enumerate(weights)
    )
    percepts = "".join(f"sees({who}, C, do(move(nature, C), _)).\n" for who in seers)
    source = f"""
initial(s0). initially(player(ann), s0). initially(player(bob), s0).
{chances}{percepts}effect(dealt(C), move(nature, C), _).
effect(control(ann), move(nature, _), _). effect(control(bob), move(ann, _), _).
abnormal(control(P), move(P, _), _).
legal(move(P, M), S) :- holds(control(P), S), between(1, {moves}, M).
effect(did(P, M), move(P, M), _) :- P \\= nature.
final(S) :- holds(did(bob, _), S).
finally(goal(P, U), S) :- member(P-F, [ann-1, bob-2]), holds(did(P, M), S), U is F * M / 3.
"""
    swi = SwiEngine(Limits())
    try:
        tables = [
            extract(engine, engine.load(source)).require() for engine in (EmbeddedEngine(), swi)
        ]
    finally:
        swi.close()
    assert tables[0] == tables[1]
    assert len(tables[0].rows) == len(weights) * moves**2


def test_a_wrong_probability_is_told_once_and_with_its_line():
    program = next(one.program for one in library() if one.name == "hidden_card").replace(
        "1/2, s0)", "p, s0)"
    )
    errors = validate(program, EmbeddedEngine()).errors
    assert [(found.line, found.message) for found in errors] == [
        (6, "the probability of queen at the start is p"),
        (6, "the probability of king at the start is p"),
    ]
