"""Who can take part in a tournament, and which matches count, with totals worked out by hand."""

import numpy as np
import pytest
import running

from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import NamedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import Contestant
from bestresponse.studies.tournament.matches import _seat_entry
from bestresponse.studies.tournament.standings import Standings, find_standings
from bestresponse.studies.tournament.study import tournament
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = NamedGame.find("prisoners-dilemma")


def configure(*entries, **settings):
    return TournamentConfig(DILEMMA, entries, **settings)


def copy_first(own, other):
    return other[-1] if other else "cooperate"


def test_functions_are_models_or_strategies_by_the_number_of_their_arguments(tmp_path):
    config = configure(copy_first, lambda prompt: "defect")
    strategy, model = config.entries
    assert (strategy.name, strategy.kind, len(strategy.source), strategy.thing) == (
        "copy_first",
        "function",
        16,
        copy_first,
    )
    assert (model.kind, model.name) == ("model", model.source)
    assert model.thing is not None
    with pytest.raises(UsageError, match="or one of two histories, got function"):
        configure(lambda: "defect")
    with pytest.raises(UsageError, match="or one of two histories, got int"):
        configure(3)


def test_a_function_plays_and_a_stored_run_does_not_hold_it(tmp_path):
    config = configure(copy_first, "always:defect", rounds=3)
    ran = running.run(tournament, config, tmp_path)
    # It cooperates once and then defects: 0 + 1 + 1 against 5 + 1 + 1.
    match = ran.frame("matches").select(first="copy_first", second="always:defect")[0]
    assert (match["first_total"], match["second_total"]) == (2, 7)
    stored = TournamentConfig.from_json(config.to_json())
    with pytest.raises(
        UsageError, match="copy_first was a Python function, which a stored run does not hold"
    ):
        _seat_entry(
            stored,
            Spec.of({"places": [0, 1], "seed": 1}),
            stored.repeated,
            stored.repeated.roles[0],
            "",
        )


def test_a_game_needs_two_players_with_equally_many_moves():
    for payoffs in (np.zeros((2, 2, 3)), np.zeros((2, 3, 2)), np.zeros((3, 2, 2, 2))):
        with pytest.raises(
            UsageError, match="two players who choose at the same time among equally many moves"
        ):
            TournamentConfig(NormalForm(payoffs, name="odd"), ["tit-for-tat"])


def test_only_matches_with_the_one_whom_all_play_are_listed_and_count():
    # Three rounds of 3/0/5/1 against a defector: tit-for-tat earns 0 + 1 + 1, a cooperator nothing.
    config = configure(
        "tit-for-tat", "always:cooperate", "always:defect", rounds=3, against="always:defect"
    )
    asked = {config.played_pairs}
    assert asked == {((0, 2), (1, 2), (2, 0), (2, 1), (2, 2))}
    worked_out = configure("tit-for-tat", "cooperator", "defector", rounds=3, against="defector")
    found = find_standings(worked_out)
    assert [(match["first"], match["second"]) for match in found.list_matches()] == [
        ("tit-for-tat", "defector"),
        ("cooperator", "defector"),
        ("defector", "tit-for-tat"),
        ("defector", "cooperator"),
        ("defector", "defector"),
    ]
    rows = {row["name"]: row for row in found.rows}
    assert rows["tit-for-tat"]["total"] == 2 * 2
    assert rows["defector"]["total"] == 2 * 3
    assert (rows["tit-for-tat"]["against_itself"], rows["defector"]["against_itself"]) == (
        None,
        1.0,
    )
    assert (rows["tit-for-tat"]["plays"], rows["tit-for-tat"]["missing"]) == (2, None)
    everybody = {
        row["name"]: row
        for row in find_standings(configure("tit-for-tat", "defector", rounds=3)).rows
    }
    assert everybody["tit-for-tat"]["against_itself"] == 3.0


def make_standings(first_totals, missing, played=2.0):
    """Two strategies over one round, with the totals of the first seat, the same for the second."""
    config = configure("tit-for-tat", "defector", rounds=1, repetitions=2)
    totals = np.stack([np.array(first_totals), np.array(first_totals).T], axis=2)
    spread, lasted = np.full((2, 2, 2), np.nan), np.ones((2, 2))
    errors = np.full((2, 2, 2, 2), np.nan)
    counts = np.full((2, 2), played)
    return Standings(config, totals, lasted, spread, errors, np.array(missing), counts)


def test_bounds_are_told_only_where_some_plays_are_missing_and_some_are_not():
    # Payoffs from 0 to 5. The first earned 3 with itself, and 2 in the two of four plays with the
    # other that count.
    found = make_standings([[3.0, 2.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    row = next(row for row in found.rows if row["name"] == "tit-for-tat")
    # Its shares are 3/5, 2/5 in the first seat and 3/5, 2/5 in the second: 1/2. Half of the plays
    # at 2/5 are missing.
    assert row["share"] == pytest.approx(0.5)
    assert (row["missing"], row["plays"]) == (2, 8)
    assert row["share_low"] == pytest.approx((0.6 + 0.2) / 2)
    assert row["share_high"] == pytest.approx((0.6 + 0.2 + 0.5) / 2)
    whole = make_standings([[3.0, 2.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]).rows[0]
    assert (whole["missing"], whole["share_low"], whole["share_high"]) == (None, None, None)
    nothing = make_standings([[np.nan] * 2] * 2, [[2.0, 2.0], [2.0, 2.0]]).rows[0]
    assert (nothing["share"], nothing["missing"], nothing["share_low"], nothing["share_high"]) == (
        None,
        8,
        None,
        None,
    )


def test_standings_are_ordered_by_share_then_by_name_and_the_unplayed_stand_last():
    found = make_standings([[np.nan, np.nan], [np.nan, 4.0]], [[2.0, 2.0], [2.0, 0.0]])
    assert [row["name"] for row in found.rows] == ["defector", "tit-for-tat"]
    tied = make_standings([[3.0, 3.0], [3.0, 3.0]], [[0.0, 0.0], [0.0, 0.0]])
    assert [row["name"] for row in tied.rows] == ["defector", "tit-for-tat"]
    assert tied.winners == ("defector", "tit-for-tat")


def test_strategies_with_gaps_are_left_out_of_what_multiplies():
    found = make_standings([[3.0, np.nan], [np.nan, 1.0]], [[0.0, 2.0], [2.0, 0.0]])
    names, payoffs = found.complete
    assert (names, payoffs.tolist()) == (["defector"], [[1.0]])
    assert list(found.list_shares()) == []


def test_shares_multiply_by_what_is_earned():
    # From one half each: 3 and 1 against the first, 5 and 1 against the second. The first earns (3
    # + 1) / 2 = 2, the second (5 + 1) / 2 = 3: shares of 2/5 and 3/5 after a generation.
    found = make_standings([[3.0, 1.0], [5.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]])
    assert found.between.tolist() == [[3.0, 1.0], [5.0, 1.0]]
    shares = [(row["generation"], row["strategy"], row["share"]) for row in found.list_shares(1)]
    assert shares == [
        (0, "tit-for-tat", 0.5),
        (0, "defector", 0.5),
        (1, "tit-for-tat", pytest.approx(0.4)),
        (1, "defector", pytest.approx(0.6)),
    ]


def test_what_died_out_is_not_among_the_last(tmp_path):
    config = configure("tit-for-tat", "defector", rounds=200)
    ran = running.run(tournament, config, tmp_path)
    assert [row["strategy"] for row in ran.frame("final_shares")] == ["tit-for-tat"]
    assert {row["generation"] for row in ran.frame("final_shares")} == {1000}
    assert len({row["generation"] for row in ran.frame("shares")}) == 101
    assert [heads for heads, _ in ran.metrics.groups] == [(1, "tit-for-tat"), (2, "defector")]
    # Tit-for-tat: 600 with itself, 0 + 199 with a defector, in both seats; the defector 204 and
    # 200.
    assert [row["total"] for row in ran.frame("standings")] == [2 * 799, 2 * 404]


def test_targets_are_told_with_what_was_earned(tmp_path):
    # Two rounds: tit-for-tat earns 6 + 1 in either seat, a defector 2 + 6.
    config = configure(
        "tit-for-tat", "defector", rounds=2, target={"tit-for-tat": 14, "defector": 15}
    )
    ran = running.run(tournament, config, tmp_path)
    assert ran.frame("targets").rows == [
        {"strategy": "tit-for-tat", "expected": 14, "total": 14, "reached": True},
        {"strategy": "defector", "expected": 15, "total": 16, "reached": False},
    ]
    assert ran.frame("winners").rows == [{"game": "prisoners-dilemma", "name": "tit-for-tat"}]
    assert (
        ran.frame("between").select(strategy="defector", against="tit-for-tat")[0]["payoff"] == 3.0
    )
    assert [row["strategy"] for row in ran.frame("between")] == ["defector"] * 2 + [
        "tit-for-tat"
    ] * 2


def test_a_match_is_played_as_often_as_asked_for(tmp_path):
    model = ScriptedModel(lambda request: '{"answer": "defect"}', name="llm")
    config = configure(Contestant("llm", "model", "llm"), "tit-for-tat", rounds=2, repetitions=3)
    ran = running.run(tournament, config, tmp_path, {"llm": model})
    assert (ran.outcome.played, tournament.count(config)) == (12, 12)
    match = ran.frame("matches").select(first="llm", second="tit-for-tat")[0]
    assert (match["first_total"], match["second_total"], match["plays"]) == (6, 1, 3)
    # Two rounds in the four seats of the model, three times.
    assert tournament.estimate(config).calls == {"llm": 4 * 2 * 3}
