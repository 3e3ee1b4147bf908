"""Sentences are made from statements: nothing is left out, and a language is complete or not
offered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from babel.messages.catalog import Message
from made_up_language import write_catalogue
from random_games import change_tree, draw_game_tree, draw_table

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import View
from bestresponse.core.told import (
    AtOnce,
    Cell,
    Cells,
    Chose,
    Course,
    Dealt,
    Decides,
    Draw,
    Drew,
    LaidOpen,
    Made,
    Meant,
    Odds,
    OneOf,
    Options,
    Over,
    PlayEnd,
    Players,
    Round,
    Saw,
    Statement,
    Unaware,
    YourTurn,
    list_public,
    prose,
)
from bestresponse.games.lookup import find_game
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.games.statements import tell
from bestresponse.telling import catalogues
from bestresponse.telling.catalogues import CATALOGUES
from bestresponse.telling.course import list_outline
from bestresponse.telling.knowledge import read_course
from bestresponse.telling.language import list_catalogues, list_languages, load_language
from bestresponse.telling.render import list_sentences, write_history, write_rules
from bestresponse.theory import NormalForm, catalogue
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.catalogue.trees import tree_names

ENGLISH = load_language("en")


def list_parts(statements: tuple[Statement, ...]) -> tuple[set[str], set[Fraction], set[Fraction]]:
    """List the names, the payoffs and the odds of statements."""
    names: set[str] = set()
    payoffs: set[Fraction] = set()
    odds: set[Fraction] = set()

    def visit(value: object) -> None:
        match value:
            case Players(players):
                names.update(players)
            case Options(who, options) | Decides(who, options, _):
                names.update((who, *options))
            case Cell(_, paid) | PlayEnd(paid):
                payoffs.update(paid)
            case Draw(outcomes):
                names.update(outcome.name for outcome in outcomes)
                odds.update(outcome.chance for outcome in outcomes)
            case Cells(inner) | Course(inner):
                for one in inner:
                    visit(one)
        for one in getattr(value, "choices", ()):
            visit(one)

    for statement in statements:
        visit(statement)
    return names, payoffs, odds


def check_everything_is_said(statements: tuple[Statement, ...], text: str) -> None:
    names, payoffs, odds = list_parts(statements)
    assert [name for name in names if ENGLISH.write_name(name) not in text] == []
    unquoted = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    written = {
        Fraction(number)
        for number in re.findall(r"gets? (-?[0-9][^ ,\n]*?)(?=[,.]?(?:\s|$))", unquoted)
    }
    assert payoffs <= written
    assert [chance for chance in odds if f"(probability {chance})" not in text] == []


@pytest.mark.parametrize("seed", range(60))
def test_every_name_and_number_of_a_tree_stands_in_both_tellings_for_everybody(seed: int) -> None:
    told = tell(draw_game_tree(Random(seed), num_players=2 + seed % 3))
    players, course = told
    assert isinstance(players, Players)
    assert isinstance(course, Course)
    check_everything_is_said(
        told, "\n".join(list_outline(read_course(course), players.names, ENGLISH))
    )
    check_everything_is_said(told, "\n".join(list_sentences(told)))
    check_everything_is_said(told, "\n".join(list_sentences(told, players.names[0])))


@pytest.mark.parametrize("seed", range(60))
def test_every_name_and_number_of_a_table_is_told(seed: int) -> None:
    form = draw_table(Random(seed), num_players=2 + seed % 3)
    told = tell(form)
    check_everything_is_said(told, "\n".join(list_sentences(told)))
    check_everything_is_said(told, "\n".join(list_sentences(told, form.players[-1])))


@pytest.mark.parametrize("seed", range(100))
def test_a_changed_tree_is_told_in_other_sentences(seed: int) -> None:
    rng = Random(seed)
    tree = draw_game_tree(rng, num_players=2)
    told = list_sentences(tell(tree))
    assert [
        what for what, other in change_tree(rng, tree) if list_sentences(tell(other)) == told
    ] == []


def test_a_player_reads_in_the_second_person() -> None:
    ends = PlayEnd((Fraction(1), Fraction(2))), PlayEnd((Fraction(0), Fraction(-1, 3)))
    course = Course(
        (Decides("Ann", ("x",)), Draw((Odds("h", Fraction(1)),)), Decides("Bob", ("l", "r")), *ends)
    )
    assert list_sentences((Players(("Ann", "Bob")), course), "Bob") == (
        "You are Bob.",
        "There are 2 players: Ann and Bob.",
        "First, Ann chooses x.",
        "After Ann chose x, chance draws h (probability 1).",
        "After Ann chose x and chance drew h, you choose l or r.",
        "How it can end, and what each of them earns:",
        "- If Ann chooses x and then chance draws h and then you choose l, Ann gets 1, you get 2.",
        (
            "- If Ann chooses x and then chance draws h and then you choose r, Ann gets 0, you get"
            " -1/3."
        ),
    )


@pytest.mark.parametrize(
    ("history", "words"),
    [
        ((), ""),
        ((YourTurn(),), "It is your turn. Nothing has happened yet."),
        ((YourTurn(), Chose("Bob", ("l",))), "It is your turn. So far: Bob chose l."),
        (
            (YourTurn(), Chose("Ann", ("l", "r"))),
            "It is your turn. So far: you chose l or r, and you do not remember which.",
        ),
        ((Drew(tuple("abcde")),), "So far: chance drew one of 5 options."),
        ((Unaware(),), "You know of no move yet."),
        ((Saw("gold"), Over()), "The game is over: you saw gold."),
        (
            (Dealt("Ann", "K"), LaidOpen("J")),
            "So far: you were dealt the king, the jack was laid open.",
        ),
        (
            (OneOf(((), (Chose("Bob", ("l",)), Drew(("h",))))),),
            (
                "One of these has happened, and you do not know which: (nothing yet); (Bob chose l,"
                " chance drew h)."
            ),
        ),
        (prose("Day 3."), "Day 3."),
    ],
)
def test_events_are_told_in_order(history: tuple[object, ...], words: str) -> None:
    assert write_history(View("Ann", (), history)) == words


def test_a_text_stands_for_itself() -> None:
    assert write_rules(View("Ann", prose("Bid what you like."))) == "Bid what you like."
    assert View("Ann", prose("Bid.")).key == '["Ann","Bid.","",{},[]]'


def test_a_view_with_a_bare_text_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        InvalidGame, match="the view of Ann has a text where statements are expected; give View"
    ):
        View("Ann", "Bid what you like.")


def test_a_third_language_is_a_file_of_its_own(tmp_path: Path) -> None:
    loud = load_language("fi", write_catalogue(tmp_path, "fi"))
    assert loud.say("gets", who="Ann", amount="3") == "«Ann GETS 3»"
    assert loud.translate("jack") == "«JACK»"
    assert loud.messages.keys() == ENGLISH.messages.keys()
    assert loud.plurals.keys() == ENGLISH.plurals.keys()


def lose_places(message: Message, text: str) -> str:
    return re.sub(r"\{\w+\}", "", text) if message.context == "gets" else text


def ask_for_layout(message: Message, text: str) -> str:
    return text.replace("{who}", "{who:>9999999}") if message.context == "gets" else text


def forget(message: Message, text: str) -> str:
    return "" if message.id == "jack" else text


@pytest.mark.parametrize(
    ("change", "drop", "why"),
    [
        (None, ["gets"], "it lacks the message 'gets'"),
        (None, ["page.waiting"], "it lacks the message 'page.waiting'"),
        (None, ["jack"], "it lacks the word for 'jack'"),
        (lose_places, [], "its message 'gets' must have amount, who"),
        (ask_for_layout, [], "its message 'gets' cannot be filled: {who} has a layout"),
        (forget, [], "its word for 'jack' is empty"),
    ],
)
def test_a_language_that_lacks_something_is_refused(
    change: Callable[[Message, str], str] | None, drop: list[str], why: str, tmp_path: Path
) -> None:
    kept = change or (lambda message, text: text)
    folder = write_catalogue(tmp_path, "fi", kept, drop)
    with pytest.raises(UsageError, match=re.escape(f"the language 'fi' cannot be used: {why}")):
        load_language("fi", folder)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('msgctxt "gets"', '#, fuzzy\nmsgctxt "gets"', "its message 'gets' is empty"),
        (
            'msgid "{who} gets {amount}"',
            'msgid "{who} earns {amount}"',
            "'gets' translates '{who} earns {amount}'",
        ),
        (
            'msgctxt "gets"',
            'msgctxt "receives"\nmsgid "x"\nmsgstr "y"\n\nmsgctxt "gets"',
            "there is no message 'receives'",
        ),
        (
            'msgctxt "gets"',
            'msgctxt "word"\nmsgid "cooperat"\nmsgstr "y"\n\nmsgctxt "gets"',
            "there is no word for 'cooperat'",
        ),
        (
            "nplurals=2; plural=(n != 1)",
            "nplurals=3; plural=n%3",
            "its message 'people' is empty",
        ),
        ('msgctxt "gets"', 'hello\nmsgctxt "gets"', "sv.po is not a gettext catalogue"),
    ],
)
def test_a_stale_unknown_or_broken_message_is_refused(
    old: str, new: str, why: str, tmp_path: Path
) -> None:
    path = write_catalogue(tmp_path, "sv") / "sv.po"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UsageError, match=re.escape(why)):
        load_language("sv", tmp_path)


def test_a_language_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="there is no language 'xx'; there are en"):
        load_language("xx")
    with pytest.raises(UsageError, match=r"there is no language '\.\./en'"):
        load_language("../en")


def test_every_language_that_is_offered_is_complete() -> None:
    assert list_catalogues() == ["en", "de"]
    assert list_languages() == ("en", "de")
    for name in list_catalogues():
        # A message that a language lacks is named by the error.
        assert load_language(name).messages.keys() == ENGLISH.messages.keys()


def test_the_sentences_are_part_of_what_a_run_is_made_of() -> None:
    (name,) = CATALOGUES.hashes()
    assert name == "en.po"


@pytest.mark.parametrize(
    ("key", "changes"), [("gets", True), ("page.waiting", False), ("chooses.you", True)]
)
def test_a_changed_sentence_changes_the_prompts_and_a_changed_page_does_not(
    key: str, changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = CATALOGUES.hashes()
    changed = {**ENGLISH.messages, key: "{who} takes {amount}"}
    monkeypatch.setattr(
        catalogues, "load_language", lambda name: replace(ENGLISH, messages=changed)
    )
    assert (CATALOGUES.hashes() != before) == changes


def read_table(text: str) -> list[list[str]]:
    """Read a table back: a list of rows of cells, names as they are written."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def read_written_name(text: str) -> str:
    return json.loads(text) if text.startswith('"') else text


@pytest.mark.parametrize("seed", range(40))
def test_a_table_and_json_are_read_back_as_the_payoffs_that_were_stated(seed: int) -> None:
    form = draw_table(Random(seed), num_players=2)
    game = MatrixGame(form)
    for seat, role in enumerate(form.players):
        head, *lines = read_table(write_rules(game.view((), role)))
        assert tuple(map(read_written_name, head[1:])) == form.actions[1]
        assert tuple(read_written_name(line[0]) for line in lines) == form.actions[0]
        told = [[cell.split(", ") for cell in line[1:]] for line in lines]
        for row, column in np.ndindex(*form.shape):
            paid = [Fraction(number) for number in told[row][column]]
            stated = [Fraction(form.given[player][row, column]) for player in (seat, 1 - seat)]
            assert paid == (stated[:1] if stated[0] == -stated[1] and len(paid) == 1 else stated)
        text = write_rules(replace(game, shown_as="json").view((), role))
        outcomes = json.loads(text[text.index("\n[") : text.rindex("]") + 1])
        for outcome, (row, column) in zip(outcomes, np.ndindex(*form.shape), strict=True):
            mine = (form.actions[0][row], form.actions[1][column])[seat]
            assert outcome["you"] == mine
            assert Fraction(str(outcome["your_payoff"])) == Fraction(form.given[seat][row, column])


@pytest.mark.parametrize("seed", range(40))
def test_a_table_in_sentences_names_every_combination_and_number(seed: int) -> None:
    form = draw_table(Random(seed), num_players=2 + seed % 3)
    text = write_rules(MatrixGame(form, shown_as="prose").view((), form.players[0]))
    check_everything_is_said(tell(form), text)
    assert text.count("\nIf you choose ") == form.payoffs[0].size


def test_a_repeated_game_states_noise_ends_and_discount() -> None:
    game = RepeatedGame(
        load("prisoners-dilemma"), rounds=9, continuation=0.8, discount=0.95, noise=1 / 3
    )
    assert write_rules(game.view(game.start(), "row")).endswith(
        "The game is played several times with the same players: after each round there is another"
        " one with a probability of 80 %, up to 9 rounds. After each round everybody sees which"
        " moves were made. What counts is the sum of your payoffs. A payoff counts only 95 % of"
        " what the same payoff would have counted one round before. Moves can go wrong: with a"
        " probability of 100/3 % a move is made that the player did not mean, one of the other"
        " possible actions, each of them equally likely. This holds for every move of every player."
        " You are told what you meant and what was made; of the others you see only what was made."
    )


def test_only_public_events_are_left_for_others() -> None:
    secret = (
        YourTurn(),
        Saw("gold"),
        Drew(("h",)),
        Chose("Ann", ("x",), secret=True),
        Meant("Ann", "a", "b"),
    )
    assert list_public((Round(1), *secret, Chose("Bob", ("y",)))) == (
        Round(1),
        Made("Ann", "b"),
        Chose("Bob", ("y",)),
    )


@pytest.mark.parametrize("moves", [("stay", "wegbleiben"), ("in", "eintreten"), ("pass", "passen")])
def test_two_moves_never_become_one_word(moves):
    # German has the second name as its word for the first.
    choice = AtOnce((Options("Ann", moves), Options("Bob", ("x", "y"))))
    said = "\n".join(list_sentences((Players(("Ann", "Bob")), choice), "Ann"))
    assert moves[0] in said
    assert moves[1] in said
    german = load_language("de").within("bestresponse.theory.catalogue")
    with pytest.raises(UsageError, match=f"'{moves[0]}' and '{moves[1]}' are both called"):
        list_sentences((Players(("Ann", "Bob")), choice), "Ann", language=german)


def test_moves_that_differ_in_case_alone_are_two_names():
    choice = AtOnce((Options("Ann", ("go", "Go")),))
    assert "You choose go or Go." in list_sentences((Players(("Ann",)), choice), "Ann")


@pytest.mark.parametrize("name", [*catalogue.names(), *tree_names()])
def test_every_move_of_a_packaged_game_keeps_a_german_name_of_its_own(name):
    game = find_game(name).solvable()
    sets = game.actions if isinstance(game, NormalForm) else [s.moves for s in game.infosets]
    german = load_language("de")
    for moves in sets:
        assert german.find_repeated(moves) is None
