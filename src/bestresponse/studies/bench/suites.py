"""The games of other benchmarks by one name: each is benched in a run of its own.

What their papers play and what is smaller or left out here is told in docs/suites.md.
"""

import itertools
from collections.abc import Mapping, Sequence

ORDINAL = "ordinal144"
"""All strictly ordinal 2x2 games, in one run."""
_NIM = "nim(piles=1-3-5-7,last_wins=false)"
_BOARDS = ("connect-four", "breakthrough")
SUITES: Mapping[str, tuple[str, ...]] = {
    "cards": (
        "bluff(cards=3,bets=1,raises=0)",
        "bluff(cards=4,bets=1,raises=1)",
        "bluff(cards=3,bets=2,raises=1)",
        "bluff(cards=4,bets=2,raises=0,low_wins=true)",
    ),
    "gtbench": ("tic-tac-toe", _NIM, "pig(goal=20)", "kuhn-poker", "liars-dice", *_BOARDS),
    ORDINAL: (ORDINAL,),
    "plybench": (
        "tic-tac-toe",
        "three-colours",
        "fifteen",
        "barrels",
        _NIM,
        "lamps",
        "boxes",
        "queues",
        *_BOARDS,
    ),
}
"""The games of every suite, as they are named on the command line."""


def split_suite(words: Sequence[str]) -> tuple[str, list[str]]:
    """Take `--suite NAME` out of the words of a command, where that names games.

    >>> split_suite(["--suite", "cards", "--model", "random"])
    ('cards', ['--model', 'random'])
    >>> split_suite(["--suite=invariance"])
    ('', ['--suite=invariance'])
    """
    spread = [part for word in words for part in _split(word)]
    for place, (word, name) in enumerate(itertools.pairwise(spread)):
        if word == "--suite" and name in SUITES:
            return name, [*spread[:place], *spread[place + 2 :]]
    return "", list(words)


def _split(word: str) -> list[str]:
    option, _, value = word.partition("=")
    return [option, value] if option == "--suite" and value else [word]
