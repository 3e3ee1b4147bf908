"""A game asked for in small questions: players, order, options, conditions, knowledge, payoffs."""

import json
import re
from fractions import Fraction

import pytest
from strict_schema import complain, find_violations

from bestresponse import solve
from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.autoformalizer import Formalizer, Settings
from bestresponse.formal.formalize.forms import OutlineForm
from bestresponse.formal.formalize.outline.questions import AskOptions, AskPayoffs, AskPlayers
from bestresponse.formal.formalize.outline.steps import OutlineTooLarge
from bestresponse.games.logic.game import as_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.models import make_strict
from bestresponse.models.base import Reply
from bestresponse.models.providers.scripted import ScriptedModel

STORY = "A card is drawn by chance, king or queen; only Ann knows it. She bets or passes. Bob calls or folds."


def draws(*options):
    return [{"draw": name, "probability": odds} for name, odds in options]


def after(**steps):
    return {label: {"story": "so it is told", "after": given} for label, given in steps.items()}


def known(**steps):
    return {
        label: {"story": "so it is told"} | {f"{who} knows": told for who, told in given.items()}
        for label, given in steps.items()
    }


ALWAYS = ["always"]
TWICE = ("Ann", "Ann", "Bob")
PLAYERS = {"luck": ["card"], "players": ["Ann", "Bob"]}
ORDER = {"order": ["card", "Ann", "Bob"]}
CARD = draws(("king", "1/2"), ("queen", "0.5"))
OPTIONS = {"card": CARD, "Ann": ["pass", "bet"], "Bob": ["fold", "call"]}
CONDITIONS = after(Ann=ALWAYS, Bob=["Ann: bet"])
KNOWLEDGE = known(card={"Ann": "yes", "Bob": "no"})
ENDS = {
    "king; Ann: pass": (-1, 1),
    "king; Ann: bet; Bob: fold": (1, -1),
    "king; Ann: bet; Bob: call": (2, -2),
    "queen; Ann: pass": (-1, 1),
    "queen; Ann: bet; Bob: fold": (1, -1),
    "queen; Ann: bet; Bob: call": (-2, 2),
}


def list_payoffs(*ends):
    return [{"story": "so it is told", "payoffs": {"Ann": a, "Bob": b}} for a, b in ends]


OUTLINE = (PLAYERS, ORDER, OPTIONS, CONDITIONS, KNOWLEDGE)
ANSWERS = (*OUTLINE, *list_payoffs(*ENDS.values()))


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
        assert find_violations(answer, schema) == []
        assert complain(make_strict(schema)) is None
        question = question.read(json.dumps(answer))
    assert isinstance(question, GameTable)


def test_a_schema_offers_only_what_is_known_by_then():
    order = follow(PLAYERS).schema()["properties"]["order"]
    assert order["items"]["enum"] == ["card", "Ann", "Bob"]
    assert (order["minItems"], order["maxItems"]) == (3, 10)
    options = ask_options("card", "Ann", "Bob", "Ann").schema()["properties"]
    assert list(options) == ["card", "Ann", "Bob", "Ann (2)"]
    conditions = follow(*OUTLINE[:3]).schema()["properties"]
    assert list(conditions) == ["Ann", "Bob"]
    named = conditions["Bob"]["properties"]["after"]["items"]["enum"]
    assert named == ["always", "king", "queen", "Ann: pass", "Ann: bet"]
    knowledge = follow(*OUTLINE[:4]).schema()["properties"]
    assert {label: list(one["properties"]) for label, one in knowledge.items()} == {
        "card": ["story", "Ann knows", "Bob knows"]
    }
    assert follow(*OUTLINE).outline.ends() == list(ENDS)
    assert list(follow(*OUTLINE).schema()["properties"]["payoffs"]["properties"]) == ["Ann", "Bob"]


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
    for before, after, answer in zip(asked, asked[1:], OUTLINE[:4], strict=False):
        assert after.startswith(f"{before}\n{json.dumps(answer)}\n\n")
    assert len({request.messages[0].content for request in model.asked}) == 1


def test_the_ends_are_asked_for_apart_from_each_other():
    model, _ = formalize(*ANSWERS)
    asked = [request.messages[1].content for request in model.asked[5:]]
    assert [text.partition(". What does the story say")[0] for text in asked] == [
        f"Story:\n{STORY}\n\nThis happened: {end}" for end in ENDS
    ]


def test_the_system_message_shows_the_questions_as_they_are_asked():
    shown = OutlineForm().system()
    story = re.search(r"Story:\n(.*)\n\n", shown)[1]
    answers = [line for line in shown.splitlines() if line.startswith("{")]
    form = OutlineForm()
    for answer in answers[:4]:
        form = form.after(Reply(answer))
    assert f"\n\n{form.task(story)}\n{answers[4]}\n\n" in shown
    for answer in answers[5:]:
        assert not form.after(Reply(answers[4])).read(Reply(answer)).problem
    told = form.after(Reply(answers[4])).task(story).partition("heads; Mia: pass")[2]
    assert shown.count(f"{told}\n{{") == 3


def test_a_wrong_answer_is_asked_for_again_without_the_questions_before():
    wrong = after(Ann=ALWAYS, Bob=["Ann: raise"])
    model, found = formalize(*ANSWERS[:3], wrong, *ANSWERS[3:])
    assert found.ok
    assert [attempt.ok for attempt in found.attempts] == [False, True]
    assert "Bob: after 'Ann: raise', which is none of king, queen, Ann: pass" in model.asked[4].messages[1].content
    assert model.asked[4].schema == model.asked[3].schema


def test_a_fault_in_the_payoffs_comes_back_to_the_payoffs():
    model, found = formalize(*OUTLINE, *list_payoffs(*[(0, 0)] * 6), *ANSWERS[5:])
    assert found.ok
    assert "every end has the same payoffs" in model.asked[11].messages[1].content
    assert "king; Ann: pass" in model.asked[11].messages[1].content


def test_a_remark_of_the_reader_is_in_every_question_of_a_revision():
    model = ScriptedModel([json.dumps(answer) for answer in (*ANSWERS, *ANSWERS[:10], *list_payoffs((-3, 3)))])
    formalizer = Formalizer(model, EmbeddedEngine(), Settings(form="outline"))
    found = formalizer.revise(formalizer.formalize(STORY), "With a queen Ann loses 3.")
    assert found.table.rows[-1].payoffs == (-3, 3)
    assert all("With a queen Ann loses 3." in request.messages[1].content for request in model.asked[11:])


def test_moves_at_the_same_time_are_not_known():
    found = follow(
        {"Ann": ["up", "down"], "Bob": ["left", "right"]},
        after(Bob=ALWAYS),
        known(Ann={"Bob": "no"}),
        question=ask_options("Ann", "Bob"),
    ).outline
    assert found.ends() == [
        "Ann: up; Bob: left",
        "Ann: up; Bob: right",
        "Ann: down; Bob: left",
        "Ann: down; Bob: right",
    ]
    assert len(as_game(found.build([(Fraction(1), Fraction(0))] * 4), "g").tree.infosets) == 2


def test_one_choice_alone_needs_no_knowledge():
    alone = AskOptions(("Ann",), ("Ann",))
    assert isinstance(follow({"Ann": ["go", "stay"]}, question=alone), AskPayoffs)


def test_a_step_needs_an_option_of_every_step_it_comes_after():
    options = {"Ann": ["go", "stay"], "Bob": ["go", "stay"], "toss": draws(("heads", "1/2"), ("tails", "1/2"))}
    conditions = after(Bob=ALWAYS, toss=["Ann: stay", "Bob: stay"])
    found = follow(options, conditions, question=ask_options("Ann", "Bob", "toss")).outline
    assert [end for end in found.ends() if "heads" in end] == ["Ann: stay; Bob: stay; heads"]
    options = {"Ann": ["low", "middle", "high"], "Bob": ["x", "y"]}
    some = after(Bob=["Ann: low", "Ann: middle"])
    assert len(follow(options, some, question=ask_options("Ann", "Bob")).outline.ends()) == 5
    every = after(Bob=["Ann: low", "Ann: middle", "Ann: high"])
    assert follow(options, every, question=ask_options("Ann", "Bob")).outline.steps[1].after == {}


def test_what_a_choice_comes_after_is_known():
    options = {"Ann": ["go", "stay"], "Bob": ["x", "y"]}
    assert isinstance(follow(options, after(Bob=["Ann: go"]), question=ask_options("Ann", "Bob")), AskPayoffs)


def test_different_moves_after_different_draws_are_two_steps_of_one_player():
    options = {"card": CARD, "Ann": ["show", "hide"], "Ann (2)": ["sell", "keep"], "Bob": ["buy", "leave"]}
    conditions = after(**{"Ann": ["king"], "Ann (2)": ["queen"], "Bob": ["Ann: sell"]})
    found = follow(options, conditions, question=ask_options("card", "Ann", "Ann", "Bob"))
    assert found.outline.ends() == [
        "king; Ann: show",
        "king; Ann: hide",
        "queen; Ann: sell; Bob: buy",
        "queen; Ann: sell; Bob: leave",
        "queen; Ann: keep",
    ]


def test_a_player_still_knows_at_its_second_choice_what_it_knew_at_the_first():
    options = {"card": CARD, "Ann": ["pass", "bet"], "Bob": ["raise", "call"], "Ann (2)": ["fold", "stay"]}
    conditions = after(**{"Ann": ALWAYS, "Bob": ["Ann: bet"], "Ann (2)": ["Bob: raise"]})
    knowledge = known(card={"Ann": "yes", "Bob": "no", "Ann (2)": "no"})
    found = follow(options, conditions, knowledge, question=ask_options("card", "Ann", "Bob", "Ann")).outline
    tree = as_game(found.build([(Fraction(n), Fraction(0)) for n in range(8)]), "g").tree
    assert [infoset.player for infoset in tree.infosets].count(0) == 4


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        (AskPlayers(), {"luck": [], "players": []}, "players must be a list of different names; got none"),
        (AskPlayers(), {"luck": [], "players": ["Ann", "Luck"]}, "Luck is no player"),
        (AskPlayers(), {"luck": ["Ann"], "players": ["Ann"]}, "Ann is named twice; give draws and players different"),
        (AskPlayers(), {"luck": "coin", "players": ["Ann"]}, "luck: expected a list, got 'coin'"),
        (follow(PLAYERS), {"order": ["Ann", "Carl"]}, "order: 'Carl' is none of card, Ann, Bob"),
        (follow(PLAYERS), {"order": ["Ann"]}, "order: card, Bob must be in it"),
        (
            follow({"luck": [], "players": ["Ann", "Ann (2)"]}),
            {"order": ["Ann", "Ann", "Ann (2)"]},
            "order: two of Ann, Ann (2), Ann (2) have the same name; give them other names",
        ),
        (follow(PLAYERS), {"order": ["card", "Ann", "Bob"] * 4}, "order must be a list of at most 10 names"),
        (ask_options("Ann", "Bob"), {"Ann": ["go"]}, "Ann: expected at least two moves"),
        (ask_options("card", "Ann", "Bob"), {"card": []}, "card: expected at least two draws"),
        (
            ask_options("card", "Ann", "Bob"),
            {**OPTIONS, "card": draws(("a", "1/2"), ("b", "1/3"))},
            "1/2 + 1/3 sum to 5/6; they must sum to exactly 1",
        ),
        (
            ask_options("card", "Ann", "Bob"),
            {**OPTIONS, "Ann": ["bet", "bet"]},
            "two branches are called the same: bet, bet",
        ),
        (follow(*OUTLINE[:3]), after(Ann=ALWAYS), "Bob is missing"),
        (follow(*OUTLINE[:3]), after(Ann="king"), "Ann: after: expected a list, got 'king'"),
        (
            follow({"Ann": ["a", "b"], "Ann (2)": ["a", "b"], "Bob": ["c", "d"]}, question=ask_options(*TWICE)),
            after(**{"Ann (2)": ALWAYS, "Bob": ["Ann: a"]}),
            "Bob: after 'Ann: a', which two steps have",
        ),
        (follow(*OUTLINE[:4]), known(card={"Ann": "yes"}), "card: expected yes or no under 'Bob knows'"),
        (follow(*OUTLINE), {}, "payoffs must be an object with one number for each player"),
        (follow(*OUTLINE), {"payoffs": {"Ann": 1}}, "the payoffs of the end king; Ann: pass must be numbers"),
    ],
)
def test_a_wrong_answer_is_refused_with_the_place(question, answer, why):
    with pytest.raises(InvalidGame, match=re.escape(why)):
        follow(answer, question=question)


def test_an_outline_with_too_many_ends_does_not_fit():
    wide = {"Ann": list("abcdefgh"), "Bob": list("stuvwxyzq")}
    with pytest.raises(OutlineTooLarge, match="at most 64 ends"):
        follow(wide, after(Bob=ALWAYS), question=ask_options("Ann", "Bob"))
    _, found = formalize({"luck": [], "players": ["Ann", "Bob"]}, {"order": ["Ann", "Bob"]}, wide, after(Bob=ALWAYS))
    assert found.attempts[0].misfit == "an outline has at most 64 ends"


def test_a_story_without_players_is_no_game():
    _, found = formalize({"luck": [], "players": [], "refusal": {"kind": "no game", "reason": "it is a recipe"}})
    assert found.no_game == "it is a recipe"


def test_a_draw_between_moves_may_be_known_to_the_later_one():
    options = {"Ann": ["go", "stay"], "weather": draws(("sun", "1/2"), ("rain", "1/2")), "Bob": ["in", "out"]}
    knowledge = known(Ann={"Bob": "no"}, weather={"Bob": "yes"})
    found = follow(
        options, after(weather=ALWAYS, Bob=ALWAYS), knowledge, question=ask_options("Ann", "weather", "Bob")
    ).outline
    tree = as_game(found.build([(Fraction(n), Fraction(0)) for n in range(8)]), "g").tree
    assert [infoset.player for infoset in tree.infosets] == [0, 1, 1]
