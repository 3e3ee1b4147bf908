"""Fingerprints: what a strategy earns against tit-for-tat that errs in two ways."""

import pytest
import running

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.page import render
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.study import tournament


def find_fingerprint(ran):
    return {(row["cooperates"], row["defects"]): row["payoff"] for row in ran.frame("fingerprint")}


def test_the_corners_of_a_fingerprint_are_tit_for_tat_its_contrary_and_those_who_never_change(
    tmp_path,
):
    config = TournamentConfig(
        "prisoners-dilemma", ["tit-for-tat", "probes:2"], against="tit-for-tat", rounds=4
    )
    ran = running.run(tournament, config, tmp_path)
    # The contrary of tit-for-tat defects, defects, cooperates, cooperates: 0 + 1 + 5 + 3 for
    # tit-for-tat.
    assert find_fingerprint(ran) == {
        ("0", "0"): 3,
        ("1", "0"): 3,
        ("0", "1"): 3 / 4,
        ("1", "1"): 9 / 4,
    }
    assert "Fingerprint" in render(ran.report())


def test_a_model_is_asked_against_every_probe(tmp_path):
    model = ScriptedModel(lambda request: '{"answer": "defect"}')
    config = TournamentConfig(
        "prisoners-dilemma", [model, "probes:2"], against=model.id, rounds=2, style="json"
    )
    ran = running.run(tournament, config, tmp_path, {model.id: model})
    # Defecting takes 5 from a cooperator each time, and 5 and 1 from tit-for-tat.
    payoffs = find_fingerprint(ran)
    assert payoffs["1", "0"] == 5
    assert payoffs["0", "0"] == 3
    assert payoffs["0", "1"] == 1


def test_what_is_no_probe_is_said():
    with pytest.raises(SettingError, match="expected probes:N with N from 2 to 30"):
        TournamentConfig("prisoners-dilemma", ["probes:1"])
    with pytest.raises(UsageError, match="two numbers from 0 to 1"):
        TournamentConfig("prisoners-dilemma", ["joss-ann:2:0"])
