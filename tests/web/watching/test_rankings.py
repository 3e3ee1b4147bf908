"""Runs beside each other: who is ranked first, and figures and payoffs of two runs with their
differences, by hand."""

import json

import running
import sample_runs
from unhashed import add_hashes
from web_server import flatten

from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.store.folder import Manifest, RunFolder, StoredPlay
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench
from bestresponse.web.watching import runs
from bestresponse.web.watching.runs import (
    PlayGroup,
    RunProgress,
    Runs,
    filter_plays,
    filter_runs,
    find_neighbours,
    group_plays,
    has_report,
    name_run,
    rebuild_game,
    sort_plays,
)

# The first games of seed 5 for the row player: [[72, 85], [-16, -66]], [[75, 33], [-85, 88]]; the
# first action is the best against the equilibrium opponent of the first, and in the second both
# mix.
SMALL = {"num_rows": 2, "num_cols": 2, "seed": 5, "elicit": "pure"}


def run_bench(output, answers, games=1, **settings):
    """The folder of a run in which every model always gives the same answer."""
    config = BenchConfig(tuple(answers), num_games=games, **SMALL, **settings)
    models = {
        name: ScriptedModel(lambda request, text=text: text, name=name)
        for name, text in answers.items()
    }
    return running.run(bench, config, output, models).folder


def record_plays(path, plays):
    """The folder of a run with these plays, each as what its spec says, its game and its
    payoffs."""
    with RunFolder.open(path, Manifest("1", "bench", {})) as folder:
        for number, (data, game, payoffs) in enumerate(plays):
            folder.finish(f"play {number}", data, Record(game, 1, {}, (), payoffs))
    return RunFolder.read(path)


def test_a_play_has_those_that_finished_before_and_after_it(tmp_path):
    folder = record_plays(tmp_path, [({"game": number}, "matrix", {}) for number in range(3)])
    assert find_neighbours(folder, "play 0") == (None, "play 1")
    assert find_neighbours(folder, "play 1") == ("play 0", "play 2")
    assert find_neighbours(folder, "play 2") == ("play 1", None)
    assert find_neighbours(folder, "play 9") == (None, None)


def test_runs_are_sorted_by_plays_and_by_cost_the_largest_first():
    def run(name, plays, money):
        return RunProgress(name, "bench", "", True, plays, None, 0, 0, money, name, "finished", "")

    listed = [run("a", 2, 0.5), run("b", 3, None), run("c", 1, 2.0)]
    assert [run.name for run in filter_runs(listed, sort="plays")] == ["b", "a", "c"]
    assert [run.name for run in filter_runs(listed, sort="cost")] == ["c", "a", "b"]


def write_calls(folder, *usages):
    lines = [{"model": "m", "reply": {"usage": usage, "latency": 0.5}} for usage in usages]
    with (folder.path / "calls.jsonl").open("ab") as file:
        file.write(add_hashes("".join(json.dumps(line) + "\n" for line in lines)))


def test_tokens_and_money_of_a_run_are_added_up_as_it_goes_on(tmp_path, monkeypatch):
    prices = {10: 0.5, 20: 0.25, 30: None}
    monkeypatch.setattr(
        runs, "price_by_model", lambda manifest: lambda model, usage: prices[usage["prompt"]]
    )
    folder = record_plays(tmp_path / "run", [({"game": 0}, "matrix", {})])
    watched = Runs(tmp_path)
    write_calls(folder, {"prompt": 10, "completion": 3}, {"prompt": 20, "completion": None})
    first = watched.progress("run")
    assert (first.plays, first.calls, first.tokens, first.money) == (1, 2, 33, 0.75)
    assert (first.status, first.finished, first.version) == ("stopped", False, "1.2.0")
    # A price that is not known makes the whole unknown, and stays so.
    write_calls(folder, {"prompt": 30, "completion": 4}, {"prompt": 10, "completion": 0})
    second = watched.progress("run")
    assert (second.calls, second.tokens, second.money, second.version) == (4, 77, None, "1.4.0")
    (tmp_path / "run" / "finished").touch()
    assert (watched.progress("run").status, watched.progress("run").version) == (
        "finished",
        "1.4.1",
    )


def test_a_line_that_is_no_call_makes_a_run_unreadable_and_says_so(tmp_path):
    folder = record_plays(tmp_path / "run", [({"game": 0}, "matrix", {})])
    (folder.path / "calls.jsonl").write_text('{"model": "m"}\n')
    (run,) = Runs(tmp_path).all()
    assert (run.status, run.plays, run.money) == ("unreadable", 0, None)
    assert run.title.startswith("run cannot be read: ")


def test_the_progress_of_a_run_counts_its_plays_and_calls(tmp_path):
    """Each of three games is one call."""
    folder = run_bench(tmp_path, {"m": "A"}, games=3)
    progress = Runs(tmp_path).progress(folder.path.name)
    assert (progress.plays, progress.total, progress.calls, progress.finished) == (3, 3, 3, True)
    assert progress.version == "3.3.1"


def test_a_run_is_named_by_its_first_three_players():
    names = ["a", "b", "c", "d", "e"]
    assert name_run(Manifest("1", "bench", {"model": names[:3]})) == "a / b / c"
    assert name_run(Manifest("1", "bench", {"model": names})) == "a / b / c and 2 more"


def test_a_run_without_plays_has_ended_when_its_report_is_there(tmp_path):
    folder = record_plays(tmp_path / "run", [])
    watched = Runs(tmp_path)
    assert (watched.progress("run").plays, watched.progress("run").status) == (0, "stopped")
    (folder.path / "report.json").write_text("{}")
    ended = watched.progress("run")
    assert (ended.finished, ended.total) == (True, None)
    record_plays(tmp_path / "played", [({"game": 0}, "matrix", {})])
    (tmp_path / "played" / "report.json").write_text("{}")
    assert watched.progress("played").status == "stopped"


def test_the_game_of_a_session_is_made_again_and_that_of_an_unknown_study_is_not(tmp_path):
    data = {"setup": {"game": {"name": "chicken"}}}
    for study, name in (("sessions", "chicken"), ("nothing known", None)):
        with RunFolder.open(tmp_path / study, Manifest("1", study, {})) as folder:
            game = rebuild_game(folder, data)
        assert (game and game.name) == name
        assert not has_report(folder)


def test_plays_are_filtered_by_being_void_or_repaired_and_by_words(tmp_path):
    def submit(status):
        return Submission("row", Decision("A", "", Reading(status)))

    records = {
        "fine": Record("chicken", 1, {"row": "Ann"}, (submit(Status.VALID),), {}),
        "mended": Record(
            "chicken", 1, {"row": "Ben"}, (submit(Status.VALID), submit(Status.REPAIRED)), {}
        ),
        "void": Record(
            "chicken",
            1,
            {"row": "Cat"},
            (submit(Status.UNPARSEABLE),),
            {},
            Void("row", "no answer"),
        ),
    }
    with RunFolder.open(tmp_path, Manifest("1", "bench", {})) as folder:
        for spec, record in records.items():
            folder.finish(spec, {"game": 0}, record)

    def find(words="", only=""):
        return [play.spec for play in filter_plays(RunFolder.read(tmp_path), words, only)]

    assert find() == ["fine", "mended", "void"]
    assert find(only="void") == ["void"]
    assert find(only="repaired") == ["mended", "void"]
    assert find("BEN chicken") == ["mended"]
    assert find("ben", "void") == []


def test_a_run_that_cannot_be_read_is_not_finished(tmp_path):
    folder = record_plays(tmp_path / "run", [])
    (folder.path / "manifest.json").write_text("{}")
    (run,) = Runs(tmp_path).all()
    assert (run.status, run.finished, run.total, run.calls, run.tokens) == (
        "unreadable",
        False,
        None,
        0,
        0,
    )


def test_plays_of_a_run_that_nobody_works_on_are_not_live(tmp_path):
    """Two plays have answers and no record: they go on as long as somebody holds the folder."""
    folder = run_bench(tmp_path, {"m": "A"}, games=2)
    specs = {play.spec for play in folder.plays()}
    (folder.path / "records.jsonl").write_text("")
    with RunFolder.open(folder.path, folder.manifest):
        assert {play.spec for play in Runs(tmp_path).list_live(folder.path.name)} == specs
    assert Runs(tmp_path).list_live(folder.path.name) == []


def make_play(spec, game, players, payoffs, answers=1, void=None):
    seats = dict(zip(("row", "col"), players, strict=True))
    earned = {} if void else dict(zip(("row", "col"), payoffs, strict=True))
    decision = Decision("A", "", Reading(Status.VALID))
    submissions = (Submission("row", decision),) * answers
    return StoredPlay(spec, {}, Record(game, 1, seats, submissions, earned, void))


PLAYS = (
    make_play("1", "stag-hunt", ("ann", "bot"), (4, 4), answers=2),
    make_play("2", "chicken", ("ann", "bot"), (1, 5)),
    make_play("3", "stag-hunt", ("bea", "bot"), (0, 3), answers=3),
    make_play("4", "stag-hunt", ("ann", "bot"), (2, 1)),
    make_play("5", "chicken", ("bea", "bot"), (), void=Void("row", "no answer")),
)


def test_plays_are_sorted_by_what_is_asked_for():
    def order(by):
        return "".join(play.spec for play in sort_plays(PLAYS, by))

    assert order("time") == "12345"
    assert order("players") == "12435"
    assert order("answers") == "31245"
    assert order("payoffs") == "12345"  # 8, 6, 3, 3, none


def test_plays_are_counted_together_by_game_and_by_players():
    chicken, stag = group_plays(PLAYS, "game")
    assert chicken == PlayGroup("chicken", plays=2, void=1, payoffs={"row": 1, "col": 5})
    assert stag == PlayGroup("stag-hunt", 3, 0, {"row": 2, "col": 8 / 3})  # (4 + 0 + 2) / 3
    ann, bea = group_plays(PLAYS, "players")
    assert (ann.name, ann.plays, ann.payoffs) == ("ann, bot", 3, {"row": 7 / 3, "col": 10 / 3})
    assert (bea.plays, bea.void, bea.payoffs) == (2, 1, {"row": 0, "col": 3})


def test_the_page_of_a_run_sorts_and_groups_and_two_ticked_runs_are_compared(server):
    name = sample_runs.tournament_run(server.folder).path.name
    page = flatten(server.admin.get(f"/watch/run/{name}", params={"group": "players"}))
    assert '<td class="right" data-label="Plays">1</td>' in page
    assert "scripted, tit-for-tat" in page
    # What is not known is not obeyed, and not repeated either.
    strange = {"sort": "<b>", "group": "<b>"}
    assert "<b>" not in server.admin.get(f"/watch/run/{name}", params=strange).text
    listed = flatten(server.admin.get("/watch"))
    assert f'type="checkbox" name="run" value="{name}"' in listed
    one = server.admin.get("/watch/compare", params={"run": [name]})
    assert "Two runs can be compared, and 1 are ticked" in one.text
    assert one.status_code == 422
