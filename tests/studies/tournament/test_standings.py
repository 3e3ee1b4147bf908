import json
from types import SimpleNamespace

import numpy as np
import pytest
import running
from courses import name_course

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.games.lookup import NamedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.page import render
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import (
    Contestant,
    gather_entries,
    make_stage,
    read_strategy,
)
from bestresponse.studies.tournament.standings import find_standings, normalise
from bestresponse.studies.tournament.study import METRICS, tournament
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = "prisoners-dilemma"


def configure(*names, game=DILEMMA, **settings):
    return TournamentConfig(name_course(game, settings), names, **settings)


def standings(*names, **settings):
    return find_standings(configure(*names, **settings))


def list_entries(names, game, default_move=None):
    return gather_entries(names, make_stage(NamedGame.find(game)), default_move)


def by_name(found):
    return {row["name"]: row for row in found.rows}


def test_a_small_round_robin_worked_out_by_hand():
    """Ten rounds of 3/0/5/1: tit-for-tat meets itself (30), a defector (0 + 9 x 1 = 9, who gets 5 +
    9 = 14)."""
    found = standings("tit-for-tat", "defector", rounds=10)
    rows = by_name(found)
    assert rows["tit-for-tat"]["total"] == 2 * (30 + 9)
    assert rows["defector"]["total"] == 2 * (10 + 14)
    assert rows["tit-for-tat"]["per_round"] == pytest.approx(1.95)
    assert rows["tit-for-tat"]["share"] == pytest.approx(1.95 / 5)
    assert found.winners == ("tit-for-tat",)


def test_those_who_earn_the_same_share_a_place():
    """Tit-for-tat and grim are the same here: 30 with each other and themselves, 9 against the
    defector.

    Each earns 30 + 30 + 9 = 69 in a seat, the defector 14 + 14 + 10 = 38: places 1, 1 and 3.
    """
    found = standings("defector", "tit-for-tat", "grim", rounds=10)
    assert [row["total"] for row in found.rows] == [2 * 69, 2 * 69, 2 * 38]
    assert found.places == [1, 1, 3]


def test_a_share_of_a_place_does_not_hang_on_rounding():
    """0.1 + 0.2 is not quite 0.3 for a computer; who earned nothing at all that is known comes
    last."""
    found = standings("defector")
    vars(found)["rows"] = [{"per_round": payoff} for payoff in (0.1 + 0.2, 0.3, 0.2, None, None)]
    assert found.places == [1, 1, 3, 4, 4]


def test_places_do_not_hang_on_the_unit_of_payoffs():
    """In one round of 3/0/5/1 the defector earns 1 + 5 in a seat and the cooperator 0 + 3, also in
    billionths."""
    unit = 1e-10
    game = NormalForm.bimatrix([[3 * unit, 0], [5 * unit, unit]], [[3 * unit, 5 * unit], [0, unit]])
    found = standings("cooperator", "defector", game=game, rounds=1)
    assert [row["name"] for row in found.rows] == ["defector", "cooperator"]
    assert found.places == [1, 2]
    assert found.winners == ("defector",)


def test_a_seat_whose_payoffs_are_all_the_same_always_earns_all_there_is():
    """The first seat earns 3 of 0 to 5 a round, so 0.6 of its range; the second can earn nothing
    but 2."""
    game = NormalForm.bimatrix([[3, 0], [5, 1]], [[2, 2], [2, 2]])
    (row,) = standings("default-move", game=game, rounds=2).rows
    assert (row["first"], row["second"], row["share"]) == (3, 2, pytest.approx((0.6 + 1) / 2))


def test_whoever_earns_most_has_the_first_place_where_the_seats_have_other_payoffs():
    """The first move earns 100 + 0 in the first seat and 0 + 0 in the second, the other one 45 + 45
    and 1 + 1.

    By the range of each seat, 0 to 100 and 0 to 1, the first move has (0.5 + 0) / 2, the other one
    (0.45 + 1) / 2.
    """
    game = NormalForm.bimatrix([[100, 0], [45, 45]], [[0, 1], [0, 1]])
    found = standings("default-move", "anti-default-move", game=game, rounds=1)
    assert [(row["name"], row["total"]) for row in found.rows] == [
        ("default-move", 100),
        ("anti-default-move", 92),
    ]
    assert [row["share"] for row in found.rows] == [pytest.approx(0.25), pytest.approx(0.725)]
    assert found.winners == ("default-move",)


def test_an_estimate_counts_every_attempt_of_every_round_in_every_seat_of_a_model():
    """Three matches (each first, and the model against itself) have four seats of the model: 4 x 10
    rounds x 2."""
    estimate = tournament.estimate(
        configure("tit-for-tat", "openai/gpt-4o", rounds=10, attempts=2, max_tokens=100)
    )
    assert (estimate.plays, estimate.what) == (3, "3 matches of 10 rounds")
    assert (estimate.calls, estimate.reply_tokens) == (
        {"openai/gpt-4o": 80},
        {"openai/gpt-4o": 8000},
    )
    # A prompt has the rules, 642 characters at 4 a token, and on average half of the ten rounds, at
    # 12 tokens each.
    assert estimate.prompt_tokens == {"openai/gpt-4o": 80 * (160 + 60)}


def test_both_seats_are_played_and_differ_where_the_game_does():
    """Battle of the sexes: always opera in both seats is worth 2 in the first seat and 1 in the
    second."""
    rows = by_name(standings("default-move", game="battle-of-the-sexes", rounds=4))
    assert (rows["default-move"]["first"], rows["default-move"]["second"]) == (2, 1)


def test_a_strategy_that_differs_by_seat_plays_each_seat_its_own_way():
    """Matching pennies, five rounds. Two best responses chase each other: the matcher wins rounds
    1, 3 and 5, so -1 for the second seat. Against heads for ever the second seat loses the first
    round and wins the other four: 3.
    """
    found = standings("best-response", "default-move", game="matching-pennies", rounds=5)
    assert found.totals[0, 0].tolist() == [1, -1]
    assert found.totals[1, 0].tolist() == [-3, 3]
    assert by_name(found)["best-response"]["second"] == pytest.approx((-1 + 3) / 2 / 5)


def test_matches_against_one_are_those_of_the_published_clones():
    """Four rounds against anti-tit-for-tat with 3/2/8/5: the published targets 11, 32, 16 and 24 of
    the first seat."""
    payoffs = np.array([[[5.0, 2.0], [8.0, 3.0]], [[5.0, 8.0], [2.0, 3.0]]])
    game = NormalForm(payoffs, actions=(("cooperate", "defect"),) * 2, name="campaign")
    found = standings("published", game=game, rounds=4, against="anti-tit-for-tat")
    rival = [entry.name for entry in found.config.entries].index("anti-tit-for-tat")
    totals = {entry.name: found.totals[k, rival, 0] for k, entry in enumerate(found.config.entries)}
    assert totals["default-move"] == 11
    assert totals["anti-default-move"] == 32
    assert totals["anti-tit-for-tat"] == 16
    assert totals["best-response"] == 24
    assert found.opponents == [rival]


def test_winners_are_told_by_target_or_by_payoff_a_round():
    assert standings("tit-for-tat", "grim", "defector", rounds=10).winners == (
        "grim",
        "tit-for-tat",
    )
    found = standings(
        "tit-for-tat", "defector", rounds=10, target={"tit-for-tat": 1.0, "defector": 48.0}
    )
    assert found.winners == ("defector",)


def test_the_normalised_payoff_is_that_of_the_paper():
    assert normalise(399, least=1, most=9, plays=60) == pytest.approx(0.70625)
    with pytest.raises(UsageError, match="all are 2"):
        normalise(3, 2, 2, 1)


def test_classic_strategies_are_left_out_with_the_reason_where_nobody_can_cooperate():
    entries, left_out = list_entries(["all"], "matching-pennies")
    assert [entry.name for entry in entries] == [
        "anti-default-move",
        "anti-tit-for-tat",
        "best-response",
        "default-move",
        "random",
        "tit-for-tat",
    ]
    ((name, why),) = left_out
    assert name == "the classic strategies"
    assert "to cooperate" in why


def test_a_strategy_that_is_named_must_be_able_to_play():
    with pytest.raises(InvalidGame, match="to cooperate"):
        list_entries(["grim"], "matching-pennies")
    with pytest.raises(UsageError, match="tit-for-tat"):
        list_entries(["tit-for-tot"], "prisoners-dilemma")


def test_the_same_behaviour_takes_part_once():
    entries, left_out = list_entries(["all"], "prisoners-dilemma")
    names = [entry.name for entry in entries]
    assert len(names) == len(set(names)) == 31
    assert ("cooperator", "here it does the same as default-move") in left_out


def test_another_default_move_makes_published_and_classic_ones_differ():
    names = [entry.name for entry in list_entries(["all"], "prisoners-dilemma", "defect")[0]]
    assert "tit-for-tat" in names
    assert "classic tit-for-tat" in names


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"rounds": 0}, "rounds"),
        ({"rounds": 10**9}, "rounds"),
        ({"noise": 1.5}, "noise"),
        ({"continuation": 0.0}, "continuation"),
        ({"repetitions": 0}, "repetitions"),
        ({"against": "nobody"}, "nobody"),
        ({"target": {"nobody": 1.0}}, "nobody"),
    ],
)
def test_impossible_settings_are_refused_in_a_sentence(settings, told):
    with pytest.raises(UsageError, match=told):
        configure("tit-for-tat", **settings)


def test_games_that_are_no_match_are_refused():
    with pytest.raises(UsageError, match="two players"):
        configure("tit-for-tat", game="kuhn-poker")


def test_settings_survive_json():
    config = configure("published", noise=0.1, target={"random": 3.0})
    assert (
        TournamentConfig.from_json(json.loads(json.dumps(config.to_json()))).to_json()
        == config.to_json()
    )


def test_defectors_die_out_among_reciprocators():
    found = standings("tit-for-tat", "grim", "defector", rounds=200)
    shares = {
        row["strategy"]: row["share"] for row in found.list_shares() if row["generation"] == 1000
    }
    assert shares["defector"] < 1e-6
    assert shares["tit-for-tat"] + shares["grim"] == pytest.approx(1)


def test_a_saved_agent_and_a_rules_file_take_part(tmp_path):
    (tmp_path / "mean.pl").write_text("select(_P, _O, _S, defect).\n")
    entry = read_strategy(tmp_path / "mean.pl")
    rows = by_name(standings("defector", entry))
    assert rows["mean"]["total"] == rows["defector"]["total"]


def play_with(model, tmp_path, *names, **settings):
    config = configure(*names, Contestant("llm", "model", "llm"), **settings)
    ran = running.run(tournament, config, tmp_path, {"llm": model})
    return ran.outcome, find_standings(config, ran.folder.sorted_plays()), ran


def test_a_model_plays_beside_strategies_in_both_seats_and_against_itself(tmp_path):
    model = ScriptedModel(lambda request: '{"answer": "defect"}', name="llm")
    outcome, found, ran = play_with(model, tmp_path, "tit-for-tat", "defector", rounds=5)
    assert outcome.played == 5
    rows = by_name(found)
    assert rows["llm"]["total"] == rows["defector"]["total"] == 2 * (9 + 5 + 5)
    assert found.totals[2, 0].tolist() == [5 + 4, 0 + 4]
    assert "How the answers were read" in render(ran.report())
    assert ran.frame("answers")[0]["valid"] == 30
    match = ran.frame("matches").select(first="llm", second="tit-for-tat")[0]
    assert (match["first_total"], match["second_total"], match["plays"], match["missing"]) == (
        9,
        4,
        1,
        0,
    )


def test_a_finished_tournament_asks_nobody_again(tmp_path):
    model = ScriptedModel(lambda request: '{"answer": "defect"}', name="llm")
    play_with(model, tmp_path, "tit-for-tat", rounds=3)
    asked = len(model.asked)
    outcome, _, _ = play_with(model, tmp_path, "tit-for-tat", rounds=3)
    assert (outcome.found, outcome.played, len(model.asked)) == (3, 0, asked)


def test_an_answer_that_cannot_be_read_is_missing_and_bounded_not_zero(tmp_path):
    def script(request):
        return (
            "I would rather not say."
            if "Round 2." in request.messages[-1].content
            else '{"answer": "defect"}'
        )

    _, found, _ = play_with(
        ScriptedModel(script, name="llm"), tmp_path, "tit-for-tat", "defector", rounds=3
    )
    rows = by_name(found)
    assert (rows["llm"]["total"], rows["llm"]["share"], rows["llm"]["missing"]) == (None, None, 6)
    assert rows["defector"]["missing"] == 2
    low, high = rows["defector"]["share_low"], rows["defector"]["share_high"]
    assert low < rows["defector"]["share"] < high
    assert high - low == pytest.approx(2 / 6)
    bounds = {
        metric.name: metric.compute(rows["defector"])
        for metric in METRICS
        if metric.name.startswith("share")
    }
    # Four of six matches were played: two against tit-for-tat (7 of 15 points), two against itself
    # (3 of 15).
    share = (7 + 7 + 3 + 3) / 4 / 15
    assert bounds["share"] == pytest.approx(share)
    assert bounds["share_low"] == pytest.approx(share * 4 / 6)
    assert bounds["share_high"] == pytest.approx(share * 4 / 6 + 2 / 6)


def test_plays_of_models_have_a_deviation_in_both_seats():
    config = configure("defector", Contestant("llm", "model", "llm"), rounds=1, repetitions=3)

    def play(first, second, places=(0, 1)):
        turns = [SimpleNamespace(role="row"), SimpleNamespace(role="col")]
        record = SimpleNamespace(
            void=None, payoffs={"row": first, "col": second}, submissions=turns
        )
        return SimpleNamespace(data={"places": list(places)}, record=record)

    # The model is the sucker twice and defects once, in the first seat as in the second; it met
    # itself once.
    plays = [play(5.0, 0.0), play(5.0, 0.0), play(1.0, 1.0), play(3.0, 3.0, (1, 1))]
    plays += [play(0.0, 5.0, (1, 0)), play(0.0, 5.0, (1, 0)), play(1.0, 1.0, (1, 0))]
    matches = {
        (row["first"], row["second"]): row for row in find_standings(config, plays).list_matches()
    }
    # Mean 11/3, squares (4/3)^2 twice and (8/3)^2 over 3 - 1: 96/18; and mean 1/3, squares 1/9
    # twice and 4/9: 1/3.
    expected = {"defector": (16 / 3) ** 0.5, "llm": (1 / 3) ** 0.5}
    for first, second in (("defector", "llm"), ("llm", "defector")):
        row = matches[first, second]
        assert row["first_deviation"] == pytest.approx(expected[first])
        assert row["second_deviation"] == pytest.approx(expected[second])
    assert (matches["llm", "llm"]["first_total"], matches["llm", "llm"]["first_deviation"]) == (
        3.0,
        None,
    )


def test_a_round_is_worth_the_same_however_long_matches_happen_to_last(tmp_path):
    # Cooperators earn 3 in every round, against each other and themselves; how many there are is
    # luck.
    rules = {"rounds": 30, "continuation": 0.6, "repetitions": 4}
    # With more rounds than are kept, matches of strategies are worked out.
    exact = standings("cooperator", "tit-for-tat", **{**rules, "repetitions": 1_000})
    assert np.ptp(exact.totals) < 1e-9
    model = ScriptedModel(lambda request: '{"answer": "cooperate"}', name="llm")
    _, asked, ran = play_with(model, tmp_path, "cooperator", **rules)
    assert "Winners (with the highest payoff per round): " in render(ran.report())
    assert len(set(asked.totals.ravel().tolist())) > 1
    for found in (exact, asked):
        assert [row["per_round"] for row in found.rows] == [pytest.approx(3.0)] * 2
        assert [row["first_per_round"] for row in found.list_matches()] == [pytest.approx(3.0)] * 4
        assert found.places == [1, 1]
        assert sorted(found.winners) == sorted(found.names)


def test_noise_reaches_model_players_too(tmp_path):
    model = ScriptedModel(lambda request: '{"answer": "defect"}', name="llm")
    _, found, _ = play_with(model, tmp_path, "defector", rounds=40, noise=0.5, repetitions=3)
    assert found.totals[1, 0, 0] > 40
    last = model.asked[-1].messages[-1].content
    assert "with a probability of 50 %" in last
    assert last.count("you meant defect, ") == 39
    assert "you chose" not in last


def test_shares_grow_in_proportion_to_payoffs():
    # Payoffs per round over 10 rounds against the three in this order, by hand.
    payoffs = np.array([[3, 0.9, 3], [1.4, 1, 5], [3, 0, 3]])
    found = standings("tit-for-tat", "defector", "cooperator", rounds=10)
    rows = list(found.list_shares(10))
    first = [row["share"] for row in rows if row["generation"] == 1]
    assert first == pytest.approx(np.array([6.9, 7.4, 6.0]) / 20.3)
    shares = np.full(3, 1 / 3)
    for _ in range(10):
        shares = shares * (payoffs @ shares)
        shares /= shares.sum()
    last = [row["share"] for row in rows if row["generation"] == 10]
    assert last == pytest.approx(shares)
    assert last == pytest.approx([0.660, 0.206, 0.135], abs=1e-3)


def test_a_match_that_is_played_once_for_both_seats_counts_with_the_seats_exchanged():
    names = (
        Contestant("sucker", "axelrod", "Cooperator"),
        Contestant("rat", "axelrod", "Defector"),
    )
    config = configure(*names, rounds=1, repetitions=1)
    assert config.is_mirrored(0, 1)
    turns = [SimpleNamespace(role="row"), SimpleNamespace(role="col")]
    record = SimpleNamespace(void=None, payoffs={"row": 0.0, "col": 5.0}, submissions=turns)
    play = SimpleNamespace(data={"places": [0, 1]}, record=record)
    matches = {
        (row["first"], row["second"]): (row["first_total"], row["second_total"])
        for row in find_standings(config, [play]).list_matches()
    }
    assert matches["sucker", "rat"] == (0.0, 5.0)
    assert matches["rat", "sucker"] == (5.0, 0.0)


@pytest.mark.parametrize("repetitions", [None, 2])
def test_payoffs_per_round_weigh_rounds_as_a_discount_says(tmp_path, repetitions):
    """Tit-for-tat earns 0, then 1, 1 of a defector: (0 + 1/2 + 1/4) / (1 + 1/2 + 1/4) = 3/7."""
    config = configure("tit-for-tat", "defector", rounds=3, discount=0.5, repetitions=repetitions)
    ran = running.run(tournament, config, tmp_path)
    found = find_standings(config, ran.folder.sorted_plays())
    assert found.totals[0, 1].tolist() == [0.75, 5.75]
    assert found.between[0] == pytest.approx([3.0, 3 / 7])
