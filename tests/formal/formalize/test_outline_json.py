"""A game asked for in two questions: its steps as JSON, then what everybody gets at each end."""

import json
from fractions import Fraction

import pytest
from strict_schema import complain

from bestresponse import solve
from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.autoformalizer import Formalizer, Settings
from bestresponse.formal.formalize.forms import OutlineForm, PayoffForm
from bestresponse.formal.formalize.outline_json import OUTLINE_SCHEMA, OutlineTooLarge, read_outline
from bestresponse.games.logic.game import as_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models import find_violations, make_strict
from bestresponse.models.base import Reply
from bestresponse.models.providers.scripted import ScriptedModel

STORY = "A card is drawn by chance, king or queen; only Ann knows it. She bets or passes. Bob calls or folds."


def luck(*draws, after=(), seen_by=()):
    listed = [{"draw": draw, "probability": odds} for draw, odds in draws]
    return {"luck": listed, "after": list(after), "seen_by": list(seen_by)}


def move(player, *moves, after=(), seen_by=()):
    return {"player": player, "moves": list(moves), "after": list(after), "seen_by": list(seen_by)}


CARD = luck(("king", "1/2"), ("queen", "0.5"), seen_by=["Ann"])
BET = move("Ann", "pass", "bet", seen_by=["Bob"])
ANSWER = move("Bob", "fold", "call", after=["bet"])


def outline(*steps, players=("Ann", "Bob")):
    return json.dumps({"players": list(players), "steps": list(steps)})


POKER = outline(CARD, BET, ANSWER)
ENDS = {
    "king; Ann: pass": (-1, 1),
    "king; Ann: bet; Bob: fold": (1, -1),
    "king; Ann: bet; Bob: call": (2, -2),
    "queen; Ann: pass": (-1, 1),
    "queen; Ann: bet; Bob: fold": (1, -1),
    "queen; Ann: bet; Bob: call": (-2, 2),
}


def sheet(ends=ENDS):
    filled = {end: {"story": "so it is told", "payoffs": {"Ann": a, "Bob": b}} for end, (a, b) in ends.items()}
    return json.dumps(filled)


def formalize(*answers, attempts=3):
    model = ScriptedModel(list(answers))
    return model, Formalizer(model, EmbeddedEngine(), Settings(form="outline", attempts=attempts)).formalize(STORY)


def test_the_schemas_hold_the_answers_and_are_strict():
    assert list(find_violations(json.loads(POKER), json.loads(OUTLINE_SCHEMA))) == []
    assert complain(make_strict(json.loads(OUTLINE_SCHEMA))) is None
    schema = json.loads(read_outline(POKER).schema())
    assert schema["required"] == list(ENDS)
    assert complain(make_strict(schema)) is None
    assert list(find_violations(json.loads(sheet()), schema)) == []


def test_two_questions_are_one_attempt_and_make_the_game():
    model, found = formalize(POKER, sheet())
    assert found.ok, found.trouble
    assert len(found.attempts) == 1
    assert [request.schema for request, _ in found.attempts[0].exchanges] == [one.schema for one in model.asked]
    assert "queen; Ann: bet; Bob: call" in model.asked[1].messages[1].content
    tree = as_game(found.table, "poker").tree
    assert [(infoset.player, infoset.moves) for infoset in tree.infosets] == [
        (0, ("pass", "bet")),
        (1, ("fold", "call")),
        (0, ("pass", "bet")),
    ]
    assert solve(as_game(found.table, "poker")).value == pytest.approx(1 / 3)


def test_a_fault_in_the_outline_comes_back_before_any_payoff_is_asked_for():
    model, found = formalize(outline(CARD, BET, move("Bob", "fold", "call", after=["raise"])), POKER, sheet())
    assert found.ok
    assert (
        "step 3: after 'raise', which is no draw or move of an earlier step: king" in model.asked[1].messages[1].content
    )
    assert [attempt.ok for attempt in found.attempts] == [False, True]


def test_a_fault_in_the_payoffs_comes_back_without_the_outline():
    equal = sheet(dict.fromkeys(ENDS, (0, 0)))
    model, found = formalize(POKER, equal, sheet())
    assert found.ok
    assert len(model.asked) == 3
    assert "every end has the same payoffs" in model.asked[2].messages[1].content
    assert model.asked[2].schema == model.asked[1].schema


def test_a_remark_of_the_reader_is_in_both_questions_of_a_revision():
    model = ScriptedModel([POKER, sheet(), POKER, sheet({**ENDS, "queen; Ann: bet; Bob: call": (-3, 3)})])
    formalizer = Formalizer(model, EmbeddedEngine(), Settings(form="outline"))
    found = formalizer.revise(formalizer.formalize(STORY), "With a queen Ann loses 3.")
    assert found.table.rows[-1].payoffs == (-3, 3)
    assert all("With a queen Ann loses 3." in request.messages[1].content for request in model.asked[2:])


def test_moves_at_the_same_time_are_seen_by_nobody():
    both = read_outline(outline(move("Ann", "up", "down"), move("Bob", "left", "right")))
    assert both.ends() == ["Ann: up; Bob: left", "Ann: up; Bob: right", "Ann: down; Bob: left", "Ann: down; Bob: right"]
    table = both.build([(Fraction(1), Fraction(0))] * 4)
    assert len(as_game(table, "g").tree.infosets) == 2


def test_a_step_needs_one_option_of_everybody_it_comes_after():
    toss = luck(("heads", "1/2"), ("tails", "1/2"), after=["Ann: stay", "Bob: stay"])
    found = read_outline(outline(move("Ann", "go", "stay"), move("Bob", "go", "stay"), toss))
    assert [end for end in found.ends() if "heads" in end] == ["Ann: stay; Bob: stay; heads"]
    either = move("Bob", "x", "y", after=["low", "middle"])
    found = read_outline(outline(move("Ann", "low", "middle", "high"), either))
    assert len(found.ends()) == 5


def test_different_moves_after_different_draws_are_two_steps():
    steps = (CARD, move("Ann", "show", "hide", after=["king"]), move("Ann", "sell", "keep", after=["queen"]))
    found = read_outline(outline(*steps, move("Bob", "buy", "leave", after=["sell"])))
    assert found.ends() == [
        "king; Ann: show",
        "king; Ann: hide",
        "queen; Ann: sell; Bob: buy",
        "queen; Ann: sell; Bob: leave",
        "queen; Ann: keep",
    ]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (outline(players=()), "players must be a list of different names; got none"),
        (outline(CARD, BET, players=("Ann", "Luck")), "Luck is no player"),
        (outline(), "steps must be a list of draws of luck and moves"),
        (outline(CARD), "no step gives a player a choice between two moves"),
        (outline(luck(("a", "1/2"), ("b", "1/3")), BET), r"1/2 \+ 1/3 sum to 5/6; they must sum to exactly 1"),
        (outline(move("Ann", "go", "go")), "two branches are called the same: go, go"),
        (outline(move("Carl", "go", "stay")), "step 1: 'Carl' is none of the players Ann, Bob"),
        (outline(move("Ann", "go", "stay", seen_by=["Carl"])), "step 1: 'Carl' is none of the players"),
        (outline(move("Ann", "go", "stay"), move("Bob")), "step 2: expected luck with its draws, or a player with"),
        ('{"players": ["Ann"], "steps": [{"player": "Ann", "moves": "go"}]}', "step 1: moves must be a list"),
    ],
)
def test_a_wrong_outline_is_refused_with_the_place(answer, why):
    with pytest.raises(InvalidGame, match=why):
        read_outline(answer)


@pytest.mark.parametrize("steps", [[move("Ann", *"abcdefghi"), move("Bob", *"stuvwxyz")], [move("Ann", "a", "b")] * 40])
def test_an_outline_with_too_many_ends_does_not_fit(steps):
    with pytest.raises(OutlineTooLarge, match="at most 30 steps and 64 ends"):
        read_outline(outline(*steps))
    _, found = formalize(outline(*steps))
    assert found.attempts[0].misfit == "an outline has at most 30 steps and 64 ends"


def test_the_prompts_show_what_is_read_as_it_is_told():
    shown = OutlineForm().task(STORY).split("JSON:\n")[1].splitlines()[0]
    example = read_outline(shown)
    sheet_shown = json.loads(PayoffForm(example).task(STORY).split("JSON:\n")[1].splitlines()[0])
    assert set(sheet_shown) < set(example.ends())
    assert OutlineForm().after(Reply("nothing")).schema(ScriptedModel([])) == OUTLINE_SCHEMA


def test_what_a_step_comes_after_is_one_move_of_one_step():
    both = (move("Ann", "in", "out"), move("Bob", "in", "out"))
    with pytest.raises(InvalidGame, match=r"^step 3: after 'in', which may be Ann: in, Bob: in; write which$"):
        read_outline(outline(*both, move("Ann", "fight", "share", after=["in"])))
    ends = read_outline(outline(*both, move("Ann", "fight", "share", after=["Ann: in", "Bob: in"]))).ends()
    assert ends[:2] == ["Ann: in; Bob: in; Ann: fight", "Ann: in; Bob: in; Ann: share"]
    again = move("Ann", "in", "out")
    with pytest.raises(InvalidGame, match="after 'Ann: in', which is in two steps of a play; name them apart"):
        read_outline(outline(again, again, move("Bob", "fight", "share", after=["in"])))
    apart = (luck(("sun", "1/2"), ("rain", "1/2")), move("Ann", "in", "out", after=["sun"]))
    found = read_outline(
        outline(*apart, move("Ann", "in", "out", after=["rain"]), move("Bob", "go", "stay", after=["in"]))
    )
    assert len(found.ends()) == 6
