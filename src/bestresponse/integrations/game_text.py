"""Read a game that a caller sends: its name, or the text of a game file. No file is ever opened."""

from __future__ import annotations

from bestresponse.games.lookup import FORMATS, Found, find_game

_STARTS = {"NFG": ".nfg", "EFG": ".efg", "[": ".json", "{": ".json"}


def read_game(text: str) -> Found:
    """Return the game that `text` names or writes down: a name, a JSON matrix, `.nfg`, `.efg` or a logic program.

    >>> read_game("[[0, 5], [4, 1]]").solvable().shape
    (2, 2)
    >>> read_game("Stag hunt").name
    'stag-hunt'
    """
    program = ".pl" if text.strip().endswith(".") and "(" in text else ""
    ending = next((ending for start, ending in _STARTS.items() if text.strip().startswith(start)), program)
    if not ending:
        return find_game(text, allow_files=False)
    game = FORMATS[ending].parse(text.strip(), f"the {ending} text")
    return Found(game.name or "game", "file", game)
