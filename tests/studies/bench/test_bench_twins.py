"""A game and its twins are asked about at the same positions, and which game they are."""

import pytest
import running

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.games.lookup import find_game
from bestresponse.games.twins.twin import TWINS
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench, plan_questions
from bestresponse.studies.bench.suites import list_twins
from bestresponse.studies.bench.twins import tabulate_twins

SMALL = {
    "breakthrough": "(rows=4,columns=3)",
    "connect-four": "(columns=4,rows=3)",
    "nim": "(piles=1-2-3)",
    "tic-tac-toe": "",
}

PILES = "(piles=1-2,last_wins=true)"
TOLD = ("nim", "lamps")


def find_positions(name):
    """Return the keys of the positions that are asked about, by replaying how they came about."""
    plan = plan_questions(BenchConfig(model="random", game=name, num_games=12, seed=3))
    keys = []
    for decision in plan.decisions.values():
        position = plan.game.begin()
        for _, move in decision.place["path"]:
            position = plan.game.advance(position, move)
        keys.append(plan.game.find_key(position))
    return keys


@pytest.mark.parametrize("base", TWINS)
def test_twins_are_asked_about_the_same_positions(base):
    asked = find_positions(base + SMALL[base])
    assert len(set(asked)) == 12
    _, *twins = list_twins(base + SMALL[base])
    assert len(twins) == len(TWINS[base])
    for twin in twins:
        assert find_positions(twin) == asked


def recall(request):
    """Play Nim with piles of 1 and 2 well, know it by name, and take the first move elsewhere."""
    told = request.messages[-1].content
    if "Which known game" in told:
        return "ANSWER: nim" if "pile" in told else "ANSWER: mancala"
    first = told.rpartition("is one of ")[2].partition(",")[0].rstrip(".")
    if "pile" not in told:
        return f"ANSWER: {first}"
    return "ANSWER: take 1 from pile 2" if "pile 1: 1" in told else "ANSWER: take 2 from pile 2"


def play(tmp_path, game, **changes):
    asked = {"recognise": True, "num_games": 2}
    settings = {"model": "scripted", "game": game, **asked, **changes}
    config = BenchConfig(**settings)
    return running.run(bench, config, tmp_path, {"scripted": ScriptedModel(recall)})


def test_a_player_that_remembers_loses_more_in_a_twin_and_names_only_the_game(tmp_path):
    """Of the lamps it takes what is offered first: with brightness 1 and 2 a move that loses all
    there is to lose, 2; with 0 and 2 the right one."""
    runs = [play(tmp_path / name, name + PILES) for name in TOLD]
    rows = {row["game"].partition("(")[0]: row for row in tabulate_twins(runs)[1].rows}
    assert [*rows] == ["nim", "lamps"]
    assert rows["nim"]["regret"].estimate == 0
    assert rows["nim"]["difference"] is None
    assert rows["nim"]["recognised"] == 1
    assert rows["lamps"]["regret"].estimate == 1
    assert rows["lamps"]["difference"].estimate == 0.5
    assert rows["lamps"]["recognised"] == 0


def test_which_game_it_is_counts_for_no_regret(tmp_path):
    ran = play(tmp_path, "nim" + PILES, model="scripted")
    figures = {one["player"]: one for one in ran.summary()["metrics"]}
    assert figures["uniform"]["regret"] == pytest.approx((4 / 3 + 1) / 2)
    assert figures["uniform"]["recognised"] == 1 / 8
    row = ran.frame("plays").select(model="scripted")[-1]
    assert (row["infoset"], row["answer"], row["best"], row["regret"]) == (
        "Which known game is this?",
        "nim",
        "nim",
        None,
    )
    assert ran.frame("game").rows[0]["asked"] == 2


def test_no_table_joins_runs_about_other_positions(tmp_path):
    one = play(tmp_path / "one", "nim" + PILES)
    others = (("lamps(piles=1-2)", 0), ("lamps" + PILES, 1), ("fifteen", 0))
    for game, seed in others:
        other = play(tmp_path / f"{game}{seed}", game, seed=seed)
        assert tabulate_twins([one, other]) is None


def test_a_game_without_twins_is_not_to_be_recognised():
    for game in ("pig(goal=10)", "stag-hunt", None):
        with pytest.raises(SettingError, match="asks about breakthrough, connect-four"):
            br.bench.config(model="random", game=game, recognise=True)
    assert find_game("nim").playable().name == "nim"
