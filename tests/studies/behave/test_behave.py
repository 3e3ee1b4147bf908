"""What was played is described by strategies and parameters that a hand can work out, whatever run
it came from."""

import pytest
from recorded_plays import MAPPING, read_plays as read

import bestresponse as br
from bestresponse.analysis.people import describe_people, find_people, load_people, measure_dilemma
from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.errors import SettingError
from bestresponse.core.player import Decision
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.store.folder import Manifest, RunFolder
from bestresponse.theory.catalogue.tables import load


def write_rows(players, moves, others, prompt="plain", start=1):
    """Write one match a line of `moves`; payoffs are those of the dilemma 3, 0, 5, 1."""
    paid = {"CC": (3, 3), "CD": (0, 5), "DC": (5, 0), "DD": (1, 1)}
    rows = []
    for number, (own, other) in enumerate(zip(moves, others, strict=True), start):
        for turn, (a, b) in enumerate(zip(own, other, strict=True), 1):
            x, y = paid[a + b]
            rows.append(f"{number},{turn},{players[0]},{players[1]},{a},{b},{x},{y},{prompt}\n")
    return "".join(rows)


def behave(tmp_path, rows, **settings):
    imported = read(tmp_path, rows)
    options = {"bootstraps": 50, "output_dir": tmp_path / "out", "by": ("player",), **settings}
    return br.behave([imported.path], **options)


def find_shares(run, group):
    return {
        row["strategy"]: (
            row["share"].estimate if isinstance(row["share"], Interval) else row["share"]
        )
        for row in run.frame("strategies").select(group=group)
    }


def test_strategies_cooperation_and_error_are_those_of_a_hand(tmp_path):
    # Ann plays tit-for-tat against Bob, who does as listed; every strategy differs from it in one
    # of the matches.
    others = ["CDCDCCDD", "DDCCDDCC", "CCCCDDDD", "DCDCDCDC"]
    moves = ["C" + other[:-1] for other in others]
    run = behave(tmp_path, write_rows(("ann", "bob"), moves, others), fit=("strategies",))
    shares = find_shares(run, "ann")
    assert shares["tit-for-tat"] == pytest.approx(1.0, abs=1e-6)
    (group,) = run.frame("groups").select(group="ann")
    assert (group["units"], group["unit"]) == (4, "match")
    assert group["remark"] == "every move is prescribed, so the error is 0"
    figures = dict(run.metrics.groups)["ann",]
    assert figures["matches"] == 4
    (share,) = (
        row["share"] for row in run.frame("strategies").select(group="ann", strategy="tit-for-tat")
    )
    # Half a match that was not seen beside 4; a few resamples lack the match that tells some
    # strategy apart.
    assert share.low == pytest.approx(1 - 0.486, abs=5e-3)
    assert figures["error"].high == pytest.approx(
        0.076 / 2, abs=1e-3
    )  # half a move beside 32, 1/2 the largest error
    assert figures["first"].estimate == 1.0
    assert figures["first"].low < 0.7  # four matches of four are no proof of a share of 1
    assert figures["cooperation"].estimate == pytest.approx(18 / 32)  # counted in `moves`
    rounds = run.frame("rounds").select(who="ann")[:3]
    assert [(row["round"], row["cooperation"].estimate) for row in rounds] == [
        (1, 1.0),
        (2, 0.5),
        (3, 0.5),
    ]
    assert {row["strategy"] for row in run.frame("classes").select(group="ann")} == {"tit-for-tat"}
    assert run.frame("numbers").select(group="ann", strategies=1)[0]["bic"] == pytest.approx(
        1.386, abs=1e-3
    )  # ln 4


def test_groups_are_made_by_player_and_treatment(tmp_path):
    rows = write_rows(("ann", "bob"), ["CCCC"] * 2, ["CCCC"] * 2) + write_rows(
        ("ann", "bob"), ["DDDD"] * 2, ["CCCC"] * 2, "selfish", 3
    )
    run = behave(tmp_path, rows, by=("player", "prompt"), fit=("strategies",))
    assert [heads for heads, _ in run.metrics.groups] == [
        ("ann", "plain"),
        ("ann", "selfish"),
        ("bob", "plain"),
        ("bob", "selfish"),
    ]
    assert find_shares(run, "ann, selfish")["defector"] == pytest.approx(1.0)
    with pytest.raises(
        SettingError, match="there is no group 'tone'; expected one of player, opponent, game"
    ):
        behave(tmp_path, rows, by=("tone",))


def test_single_choices_have_the_precision_of_a_hand(tmp_path):
    # First moves: 30 of 40 defect. With p of the others cooperating (1/4 too) defecting earns 2p +
    # (1 - p) = 1.25 more, so lambda = ln 3 / 1.25 = 0.879.
    rows = write_rows(("ann", "bob"), ["C"] * 10 + ["D"] * 30, ["C"] * 10 + ["D"] * 30)
    run = behave(tmp_path, rows, fit=("qre", "level-k", "cognitive-hierarchy"), by=("game",))
    estimates = {(row["model"], row["parameter"]): row["estimate"] for row in run.frame("models")}
    assert estimates["qre", "lambda"].estimate == pytest.approx(0.879, rel=1e-3)
    assert estimates["level-k", "share of level 0"].estimate == pytest.approx(0.5, abs=1e-3)
    assert estimates["cognitive-hierarchy", "tau"].estimate == pytest.approx(
        0.693, abs=1e-3
    )  # 1 - exp(-tau)/2 = 3/4
    remark = run.frame("models")[0]["remark"]
    assert remark == "intervals resample matches: few games; one game, nothing to hold out"


def test_moves_that_no_precision_explains_have_a_lambda_of_0_without_an_interval(tmp_path):
    # Cooperating is dominated, so every positive lambda makes it rarer than one in two; so it is in
    # every resample.
    run = behave(tmp_path, write_rows(("ann", "bob"), ["C"] * 8, ["C"] * 8), fit=("qre",))
    (row,) = run.frame("models").select(group="ann")
    assert row["estimate"] == 0.0
    assert row["remark"].startswith("the same in 95 % of all resamples or more, so no interval")


def test_a_treatment_with_one_match_has_no_interval_and_says_so(tmp_path):
    run = behave(tmp_path, write_rows(("ann", "bob"), ["CDCD"], ["CCCC"]), fit=("strategies",))
    assert {row["share"].method for row in run.frame("strategies")} == {"none"}


def test_single_choices_tell_no_strategy_from_an_error_and_it_is_said(tmp_path):
    rows = write_rows(("ann", "bob"), ["C", "C", "D"], ["C"] * 3)
    run = behave(tmp_path, rows, fit=("strategies",))
    assert run.frame("strategies").rows == []
    assert run.frame("left_out").select(what="ann: strategies")[0] == {
        "what": "ann: strategies",
        "why": "everybody made a single choice, which cannot tell strategies from errors",
        "times": 3,
    }


def test_shares_that_two_rounds_cannot_tell_are_called_open(tmp_path):
    # Two matches are those of tit-for-tat and of win-stay-lose-shift alike, and the third is of a
    # defector; only the sum of the first two shares is known.
    rows = write_rows(("ann", "bob"), ["CC", "CC", "DD"], ["CC"] * 3)
    run = behave(tmp_path, rows, fit=("strategies",))
    row = run.frame("groups").select(group="ann")[0]
    assert row["remark"].startswith("other shares fit as well")
    shares = find_shares(run, "ann")
    nice = shares.pop("cooperator = grim = tit-for-tat = tit-for-two-tats")
    assert nice + shares.pop("win-stay-lose-shift") == pytest.approx(2 / 3)
    assert shares == {
        "defector": pytest.approx(1 / 3),
        "suspicious-tit-for-tat": pytest.approx(0.0, abs=1e-6),
    }


def test_fewer_strategies_are_kept_by_bic(tmp_path):
    others = ["CDCDCCDD", "DDCCDDCC", "CCCCDDDD", "DCDCDCDC"] * 3
    rows = write_rows(("ann", "bob"), ["C" + other[:-1] for other in others], others)
    run = behave(tmp_path, rows, fit=("strategies",), choose="bic")
    assert find_shares(run, "ann") == {"tit-for-tat": 1.0}


def test_people_stand_beside_a_group_in_the_nearest_dilemma(tmp_path):
    run = behave(tmp_path, write_rows(("ann", "bob"), ["DDDD"] * 4, ["DCDC"] * 4), beside="dilemma")
    # g = (5 - 3) / (3 - 1) = 1 and l = (1 - 0) / (3 - 1) = 0.5; nearest are g 1.17 and l 0.83 of
    # Dal Bo 2005.
    rows = run.frame("beside").select(group="ann")
    assert [row["people"].split(":")[0] for row in rows] == [
        f"people, DB {number}" for number in (23, 24, 27, 28)
    ]
    assert rows[0]["people_first"] == pytest.approx(0.1399)
    bob = run.frame("beside").select(group="bob")[
        0
    ]  # who defects in every first round and cooperates in the second
    assert (bob["first"].estimate, bob["difference"]) == (0.0, pytest.approx(-0.1399))
    assert rows[0]["difference"] == pytest.approx(-0.1399)
    strategies = dict(find_people(load("prisoners-dilemma"))[0].strategies)
    own = find_shares(run, "ann")
    if own.keys() == strategies.keys():
        expected = sum(abs(own[name] - strategies[name]) for name in own) / 2
        assert rows[0]["distance"] == pytest.approx(expected)
    assert run.frame("rounds").select(who=rows[0]["people"])[0]["cooperation"] == pytest.approx(
        0.1399
    )


def test_games_without_cooperation_are_left_out_of_strategies_and_counted(tmp_path):
    mapping = MAPPING.replace("[3, 3, 0, 5, 5, 0, 1, 1]", "[1, -1, -1, 1, -1, 1, 1, -1]").replace(
        'payoffs = ["x", "y"]\n', ""
    )
    imported = read(tmp_path, write_rows(("ann", "bob"), ["CC"] * 3, ["CD"] * 3), mapping)
    run = br.behave([imported.path], by=("player",), output_dir=tmp_path / "out", bootstraps=20)
    (row,) = run.frame("left_out").select(what="ann: strategies")
    assert row["times"] == 3
    assert "no action of this game is to cooperate" in row["why"]
    assert len(run.frame("models")) > 0


def test_runs_of_our_own_are_described(tmp_path):
    played = br.simulate(
        "prisoners-dilemma",
        seat={"row": "tit-for-tat", "col": "random"},
        rounds=12,
        repeats=12,
        output_dir=tmp_path,
    )
    run = br.behave([played.path], by=("player",), output_dir=tmp_path / "out", bootstraps=20)
    assert find_shares(run, "tit-for-tat")["tit-for-tat"] == pytest.approx(1.0, abs=1e-6)
    assert run.answered == 24


def test_a_tournament_with_players_who_are_asked_is_described(tmp_path):
    def meek(own, other):
        return "cooperate"

    played = br.tournament(
        "prisoners-dilemma", [meek, "tit-for-tat", "defector"], rounds=6, output_dir=tmp_path
    )
    run = br.behave([played.path], by=("player",), output_dir=tmp_path / "out", bootstraps=20)
    assert find_shares(run, "meek")["cooperator"] == pytest.approx(1.0, abs=1e-6)


def test_sessions_of_people_in_the_browser_are_described_and_void_plays_counted(tmp_path):
    submissions = tuple(
        Submission(role, Decision(move))
        for _ in range(4)
        for role, move in (("row", "defect"), ("col", "cooperate"))
    )
    data = {"setup": {"game": {"name": "prisoners-dilemma", "rounds": 4}}}
    people = {"row": "person", "col": "strategy:cooperator"}
    record = Record("repeated prisoners-dilemma", 2, people, submissions, {"row": 20.0, "col": 0.0})
    void = Record("repeated prisoners-dilemma", 2, people, (), {}, Void("row", "left"))
    with RunFolder.open(tmp_path / "sessions", Manifest("sessions", "sessions", {})) as folder:
        folder.finish("a.1", data, record)
        folder.finish("b.1", data, void)
    run = br.behave(
        [tmp_path / "sessions"],
        by=("player",),
        output_dir=tmp_path / "out",
        fit=("strategies",),
        bootstraps=20,
    )
    assert dict(run.metrics.groups)["person",]["cooperation"] == 0.0
    assert dict(run.metrics.groups)["strategy:cooperator",]["cooperation"] == 1.0
    assert run.frame("left_out").rows == [{"what": "sessions", "why": "a void play", "times": 1}]


def test_mixtures_of_a_benchmark_count_as_shares_of_a_choice(tmp_path):
    def even(prompt):
        return "ANSWER: A: 0.5, B: 0.5"

    played = br.bench(even, num_games=10, num_rows=2, num_cols=2, output_dir=tmp_path)
    run = br.behave(
        [played.path], by=("player",), fit=("qre",), output_dir=tmp_path / "out", bootstraps=20
    )
    (row,) = run.frame("models").select(group="even")
    assert row["estimate"] == 0.0
    assert row["score"] == pytest.approx(-0.6931, abs=1e-4)  # ln 1/2


def test_a_stored_run_is_measured_again_without_the_runs_that_it_describes(tmp_path):
    import shutil

    run = behave(
        tmp_path, write_rows(("ann", "bob"), ["CDCD"] * 3, ["CCCC"] * 3), fit=("strategies",)
    )
    shutil.rmtree(tmp_path / "runs")
    assert br.load_run(run.path).frame("strategies").rows == run.frame("strategies").rows


def test_the_summary_of_people_is_that_of_the_published_data():
    df = {people.treatment: people for people in load_people() if people.study == "DF"}
    assert {name: people.first for name, people in df.items()} == {
        "6": 0.0981,
        "7": 0.2561,
        "8": 0.1872,
        "9": 0.6110,
        "10": 0.8507,
        "11": 0.3897,
    }
    assert sum(people.matches for people in df.values()) == 13_888
    assert measure_dilemma(load("prisoners-dilemma")) == (1.0, 0.5)
    assert measure_dilemma(load("stag-hunt")) is None
    assert "share of 0.14 (DB 23" in describe_people(load("prisoners-dilemma"))
    assert describe_people(load("chicken")) == ""


def test_no_run_is_refused(tmp_path):
    with pytest.raises(SettingError, match="name at least one folder"):
        br.behave([])


def test_a_strategy_in_words_needs_a_model_that_writes_its_rules(tmp_path):
    (tmp_path / "mine.txt").write_text("Cooperate first, then do what the other did last.")
    with pytest.raises(SettingError, match=r"mine\.txt is a strategy in words"):
        behave(
            tmp_path,
            write_rows(("ann", "bob"), ["CC"], ["CC"]),
            strategies=(str(tmp_path / "mine.txt"),),
        )


def test_a_strategy_in_words_is_one_of_the_mixture_once_a_model_has_written_its_rules(tmp_path):
    (tmp_path / "mine.txt").write_text("Cooperate first, then do what the other did last.")
    rules = (
        "select(_P, O, S, M) :- holds(last_move(O, M), S).\n"
        "select(_P, O, S, cooperate) :- \\+ holds(last_move(O, _), S)."
    )
    model = ScriptedModel([f"```prolog\n{rules}\n```"])
    others = ["CDCDCCDD", "DDCCDDCC"]
    rows = write_rows(("ann", "bob"), ["C" + other[:-1] for other in others], others)
    mixture = (str(tmp_path / "mine.txt"), "defector")
    run = behave(tmp_path, rows, fit=("strategies",), strategies=mixture, model=model)
    assert find_shares(run, "ann") == pytest.approx({"mine": 1.0, "defector": 0.0}, abs=1e-6)
