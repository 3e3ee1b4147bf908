"""A game asked for in small questions: players, order, options with what is next, knowledge, payoffs."""

import json
import re
from fractions import Fraction

import pytest
from strict_schema import complain

from bestresponse import solve
from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.autoformalizer import Formalizer, Settings
from bestresponse.formal.formalize.forms import OutlineForm
from bestresponse.formal.formalize.outline_json import Outline, OutlineTooLarge, Step
from bestresponse.formal.formalize.questionnaire import AskKnowledge, AskOptions, AskOrder, AskPayoffs, AskPlayers
from bestresponse.games.logic.game import as_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.models import find_violations, make_strict
from bestresponse.models.base import Reply
from bestresponse.models.providers.scripted import ScriptedModel

STORY = "A card is drawn by chance, king or queen; only Ann knows it. She bets or passes. Bob calls or folds."


def draws(*options):
    return [{"draw": name, "probability": odds, "next": after} for name, odds, after in options]


def moves(*options):
    return [{"move": name, "next": after} for name, after in options]


PLAYERS = {"players": ["Ann", "Bob"]}
ORDER = {"order": ["luck", "Ann", "Bob"]}
OPTIONS = {
    "luck": draws(("king", "1/2", "Ann"), ("queen", "0.5", "Ann")),
    "Ann": moves(("pass", "nobody"), ("bet", "Bob")),
    "Bob": moves(("fold", "nobody"), ("call", "nobody")),
}
KNOWLEDGE = {"Ann knows whether king or queen": "yes", "Bob knows whether king or queen": "no"}
ENDS = {
    "king; Ann: pass": (-1, 1),
    "king; Ann: bet; Bob: fold": (1, -1),
    "king; Ann: bet; Bob: call": (2, -2),
    "queen; Ann: pass": (-1, 1),
    "queen; Ann: bet; Bob: fold": (1, -1),
    "queen; Ann: bet; Bob: call": (-2, 2),
}


def amount(number):
    return {"gets": number} if number >= 0 else {"pays": -number}


def sheet(ends=ENDS):
    return {
        end: {"story": "so it is told", "payoffs": {"Ann": amount(a), "Bob": amount(b)}} for end, (a, b) in ends.items()
    }


ANSWERS = (PLAYERS, ORDER, OPTIONS, KNOWLEDGE, sheet())


def formalize(*answers, attempts=3):
    model = ScriptedModel([json.dumps(answer) for answer in answers])
    return model, Formalizer(model, EmbeddedEngine(), Settings(form="outline", attempts=attempts)).formalize(STORY)


def follow(*answers, question=None):
    """Return what comes after these answers: a question or the game."""
    question = question or AskPlayers()
    for answer in answers:
        question = question.read(json.dumps(answer))
    return question


def ask_options(*order):
    return AskOptions(("Ann", "Bob"), order)


def test_every_answer_fits_the_schema_of_its_question_which_is_strict():
    question = AskPlayers()
    for answer in ANSWERS:
        schema = question.schema()
        assert list(find_violations(answer, schema)) == []
        assert complain(make_strict(schema)) is None
        question = question.read(json.dumps(answer))
    assert isinstance(question, GameTable)


def test_a_schema_offers_only_what_is_known_by_then():
    order = AskOrder(("Ann", "Bob")).schema()["properties"]["order"]
    assert order["items"]["enum"] == ["luck", "Ann", "Bob"]
    assert (order["minItems"], order["maxItems"]) == (1, 10)
    options = ask_options("luck", "Ann", "Bob", "Ann").schema()["properties"]
    assert {name: one["items"]["properties"]["next"]["enum"] for name, one in options.items()} == {
        "luck": ["Ann", "Bob", "Ann (2)", "nobody"],
        "Ann": ["Bob", "Ann (2)", "nobody"],
        "Bob": ["Ann (2)", "nobody"],
        "Ann (2)": ["nobody"],
    }
    assert list(follow(*ANSWERS[:3]).schema()["properties"]) == list(KNOWLEDGE)
    assert list(follow(*ANSWERS[:4]).schema()["properties"]) == list(ENDS)


def test_all_questions_are_one_attempt_and_make_the_game():
    model, found = formalize(*ANSWERS)
    assert found.ok, found.trouble
    assert len(found.attempts) == 1
    assert [request.schema for request, _ in found.attempts[0].exchanges] == [one.schema for one in model.asked]
    tree = as_game(found.table, "poker").tree
    assert [(infoset.player, infoset.moves) for infoset in tree.infosets] == [
        (0, ("pass", "bet")),
        (1, ("fold", "call")),
        (0, ("pass", "bet")),
    ]
    assert solve(as_game(found.table, "poker")).value == pytest.approx(1 / 3)


def test_each_question_continues_the_text_of_the_one_before():
    model, _ = formalize(*ANSWERS)
    asked = [request.messages[1].content for request in model.asked]
    assert asked[0] == f"Story:\n{STORY}\n\n{AskPlayers().text()}"
    for before, after, answer in zip(asked, asked[1:], ANSWERS, strict=False):
        assert after.startswith(f"{before}\n{json.dumps(answer)}\n\n")
    assert asked[4].endswith("- queen; Ann: bet; Bob: call")
    assert len({request.messages[0].content for request in model.asked}) == 1


def test_the_system_message_shows_the_questions_as_they_are_asked():
    shown = OutlineForm().system()
    story = re.search(r"Story:\n(.*)\n\n", shown)[1]
    answers = [line for line in shown.splitlines() if line.startswith("{")]
    form = OutlineForm()
    for answer in answers[:-1]:
        form = form.after(Reply(answer))
    assert shown.endswith(f"\n\n{form.task(story)}\n{answers[-1]}")
    assert form.read(Reply(answers[-1])).source


def test_a_wrong_answer_is_asked_for_again_without_the_questions_before():
    wrong = {**OPTIONS, "Bob": moves(("fold", "Ann"), ("call", "nobody"))}
    model, found = formalize(PLAYERS, ORDER, wrong, *ANSWERS[2:])
    assert found.ok
    assert [attempt.ok for attempt in found.attempts] == [False, True]
    assert "Bob: next is 'Ann'; expected nobody" in model.asked[3].messages[1].content
    assert model.asked[3].schema == model.asked[2].schema


def test_a_fault_in_the_payoffs_comes_back_to_the_payoffs():
    model, found = formalize(*ANSWERS[:4], sheet(dict.fromkeys(ENDS, (0, 0))), sheet())
    assert found.ok
    assert "every end has the same payoffs" in model.asked[5].messages[1].content
    assert model.asked[5].schema == model.asked[4].schema


def test_a_remark_of_the_reader_is_in_every_question_of_a_revision():
    better = sheet({**ENDS, "queen; Ann: bet; Bob: call": (-3, 3)})
    model = ScriptedModel([json.dumps(answer) for answer in (*ANSWERS, *ANSWERS[:4], better)])
    formalizer = Formalizer(model, EmbeddedEngine(), Settings(form="outline"))
    found = formalizer.revise(formalizer.formalize(STORY), "With a queen Ann loses 3.")
    assert found.table.rows[-1].payoffs == (-3, 3)
    assert all("With a queen Ann loses 3." in request.messages[1].content for request in model.asked[5:])


def test_moves_at_the_same_time_are_not_known():
    both = {
        "Ann": moves(("up", "Bob"), ("down", "Bob")),
        "Bob": moves(("left", "nobody"), ("right", "nobody")),
    }
    asked = follow(both, question=ask_options("Ann", "Bob"))
    found = follow({"Bob knows whether Ann chose up or down": "no"}, question=asked).outline
    assert found.ends() == [
        "Ann: up; Bob: left",
        "Ann: up; Bob: right",
        "Ann: down; Bob: left",
        "Ann: down; Bob: right",
    ]
    assert len(as_game(found.build([(Fraction(1), Fraction(0))] * 4), "g").tree.infosets) == 2


def test_what_cannot_differ_is_not_asked():
    alone = {"luck": OPTIONS["luck"], "Ann": moves(("go", "nobody"), ("stay", "nobody"))}
    assert list(AskKnowledge(follow(alone, question=AskOptions(("Ann",), ("luck", "Ann"))).outline).list_statements())
    first = {"Ann": moves(("go", "Bob"), ("stay", "nobody")), "Bob": moves(("x", "nobody"), ("y", "nobody"))}
    assert isinstance(follow(first, question=ask_options("Ann", "Bob")), AskPayoffs)


def test_different_moves_after_different_draws_are_two_steps_of_one_player():
    steps = {
        "luck": draws(("king", "1/2", "Ann"), ("queen", "1/2", "Ann (2)")),
        "Ann": moves(("show", "nobody"), ("hide", "nobody")),
        "Ann (2)": moves(("sell", "Bob"), ("keep", "nobody")),
        "Bob": moves(("buy", "nobody"), ("leave", "nobody")),
    }
    found = follow(steps, question=ask_options("luck", "Ann", "Ann", "Bob"))
    assert found.outline.ends() == [
        "king; Ann: show",
        "king; Ann: hide",
        "queen; Ann: sell; Bob: buy",
        "queen; Ann: sell; Bob: leave",
        "queen; Ann: keep",
    ]


def test_a_player_still_knows_at_its_second_choice_what_it_knew_at_the_first():
    steps = {
        "luck": OPTIONS["luck"],
        "Ann": moves(("pass", "nobody"), ("bet", "Bob")),
        "Bob": moves(("raise", "Ann (2)"), ("call", "nobody")),
        "Ann (2)": moves(("fold", "nobody"), ("stay", "nobody")),
    }
    asked = follow(steps, question=ask_options("luck", "Ann", "Bob", "Ann"))
    statements = list(asked.list_statements())
    assert statements[0] == "Ann knows whether king or queen"
    assert statements[2] == "Ann knows at choice 2 whether king or queen"
    found = follow(dict(zip(statements, ("yes", "no", "no"), strict=True)), question=asked).outline
    tree = as_game(found.build([(Fraction(n), Fraction(0)) for n in range(8)]), "g").tree
    assert [infoset.player for infoset in tree.infosets].count(0) == 4


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        (AskPlayers(), {"players": []}, "players must be a list of different names; got none"),
        (AskPlayers(), {"players": ["Ann", "Luck"]}, "Luck is no player"),
        (AskOrder(("Ann", "Bob")), {"order": []}, "order must be a list of 1 to 10 names"),
        (AskOrder(("Ann", "Bob")), {"order": ["Ann", "Carl"]}, "order: 'Carl' is neither luck nor one of Ann, Bob"),
        (AskOrder(("Ann", "Bob")), {"order": ["Ann"]}, "order: Bob must choose somewhere"),
        (ask_options("Ann", "Bob"), {"Ann": moves(("go", "Bob"))}, "Ann: expected at least two moves"),
        (ask_options("luck", "Ann", "Bob"), {"luck": []}, "luck: expected at least two draws"),
        (
            ask_options("luck", "Ann", "Bob"),
            {**OPTIONS, "luck": draws(("a", "1/2", "Ann"), ("b", "1/3", "Ann"))},
            r"1/2 \+ 1/3 sum to 5/6; they must sum to exactly 1",
        ),
        (
            ask_options("luck", "Ann", "Bob"),
            {**OPTIONS, "Ann": moves(("bet", "Bob"), ("bet", "nobody"))},
            "two branches are called the same: bet, bet",
        ),
        (
            ask_options("luck", "Ann", "Bob"),
            {**OPTIONS, "Ann": moves(("bet", "nobody"), ("pass", "nobody"))},
            "Bob never decides: it is next after no draw and no move",
        ),
        (follow(*ANSWERS[:3]), {"Ann knows whether king or queen": "yes"}, "Bob knows whether king or queen: expected"),
        (follow(*ANSWERS[:4]), {}, "the end king; Ann: pass is missing"),
        (follow(*ANSWERS[:4]), {"king; Ann: pass": {"payoffs": {"Ann": 1}}}, 'king; Ann: pass: Ann: expected {"gets"'),
    ],
)
def test_a_wrong_answer_is_refused_with_the_place(question, answer, why):
    with pytest.raises(InvalidGame, match=why):
        follow(answer, question=question)


def test_an_outline_with_too_many_ends_does_not_fit():
    wide = {
        "Ann": moves(*((name, "Bob") for name in "abcdefgh")),
        "Bob": moves(*((name, "nobody") for name in "stuvwxyzq")),
    }
    with pytest.raises(OutlineTooLarge, match="at most 64 ends"):
        follow(wide, question=ask_options("Ann", "Bob"))
    _, found = formalize(PLAYERS, {"order": ["Ann", "Bob"]}, wide)
    assert found.attempts[0].misfit == "an outline has at most 64 ends"


def test_a_story_without_players_is_no_game():
    _, found = formalize({"players": [], "refusal": {"kind": "no game", "reason": "it is a recipe"}})
    assert found.no_game == "it is a recipe"


def test_a_draw_between_moves_is_known_only_to_those_who_choose_later():
    toss = Step("luck", ("sun", "rain"), (2, 2), ("1/2", "1/2"))
    outline = Outline(
        ("Ann", "Bob"),
        (Step("Ann", ("go", "stay"), (1, 1)), toss, Step("Bob", ("in", "out"), (None, None), known=frozenset([1]))),
    )
    assert outline.find_options_before(2) == {0: ["go", "stay"], 1: ["sun", "rain"]}
    tree = as_game(outline.build([(Fraction(n), Fraction(0)) for n in range(8)]), "g").tree
    assert [infoset.player for infoset in tree.infosets] == [0, 1, 1]
