"""Strategies in words: a scripted model writes the rules, sees what is wrong, and repairs them."""

import pytest

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.strategies.agents import (
    Agent,
    StrategySettings,
    write_match_program,
    write_strategy_rules,
)
from bestresponse.formal.strategies.programs import published_strategy
from bestresponse.games.lookup import NamedGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.tournament.entries import formalize_entry, make_stage, read_strategy
from bestresponse.theory.catalogue.tables import load

GAME = write_match_program(load("prisoners-dilemma"))
WORDS = "Defect in the first round and then do what the other player did."
RIGHT = """```prolog
select(_P, O, S, M) :- holds(last_move(O, M), S).
select(_P, O, S, defect) :- \\+ holds(last_move(O, _), S).
```"""
MISSPELT = "```prolog\nselect(_P, O, S, M) :- hold(last_move(O, M), S).\n```"
SILENT_AT_FIRST = "```prolog\nselect(_P, O, S, M) :- holds(last_move(O, M), S).\n```"


def formalize(*answers, words=WORDS, attempts=5):
    model = ScriptedModel(list(answers))
    return write_strategy_rules(
        words, GAME, model, EmbeddedEngine(), StrategySettings(attempts)
    ), model


def test_right_rules_need_one_attempt():
    found, model = formalize(RIGHT)
    assert found.ok
    assert "defect" in found.rules
    asked = model.asked[0].messages[-1].content
    assert WORDS in asked
    assert "payoffs([cooperate, defect], [p1-0, p2-5])." in asked


def test_the_model_is_told_what_is_wrong_and_repairs_it():
    found, model = formalize("I think it should defect.", MISSPELT, SILENT_AT_FIRST, RIGHT)
    assert found.ok
    assert len(found.attempts) == 4
    assert "held no rules" in model.asked[1].messages[-1].content
    assert "hold/2" in model.asked[2].messages[-1].content
    assert "no move in the initial situation" in model.asked[3].messages[-1].content


def test_rules_that_fail_later_on_are_found_out():
    """They answer in the first round but not after the other has cooperated."""
    late = "```\nselect(_P, O, S, defect) :- \\+ holds(last_move(O, cooperate), S).\n```"
    found, _ = formalize(late, attempts=1)
    assert not found.ok
    assert "gives no move after cooperate and cooperate" in found.trouble


def test_a_rule_for_the_first_round_that_never_ends_is_found_out():
    first, then = (
        "select(P, _O, S, M) :- holds(default_move(P, M), S).",
        "select(_P, O, S, M) :- holds(last_move(O, M), S).",
    )
    both = f"```\n{first}\n{then}\n```"
    found, model = formalize(both, RIGHT)
    assert found.ok
    told = model.asked[1].messages[-1].content
    assert (
        "after own cooperate and the opponent's defect the rules give several moves (cooperate,"
        " defect)" in told
    )
    assert "holds(last_move(Opponent, _), Situation)" in told


def test_rules_with_chance_may_give_several_moves():
    found, _ = formalize(
        "```\nselect(P, _O, S, M) :- findall(X, possible(move(P, X), S), Xs), random_member(M,"
        " Xs).\n```"
    )
    assert (found.ok, found.trouble, len(found.attempts)) == (True, "", 1)
    assert "random_member" in found.rules


def test_warnings_alone_do_not_fail_a_strategy():
    found, _ = formalize("```\nselect(P, O, S, defect).\n```")
    assert (found.ok, found.trouble, len(found.attempts)) == (True, "", 1)


def test_giving_up_says_why():
    found, _ = formalize(MISSPELT, MISSPELT, attempts=2)
    assert not found.ok
    assert found.rules == ""
    assert found.trouble.startswith("after 2 attempts the rules of scripted are still wrong")


def test_the_same_mistake_twice_is_asked_again_with_more_freedom():
    _, model = formalize(MISSPELT, MISSPELT, RIGHT)
    assert [request.temperature for request in model.asked] == [0.0, 0.0, 0.7]


@pytest.mark.parametrize("words", ["", "  \n", "x" * 20_000])
def test_an_empty_or_endless_description_is_refused(words):
    with pytest.raises(UsageError, match="strategy"):
        formalize(RIGHT, words=words)


def test_a_hostile_answer_is_refused_and_told_so():
    found, model = formalize(
        "```\nselect(_, _, _, M) :- shell('rm -rf /'), M = defect.\n```", RIGHT
    )
    assert found.ok
    assert "shell/1" in model.asked[1].messages[-1].content


def test_a_file_becomes_one_who_takes_part(tmp_path):
    path = tmp_path / "grumpy.txt"
    path.write_text(WORDS)
    entry = formalize_entry(
        read_strategy(path), make_stage(NamedGame.find("prisoners-dilemma")), ScriptedModel([RIGHT])
    )
    assert (entry.name, entry.kind, entry.words) == ("grumpy", "rules", WORDS)
    with pytest.raises(InvalidGame, match="still wrong"):
        formalize_entry(
            read_strategy(path),
            make_stage(NamedGame.find("prisoners-dilemma")),
            ScriptedModel([MISSPELT] * 5),
        )


TWO_IN_A_ROW = """
start_memory(0).
next_memory(_, _, cooperate, 0).
next_memory(0, _, defect, 1).
next_memory(1, _, defect, 2).
next_memory(2, _, defect, 2).
select(P, _, S, defect) :- holds(memory(P, 2), S).
select(P, _, S, cooperate) :- holds(memory(P, N), S), N < 2.
"""


def test_a_strategy_may_count_and_becomes_the_automaton_of_its_states():
    found, model = formalize(
        f"```\n{TWO_IN_A_ROW}\n```", words="Defect only after two betrayals in a row."
    )
    assert found.ok, found.trouble
    assert "start_memory(State)" in model.asked[0].messages[-1].content
    machine = Agent("calm", GAME, found.rules).seats().automaton(0)
    assert machine.mix.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert machine.step.tolist() == [[[0, 1], [0, 1]], [[0, 2], [0, 2]], [[0, 2], [0, 2]]]


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (
            TWO_IN_A_ROW.replace("next_memory(2, _, defect, 2).\n", ""),
            "no state of memory after 2, own cooperate",
        ),
        (
            (
                "start_memory(0).\nnext_memory(N, _, _, M) :- M is N + 1.\n"
                "select(P, _, S, defect) :- holds(memory(P, N), S), N >= 0."
            ),
            "more than 400 states; let its counters end somewhere",
        ),
        (
            (
                "select(_, O, S, defect) :- holds(history(O, [defect|_]), S).\n"
                "select(_, O, S, cooperate) :- \\+ holds(history(O, [defect|_]), S)."
            ),
            "history/2 never holds when a strategy is asked",
        ),
        (
            "select(_, O, S, M) :- holds(did(O, M), S).\nselect(_, _, _, defect).",
            "did/2 never holds",
        ),
        ("start_memory(0).\nselect(_, _, _, defect).", "next_memory/4 is missing"),
    ],
)
def test_rules_that_remember_what_is_not_there_are_refused(rules, why):
    found, _ = formalize(f"```\n{rules}\n```", attempts=1)
    assert not found.ok
    assert why in found.trouble


def test_a_model_may_say_that_a_strategy_cannot_be_written():
    found, model = formalize("CANNOT: it depends on the weather.", RIGHT)
    assert not found.ok
    assert len(model.asked) == 1
    assert (
        found.trouble
        == "scripted says that the strategy cannot be written as rules: it depends on the weather."
    )


@pytest.mark.parametrize(
    "name", ["best-response", "tit-for-tat", "anti-tit-for-tat", "default-move", "random"]
)
def test_moves_may_be_numbers(name):
    numbers = GAME.replace("cooperate", "1").replace("defect", "2")
    seats = Agent(name, numbers, published_strategy(name)).seats()
    named = Agent(name, GAME, published_strategy(name)).seats()
    assert seats.automaton(0).mix.tolist() == named.automaton(0).mix.tolist()
    assert seats.automaton(1).step.tolist() == named.automaton(1).step.tolist()
