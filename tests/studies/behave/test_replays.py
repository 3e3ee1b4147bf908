"""Recorded play of others, move by move: read by mappings, checked by the rules, and judged."""

import json
from random import Random

import pytest

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import find_game
from bestresponse.studies.behave.layouts import find_replays
from bestresponse.studies.behave.replays import ReplayReader, find_fields

# X at a3, O at b3: a draw becomes a win for X, who takes it by a1, b2 and c1.
WON = ["a3", "b3", "a1", "a2", "c1", "b1", "b2"]
CELLS = {"a3": 0, "b3": 1, "c3": 2, "a2": 3, "b2": 4, "c2": 5, "a1": 6, "b1": 7, "c1": 8}
NUMBERS = [CELLS[move] for move in WON]
PLYBENCH = {0: "C1R1", 1: "C2R1", 3: "C1R2", 4: "C2R2", 6: "C1R3", 7: "C2R3", 8: "C3R3"}
FORMS = {
    "kaggle": (
        "replay.json",
        {
            "configuration": {"openSpielGameName": "tic_tac_toe"},
            "info": {"TeamNames": ["X", "O"], "actionHistory": [str(n) for n in NUMBERS]},
            "rewards": [1, -1],
        },
    ),
    "openspiel": (
        "plays.jsonl",
        {"game": "tic_tac_toe", "history": NUMBERS, "players": ["X", "O"], "returns": [1.0, -1.0]},
    ),
    "textarena": (
        "logs.json",
        {
            "env_id": "TicTacToe-v0",
            "players": ["X", "O"],
            "logs": [
                [-1, "Player 0 begins."],
                *([k % 2, f"I take [{number}]."] for k, number in enumerate(NUMBERS)),
            ],
        },
    ),
    "plybench": (
        "game.json",
        {
            "steps": [
                {"player_name": "XO"[k % 2], "move": PLYBENCH[number]}
                for k, number in enumerate(NUMBERS)
            ]
        },
    ),
}


def write(path, mapping):
    name, data = FORMS[mapping]
    (path / name).write_text(json.dumps(data))
    return path / name


@pytest.mark.parametrize("mapping", FORMS)
def test_four_forms_of_one_play_give_one_figure(tmp_path, mapping):
    """Of O's three moves b3 loses 1, a2 parries, b1 loses nothing that was not lost."""
    run = br.import_plays(write(tmp_path, mapping), mapping=mapping, output_dir=tmp_path / "runs")
    skill = {row["player"]: row for row in run.frame("skill")}
    assert skill["X"]["regret"].estimate == 0.0
    assert skill["O"]["regret"].estimate == 1.0
    assert (skill["X"]["wins"], skill["O"]["wins"]) == (1.0, 0.0)
    (worst,) = run.frame("worst")
    assert (worst["player"], worst["answer"], worst["lost"]) == ("O", "b3", 1.0)
    assert len(run.frame("problems")) == 0


def test_a_table_of_moves_is_grouped_by_play(tmp_path):
    lines = ["play,game,player,move"]
    lines += [f"1,tic-tac-toe,{'XO'[k % 2]},{move}" for k, move in enumerate(WON)]
    (tmp_path / "moves.csv").write_text("\n".join(lines) + "\n")
    run = br.import_plays(tmp_path / "moves.csv", mapping="moves", output_dir=tmp_path / "runs")
    assert [(row["player"], row["regret"].estimate) for row in run.frame("skill")] == [
        ("X", 0.0),
        ("O", 1.0),
    ]


def read(tmp_path, mapping, data):
    (tmp_path / "play.json").write_text(json.dumps(data))
    problems = []
    path = tmp_path / "play.json"
    reader = ReplayReader(path, find_replays(mapping, path), problems.append)
    return list(reader.list_matches()), problems, reader


def spiel(history, **more):
    return {"game": "tic_tac_toe", "history": history, "players": ["X", "O"], **more}


@pytest.mark.parametrize(("won", "problems"), [("1.0", []), ("2", ["payoff mismatch"])])
def test_payoffs_that_are_told_as_text_are_numbers(tmp_path, won, problems):
    _, found, _ = read(tmp_path, "openspiel", spiel(NUMBERS, returns=[won, "-1"]))
    assert [one["problem"] for one in found] == problems


def test_a_forbidden_move_is_listed_and_what_came_before_is_kept(tmp_path):
    (play,), (problem,), _ = read(tmp_path, "openspiel", spiel([0, 1, 0]))
    assert problem["problem"] == "forbidden move"
    assert problem["detail"] == "move 3: 'a3' is not legal"
    assert [turn["action"] for turn in play["record"]["submissions"]] == ["a3", "b3"]
    assert play["record"]["payoffs"] == {}
    assert play["record"]["void"][0] == "player 1"


@pytest.mark.parametrize(
    ("data", "problem", "kept"),
    [
        (spiel([0, 1]), "broken off", 1),
        (spiel([*NUMBERS, 2]), "other rules", 0),
        (spiel(NUMBERS, returns=[0.0, 0.0]), "payoff mismatch", 1),
        (spiel(["a king"]), "forbidden move", 1),
        ({"game": "no such game", "history": [0]}, "no such game", 0),
    ],
)
def test_what_does_not_fit_is_told(tmp_path, data, problem, kept):
    plays, problems, reader = read(tmp_path, "openspiel", data)
    assert [row["problem"] for row in problems] == [problem]
    assert (len(plays), reader.left_out) == (kept, 1 - kept)


def test_a_move_by_the_wrong_seat_is_of_other_rules(tmp_path):
    data = {"env_id": "TicTacToe-v0", "players": ["X", "O"], "logs": [[1, "[4]"]]}
    plays, (problem,), _ = read(tmp_path, "textarena", data)
    assert plays == []
    assert problem["detail"] == "move 1 is player 1's, recorded is 1's"


def test_a_game_without_truth_is_named_and_wins_are_counted(tmp_path):
    """Nobody solves matching pennies move by move."""
    lines = ["play,game,player,move", "1,matching-pennies,A,heads", "1,matching-pennies,B,heads"]
    (tmp_path / "moves.csv").write_text("\n".join(lines) + "\n")
    run = br.import_plays(tmp_path / "moves.csv", mapping="moves", output_dir=tmp_path / "runs")
    assert run.frame("unsolved").list_values("game") == ["matching-pennies"]
    assert {row["player"]: (row["regret"], row["wins"]) for row in run.frame("skill")} == {
        "A": (None, 1.0),
        "B": (None, 0.0),
    }


def test_a_folder_is_read_file_by_file(tmp_path):
    folder = tmp_path / "replays"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.json").write_text(json.dumps(FORMS["kaggle"][1]))
    (folder / "notes.txt").write_text("not a replay")
    run = br.import_plays(folder, mapping="kaggle", output_dir=tmp_path / "runs")
    assert run.frame("file")[0]["matches"] == 3
    with pytest.raises(UsageError, match="holds no file to import"):
        br.import_plays(tmp_path / "runs", mapping="kaggle", output_dir=tmp_path / "more")


def test_fields_are_found_by_their_path():
    assert find_fields({"a": [{"b": 1}, {"c": 2}]}, "a.*.b") == [1]
    assert find_fields({"a": [["x", "y"], ["z", "w"]]}, "a.*.1") == ["y", "w"]
    assert find_fields({"a": "text"}, "a.b") == []


def test_every_built_in_code_is_a_legal_move(tmp_path):
    """All codes of a mapping are different moves of the first position of their game."""
    for mapping in FORMS:
        layout = find_replays(mapping, tmp_path / "x.json")
        for name, codes in layout.codes.items():
            game = find_game(name).playable()
            (ask,) = game.asks(game.start()).values()
            assert sorted(codes.values()) == sorted(ask.options)


def test_random_plays_are_all_read(tmp_path):
    rng = Random(1)
    plays = []
    game = find_game("tic-tac-toe").playable()
    for _ in range(20):
        state, history = game.start(), []
        while asks := game.asks(state):
            ((role, ask),) = asks.items()
            move = rng.choice(ask.options)
            history.append(CELLS[move])
            state = game.apply(state, {role: move})
        plays.append(spiel(history, returns=list(game.payoffs(state).values())))
    found, problems, _ = read(tmp_path, "openspiel", plays)
    assert (len(found), problems) == (20, [])
