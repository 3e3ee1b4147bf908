"""Several games, copies, clones in one seat, default moves, kept moves, and a game told in
words."""

import pytest
from courses import name_course

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.formal.formalize.plan import library
from bestresponse.games.logic.tables import as_game_table, write_table_program
from bestresponse.games.lookup import NamedGame
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.standings import find_standings
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.repeated.automaton import cooperative_actions

DILEMMA = "prisoners-dilemma"
FIVE_GAMES = (DILEMMA, "hawk-dove", "stag-hunt", "battle-of-the-sexes", "matching-pennies")


@pytest.mark.parametrize(
    ("game", "move"),
    [
        (DILEMMA, "cooperate"),
        ("hawk-dove", "dove"),
        ("stag-hunt", "stag"),
        ("battle-of-the-sexes", "opera"),
        ("matching-pennies", "heads"),
    ],
)
def test_the_default_move_is_the_cooperative_one_where_a_game_has_one(game, move, tmp_path):
    run = br.tournament(game, "default-move", rounds=1, output_dir=tmp_path)
    assert [row["first_move"] for row in run.frame("rounds")] == [move]


def test_a_program_that_names_no_default_move_begins_with_the_cooperative_one(tmp_path):
    form = load("hawk-dove")
    assert cooperative_actions(form) == (1, 1)
    game = NamedGame("birds", ".pl", write_table_program(as_game_table(form)))
    run = br.tournament(game, "tit-for-tat", rounds=1, output_dir=tmp_path)
    assert [row["first_move"] for row in run.frame("rounds")] == ["dove"]


def test_no_strategy_of_all_stands_twice_in_hawk_dove():
    names = [entry.name for entry in TournamentConfig("hawk-dove", "all").entries]
    assert [name for name in names if name.startswith("classic ")] == []
    assert names.count("tit-for-tat") == 1


def test_a_clone_in_the_second_seat_gives_the_total_of_one_match():
    # Tit-for-tat meets all four pairs of moves: 3 + 0 + 1 + 5.
    config = TournamentConfig(
        DILEMMA,
        ["tit-for-tat", "anti-tit-for-tat"],
        rounds=4,
        against="anti-tit-for-tat",
        seats="first",
    )
    rows = {row["name"]: row for row in find_standings(config).rows}
    assert rows["tit-for-tat"]["total"] == 9
    assert rows["tit-for-tat"]["second"] is None
    assert rows["tit-for-tat"]["share"] == pytest.approx(9 / 20)
    both = TournamentConfig(
        DILEMMA, ["tit-for-tat", "anti-tit-for-tat"], rounds=4, against="anti-tit-for-tat"
    )
    assert {row["name"]: row["total"] for row in find_standings(both).rows}["tit-for-tat"] == 18


def test_rules_for_the_first_seat_alone_play_where_only_it_counts(tmp_path):
    rules = tmp_path / "row.pl"
    rules.write_text("select(P, _, S, defect) :- holds(role(P, row), S).\n")
    config = TournamentConfig(
        DILEMMA, [str(rules), "tit-for-tat"], rounds=2, against="tit-for-tat", seats="first"
    )
    assert {row["name"]: row["total"] for row in find_standings(config).rows}["row"] == 5 + 1
    with pytest.raises(
        br.BestResponseError,
        match="In the second seat: The strategy gives no move in the first round",
    ):
        find_standings(TournamentConfig(DILEMMA, [str(rules), "tit-for-tat"], rounds=2))


def test_the_best_response_as_published_takes_part_by_its_name():
    config = TournamentConfig(
        "matching-pennies", ["best-response-as-published", "best-response"], rounds=3
    )
    table = find_standings(config).totals
    # It reckons as if it sat first, so that in the second seat it matches heads and loses every
    # round.
    assert table[0, 0].tolist() == [3, -3]
    # Heads and heads; heads again, from which a real best response in the second seat has moved
    # away; tails and tails.
    assert table[0, 1].tolist() == [1 - 1 + 1, -1 + 1 - 1]


def test_copies_of_an_entry_take_part_under_names_of_their_own():
    config = TournamentConfig(DILEMMA, ["tit-for-tat:3", "grim:2"], rounds=2)
    assert [entry.name for entry in config.entries] == [
        "tit-for-tat",
        "tit-for-tat 2",
        "tit-for-tat 3",
        "grim",
        "grim 2",
    ]
    assert {row["total"] for row in find_standings(config).rows} == {6 * 5 * 2}
    with pytest.raises(SettingError, match="1 to 100 copies"):
        TournamentConfig(DILEMMA, ["tit-for-tat:0"])


def test_several_games_have_a_table_by_game_and_the_mean_over_games(tmp_path):
    # Two rounds: defectors earn 1 among themselves and 5 from the others; the others 3 and 0.
    run = br.tournament(
        [DILEMMA, "stag-hunt"], ["default-move", "anti-default-move"], rounds=2, output_dir=tmp_path
    )
    rows = {(row["strategy"], row["game"]): row["share"] for row in run.frame("by_game")}
    stag = br.find_game("stag-hunt").solvable().payoffs[0]
    least, width = stag.min(), stag.max() - stag.min()
    expected = {
        ("default-move", DILEMMA): (3 + 0) / 2 / 5,
        ("anti-default-move", DILEMMA): (5 + 1) / 2 / 5,
        ("default-move", "stag-hunt"): ((stag[0, 0] + stag[0, 1]) / 2 - least) / width,
        ("anti-default-move", "stag-hunt"): ((stag[1, 0] + stag[1, 1]) / 2 - least) / width,
    }
    for name in ("default-move", "anti-default-move"):
        expected[name, "mean over games"] = (
            expected[name, DILEMMA] + expected[name, "stag-hunt"]
        ) / 2
    assert rows == {key: pytest.approx(value) for key, value in expected.items()}
    assert {row["game"] for row in run.frame("standings")} == {DILEMMA, "stag-hunt"}
    assert "mean over games" in run.report().to_json()
    assert br.load_run(run.path).replay().different == ()


def test_several_games_take_no_target_and_no_game_twice():
    with pytest.raises(SettingError, match="target"):
        TournamentConfig([DILEMMA, "hawk-dove"], "published", target={"random": 3})
    with pytest.raises(SettingError, match="named twice"):
        TournamentConfig([DILEMMA, DILEMMA], "published")


def test_a_strategy_without_moves_in_one_of_the_games_is_left_out_of_a_group():
    config = TournamentConfig([DILEMMA, "matching-pennies"], "all")
    assert [entry.name for entry in config.entries] == [
        "anti-default-move",
        "anti-tit-for-tat",
        "best-response",
        "default-move",
        "random",
        "tit-for-tat",
    ]
    assert dict(config.left_out)["the classic strategies"].startswith("matching-pennies: no action")


def test_drawn_matches_keep_every_move_and_can_be_described(tmp_path):
    run = br.tournament(
        DILEMMA, ["tit-for-tat", "random"], rounds=3, repetitions=2, output_dir=tmp_path
    )
    assert len(list(run.folder.plays())) == 2 * 4
    rounds = run.frame("rounds").rows
    assert len(rounds) == 2 * 4 * 3
    paid = {
        ("cooperate", "cooperate"): 3,
        ("cooperate", "defect"): 0,
        ("defect", "cooperate"): 5,
        ("defect", "defect"): 1,
    }
    assert all(row["first_payoff"] == paid[row["first_move"], row["second_move"]] for row in rounds)
    totals = {(row["first"], row["second"]): row["first_total"] for row in run.frame("matches")}
    drawn = [
        row["first_payoff"]
        for row in rounds
        if (row["first"], row["second"]) == ("random", "tit-for-tat")
    ]
    assert totals["random", "tit-for-tat"] == sum(drawn) / 2
    assert run.replay().same == 8
    described = br.behave([run.path], output_dir=tmp_path / "described")
    assert sum(row["matches"] for row in described.summary()["metrics"]) > 0


def test_under_noise_the_moves_that_were_made_are_listed(tmp_path):
    settings = {
        "rounds": 5,
        "noise": 0.5,
        "continuation": 0.9,
        "repetitions": 3,
        "output_dir": tmp_path,
    }
    run = br.tournament(name_course(DILEMMA, settings), ["cooperator", "defector"], **settings)
    rounds = run.frame("rounds").rows
    totals = {(row["first"], row["second"]): row["first_total"] for row in run.frame("matches")}
    for pair, total in totals.items():
        earned = [row["first_payoff"] for row in rounds if (row["first"], row["second"]) == pair]
        assert sum(earned) / 3 == pytest.approx(total)


def test_a_game_in_words_is_formalized_before_the_tournament(tmp_path):
    program = next(example.program for example in library() if example.name == "prisoners_dilemma")
    story = tmp_path / "cell.txt"
    story.write_text("Two prisoners may keep silent or betray each other.")

    def writer(prompt: str) -> str:
        return f"```prolog\n{program}\n```"

    run = br.tournament(
        story, ["tit-for-tat", "anti-default-move"], model=writer, rounds=2, output_dir=tmp_path
    )
    assert run.config.game.name == "cell"
    assert {row["first_move"] for row in run.frame("rounds")} == {"Silent", "Betray"}
    with pytest.raises(SettingError, match="cell is told in words; name the model"):
        br.tournament(story, ["tit-for-tat"], output_dir=tmp_path)
    with pytest.raises(br.BestResponseError, match="cell: "):
        br.tournament(
            story, "tit-for-tat", model=lambda prompt: "I would rather not.", output_dir=tmp_path
        )


@pytest.mark.parametrize("name", ["mediator", "mediator with repeated(rounds=2)"])
def test_models_are_told_what_a_mechanism_does(tmp_path, name):
    """Both play twice in all with a mediator between rounds of the same table."""
    prompts = []

    def delegate(prompt):
        prompts.append(prompt)
        return "ANSWER: delegate"

    rounds = {} if "repeated" in name else {"rounds": 2}
    run = br.tournament(
        f"prisoners-dilemma with {name}",
        [delegate, "always:delegate"],
        **rounds,
        output_dir=tmp_path,
    )
    assert all("A mediator moves for whoever chooses delegate" in prompt for prompt in prompts)
    assert {row["per_round"] for row in run.frame("standings")} == {3.0}
    assert {row["round"] for row in run.frame("rounds")} == {1, 2}
