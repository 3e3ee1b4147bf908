"""What a story says about its game is tested on the game by rule."""

import json
from fractions import Fraction

import pytest
from strict_schema import find_violations

from bestresponse.core.errors import InvalidGame
from bestresponse.formal.evaluate.dataset import read_game_lines
from bestresponse.formal.formalize.plan import library
from bestresponse.formal.formalize.story_claims import CLAIMS_SCHEMA, check_claims, read_claims
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.game_table import GameTable, Row
from bestresponse.logic.programs.validate import validate
from bestresponse.models import make_strict
from bestresponse.models.providers.scripted import ScriptedModel

TABLES = {
    example.name: validate(example.program, EmbeddedEngine()).table
    for example in library()
    if example.name in ("hidden_card", "prisoners_dilemma", "trust")
}


def claim(kind, player="", other="", number="", moves=(), rather=()):
    steps = [[{"player": who, "move": move} for who, move in made] for made in (moves, rather)]
    fields = {"words": kind, "kind": kind, "player": player, "other": other, "number": number}
    return {**fields, "moves": steps[0], "rather_than": steps[1]}


def decide(game, given):
    (found,) = read_claims(json.dumps({"claims": [given]}), TABLES[game])
    return found.holds, found.why


APART = "greta and hugo never choose without knowing something of each other's choice"


@pytest.mark.parametrize(
    ("game", "given", "verdict"),
    [
        ("hidden_card", claim("moves first", "Ines"), (True, "")),
        ("hidden_card", claim("moves first", "Jonas"), (False, "ines moves first")),
        ("hidden_card", claim("knows", "Ines", "luck"), (True, "")),
        ("hidden_card", claim("does not know", "Jonas", "luck"), (True, "")),
        ("hidden_card", claim("knows", "Jonas", "luck"), (False, "jonas does not know it when choosing")),
        ("hidden_card", claim("knows", "Jonas", "Ines"), (True, "")),
        ("hidden_card", claim("probability", number="1/2", moves=[("luck", "king")]), (True, "")),
        (
            "hidden_card",
            claim("probability", number="0.4", moves=[("luck", "king")]),
            (False, "king is drawn with probability 1/2"),
        ),
        ("hidden_card", claim("probability", number="1/2"), (None, "it does not say what is drawn")),
        (
            "hidden_card",
            claim("probability", number="1/2", moves=[("luck", "ace")]),
            (None, "no play has the moves nature: ace"),
        ),
        ("hidden_card", claim("payoff", "ines", number="-1", moves=[("ines", "give up")]), (True, "")),
        ("hidden_card", claim("payoff", "ines", number="2", moves=[("jonas", "pay")]), (False, "ines gets -2 or 2")),
        ("hidden_card", claim("payoff", "ines", number="2", moves=[("jonas", "pay"), ("luck", "king")]), (True, "")),
        ("prisoners_dilemma", claim("same time", "Ada", "Ben"), (True, "")),
        ("prisoners_dilemma", claim("moves first", "Ben"), (True, "")),
        ("prisoners_dilemma", claim("probability", number="1/2"), (False, "nothing is drawn in the game")),
        ("trust", claim("same time", "Greta", "Hugo"), (False, APART)),
        ("trust", claim("prefers", "greta", moves=[("hugo", "repay")], rather=[("greta", "keep")]), (True, "")),
        (
            "trust",
            claim("prefers", "greta", moves=[("hugo", "run")], rather=[("greta", "keep")]),
            (False, "greta gets 0 there and 2 in the other case"),
        ),
        ("trust", claim("knows", "Hugo", "luck"), (None, "the game has no luck")),
        (
            "trust",
            claim("payoff", "greta", number="1", moves=[("hugo", "sing")]),
            (None, "no play has the moves hugo: sing"),
        ),
        ("trust", claim("smells", "greta"), (None, "there are no claims of the kind 'smells'")),
    ],
)
def test_a_claim_is_decided_by_the_game(game, given, verdict):
    assert decide(game, given) == verdict


def test_the_model_sees_the_names_but_not_the_rules():
    said = {"claims": [claim("moves first", "Jonas"), claim("knows", "Ines", "luck")]}
    model = ScriptedModel([json.dumps(said)])
    found = check_claims("Ines draws a card.", TABLES["hidden_card"], model)
    asked = model.asked[0].messages[1].content
    assert "ines: give_up, double\njonas: fold, pay\nluck: queen, king" in asked
    assert "gets" not in asked
    assert (found.held, [one.why for one in found.broken]) == (1, ["ines moves first"])
    assert find_violations(said, json.loads(CLAIMS_SCHEMA)) == []
    assert make_strict(json.loads(CLAIMS_SCHEMA)) is not None


def test_an_answer_without_claims_is_refused():
    with pytest.raises(InvalidGame, match="expected a list of claims"):
        list(read_claims("{}", TABLES["trust"]))


def test_a_move_that_is_a_number_is_not_taken_for_the_one_with_another_sign():
    # Ann gets 3 by +1 and 0 by -1, so the first claim holds and the second does not.
    table = table_from_cells(("Ann",), (("+1", "-1"),), ((Fraction(3),), (Fraction(0),)))
    claims = [claim("payoff", "Ann", number="3", moves=[("Ann", move)]) for move in ("+1", "-1")]
    assert [tested.holds for tested in read_claims(json.dumps({"claims": claims}), table)] == [True, False]


def test_a_claim_about_one_of_two_names_that_are_plainly_the_same_is_about_that_one():
    # The second player, Ann', gets 4 where Ann plays A and Ann' plays A'.
    payoffs = tuple((Fraction(u), Fraction(u + 1)) for u in (1, 3, 5, 7))
    table = table_from_cells(("Ann", "Ann'"), (("A", "A'"),) * 2, payoffs)
    said = claim("payoff", "Ann'", number="4", moves=[("Ann", "A"), ("Ann'", "A'")])
    (tested,) = read_claims(json.dumps({"claims": [said]}), table)
    assert (tested.holds, tested.why) == (True, "")


def test_who_chooses_together_in_every_round_knows_of_the_other_what_was_seen_before():
    # Two rounds of a coordination game; the first round is seen before the second.
    pairs = [(a, b) for a in "xy" for b in "xy"]
    rows = tuple(
        Row((("p", a), ("q", b), ("p", c), ("q", d)), (Fraction((a == b) + (c == d)),) * 2, (2, 2))
        for a, b in pairs
        for c, d in pairs
    )
    table = GameTable(("p", "q"), (("x", "y"), ("x", "y")), rows)
    both = [
        claim(kind, *names) for kind in ("same time", "knows", "does not know") for names in (("p", "q"), ("q", "p"))
    ]
    tested = read_claims(json.dumps({"claims": both}), table)
    assert [one.holds for one in tested] == [True, True, True, True, False, False]


def test_who_is_told_a_part_of_a_choice_does_not_choose_at_the_same_time():
    # Bob learns whether Ann bids high; he neither knows her bid nor nothing of it.
    ends = """
    Ann[] {low|middle} > Bob[not high] take : 1,1
    Ann[] {low|middle} > Bob[not high] leave : 0,0
    Ann[] high > Bob[high] take : 2,0
    Ann[] high > Bob[high] leave : 0,0
    """
    table = read_game_lines(("Ann", "Bob"), ends)
    said = [claim("same time", "Ann", "Bob"), claim("knows", "Bob", "Ann")]
    assert [one.holds for one in read_claims(json.dumps({"claims": said}), table)] == [False, False]


def decide_all(table, *claims):
    return [tested.holds for tested in read_claims(json.dumps({"claims": claims}), table)]


def luck(number, *draws):
    return claim("probability", number=number, moves=[("luck", draw) for draw in draws])


@pytest.mark.parametrize(("talented", "ordinary", "holds"), [("2/5", "3/5", True), ("3/5", "2/5", False)])
def test_a_game_whose_probabilities_are_exchanged_is_not_that_of_the_story(talented, ordinary, holds):
    lines = f"""
    ~{talented} talented > applicant[talented] {{course|skip}} : {{8|10}}
    ~{ordinary} ordinary > applicant[ordinary] {{course|skip}} : {{5|10}}
    """
    table = read_game_lines(("applicant",), lines)
    said = luck("2/5", "talented"), luck("3/5", "ordinary")
    assert decide_all(table, *said) == [holds, holds]


def make_test_game(right, wrong):
    """A house is sound or damp, 2/3 to 1/3; Pia sees a test of it, and not the house. Then she buys or leaves it."""
    return read_game_lines(
        ("Pia",),
        f"""
        ~2/3 sound > ~{right} good > Pia[good] {{buy|leave}} : {{1|0}}
        ~2/3 sound > ~{wrong} poor > Pia[poor] {{buy|leave}} : {{1|0}}
        ~1/3 damp > ~{wrong} good > Pia[good] {{buy|leave}} : {{-1|0}}
        ~1/3 damp > ~{right} poor > Pia[poor] {{buy|leave}} : {{-1|0}}
        """,
    )


def test_the_probability_of_a_draw_that_depends_on_another_is_tested_after_that_one():
    said = [
        luck("3/4", "sound", "good"),
        luck("3/4", "damp", "poor"),
        luck("1/4", "damp", "good"),
        luck("2/3", "sound"),
    ]
    assert decide_all(make_test_game("3/4", "1/4"), *said) == [True, True, True, True]
    # With the tests exchanged, damp and good together happen to have 1/3 x 3/4 = 1/4.
    assert decide_all(make_test_game("1/4", "3/4"), *said) == [False, False, None, True]
    # In all the test is good with probability 2/3 x 3/4 + 1/3 x 1/4 = 7/12, and poor with 5/12.
    unsaid = [luck("7/12", "good"), luck("5/12", "poor"), luck("7/12", "poor"), luck("3/4", "good")]
    assert decide_all(make_test_game("3/4", "1/4"), *unsaid) == [True, True, False, None]
    # 1/2 is how likely a sound house with a good test is, and not how likely the test then is.
    assert decide_all(make_test_game("3/4", "1/4"), luck("1/2", "sound", "good")) == [None]


def test_a_draw_that_comes_later_is_no_condition():
    table = make_test_game("3/4", "1/4")
    (tested,) = read_claims(json.dumps({"claims": [luck("6/7", "good", "sound")]}), table)
    assert (tested.holds, tested.why) == (None, "sound is never drawn after the moves that are named")


def test_the_probability_of_a_draw_after_a_choice_is_not_summed_over_what_players_do():
    lines = """
    Ann climb > ~{1/4|3/4} {fall|arrive} : {0|5}
    Ann walk > ~{1/8|7/8} {fall|arrive} : {1|2}
    """
    table = read_game_lines(("Ann",), lines)
    after = [
        claim("probability", number=number, moves=[("Ann", move), ("luck", "fall")])
        for number, move in (("1/4", "climb"), ("1/4", "walk"), ("1/8", "walk"))
    ]
    assert decide_all(table, *after, luck("1/4", "fall"), luck("3/8", "fall")) == [True, False, True, None, False]


def test_who_knows_one_of_two_draws_is_said_to_know_that_one():
    table = make_test_game("3/4", "1/4")
    kinds = ("knows", "does not know")
    test = [claim(kind, "Pia", "luck", moves=[("luck", "poor")]) for kind in kinds]
    house = [claim(kind, "Pia", "luck", moves=[("luck", "sound")]) for kind in kinds]
    unsaid = [claim(kind, "Pia", "luck") for kind in kinds]
    assert decide_all(table, *test) == [True, False]
    assert decide_all(table, *house) == [False, True]
    assert decide_all(table, *unsaid) == [None, None]


def test_two_draws_with_the_same_names_are_not_told_apart_by_them():
    # Each of two players draws high or low and sees only the own card; Ann's is drawn first, and only she chooses.
    cards = [(mine, theirs) for mine in ("high", "low") for theirs in ("high", "low")]
    lines = "\n".join(f"~1/2 {mine} > ~1/2 {theirs} > Ann[{mine}] {{bet|pass}} : {{1|0}}" for mine, theirs in cards)
    table = read_game_lines(("Ann",), lines)
    said = [claim(kind, "Ann", "luck", moves=[("luck", "high")]) for kind in ("knows", "does not know")]
    assert decide_all(table, *said, luck("1/2", "high")) == [None, None, True]
