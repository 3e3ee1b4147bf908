"""A run stands beside the published table, and speakers may choose whether to be guided."""

import pytest
import running
from steering import dialogue, recorded

from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.report.document import Table
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.dialogue_frames import build_guidance_game
from bestresponse.studies.steer.solving import solve_dialogue
from bestresponse.studies.steer.study import steer


def test_the_choice_of_guidance_has_the_payoffs_of_the_solution():
    solved = [solve_dialogue(recorded(dialogue(seed=seed))[0]) for seed in (1, 2)]
    form = build_guidance_game(solved)
    assert form.actions == (("unguided", "guided"),) * 2
    for seat in range(2):
        unguided = sum(one.unguided_payoffs[seat] for one in solved) / 2
        alone = sum(one.guided_payoffs[seat] for one in solved) / 2
        both = sum(one.equilibrium_payoffs[seat] for one in solved) / 2
        assert form.payoffs[seat, 0, 0] == pytest.approx(unguided)
        assert form.payoffs[seat][(1, 0) if seat == 0 else (0, 1)] == pytest.approx(alone)
        assert form.payoffs[seat, 1, 1] == pytest.approx(both)


def test_the_report_draws_the_tree_and_shows_dialogues_side_by_side(tmp_path):
    run = running.run(
        steer, SteerConfig("rps-talk", "simulated"), tmp_path, {"simulated": SimulatedSpeaker(0)}
    )
    tables = [
        block
        for section in run.report().sections
        for block in section.blocks
        if isinstance(block, Table)
    ]
    (beside,) = [
        table for table in tables if table.caption == "The same game with and without guidance"
    ]
    assert [column.name for column in beside.columns][:2] == ["message", "nobody is guided"]
    assert [row[0] for row in beside.rows] == ["1", "2", "3", "4", "payoffs"]
    assert 0 <= run.results.results.solved[0].metrics["won"] <= 1
    debate = running.run(
        steer, SteerConfig("debate", "simulated"), tmp_path, {"simulated": SimulatedSpeaker(0)}
    )
    assert "The tree of game 0" in [section.title for section in debate.report().sections]


def test_the_report_counts_what_was_ruled(tmp_path):
    config = SteerConfig("debate", "simulated")
    run = running.run(steer, config, tmp_path, {"simulated": SimulatedSpeaker(0)})
    tables = [
        block
        for section in run.report().sections
        for block in section.blocks
        if isinstance(block, Table)
    ]
    (rulings,) = [table for table in tables if table.caption == "Rulings"]
    # four styles for each of two speakers: sixteen dialogues, each won by somebody
    assert sum(count for _, count in rulings.rows) == 16
    assert all(text.endswith(" argued better") for text, _ in rulings.rows)
    beside = next(
        section
        for section in run.report().sections
        if section.title == "Compared with the published study"
    )
    published = (
        "328 games of debate: the mean NashConv of its CFR policies is 0.024, their mean CFR gain"
        " 0.106"
    )
    assert published in beside.blocks[0].text
    # One of both wins a debate, whatever they choose: their payoffs add up to 1.
    chosen = list(run.frames["guidance"])
    assert [(row["first"], row["second"]) for row in chosen] == [
        ("unguided", "unguided"),
        ("unguided", "guided"),
        ("guided", "unguided"),
        ("guided", "guided"),
    ]
    assert sum(row["probability"] for row in chosen) == pytest.approx(1)
    assert all(
        sum(map(float, row["payoffs"].split(", "))) == pytest.approx(1, abs=0.002) for row in chosen
    )
