"""Games are found by what a user types: a name in any spelling, a file, standard input."""

import json
from pathlib import Path

import pytest
from plugins import lay_package

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.core.registry import games
from bestresponse.games.lookup import NamedGame, find_game, game_names
from bestresponse.games.parameters import list_parameters
from bestresponse.theory import NormalForm, Tree, catalogue, load_tree, write_game_file

PENNIES = [[1, -1], [-1, 1]]


PACKAGE = '''
from bestresponse.core.ask import Choice
from bestresponse.core.game import View
from bestresponse.core.told import prose
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.theory import NormalForm


def pennies():
    return MatrixGame(NormalForm.zero_sum([[1, -1], [-1, 1]]))


class Once:
    """One choice."""

    name, version, roles = "once", 1, ("alone",)

    def start(self):
        return ""

    def asks(self, state):
        return {} if state else {"alone": Choice(("stay", "go"))}

    def view(self, state, role):
        return View(role, prose("Choose."))

    def apply(self, state, moves):
        return moves["alone"]

    def payoffs(self, state):
        return {"alone": float(state == "go")}


class Half:
    name, roles = "half", ("alone",)
'''


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """A package with four games, of which two can be played."""
    names = {"my-pennies": "pennies", "once": "Once", "needy": "MatrixGame", "half": "Half"}
    entries = [("bestresponse.games", name, made) for name, made in names.items()]
    monkeypatch.syspath_prepend(lay_package(tmp_path, "plugged_games", PACKAGE, *entries))


@pytest.mark.parametrize(
    "typed", ["prisoners-dilemma", "Prisoner's Dilemma", "PRISONERS_DILEMMA", " prisoners dilemma "]
)
def test_the_spelling_of_a_name_does_not_matter(typed):
    found = find_game(typed)
    assert (found.name, found.origin) == ("prisoners-dilemma", "catalogue")
    assert isinstance(found.solvable(), NormalForm)
    assert found.citation


def test_trees_are_found_by_the_same_door():
    found = find_game("kuhn poker")
    assert isinstance(found.game, Tree)
    assert "1950" in found.citation


@pytest.mark.parametrize("name", game_names())
def test_every_name_listed_is_found(name):
    assert find_game(name).name == name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("kuhn", "kuhn-poker"), ("prisoner-dilema", "prisoners-dilemma"), ("stag", "stag-hunt")],
)
def test_a_wrong_name_is_answered_with_the_nearest_one(typed, meant):
    with pytest.raises(UsageError, match=f"named '{typed}'.*Did you mean {meant}?"):
        find_game(typed)


def test_a_name_near_to_nothing_is_answered_with_where_to_look():
    with pytest.raises(UsageError, match="`bestresponse games` lists the names"):
        find_game("zzzzzz")


def test_a_family_is_not_a_game():
    with pytest.raises(UsageError, match="blotto is a family of random games"):
        find_game("blotto")


@pytest.mark.parametrize("nothing", ["", "  "])
def test_nothing_is_not_a_name(nothing):
    with pytest.raises(UsageError, match="got nothing"):
        find_game(nothing)


def test_files_are_read_by_their_ending(tmp_path):
    write_game_file(catalogue.load("chicken"), tmp_path / "c.nfg")
    write_game_file(load_tree("centipede"), tmp_path / "t.EFG")
    (tmp_path / "m.json").write_text(json.dumps(PENNIES))
    assert isinstance(find_game(tmp_path / "c.nfg").game, NormalForm)
    assert isinstance(find_game(str(tmp_path / "t.EFG")).game, Tree)
    found = find_game(tmp_path / "m.json")
    assert (found.name, found.origin) == ("m", "file")


def test_a_file_without_a_folder_is_found_where_the_user_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(json.dumps(PENNIES))
    assert find_game("m.json").origin == "file"


def test_a_name_means_the_game_even_where_a_folder_has_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("chicken").mkdir()
    Path("runs").mkdir()
    assert find_game("chicken").origin == "catalogue"
    with pytest.raises(UsageError, match="runs is a folder"):
        find_game("runs")


def test_a_missing_file_a_folder_and_an_unknown_ending_are_told_apart(tmp_path):
    with pytest.raises(UsageError, match="there is no such file"):
        find_game(tmp_path / "none.efg")
    with pytest.raises(UsageError, match="is a folder"):
        find_game(tmp_path)
    (tmp_path / "game.txt").write_text("1 2")
    with pytest.raises(UsageError, match=r"ending in \.nfg, \.efg, \.json or \.pl"):
        find_game(tmp_path / "game.txt")


def test_a_damaged_file_says_where(tmp_path):
    (tmp_path / "bad.json").write_text('{"row": [[1, "two"]], "col": [[1, 2]]}')
    with pytest.raises(
        InvalidGame,
        match=r"bad\.json: row\[0\]\[1\]: expected a number such as 3, -2\.5 or 1/3, got 'two'",
    ):
        find_game(tmp_path / "bad.json")


def test_a_dash_is_standard_input():
    found = find_game("-", read_input=lambda: '{"zero_sum": [[1, -1], [-1, 1]], "name": "mine"}')
    assert (found.name, found.origin) == ("mine", "standard input")
    with pytest.raises(InvalidGame, match="standard input, line 1"):
        find_game("-", read_input=lambda: "[[1,")
    with pytest.raises(UsageError, match="no game or file named '-'"):
        find_game("-")


def test_a_registered_game_is_found_and_its_table_used(registered):
    found = find_game("My Pennies")
    assert (found.name, found.origin) == ("my-pennies", "registered")
    assert found.solvable().payoffs[0].tolist() == PENNIES


def test_a_registered_game_that_cannot_be_made_or_is_none_is_named(registered):
    with pytest.raises(
        UsageError, match=r"the game 'needy' of the package plugged-games cannot be made: .*form"
    ):
        find_game("needy")
    with pytest.raises(
        UsageError,
        match="the game 'half' of the package plugged-games cannot be used: Half has no `v",
    ):
        find_game("half")


def test_rules_are_compiled_to_a_tree(registered):
    found = find_game("once")
    assert found.description == "One choice."
    assert found.solvable().num_nodes == 3


def test_a_package_adds_a_file_format_by_its_ending(tmp_path, monkeypatch):
    source = """
from bestresponse.theory import NormalForm

def parse(text, name):
    return NormalForm.zero_sum([[float(cell) for cell in line.split()] for line in text.splitlines()])
"""
    entry = ("bestresponse.formats", "grid", "parse")
    monkeypatch.syspath_prepend(lay_package(tmp_path, "plugged_format", source, entry))
    (tmp_path / "mine.grid").write_text("3 0\n0 1\n")
    found = find_game(tmp_path / "mine.grid")
    assert (found.name, found.origin, found.solvable().payoffs.tolist()[0]) == (
        "mine",
        "file",
        [[3, 0], [0, 1]],
    )
    kept = NamedGame.from_json(NamedGame.find(str(tmp_path / "mine.grid")).to_json())
    assert kept.loaded.solvable().payoffs.tolist()[1] == [[-3, 0], [0, -1]]
    with pytest.raises(
        UsageError, match=r"expected a file ending in \.nfg, \.efg, \.json, \.pl or \.grid"
    ):
        find_game(tmp_path / "plugged_format.py")
    (tmp_path / "wrong.grid").write_text("three")
    with pytest.raises(
        UsageError,
        match="the file format 'grid' of the package plugged-format cannot be made: Value",
    ):
        find_game(tmp_path / "wrong.grid")


def test_the_text_of_a_program_is_not_taken_for_the_name_of_a_file():
    with pytest.raises(UsageError, match="got a text of 60 lines; write it into a file"):
        find_game("payoff(a, b, 1, 2).\n" * 60)


@pytest.mark.parametrize("name", games.names())
def test_every_setting_of_a_registered_game_can_be_typed_in_brackets(name):
    for setting, value in list_parameters(games.make(name)).items():
        text = ";".join(value) if isinstance(value, tuple) else str(value)
        if "," in text:  # residents have several numbers each; they are set in files
            continue
        found = find_game(f"{name}({setting}={text.lower() if type(value) is bool else text})")
        # How much water there is on a day is set in place of whether it is plenty.
        assert list_parameters(found.playable()).get(setting, value) == value


def test_players_are_named_one_after_the_other():
    assert find_game("diner(roles=Ann; Bo;Cy)").players == ("Ann", "Bo", "Cy")


def test_a_tree_without_end_is_refused_at_once_and_a_small_one_unfolded():
    with pytest.raises(TooLarge, match="more than 1,000,000 nodes"):
        find_game("pig(goal=10)").solvable()
    with pytest.raises(TooLarge, match=r"has more than [\d,]+ nodes"):
        find_game("connect-four").solvable()
    # One object: one move, one end. Two piles of one: two orders.
    assert find_game("nim(piles=1-1)").solvable().num_nodes == 5
