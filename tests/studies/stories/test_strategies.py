"""Strategies in words: rules are right if they behave like the known strategy, in both seats."""

import pytest

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.formal.strategies.programs import published_strategy
from bestresponse.games.lookup import NamedGame
from bestresponse.studies.stories.strategies import (
    STRATEGY_WORDS,
    StrategiesConfig,
    find_total,
    find_truth,
    judge_rules,
)
from bestresponse.studies.tournament.entries import make_stage

DILEMMA = make_stage(NamedGame("prisoners-dilemma"))


def author(prompt):
    """Write the published rules of whatever strategy is asked for, but take anti-default-move for
    default-move."""
    name = max(
        (name for name, words in STRATEGY_WORDS.items() if words.strip() in prompt),
        key=lambda name: len(STRATEGY_WORDS[name]),
    )
    return f"```prolog\n{published_strategy('default-move' if name == 'anti-default-move' else name)}\n```"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return br.stories.bench_strategies(
        author, samples=2, output_dir=tmp_path_factory.mktemp("runs")
    )


def test_totals_of_four_rounds_against_anti_tit_for_tat_are_those_worked_out_by_hand():
    # The rival begins with cooperate, then does the opposite of what it saw.
    totals = {name: find_total(find_truth(name, DILEMMA)[0], DILEMMA) for name in STRATEGY_WORDS}
    assert totals == {
        "default-move": 3 + 0 + 0 + 0,
        "anti-default-move": 5 + 5 + 5 + 5,
        "anti-tit-for-tat": 3 + 1 + 3 + 1,
        "best-response": 3 + 1 + 5 + 5,
        "tit-for-tat": 3 + 0 + 1 + 5,
        "random": None,
    }


def test_the_share_right_is_counted_by_strategy(run):
    shares = {heads[1]: values["right"].estimate for heads, values in run.metrics.groups}
    assert shares == {
        "anti-default-move": 0.0,
        "anti-tit-for-tat": 1.0,
        "best-response": 1.0,
        "default-move": 1.0,
        "random": 1.0,
        "all": 0.8,
    }
    wrong = run.frame("rules").select(right=False)[0]
    assert (wrong["total"], wrong["expected"], wrong["approximate"]) == (3, 20, False)
    assert (
        wrong["why"] == "it does not behave like anti-default-move in the first and the second seat"
    )
    assert {
        row["attempt"]: row["rules"] for row in run.frame("attempts").select(strategy="random")
    }["1"] == 2


def test_a_total_can_be_right_where_the_rules_are_not():
    # Against anti-tit-for-tat it always cooperates; after a defection of its own, by mistake, it
    # would go on with it.
    sulking = """
    select(P, _, S, defect) :- holds(last_move(P, defect), S).
    select(P, _, S, cooperate) :- \\+ holds(last_move(P, defect), S).
    """
    assert judge_rules("default-move", sulking, DILEMMA) == (
        True,
        3,
        False,
        "it does not behave like default-move in the first and the second seat",
    )
    assert judge_rules("default-move", "select(_, _, _, cooperate).", DILEMMA) == (
        True,
        3,
        True,
        "",
    )


def test_a_run_is_replayed_and_reported_without_the_model(run):
    loaded = br.load_run(run.path)
    assert loaded.replay().different == ()
    assert "sets of rules behave" in loaded.report().to_json()


def test_a_strategy_without_a_text_is_refused():
    with pytest.raises(SettingError, match="anti-tit-for-tat"):
        StrategiesConfig("m", strategies=["anti-tit-for-tot"])
