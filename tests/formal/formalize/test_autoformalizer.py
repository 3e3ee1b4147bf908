"""Writing, checking and repairing games with a model that answers from a script."""

import json
from fractions import Fraction

import pytest

from bestresponse import solve
from bestresponse.core.errors import UsageError
from bestresponse.formal.formalize.autoformalizer import (
    Formalizer,
    Settings,
    check_story,
    elect,
    formalize_many,
)
from bestresponse.formal.formalize.json_answer import TREE_SCHEMA, read_tree
from bestresponse.formal.formalize.plan import library, nearest, plan
from bestresponse.formal.formalize.story_claims import compare_with_story
from bestresponse.games.logic.game import as_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits
from bestresponse.logic.programs.validate import validate
from bestresponse.models.base import Abilities, Finish, Reply, Usage
from bestresponse.models.providers.scripted import ScriptedModel

STORY = (
    "Ann and Bob each share or grab. Both share: 3 each. Both grab: 1 each. A grabber against a"
    " sharer gets 5 to 0."
)
GOOD = next(e.program for e in library() if e.name == "prisoners_dilemma")
HUNT = GOOD.replace("'Betray', 'Silent', 5, 0", "'Betray', 'Silent', 2, 0").replace(
    "'Betray', 0, 5", "'Betray', 0, 2"
)


def fenced(program: str) -> str:
    return f"Here you are:\n```prolog\n{program}\n```"


def formalizer(*answers, abilities=None, **settings):
    model = ScriptedModel(list(answers), abilities=abilities)
    return model, Formalizer(model, EmbeddedEngine(), Settings(**settings))


def test_a_right_program_is_a_game_at_once_and_tokens_are_counted():
    _, writer = formalizer(fenced(GOOD))
    found = writer.formalize(STORY)
    assert found.ok
    assert found.table.players == ("ada", "ben")
    assert len(found.attempts) == 1
    assert found.tokens[0] > 100
    assert found.tokens[1] > 50
    assert found.source == GOOD


def test_the_prompt_shows_the_nearest_example_and_one_shot_shows_the_dilemma():
    model, writer = formalizer(fenced(GOOD))
    writer.formalize("Two firms hand in sealed bids in an auction for one licence.")
    assert "Lena and Max bid" in model.asked[0].messages[1].content
    model, writer = formalizer(fenced(GOOD), choose="first")
    found = writer.formalize("Two firms hand in sealed bids in an auction for one licence.")
    assert "Two burglars" in model.asked[0].messages[1].content
    assert found.examples == ("prisoners_dilemma",)


def test_feedback_holds_only_what_is_wrong_and_the_numbered_program():
    broken = GOOD.replace("initial(s0).", "initial(s0)", 1)
    model, writer = formalizer(fenced(broken), fenced(GOOD))
    found = writer.formalize(STORY)
    assert found.ok
    assert len(found.attempts) == 2
    told = model.asked[1].messages[1].content
    assert STORY in told
    assert "is a full stop or comma missing at the end of line 2?" in told
    assert " 2 | initial(s0)\n" in told
    assert "Two burglars" not in told


def test_habits_of_other_languages_get_a_hint():
    wrong = GOOD.replace(
        "possible(move(P, M), S), holds(control(P), S).", "possible(move(P, M), S) and holds(P, S)."
    )
    model, writer = formalizer(fenced(wrong), fenced(GOOD))
    writer.formalize(STORY)
    assert "write a comma for and" in model.asked[1].messages[1].content


def test_a_story_that_is_empty_or_a_library_is_refused_before_the_model_is_asked():
    for nothing in ("", "  \n", "...", "12 34"):
        with pytest.raises(UsageError, match="the story is empty"):
            check_story(nothing)
    with pytest.raises(UsageError, match="60,000 characters"):
        check_story("a" * 60_000)


def test_a_story_that_is_no_game_is_said_plainly_and_not_tried_again():
    model, writer = formalizer("NO GAME: it is a recipe for sauce.")
    found = writer.formalize("Melt the butter and stir in the flour.")
    assert not found.ok
    assert found.trouble == "scripted finds no game in the story: it is a recipe for sauce."
    assert len(model.asked) == 1


def test_a_model_that_answers_in_prose_is_told_so_and_named_in_the_end():
    model, writer = formalizer("What a lovely story!", "I really like it.", attempts=2)
    found = writer.formalize(STORY)
    assert "contained no program" in model.asked[1].messages[1].content
    assert (
        found.trouble
        == "after 2 attempts scripted has written no program: it answered in prose, beginning 'I"
        " really like it.'"
    )


def test_an_unfinished_program_is_kept_and_the_next_answer_may_be_longer():
    half = GOOD[: len(GOOD) // 2]
    cut = Reply(f"```prolog\n{half}", Finish.LENGTH)
    model, writer = formalizer(cut, fenced(GOOD), max_tokens=100)
    found = writer.formalize(STORY)
    assert found.ok
    assert (model.asked[1].max_tokens, model.asked[1].temperature) == (200, 0.7)
    assert "the answer was cut off" in model.asked[1].messages[1].content


@pytest.mark.parametrize("opening", ["```prolog\n", ""])
def test_a_program_that_was_cut_off_is_no_game_even_where_it_could_be_played(opening):
    # The last clause would let Ben betray; without it everything is defined, and Ben can only keep
    # silent.
    together = "possible(move(P, 'Betray'), S) :- holds(player(P), S)."
    apart = "possible(move(ada, 'Betray'), _S)."
    short = GOOD.replace(together, apart)
    model, writer = formalizer(
        Reply(f"{opening}{short}\n", Finish.LENGTH), fenced(GOOD), max_tokens=100
    )
    written = writer.formalize(STORY)
    assert written.attempts[0].report.ok
    assert (
        written.attempts[0].trouble
        == "the answer was cut off (100 tokens were too few; raise max_tokens)"
    )
    assert "- the answer was cut off" in model.asked[1].messages[1].content
    assert (len(written.attempts), written.table.moves) == (
        2,
        (("Silent", "Betray"), ("Silent", "Betray")),
    )


def test_a_closed_block_is_a_whole_program_where_the_words_after_it_were_cut_off():
    _, writer = formalizer(Reply(f"{fenced(GOOD)}\nThis program tells", Finish.LENGTH))
    written = writer.formalize(STORY)
    assert (written.ok, len(written.attempts)) == (True, 1)


def test_an_answer_that_runs_in_circles_gets_no_more_room():
    line = (
        "payoff('Silent', 'Betray', 0, 5). % the one who betrays gets more than the one who keeps"
        " silent\n"
    )
    circling = Reply("```prolog\n" + line * 10, Finish.LENGTH)
    model, writer = formalizer(circling, fenced(GOOD), max_tokens=100)
    assert writer.formalize(STORY).ok
    assert (model.asked[1].max_tokens, model.asked[1].temperature) == (100, 0.7)


def test_the_best_attempt_is_kept_when_no_attempt_succeeds():
    nearly = GOOD.replace("payoff('Betray', 'Betray', 1, 1).", "")
    _, writer = formalizer(fenced(nearly), fenced("initial(s0"), "no", attempts=3)
    found = writer.formalize(STORY)
    assert not found.ok
    assert found.source == nearly
    assert "has no payoff after ada: Betray, ben: Betray" in found.trouble


def test_a_program_given_twice_is_asked_for_with_more_freedom():
    bad = GOOD.replace("payoff('Betray', 'Betray', 1, 1).", "")
    model, writer = formalizer(fenced(bad), fenced(bad), fenced(GOOD), form="program")
    assert writer.formalize(STORY).ok
    assert [request.temperature for request in model.asked] == [0.0, 0.0, 0.7]


def test_ten_megabytes_of_program_are_an_error_like_any_other():
    _, writer = formalizer(fenced("p(x).\n" * 1_700_000), attempts=1)
    found = writer.formalize(STORY)
    assert not found.ok
    assert "characters" in found.trouble


def test_a_game_without_end_stops_at_the_limits():
    endless = GOOD.replace("abnormal(control(P), move(P, _M), _S).", "").replace(
        "final(do(move(_, _), do(", "final(x(x("
    )
    writer = Formalizer(
        ScriptedModel([fenced(endless)]),
        EmbeddedEngine(Limits(steps=100_000)),
        Settings(attempts=1),
    )
    found = writer.formalize(STORY)
    assert not found.ok
    assert "a play is not over after 300 moves" in found.trouble


def test_hostile_programs_only_meet_the_gate(tmp_path):
    mark = tmp_path / "mark"
    hostile = (
        GOOD + f"\n:- initialization(shell('touch {mark}')).\nfinal(_) :- open('{mark}', write, S),"
        " close(S)."
    )
    _, writer = formalizer(fenced(hostile), attempts=1)
    assert not writer.formalize(STORY).ok
    assert not mark.exists()


def test_a_game_without_choices_is_sent_back():
    empty = (
        "initial(s0).\ninitially(player(p), s0).\nlegal(move(p, x),"
        " s1).\nfinal(s0).\nfinally(goal(p, 1), _)."
    )
    model, writer = formalizer(fenced(empty), fenced(GOOD))
    assert writer.formalize(STORY).ok
    assert (
        "nobody in this game has a choice between two moves" in model.asked[1].messages[1].content
    )


def test_ends_without_payoffs_are_told_in_one_line_with_predicates_of_two_arities():
    wrong = GOOD.replace("payoff('Betray', 'Betray', 1, 1).", "payoff('Betray', 1, 1).")
    wrong = wrong.replace("payoff('Silent', 'Silent', 3, 3).", "")
    model, writer = formalizer(fenced(wrong), fenced(GOOD))
    writer.formalize(STORY)
    told = model.asked[1].messages[1].content
    assert (
        "ada, ben got no payoff at these ends: (ada: Silent, ben: Silent), (ada: Betray, ben:"
        " Betray)" in told
    )
    assert "- payoff is written with 3 and with 4 arguments, which are different predicates" in told


def test_a_remark_of_a_person_revises_the_game():
    model, writer = formalizer(fenced(GOOD), fenced(HUNT))
    first = writer.formalize(STORY)
    second = writer.revise(first, "Grabbing from a sharer should earn only 2.")
    told = model.asked[1].messages[1].content
    assert "Grabbing from a sharer should earn only 2." in told
    assert "If ada chooses Silent and ben chooses Betray, ada gets 0, ben gets 5." in told
    assert second.table.payoffs(("Betray", "Silent")) == (2, 0)


def test_a_revision_that_fails_keeps_the_good_attempts():
    _, writer = formalizer(fenced(GOOD), "no", "no", attempts=2)
    after = writer.revise(writer.formalize(STORY), "make it better")
    assert after.ok
    assert after.source == GOOD


def test_the_game_that_most_candidates_describe_wins_whatever_its_moves_are_called():
    renamed = GOOD.replace("Silent", "Share").replace("Betray", "Grab").replace("ada", "ann")
    _, writer = formalizer(fenced(HUNT), fenced(GOOD), fenced(renamed))
    election = formalize_many(writer, STORY, 3)
    assert election.groups == ((1, 2), (0,))
    assert election.votes == 2
    assert election.winner.source == GOOD


def test_candidates_that_are_no_games_have_no_vote():
    _, writer = formalizer("no", fenced("initial(s0)."), attempts=1)
    election = formalize_many(writer, STORY, 2)
    assert election.groups == ()
    assert election.winner.source == "initial(s0)."
    assert elect([election.candidates[0]]).votes == 0


def test_back_translation_asks_about_the_table_in_words_and_reads_the_verdict():
    _, writer = formalizer(fenced(GOOD))
    table = writer.formalize(STORY).table
    judge = ScriptedModel(["AGREES", "DIFFERS: Bob should get 7.", "Well, hard to say."])
    assert compare_with_story(STORY, table, judge).agrees is True
    second = compare_with_story(STORY, table, judge)
    assert (second.agrees, second.why) == (False, "Bob should get 7.")
    assert compare_with_story(STORY, table, judge).agrees is None
    assert (
        "If ada chooses Silent and ben chooses Betray, ada gets 0, ben gets 5."
        in judge.asked[0].messages[0].content
    )


@pytest.mark.parametrize(
    ("answer", "agrees", "why"),
    [
        (
            "1. AGREES\n2. AGREES\n3. DIFFERS: Bob sees the offer.\n4. AGREES",
            False,
            "Bob sees the offer.",
        ),
        ("1. People: agrees.\n4. Payoffs: DIFFERS: 7, not 5", False, "7, not 5"),
        ("**Agrees.** Only names differ.", True, ""),
        ("Verdict: AGREES", True, ""),
        (
            "The rules do not agree with the story.",
            None,
            "the answer is neither AGREES nor DIFFERS",
        ),
        (
            Reply("1. AGREES\n2. AGREES\n3. What every", Finish.LENGTH),
            None,
            "the answer was cut off after 12,000 tokens; raise max_tokens",
        ),
        (Reply("DIFFERS: 7, not 5, since", Finish.LENGTH), False, "7, not 5, since"),
    ],
)
def test_a_verdict_point_by_point_agrees_only_where_every_point_does(answer, agrees, why):
    table = validate(GOOD, EmbeddedEngine()).table
    check = compare_with_story(STORY, table, ScriptedModel([answer] * 4))
    assert (check.agrees, check.why) == (agrees, why)


def test_a_check_that_is_cut_off_is_asked_for_again_with_twice_the_room():
    table = validate(GOOD, EmbeddedEngine()).table
    judge = ScriptedModel([Reply("", Finish.LENGTH), Reply("1. AG", Finish.LENGTH), "AGREES"])
    assert compare_with_story(STORY, table, judge, max_tokens=800).agrees is True
    assert [request.max_tokens for request in judge.asked] == [800, 1600, 3200]


@pytest.mark.parametrize(
    ("refusal", "question"),
    [
        (
            "NO GAME: nothing is chosen.",
            (
                "The answer says that there is no game (nothing is chosen.) and gives a program:"
                " which holds?"
            ),
        ),
        (
            "DOES NOT FIT: too many moves",
            (
                "The answer says that a program does not fit (too many moves) and gives a program:"
                " which holds?"
            ),
        ),
    ],
)
def test_a_refusal_beside_a_program_is_a_question(refusal, question):
    _, writer = formalizer(f"{refusal}\n{fenced(GOOD)}")
    found = writer.formalize(STORY)
    assert found.ok
    assert [(asked.text, asked.assumed) for asked in found.questions] == [(question, "the program")]


def both(cells):
    """Return the tree in which Ann and Bob share or grab, and Bob does not see what Ann does."""

    def choose(player, then):
        return {
            "player": player,
            "knows": "",
            "moves": [{"move": move, "then": then(move)} for move in ("share", "grab")],
        }

    def answer(mine):
        return choose("Bob", lambda yours: {"end": "", "payoffs": cells[mine, yours]})

    return {"players": ["Ann", "Bob"], "tree": choose("Ann", answer)}


CELLS = {
    ("share", "share"): [3, 3],
    ("share", "grab"): [0, 5],
    ("grab", "share"): [5, 0],
    ("grab", "grab"): [1.5, 1],
}
TREE = both(CELLS)


def test_a_model_that_can_be_held_to_a_schema_writes_the_tree_and_the_program_follows_by_rule():
    model, writer = formalizer(json.dumps(TREE), form="tree")
    found = writer.formalize(STORY)
    assert model.asked[0].schema == TREE_SCHEMA
    assert found.ok
    assert str(found.table.payoffs(("grab", "grab"))[0]) == "3/2"
    model, writer = formalizer(json.dumps(TREE), form="tree", abilities=Abilities())
    assert writer.formalize(STORY).ok
    assert model.asked[0].schema is None


def test_a_tree_in_which_all_choose_once_without_knowing_is_a_table():
    table = read_tree(json.dumps(TREE))
    assert (table.sequential, table.private) == (False, False)
    assert as_game(table).payoffs.tolist() == [[[3, 0], [5, 1.5]], [[3, 5], [0, 1]]]


def test_a_tree_with_a_gap_comes_back_with_what_is_wrong():
    gap = both({**CELLS, ("grab", "grab"): [1]})
    model, writer = formalizer(json.dumps(gap), json.dumps(TREE), form="tree")
    found = writer.formalize(STORY)
    problem = "after grab > grab: payoffs must be 2 numbers, one for each of Ann, Bob"
    assert [attempt.problem for attempt in found.attempts] == [problem, ""]
    assert problem in model.asked[1].messages[1].content


def test_a_game_where_no_choice_matters_is_a_game_with_a_warning():
    dull = both({cell: [1, 1] for cell in CELLS})
    _, writer = formalizer(json.dumps(dull), form="tree")
    found = writer.formalize(STORY)
    assert found.ok
    assert "no choice matters to anybody" in str(found.attempts[0].report.warnings[0])


def test_a_model_that_reasons_away_its_room_gets_twice_as_much_each_time_and_the_user_is_told_the_option():
    empty = Reply("", Finish.LENGTH, usage=Usage(900, 1500, reasoning=1500))
    model, writer = formalizer(
        empty, empty, empty, empty, empty, form="program", effort="low", reasoning_tokens=700
    )
    found = writer.formalize(STORY)
    assert [request.max_tokens for request in model.asked] == [1500, 3000, 6000, 12_000, 24_000]
    assert {(request.effort, request.reasoning_tokens) for request in model.asked} == {("low", 700)}
    assert (
        found.trouble
        == "after 5 attempts scripted has written no program: it had no room left for an answer"
        " (24,000 tokens were too few, 1,500 of them for reasoning; raise max_tokens)"
    )
    assert not any(
        "--max-tokens" in message.content for request in model.asked for message in request.messages
    )


def test_a_tree_without_players_is_no_game():
    empty = {"players": [], "tree": None}
    _, writer = formalizer(json.dumps(empty), form="tree")
    assert writer.formalize(STORY).no_game == "it lists no players"


def test_a_model_that_fails_twice_in_one_form_is_asked_for_the_other():
    model, writer = formalizer("no", "no", json.dumps(TREE))
    found = writer.formalize(STORY)
    assert found.ok
    assert [attempt.form for attempt in found.attempts] == ["program", "program", "tree"]
    assert [request.schema is None for request in model.asked] == [True, True, False]
    told = model.asked[2].messages[1].content
    assert "Your last answer" not in told
    assert "written as a program, was refused" in told
    assert "it answered in prose, beginning 'no'" in told


HIDDEN = (
    "A card is drawn, red or black with equal chance. Only Ann sees it. She bets or passes, and"
    " Bob, who does not know the card, calls or folds."
)


def test_a_model_on_this_machine_begins_with_the_tree():
    model = ScriptedModel([])
    assert plan("auto", model, 5) == ("program", "program", "tree", "tree", "program")
    model.identity = {"provider": "local"}
    assert plan("auto", model, 3) == ("tree", "tree", "program")
    assert plan("auto", model, 3, HIDDEN) == ("tree", "tree", "program")
    assert plan("auto", model, 3, "Both bid any whole number from 0 to 100.") == ("program",) * 3
    assert plan("program", model, 2) == ("program", "program")


def test_a_game_written_as_a_tree_is_revised_as_a_tree():
    better = both({**CELLS, ("share", "share"): [4, 4]})
    model, writer = formalizer(json.dumps(TREE), json.dumps(better), form="tree")
    revised = writer.revise(writer.formalize(STORY), "sharing is worth 4")
    assert revised.table.payoffs(("share", "share")) == (4, 4)
    asked = model.asked[1]
    assert asked.schema == TREE_SCHEMA
    assert (
        "If Ann chooses share and Bob chooses share, Ann gets 3, Bob gets 3."
        in asked.messages[1].content
    )
    assert asked.messages[1].content.endswith("changed as the reader asks, and nothing else.")


def test_a_story_of_chance_and_secrets_is_shown_an_example_with_secrets():
    (shown,) = nearest(HIDDEN, library())
    assert "sees(" in shown.program


@pytest.mark.parametrize(
    ("name", "value"),
    [("hidden_card", Fraction(1, 3)), ("used_car", None), ("private_auction", None)],
)
def test_the_examples_with_chance_are_games_in_which_everybody_sees_only_what_it_may(name, value):
    example = next(one for one in library() if one.name == name)
    report = validate(example.program, EmbeddedEngine())
    assert report.ok, report.errors
    assert report.table.chancy
    assert report.table.private
    solved = solve(as_game(report.table, name))
    assert solved.value == (None if value is None else pytest.approx(float(value)))


def test_every_remark_stays_in_every_later_prompt():
    broken = HUNT.replace("initial(s0).", "initial(s0)", 1)
    model, writer = formalizer(
        fenced(GOOD), fenced(broken), "What?", fenced(HUNT), fenced(HUNT), form="program"
    )
    first = writer.formalize(STORY)
    second = writer.revise(first, "Grabbing earns only 2.")
    third = writer.revise(second, "Call them Ada and Ben.")
    assert second.ok
    assert third.remarks == ("Grabbing earns only 2.", "Call them Ada and Ben.")
    assert all(
        "Grabbing earns only 2." in request.messages[1].content for request in model.asked[1:]
    )
    assert len(third.attempts) == 5


def test_a_revision_that_fails_leaves_the_best_attempt_as_it_was():
    _, writer = formalizer(fenced(GOOD), "NO GAME: nonsense", form="program")
    before = writer.formalize(STORY)
    after = writer.revise(before, "Make it better.")
    assert after.ok
    assert after.best is before.best


def test_what_a_story_leaves_open_is_asked_with_what_was_assumed():
    asked = "% QUESTION: Does Bob see what Ann does? ASSUMED: no\n% QUESTION: Who pays?\n" + GOOD
    _, writer = formalizer(fenced(asked), fenced(asked))
    found = writer.formalize(STORY)
    assert [(one.text, one.assumed) for one in found.questions] == [
        ("Does Bob see what Ann does?", "no"),
        ("Who pays?", ""),
    ]
    after = writer.revise(found, "Who pays? Ann pays.")
    assert [one.text for one in after.questions] == ["Does Bob see what Ann does?"]


def test_a_form_that_does_not_fit_is_not_asked_for_again():
    misfit = json.dumps(
        {
            "players": [],
            "tree": None,
            "refusal": {"kind": "does not fit", "reason": "bids to 10,000"},
        }
    )
    model, writer = formalizer(misfit, fenced(GOOD))
    model.identity = {"provider": "local"}
    found = writer.formalize(HIDDEN)
    assert [attempt.form for attempt in found.attempts] == ["tree", "program"]
    assert "this form does not fit: bids to 10,000" in model.asked[1].messages[1].content
    _, writer = formalizer("DOES NOT FIT: it never ends", form="program")
    assert (
        writer.formalize(STORY).trouble
        == "after 1 attempt scripted says that the program does not fit: it never ends"
    )
