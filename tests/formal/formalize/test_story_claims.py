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
        ("hidden_card", claim("probability", number="1/2"), (True, "")),
        ("hidden_card", claim("probability", number="0.4"), (False, "the probabilities in the game are 1/2")),
        ("hidden_card", claim("payoff", "ines", number="-1", moves=[("ines", "give up")]), (True, "")),
        ("hidden_card", claim("payoff", "ines", number="2", moves=[("jonas", "pay")]), (False, "ines gets -2 or 2")),
        ("hidden_card", claim("payoff", "ines", number="2", moves=[("jonas", "pay"), ("luck", "king")]), (True, "")),
        ("prisoners_dilemma", claim("same time", "Ada", "Ben"), (True, "")),
        ("prisoners_dilemma", claim("moves first", "Ben"), (True, "")),
        ("prisoners_dilemma", claim("probability", number="1/2"), (False, "the probabilities in the game are none")),
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
