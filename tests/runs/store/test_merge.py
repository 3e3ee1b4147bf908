"""Parts of a run, put together."""

import json
from dataclasses import replace

import pytest
from running import run

import bestresponse as br
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.models.base import Reply, Usage
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.run import load_run
from bestresponse.runs.store.folder import Shard
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import simulate
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.study import steer
from bestresponse.studies.stories.study import StoriesConfig, stories_study
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import Contestant
from bestresponse.studies.tournament.study import tournament
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.study import verify_model
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* lacks plays"
)  # most parts here are not the whole
PART_FILES = ("submissions.jsonl", "calls.jsonl", "records.jsonl")


def answering(texts):
    """A model whose reply and latency depend on the question alone."""

    def reply(request):
        size = sum(len(message.content) for message in request.messages) + (request.seed or 0)
        return Reply(texts[size % len(texts)], usage=Usage(size % 97, 7), latency=0.1 * (size % 13))

    return {"scripted": ScriptedModel(reply)}


def bench_case():
    config = BenchConfig(
        model=("scripted",), num_games=12, num_rows=2, num_cols=2, seed=1, seat=("row", "col")
    )
    return (
        bench_study,
        config,
        answering(['{"A": 0.5, "B": 0.5}', '{"A": 0.3, "B": 0.7}', "no idea"]),
    )


def simulate_case():
    config = SimulateConfig("stag-hunt", "scripted", others="random", repeats=9, style="line")
    return simulate, config, answering(["stag", "hare", "stag"])


def water_case():
    return (
        water,
        WaterConfig(
            "need", seat={"Bob": "random", "Cindy": "share:0.5", "Eric": "myopic"}, repeats=5
        ),
        {},
    )


def tournament_case():
    entries = ("tit-for-tat", "alternator", Contestant("scripted", "model", "scripted"))
    return (
        tournament,
        TournamentConfig("prisoners-dilemma", entries, rounds=3),
        answering(["cooperate", "defect"]),
    )


def verify_case():
    config = VerifyConfig(
        "scripted", "prisoners-dilemma", repeats=5, attempts=1, translator="rules"
    )
    return verify_model, config, answering(["I choose A.", "I choose B."])


def stories_case():
    config = StoriesConfig("scripted", count=4, attempts=1)
    return stories_study, config, answering(["This is no game.", "Nor is this."])


CASES = [bench_case, simulate_case, water_case, tournament_case, verify_case, stories_case]


def play_parts(tmp_path, case, count=3):
    study, config, models = case()
    return [
        run(study, config, tmp_path / f"part{number}", models, shard=Shard(number, count)).path
        for number in range(1, count + 1)
    ]


@pytest.mark.parametrize("case", CASES)
def test_the_summary_of_merged_parts_is_that_of_the_unbroken_run_byte_for_byte(tmp_path, case):
    study, config, models = case()
    whole = run(study, config, tmp_path / "whole", models, workers=3)
    parts = play_parts(tmp_path, case)
    assert all(load_run(part).complete for part in parts)
    merged = br.merge_runs(list(reversed(parts)), tmp_path / "all")
    assert merged.complete
    assert merged.manifest.shard is None
    merged.publish()
    whole.publish()
    for name in ("summary.json", f"{next(iter(whole.frames))}.csv"):
        assert (merged.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert len(list(merged.folder.plays())) == len(list(whole.folder.plays())) == merged.total


def test_a_part_says_which_it_is_and_keeps_the_id_of_the_run(tmp_path):
    study, config, models = bench_case()
    whole = run(study, config, tmp_path / "whole", models)
    part = run(study, config, tmp_path / "part", models, shard=Shard(2, 3))
    assert (part.manifest.run, part.manifest.shard) == (whole.manifest.run, "2/3")
    assert 0 < len(list(part.folder.plays())) == part.total < 24


def test_the_order_of_parts_does_not_matter_and_overlaps_are_dropped(tmp_path):
    study, config, models = bench_case()
    parts = play_parts(tmp_path, bench_case)
    parts.append(run(study, config, tmp_path / "more", models, shard=Shard(1, 2)).path)
    one = br.merge_runs(parts, tmp_path / "one")
    two = br.merge_runs([parts[2], parts[0], parts[0], parts[3], parts[1]], tmp_path / "two")
    for name in PART_FILES:
        assert (one.path / name).read_bytes() == (two.path / name).read_bytes()
    assert len((one.path / "records.jsonl").read_text("utf-8").splitlines()) == 24
    assert len((one.path / "calls.jsonl").read_text("utf-8").splitlines()) == 24


def test_a_play_recorded_differently_is_refused_with_both_sources(tmp_path):
    study, config, models = bench_case()
    one = run(study, config, tmp_path / "one", models)
    other = run(study, config, tmp_path / "other", answering(['{"A": 1, "B": 0}']))
    with pytest.raises(StoreError, match="different records of play") as refused:
        br.merge_runs([one.path, other.path], tmp_path / "all")
    assert str(one.path) in str(refused.value)
    assert str(other.path) in str(refused.value)
    assert not (tmp_path / "all").exists()


def test_parts_of_different_runs_are_refused(tmp_path):
    study, config, models = bench_case()
    one = run(study, config, tmp_path / "one", models)
    other = run(study, replace(config, seed=2), tmp_path / "other", models)
    with pytest.raises(UsageError, match=r"not parts of one run: config differs \(seed\)"):
        br.merge_runs([one.path, other.path], tmp_path / "all")


def test_parts_in_which_one_name_stood_for_two_models_are_refused(tmp_path):
    study, config, models = bench_case()
    one = run(study, config, tmp_path / "one", models, shard=Shard(1, 2))
    other = run(study, config, tmp_path / "other", models, shard=Shard(2, 2))
    manifest = json.loads((other.path / "manifest.json").read_text("utf-8"))
    manifest["models"]["scripted"]["identity"]["model"] = "another"
    (other.path / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(
        UsageError, match="not parts of one run: scripted is another model"
    ) as refused:
        br.merge_runs([one.path, other.path], tmp_path / "all")
    assert str(one.path) in str(refused.value)
    assert str(other.path) in str(refused.value)


def test_missing_parts_leave_the_merged_run_incomplete_and_it_can_be_gone_on_with(tmp_path):
    study, config, models = bench_case()
    parts = play_parts(tmp_path, bench_case)
    merged = br.merge_runs(parts[:2], tmp_path / "all")
    assert not merged.complete
    rest = run(study, config, tmp_path / "all", models)
    assert rest.outcome.found == len(list(load_run(parts[0]).folder.plays())) + len(
        list(load_run(parts[1]).folder.plays())
    )
    assert rest.outcome.found + rest.outcome.played == 24


def test_an_unfinished_play_keeps_the_most_answers(tmp_path):
    parts = play_parts(tmp_path, simulate_case, 2)
    lines = (parts[0] / "records.jsonl").read_text("utf-8").splitlines(keepends=True)
    (parts[0] / "records.jsonl").write_text("".join(lines[1:]), "utf-8")
    begun = json.loads(lines[0])["spec"]
    merged = br.merge_runs(parts, tmp_path / "all")
    assert not merged.complete
    assert len(merged.folder.begun(merged.folder.finished())[begun]) == 2


def test_a_folder_of_one_part_is_not_gone_on_with_as_another(tmp_path):
    study, config, models = bench_case()
    run(study, config, tmp_path, models, shard=Shard(1, 2))
    with pytest.raises(StoreError, match="holds shard 1/2 and not shard 2/2"):
        run(study, config, tmp_path, models, shard=Shard(2, 2))
    with pytest.raises(StoreError, match="holds shard 1/2 and not the whole run"):
        run(study, config, tmp_path, models)


def test_a_run_without_plays_has_no_parts(tmp_path):
    with pytest.raises(UsageError, match="no plays to share out"):
        run(steer, SteerConfig("meeting", "simulated"), tmp_path, {}, shard=Shard(1, 2))
    strategies = TournamentConfig("prisoners-dilemma", ["tit-for-tat", "cooperator"])
    with pytest.raises(UsageError, match="this tournament has no plays to share out"):
        run(tournament, strategies, tmp_path, {}, shard=Shard(1, 2))


def test_folders_without_exactly_one_run_are_refused(tmp_path):
    with pytest.raises(UsageError, match="contains no run"):
        br.merge_runs([tmp_path], tmp_path / "all")
    with pytest.raises(UsageError, match="at least one part"):
        br.merge_runs([], tmp_path / "all")


def test_python_runs_a_part_by_its_numbers(tmp_path):
    def model(prompt):
        return '{"A": 0.5, "B": 0.5}'

    settings = {"num_games": 6, "num_rows": 2, "num_cols": 2, "seed": 3}
    parts = [
        br.bench(model, output_dir=tmp_path / str(k), shard=f"{k}/2", **settings).path
        for k in (1, 2)
    ]
    assert br.merge_runs(parts, tmp_path / "all").complete
