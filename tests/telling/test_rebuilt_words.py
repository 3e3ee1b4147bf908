"""Every game that comes along is made again from what a player reads of it: in each layout, in English
and German, as the first and as the last player.

Of a tree in sentences, plays, payoffs and probabilities are read back; what players know is read
from the outline, which is how a tree is told in the other layouts.
"""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from random_games import describe_structure, draw_game_tree
from rebuilt_words import Payoffs, list_told_plays, put_into_english, read_outline, read_table

from bestresponse.core.game import View
from bestresponse.games.lookup import find_game, game_names
from bestresponse.games.statements import list_moves_to, read_exactly, tell
from bestresponse.telling.language import load_language
from bestresponse.telling.render import write_rules
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, Tree

LAYOUTS = ("usual", "lines", "json")
TOO_LONG = {"leduc-poker"}
"""Its outline is longer than any text that is told; players are told its rules."""


def list_names(kind: type) -> list[str]:
    names = [name for name in game_names() if isinstance(find_game(name).game, kind)]
    return [name for name in names if name not in TOO_LONG]


def read_in_english(view: View, language: str, names: set[str]) -> str:
    text = write_rules(view, language)
    if language == "en":
        return text
    spoken = load_language(language)
    german = {spoken.translate(name): name for name in names}
    assert len(german) == len(names)
    return put_into_english(text, german)


def list_payoffs(form: NormalForm) -> Payoffs:
    cells = product(*map(range, form.shape))
    paid = {}
    for cell in cells:
        moves = tuple(names[k] for names, k in zip(form.actions, cell, strict=True))
        paid[moves] = tuple(read_exactly(table[cell]) for table in form.given)
    return paid


def check_table(form: NormalForm, views: list[View], language: str) -> None:
    names = {*form.players, *(move for moves in form.actions for move in moves)}
    for view in views:
        text = read_in_english(view, language, names)
        assert read_table(text, view.role, form.players) == list_payoffs(form)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", list_names(NormalForm))
def test_a_table_is_rebuilt_from_its_words(name: str, layout: str, language: str) -> None:
    found = find_game(name)
    game = found.playable()
    readers = dict.fromkeys((found.game.players[0], found.game.players[-1]))
    views = [replace(game.view(game.start(), reader), layout=layout) for reader in readers]
    check_table(found.game, views, language)


def tell_tree(tree: Tree, reader: str, layout: str, language: str) -> str:
    names = {*tree.players, *filter(None, tree.branch_labels)}
    return read_in_english(View(reader, tell(tree), layout=layout), language, names)


def check_outline(tree: Tree, language: str) -> None:
    for reader in (tree.players[0], tree.players[-1]):
        outline = tell_tree(tree, reader, "usual", language).split("\n\n")[2]
        rebuilt = read_outline(outline, tree.players)
        assert describe_structure(rebuilt) == describe_structure(tree)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", list_names(Tree))
def test_a_tree_is_rebuilt_from_its_outline(name: str, language: str) -> None:
    check_outline(find_game(name).game, language)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_tree_is_rebuilt_from_its_german_outline(seed: int) -> None:
    check_outline(draw_game_tree(Random(seed), num_players=2 + seed % 3), "de")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", list_names(Tree))
def test_the_plays_of_a_tree_are_read_from_its_sentences(name: str, language: str) -> None:
    tree = find_game(name).game
    who = {CHANCE: "chance", **dict(enumerate(tree.players))}
    true = []
    for leaf in tree.leaves.tolist():
        made = [(who[mover], move) for mover, move in list_moves_to(tree, leaf)]
        paid = map(read_exactly, tree.read_payoffs(leaf))
        true.append((made, dict(zip(tree.players, paid, strict=True))))
    drawn = set()
    for node in np.flatnonzero(tree.owner[tree.parent] == CHANCE).tolist():
        if node:
            drawn.add((tree.branch_labels[node], Fraction(tree.read_probability(node))))
    for reader in (tree.players[0], tree.players[-1]):
        text = tell_tree(tree, reader, "lines", language)
        assert list(list_told_plays(text, reader)) == true
        told = re.findall(r'([^,()]+?|"[^"]*") \(probability (\S+)\)', text)
        assert {(name.split(" ")[-1], Fraction(odds)) for name, odds in told} == drawn


def test_a_change_of_one_payoff_changes_what_is_read() -> None:
    game = find_game("stag-hunt").playable()
    text = write_rules(game.view(game.start(), "row")).replace("4, 4", "4, 5")
    told = read_table(text, "row", ("row", "col"))
    assert told["stag", "stag"] == (4, 5)
