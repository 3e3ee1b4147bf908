"""Games given by name, by file or as a tree, for functions that take any game."""

from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.theory.catalogue.tables import TableEntry, find_entry, load_entries
from bestresponse.theory.catalogue.trees import TreeEntry
from bestresponse.theory.files.nfg import load_game_file
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import Tree


def read_game(name: str | Path) -> NormalForm | Tree:
    """Load a game of the catalogue by its name, or the one in the file of a path.

    A name opens no file, whatever it looks like: texts may come from strangers.

    >>> read_game("Kuhn poker").num_players
    2
    """
    if isinstance(name, Path):
        return load_game_file(name)
    tables = load_entries("games.toml", TableEntry)
    trees = load_entries("trees.toml", TreeEntry)
    found = find_entry({**tables, **trees}, name)
    return found.make() if isinstance(found, TreeEntry) else found.game()


def find_form(game: str | Path | Tree) -> NormalForm:
    """Give the normal form of a game by name, from a file, or of a tree."""
    found = game if isinstance(game, Tree) else read_game(game)
    return to_normal_form(found) if isinstance(found, Tree) else found


def find_tree(name: str | Path) -> Tree:
    """Load the tree of that name, or the one in the file of a path; refuse a table."""
    found = read_game(name)
    if isinstance(found, Tree):
        return found
    raise UsageError(f"{name} is a table; expected a game in extensive form")
