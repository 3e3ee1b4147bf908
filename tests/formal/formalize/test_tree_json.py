"""A game as a tree in nested JSON: read exactly, checked, and written as a program."""

import json
from fractions import Fraction

import pytest
from strict_schema import find_violations

from bestresponse import solve
from bestresponse.core.errors import InvalidGame
from bestresponse.formal.evaluate.validation import compare_tables
from bestresponse.formal.formalize.autoformalizer import Formalizer, Settings
from bestresponse.formal.formalize.forms import TreeForm
from bestresponse.formal.formalize.json_answer import TREE_SCHEMA, read_object, read_tree
from bestresponse.games.comparison import compare_games
from bestresponse.games.describing import describe_table
from bestresponse.games.logic.game import LogicGame, as_game
from bestresponse.games.logic.tables import table_from_tree, write_table_program
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.validate import validate
from bestresponse.models import make_strict
from bestresponse.models.providers.scripted import ScriptedModel

STORY = (
    "A card is drawn by chance, king or queen; only Ann knows it. She bets or passes. Bob calls or"
    " folds."
)


def end(*payoffs):
    return {"end": "it is over", "payoffs": list(payoffs)}


def choice(player, knows, **moves):
    return {
        "player": player,
        "knows": knows,
        "moves": [{"move": m, "then": node} for m, node in moves.items()],
    }


def forgetful(player, knows, **moves):
    return {**choice(player, knows, **moves), "forgets": True}


def lottery(**draws):
    return {
        "chance": [{"draw": d, "probability": p, "then": node} for d, (p, node) in draws.items()]
    }


def hand(card, wins):
    answer = choice("Bob", "Ann bet", fold=end(1, -1), call=end(wins, -wins))
    return choice("Ann", card, **{"pass": end(-1, 1)}, bet=answer)


POKER = {
    "players": ["Ann", "Bob"],
    "tree": lottery(king=("1/2", hand("king", 2)), queen=("0.5", hand("queen", -2))),
}


def test_the_schema_holds_the_tree_and_is_strict():
    assert find_violations(POKER, json.loads(TREE_SCHEMA)) == []
    strict = make_strict(json.loads(TREE_SCHEMA))
    assert strict["$defs"]["node"]["anyOf"][0]["required"] == ["chance"]
    assert strict["properties"]["unclear"]["type"] == ["array", "null"]


def test_a_tree_becomes_a_game_with_information_sets_and_its_value():
    model = ScriptedModel([json.dumps(POKER)])
    found = Formalizer(model, EmbeddedEngine(), Settings(form="tree")).formalize(STORY)
    assert found.ok, found.trouble
    assert model.asked[0].schema == TREE_SCHEMA
    solution = solve(as_game(found.table, "poker"))
    assert solution.value == pytest.approx(1 / 3)
    tree = as_game(found.table, "poker").tree
    assert [(infoset.player, infoset.moves) for infoset in tree.infosets] == [
        (0, ("pass", "bet")),
        (1, ("fold", "call")),
        (0, ("pass", "bet")),
    ]


def test_probabilities_and_payoffs_are_exact():
    thirds = lottery(
        a=("1/3", end("1/3", 0.1)),
        b=("1/3", end(0, 0)),
        c=("1/3", choice("Ann", "c", x=end(1, 0), y=end(0, 1))),
    )
    table = read_tree(json.dumps({"players": ["Ann", "Bob"], "tree": thirds}))
    assert table.rows[0].payoffs == (Fraction(1, 3), Fraction(1, 10))
    assert [row.chances[0] for row in table.rows] == [Fraction(1, 3)] * 4
    assert not table.private


def test_who_chooses_at_the_same_time_does_not_know_the_other_choice():
    def second(*payoffs):
        return choice("Bob", "", left=end(*payoffs[:2]), right=end(*payoffs[2:]))

    tree = choice("Ann", "", up=second(3, 3, 0, 5), down=second(5, 0, 1, 1))
    table = read_tree(json.dumps({"players": ["Ann", "Bob"], "tree": tree}))
    assert not table.sequential
    assert as_game(table, "g").payoffs.tolist() == [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]


def test_players_whose_names_differ_in_case_alone_are_two_players():
    tree = choice("Ann", "", go=choice("ann", "", l=end(1, 2), r=end(3, 4)), stay=end(5, 6))
    table = read_tree(json.dumps({"players": ["Ann", "ann"], "tree": tree}))
    assert table.rows[0].moves == (("Ann", "go"), ("ann", "l"))
    # Elsewhere case does not matter.
    assert read_tree(
        json.dumps({"players": ["Ann", "Bob"], "tree": choice("ANN", "", a=end(1, 2), b=end(3, 4))})
    ).rows


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"players": []}, "the game has no players"),
        ({"players": ["Ann", "Ann"]}, "different names; got Ann, Ann"),
        ({"players": ["Ann", "Nature"]}, "Nature is not a player"),
        ({"tree": None}, "at the start: expected an object with chance"),
        (
            {"tree": {"ends": 1}},
            "at the start: expected one of chance, moves and payoffs; got ends",
        ),
        (
            {"tree": {**choice("Ann", "", a=end(0, 0)), "payoffs": [1, 1]}},
            (
                "at the start: expected one of chance, moves and payoffs; got player, knows, moves,"
                " payoffs"
            ),
        ),
        (
            {"tree": lottery(a=("1/2", end(0, 0)), b=("1/3", end(1, 0)))},
            r"1/2 \+ 1/3 sum to 5/6; they must sum to exactly 1",
        ),
        (
            {"tree": lottery(a=("-1/2", end(0, 0)), b=("3/2", end(1, 0)))},
            "the probability of a is '-1/2'",
        ),
        (
            {"tree": lottery(a=("p", end(0, 0)))},
            "the probability of a is 'p'; expected one such as",
        ),
        ({"tree": lottery(a=("1/0", end(0, 0)))}, "the probability of a is '1/0'"),
        ({"tree": choice("Carl", "", a=end(0, 0))}, "'Carl' moves, but the players are Ann, Bob"),
        ({"tree": choice("Ann", "")}, "expected a list of objects with move and then"),
        (
            {"tree": choice("Ann", "", a=end(0))},
            "after a: payoffs must be 2 numbers, one for each of Ann, Bob",
        ),
        ({"tree": choice("Ann", "", a=end(0, "much"))}, "after a: payoffs must be 2 numbers"),
        (
            {
                "tree": choice(
                    "Ann", "", a=choice("Bob", "x", l=end(0, 0)), b=choice("Bob", "x", r=end(1, 1))
                )
            },
            "after b: Bob, knowing 'x', can choose r, but after a, knowing the same, l",
        ),
        (
            {"tree": {**choice("Ann", "", a=end(0, 0)), "forgets": "maybe"}},
            "at the start: forgets must be true or false, not 'maybe'",
        ),
        (
            {"tree": choice("Ann", "", a=forgetful("Ann", "", b=end(0, 0)))},
            "after a: Ann, knowing 'nothing', can choose b, but at the start, knowing the same, a",
        ),
    ],
)
def test_a_wrong_tree_is_refused_with_the_place(change, why):
    with pytest.raises(InvalidGame, match=why):
        read_tree(json.dumps({**POKER, **change}))


def test_a_tree_that_is_too_deep_or_too_large_is_refused():
    deep = end(0, 0)
    for level in range(70):
        deep = choice("Ann", str(level), a=deep, b=end(1, 1))
    wide = {
        "chance": [
            {"draw": str(k), "probability": "1/4000", "then": end(0, 0)} for k in range(4000)
        ]
    }
    for tree in (deep, wide):
        with pytest.raises(InvalidGame, match="more than 3,000 positions or 60 levels"):
            read_tree(json.dumps({**POKER, "tree": tree}))


def test_the_prompt_shows_a_tree_that_is_read_as_it_is_told():
    example = TreeForm().task(STORY).split("JSON:\n")[1].splitlines()[0]
    table = read_tree(example)
    assert table.private
    assert [row.payoffs for row in table.rows] == [
        (0, 0),
        (1, -1),
        (2, -2),
        (0, 0),
        (1, -1),
        (-2, 2),
    ]


def test_a_fault_in_a_tree_comes_back_with_the_answer():
    wrong = {
        **POKER,
        "tree": lottery(king=("1/2", hand("king", 2)), queen=("1/3", hand("queen", -2))),
    }
    model = ScriptedModel([json.dumps(wrong), json.dumps(POKER)])
    found = Formalizer(model, EmbeddedEngine(), Settings(form="tree")).formalize(STORY)
    assert found.ok
    assert "the probabilities 1/2 + 1/3 sum to 5/6" in model.asked[1].messages[1].content


def boxes(side, *payoffs):
    guess = forgetful("clerk", "later", left=end(payoffs[0]), right=end(payoffs[1]))
    return choice("clerk", f"box {side}", open=end(3), wait=guess)


CLERK = {
    "players": ["clerk"],
    "tree": lottery(left=("1/2", boxes("left", 9, 0)), right=("1/2", boxes("right", 0, 9))),
}


@pytest.mark.parametrize("engine", ["embedded", "swi"])
def test_a_player_who_forgets_stays_one(engine):
    """The clerk sees the box and forgets it: waiting and guessing pays 9 half of the time, and 6
    are possible only by opening one of the boxes and guessing that it was the other (open left,
    wait right, say right: 3 / 2 + 9 / 2).
    """
    table = read_tree(json.dumps(CLERK))
    assert table.forgetful == {"clerk"}
    logic = open_engine(engine)
    try:
        report = validate(write_table_program(table), logic)
    finally:
        logic.close()
    assert report.ok
    assert compare_tables(report.table, table).exact
    tree = LogicGame(report.table).tree
    assert len(tree.infosets) == 3
    assert compare_games(tree, LogicGame(table_from_tree(tree)).tree).verdict == "same tree"
    solution = solve(tree)
    assert {float(equilibrium.payoffs[0]) for equilibrium in solution.equilibria} == {6.0}
    assert "Somebody forgets" in solution.solved.remarks[0]
    assert "no longer knowing" in describe_table(report.table)


def card(colour, wins):
    """Rosa sees her card and opens; when Sven has raised she is said to know that, and her card is
    not repeated."""
    last = choice("Rosa", "Sven raised", drop=end(-1, 1), call=end(wins, -wins))
    answer = choice("Sven", "Rosa opened", fold=end(1, -1), **{"raise": last})
    return choice("Rosa", f"the card is {colour}", **{"pass": end(0, 0)}, open=answer)


def test_what_a_player_knew_stays_known_where_it_is_not_said_again():
    """With red she calls a raise and gets 3, so that Sven folds: she always opens and gets 1. If
    she forgot her card, both colours would be one position for her, and the value 3/4."""
    tree = lottery(red=("1/2", card("red", 3)), black=("1/2", card("black", -3)))
    table = read_tree(json.dumps({"players": ["Rosa", "Sven"], "tree": tree}))
    assert table.forgetful == frozenset()
    game = as_game(table, "cards")
    assert [infoset.player for infoset in game.tree.infosets].count(0) == 4
    assert solve(game).value == pytest.approx(1)


def test_own_moves_stay_known_where_the_same_words_are_said_again():
    tree = choice(
        "Ann", "at the door", go=choice("Ann", "at the door", go=end(0), stay=end(4)), stay=end(1)
    )
    table = read_tree(json.dumps({"players": ["Ann"], "tree": tree}))
    assert table.forgetful == frozenset()
    assert len(as_game(table, "doors").tree.infosets) == 2


@pytest.mark.parametrize("knows", ["at a crossing", ""])
@pytest.mark.parametrize("begins", [True, False])
def test_a_driver_who_forgets_that_he_has_passed_a_crossing_is_told_with_forgets(knows, begins):
    road = choice(
        "driver", knows, leave=end(0), go=forgetful("driver", knows, leave=end(4), go=end(1))
    )
    tree = road if begins else lottery(dry=("1/2", road), wet=("1/2", end(0)))
    table = read_tree(json.dumps({"players": ["driver"], "tree": tree}))
    report = validate(write_table_program(table), EmbeddedEngine())
    assert report.ok
    assert table.forgetful == report.table.forgetful == {"driver"}
    # Both crossings are one information set.
    assert len(LogicGame(report.table).tree.infosets) == 1


def test_who_has_forgotten_everything_does_not_stand_where_it_began_knowing_something():
    tree = choice(
        "Ann",
        "morning",
        go=forgetful("Ann", "", a=end(0), b=end(1)),
        run=forgetful("Ann", "", a=end(2), b=end(3)),
    )
    table = read_tree(json.dumps({"players": ["Ann"], "tree": tree}))
    # Neither go nor run is remembered, but that it is no longer morning is.
    assert len(as_game(table, "day").tree.infosets) == 2


def test_an_answer_with_a_key_twice_is_no_game():
    with pytest.raises(InvalidGame, match="a key occurs twice"):
        read_object('{"unclear": [], "unclear": [{"question": "Who moves?", "assumed": "Ann"}]}')
