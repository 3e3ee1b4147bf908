"""Names of moves: two actions are two moves, however they are written, or the program is told that
it is no game."""

import shutil
from collections.abc import Iterator
from fractions import Fraction

import pytest

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.programs.game_table import GameTable, Row, tree
from bestresponse.logic.programs.table import extract
from bestresponse.logic.settings import Limits
from bestresponse.logic.swi.engine import SwiEngine

ENGINES = ["embedded", "swi"] if shutil.which("swipl") else ["embedded"]

ALONE = "initial(s0).\ninitially(player(ann), s0).\nfinal(do(_, s0)).\n"
"""One player, who moves once."""
LOTTERY = """
initial(s0).
initially(player(ann), s0).
legal(move(ann, stay), do(_, s0)).
final(do(move(ann, _), _)).
"""
"""Nature draws, then the player has one move."""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[LogicEngine]:
    opened: LogicEngine = EmbeddedEngine() if request.param == "embedded" else SwiEngine(Limits())
    yield opened
    opened.close()


def play(engine: LogicEngine, *actions: str) -> dict[str, Fraction]:
    """Return the name and payoff of each of ann's actions, which earn 1, 2, 3 and so on."""
    rules = "".join(
        f"legal({action}, s0).\nfinally(goal(ann, {payoff}), do({action}, s0)).\n"
        for payoff, action in enumerate(actions, 1)
    )
    table = extract(engine, engine.load(ALONE + rules)).require()
    assert [player for row in table.rows for player, _ in row.moves] == ["ann"] * len(actions)
    return {row.moves[0][1]: row.payoffs[0] for row in table.rows}


def find_defects(engine: LogicEngine, source: str) -> list[str]:
    return [defect.message for defect in extract(engine, engine.load(source)).defects]


def test_a_functor_is_left_out_where_nothing_else_could_be_meant(engine: LogicEngine) -> None:
    assert play(engine, "choice(ann, cooperate)", "choice(ann, defect)") == {
        "cooperate": 1,
        "defect": 2,
    }
    assert play(engine, "buy(ann, bread)", "sell(ann, wine)", "rest(ann)") == {
        "bread": 1,
        "wine": 2,
        "rest": 3,
    }


def test_actions_that_differ_by_their_functor_are_two_moves(engine: LogicEngine) -> None:
    assert play(engine, "buy(ann, bread)", "sell(ann, bread)") == {"buy bread": 1, "sell bread": 2}


def test_all_moves_with_an_ambiguous_functor_are_named_with_it(engine: LogicEngine) -> None:
    names = play(
        engine, "buy(ann, bread)", "buy(ann, wine)", "sell(ann, bread)", "choice(ann, rest)"
    )
    assert names == {"buy bread": 1, "buy wine": 2, "sell bread": 3, "rest": 4}


def test_an_action_without_arguments_and_one_with_its_name_as_argument_are_two_moves(
    engine: LogicEngine,
) -> None:
    assert play(engine, "rest(ann)", "choice(ann, rest)") == {"rest": 1, "choice rest": 2}
    assert play(engine, "bid(ann, 1, 2)", "choice(ann, bid(1, 2))") == {
        "bid(1,2)": 1,
        "choice bid(1,2)": 2,
    }
    assert play(engine, "choice(ann, ann)", "ann") == {"choice ann": 1, "ann": 2}


def test_a_name_with_its_functor_that_is_taken_makes_the_other_one_longer_too(
    engine: LogicEngine,
) -> None:
    names = play(engine, "buy(ann, bread)", "sell(ann, bread)", "choice(ann, 'buy bread')")
    assert names == {"buy bread": 1, "sell bread": 2, "choice buy bread": 3}


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("choice(ann, 1)", "choice(ann, '1')", "1 and '1'"),
        ("choice(ann, bid(1))", "choice(ann, 'bid(1)')", "bid(1) and 'bid(1)'"),
    ],
)
def test_actions_that_stay_alike_are_told(
    engine: LogicEngine, first: str, second: str, told: str
) -> None:
    rules = f"legal({first}, s0).\nlegal({second}, s0).\nfinally(goal(ann, 1), _).\n"
    assert find_defects(engine, ALONE + rules) == [f"{told} are two names that are written alike"]


def test_actions_that_are_alike_with_their_functors_are_told(engine: LogicEngine) -> None:
    actions = (
        "buy(ann, 'for bread')",
        "'buy for'(ann, bread)",
        "sell(ann, 'for bread')",
        "sell(ann, bread)",
    )
    rules = "".join(f"legal({action}, s0).\n" for action in actions)
    assert find_defects(engine, ALONE + rules + "finally(goal(ann, 1), _).\n") == [
        "buy('for bread') and 'buy for'(bread) are two names that are written alike"
    ]


def test_the_functor_is_kept_in_the_whole_game(engine: LogicEngine) -> None:
    """Ann asks for bread and, after bob's answer, may buy it: what bob knows of the first move is
    not the second."""
    source = """
    initial(s0).
    initially(player(ann), s0).
    initially(player(bob), s0).
    legal(ask(ann, bread), s0).
    legal(answer(bob, yes), do(ask(_, _), s0)).
    legal(buy(ann, M), do(answer(_, _), _)) :- member(M, [bread, wine]).
    final(do(buy(_, _), _)).
    finally(goal(P, 0), _) :- member(P, [ann, bob]).
    """
    table = extract(engine, engine.load(source)).require()
    assert table.moves == (("ask bread", "buy bread", "buy wine"), ("yes",))


def test_draws_of_nature_that_differ_by_their_functor_are_two_draws(engine: LogicEngine) -> None:
    draws = "chance(rain(nature, heavy), 1/4, s0).\nchance(wind(nature, heavy), 3/4, s0).\n"
    worth = "finally(goal(ann, U), do(_, do(D, s0))) :- ( D = rain(_, _) -> U = 8 ; U = 4 ).\n"
    table = extract(engine, engine.load(LOTTERY + draws + worth)).require()
    assert [(row.moves[0], row.chances[0]) for row in table.rows] == [
        (("nature", "rain heavy"), Fraction(1, 4)),
        (("nature", "wind heavy"), Fraction(3, 4)),
    ]
    assert [row.payoffs for row in table.rows] == [(8,), (4,)]


def test_the_odds_of_draws_with_different_functors_are_added(engine: LogicEngine) -> None:
    draws = (
        "chance(rain(nature, heavy), 1/2, s0).\nchance(wind(nature, D), 1/2, s0) :- member(D,"
        " [heavy, light]).\n"
    )
    assert find_defects(engine, LOTTERY + draws + "finally(goal(ann, 1), _).\n") == [
        "The probabilities of nature's moves at the start sum to 3/2, not to 1"
    ]


def test_draws_that_stay_alike_are_told(engine: LogicEngine) -> None:
    draws = "chance(move(nature, 1), 1/2, s0).\nchance(move(nature, '1'), 1/2, s0).\n"
    assert find_defects(engine, LOTTERY + draws + "finally(goal(ann, 1), _).\n") == [
        "1 and '1' are two names that are written alike"
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            (
                Row((("ann", "a"),), (Fraction(1),), (1,)),
                Row((("ann", "a"),), (Fraction(9),), (1,)),
            ),
            "The game has an end after ann:a, but other rows with the same moves.",
        ),
        (
            (
                Row((("ann", "a"), ("ann", "b")), (Fraction(1),), (1, 1)),
                Row((("ann", "a"),), (Fraction(9),), (1,)),
            ),
            "The game has an end after ann:a, but other rows with the same moves.",
        ),
        (
            (
                Row((("ann", "a"),), (Fraction(1),), (1,)),
                Row((("bob", "a"),), (Fraction(9),), (1,)),
            ),
            "The next move at the start is one of ann and one of bob.",
        ),
        (
            (
                Row(
                    (("nature", "a"), ("ann", "b")), (Fraction(1),), (1, 1), (Fraction(1, 2), None)
                ),
                Row(
                    (("nature", "a"), ("ann", "c")), (Fraction(1),), (1, 1), (Fraction(1, 3), None)
                ),
            ),
            "Nature's move a at the start has several probabilities.",
        ),
    ],
)
def test_a_table_whose_rows_contradict_each_other_has_no_tree(
    rows: tuple[Row, ...], message: str
) -> None:
    with pytest.raises(InvalidGame, match=message):
        tree(GameTable(("ann",), (("a", "b", "c"),), rows))
