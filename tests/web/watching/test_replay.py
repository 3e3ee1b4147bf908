"""The visual replay: the chosen cell, the way through the tree, the timeline, and how runs and
plays are found."""

import re

import pytest
import sample_runs
from web_server import flatten, sit_down, take

from bestresponse.core.episode import Episode
from bestresponse.core.player import Decision
from bestresponse.runs.reporting.steps import list_stages, name_play
from bestresponse.runs.store.folder import Manifest, RunFolder, StoredPlay
from bestresponse.web.sessions.setup import GameChoice, Setup, make_game
from bestresponse.web.watching.runs import (
    RunProgress,
    filter_runs,
    is_worked_on,
    name_run,
)
from bestresponse.web.watching.steps import build_replay


def replay(choice, *answers):
    game = make_game(choice)
    episode = Episode(game)
    for role, action in answers:
        episode.submit(role, Decision(action))
    record = episode.record({})
    stages = list_stages(record, game)
    return build_replay(record, game, stages)


def test_the_chosen_cell_of_every_round_is_marked():
    moves = [("row", "cooperate"), ("col", "defect"), ("row", "defect"), ("col", "defect")]
    shown = replay(GameChoice("prisoners-dilemma", rounds=2), *moves)
    assert [own.tolist() for own in shown.table.payoffs] == [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]
    assert shown.weights == ("0,1,0,0", "0,0,0,1")
    # In the first round defecting too would have earned 1 instead of 0; everything else was a best
    # answer.
    assert [(bar.step, bar.seat, bar.cost) for bar in shown.bars] == [
        (0, 0, 1.0),
        (0, 1, 0.0),
        (1, 0, 0.0),
        (1, 1, 0.0),
    ]


def test_a_mixture_shades_every_cell_by_its_chance():
    shown = replay(
        GameChoice("matching-pennies", mixed=True), ("row", (0.5, 0.5)), ("col", (0.25, 0.75))
    )
    assert shown.weights == ("0.125,0.375,0.125,0.375",)


@pytest.mark.drawn
def test_the_way_through_a_tree_and_its_information_sets_are_drawn():
    shown = replay(
        GameChoice("kuhn-poker"), ("nature", "JQ"), ("player 1", "pass"), ("player 2", "pass")
    )
    assert [path.count(",") for path in shown.paths] == [1, 2, 3]
    assert shown.paths[2].startswith(shown.paths[1])
    drawn = set(re.findall(rb'id="node(\d+)"', shown.tree))
    assert len(drawn) == 54  # 24 positions of players and 30 ends, each below a branch of its own
    assert {node.encode() for node in shown.paths[2].split(",")[1:]} <= drawn


def test_a_game_of_rounds_is_drawn_as_a_line_for_each_seat():
    choice = GameChoice("guessing", parameters={"roles": ("Ann", "Bob"), "rounds": 2})
    moves = [("Ann", 10), ("Bob", 20), ("Ann", 4), ("Bob", 4)]
    # 0.8 of the average is 12 in the first round, to which Ann is closest; in the second both are.
    choices, payoffs = replay(choice, *moves).charts
    assert (choices.title, choices.low, choices.high) == ("choice", 0.0, 20.0)
    assert choices.lines == {"Ann": [10.0, 4.0], "Bob": [20.0, 4.0]}
    assert payoffs.lines == {"Ann": [1.0, 0.5], "Bob": [0.0, 0.5]}


def test_a_drought_is_drawn_by_day_with_supply_bids_and_health(server):
    run = sample_runs.water_run(server.folder)
    play = next(run.folder.plays())
    game = run.game(play.data)
    choices, health, water = build_replay(play.record, game, list_stages(play.record, game)).charts
    assert [chart.title for chart in (choices, health, water)] == ["choice", "health", "water"]
    assert list(choices.lines) == list(health.lines) == list(game.roles)
    drawn = [
        answer.decision.action for answer in play.record.submissions if answer.role == "nature"
    ]
    assert water.lines == {"water": [float(supply) for supply in drawn]}
    page = server.admin.get(f"/watch/run/{run.path.name}/play/{play.spec}").text
    assert page.count('<svg class="rounds"') == 3
    assert "<caption>At the end</caption>" in page


def test_a_run_without_plays_shows_what_models_were_asked_and_said(server):
    name = sample_runs.steer_run(server.folder).path.name
    page = server.admin.get(f"/watch/run/{name}").text
    assert page.count('<details class="call">') == 28
    assert "There is no hurry. I propose Wednesday." in page


def test_runs_and_plays_have_names_that_say_what_they_are(tmp_path):
    path = sample_runs.bench_run(tmp_path).path
    folder = RunFolder.read(path)
    assert name_run(folder.manifest) == "scripted, zero-sum, 3 games, seed 1"
    assert name_play(next(folder.plays())).endswith(", game 1")
    assert name_run(Manifest("1", "sessions", {})) == "sessions"
    game = {
        "game": {"name": "chicken"},
        "model": "gpt-4o",
        "seat": {"row": "grim"},
        "others": None,
        "repeats": 5,
    }
    assert name_run(Manifest("1", "simulate", game)) == "gpt-4o / grim, chicken, 5 repeats"
    assert (
        name_run(Manifest("1", "water", {"model": "need", "seat": {}, "repeats": 5}))
        == "need, 5 repeats"
    )
    assert not is_worked_on(path)
    with RunFolder.open(tmp_path / "run", Manifest("1", "bench", {})):
        assert is_worked_on(tmp_path / "run")


def test_runs_are_searched_filtered_and_sorted():
    def run(name, study, status, plays):
        days = f"2026-01-0{plays}"
        return RunProgress(
            name, study, days, status == "finished", plays, 9, 0, 0, 0.0, name.upper(), status, ""
        )

    runs = [
        run("b", "bench", "stopped", 1),
        run("a", "bench", "finished", 2),
        run("c", "water", "running", 3),
    ]
    assert [r.name for r in filter_runs(runs)] == ["c", "a", "b"]
    assert [r.name for r in filter_runs(runs, sort="name")] == ["a", "b", "c"]
    assert [r.name for r in filter_runs(runs, study="bench", status="stopped")] == ["b"]
    assert [r.name for r in filter_runs(runs, find="WATER c")] == ["c"]


@pytest.fixture
def finished(server):
    """The name of a run with plays of a repeated dilemma."""
    return sample_runs.tournament_run(server.folder).path.name


def test_a_play_leads_to_the_one_before_and_after(server, finished):
    page = server.admin.get(f"/watch/run/{finished}").text
    specs = list(dict.fromkeys(re.findall(rf"/watch/run/{finished}/play/([^\"]+)\"", page)))
    first = flatten(server.admin.get(f"/watch/run/{finished}/play/{specs[0]}"))
    assert f'href="/watch/run/{finished}/play/{specs[1]}" rel="next"' in first
    assert 'rel="prev"' not in first
    assert 'data-weights="1,0,0,0"' in first


def test_plays_are_found_by_player_and_a_search_without_a_hit_says_so(server, finished):
    assert "tit-for-tat" in server.admin.get(f"/watch/run/{finished}?find=tit").text
    assert "No play fits" in server.admin.get(f"/watch/run/{finished}?find=nobody").text
    assert "No run fits" in server.admin.get("/watch?find=nothing-like-this").text


def test_a_table_is_watched_while_it_is_played(server):
    setup = Setup(
        GameChoice("prisoners-dilemma", rounds=2), ("person", "strategy:tit-for-tat"), quiz=False
    )
    ((client, link),) = sit_down(server, setup)
    (table,) = server.state.sessions.list_lobbies()[0].tables
    take(client, link, answer="defect")
    server.wait_for(
        lambda: 'data-weights="0,0,1,0"' in server.admin.get(f"/watch/session/{table.id}").text
    )
    assert "data-follow" in server.admin.get(f"/watch/session/{table.id}").text


def test_a_play_of_a_study_is_watched_while_it_goes_on(server, finished):
    source = RunFolder.read(server.folder / finished)
    play = next(one for one in source.plays() if len(one.record.submissions) == 4)
    page, link = "/watch/run/going-on", f"/watch/run/going-on/play/{play.spec}"
    with RunFolder.open(server.folder / "going-on", source.manifest) as folder:
        for submission in play.record.submissions[:2]:
            folder.submit(play.spec, submission)
        assert '<span class="badge on">in play</span> 2 answers' in flatten(server.admin.get(page))
        live = flatten(server.admin.get(link))
        assert 'data-frames="1" data-follow="2"' in live
        assert 'data-weights="1,0,0,0"' in live
        for submission in play.record.submissions[2:]:
            folder.submit(play.spec, submission)
        assert 'data-frames="2" data-follow="2"' in server.admin.get(link).text
        folder.finish(play.spec, play.data, play.record)
        over = server.admin.get(link).text
        assert 'data-frames="2">' in over
        assert "in play</span>" not in server.admin.get(page).text
        assert server.api().get(f"/api/runs/going-on/plays/{play.spec}").json()["live"] is False


def test_a_play_names_its_group():
    record = Episode(make_game(GameChoice("chicken")))
    for role in ("row", "col"):
        record.submit(role, Decision("swerve"))
    assert name_play(StoredPlay("x", {"group": 3}, record.record({}))) == "chicken, group 3"
