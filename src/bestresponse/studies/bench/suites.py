"""The games of other benchmarks by one name: each is benched in a run of its own.

What their papers play and what is smaller or left out here is told in docs/measure/suites.md.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.games.lookup import find_game
from bestresponse.games.parameters import list_parameters
from bestresponse.games.twins.twin import TWINS

ORDINAL = "ordinal144"
"""All strictly ordinal 2x2 games, in one run."""
_NIM = "nim(piles=1-3-5-7,last_wins=false)"
_BOARDS = ("connect-four", "breakthrough")
COOPEVAL = "coopeval"
"""Dilemmas with and without mechanisms: these are played by the model in all seats."""
_DILEMMAS = (
    "prisoners-dilemma-coopeval",
    "public-goods-coopeval",
    "travelers-dilemma-5",
    "trust-coopeval",
)
_ENDLESS = "(rounds=200,continuation=0.9)"
_CHANGES = (
    "",
    f" with repeated{_ENDLESS}",
    f" with reputation{_ENDLESS}",
    " with mediator",
    " with contract",
)
SUITES: Mapping[str, tuple[str, ...]] = {
    "cards": (
        "bluff(cards=3,bets=1,raises=0)",
        "bluff(cards=4,bets=1,raises=1)",
        "bluff(cards=3,bets=2,raises=1)",
        "bluff(cards=4,bets=2,raises=0,low_wins=true)",
    ),
    COOPEVAL: tuple(f"{game}{change}" for game in _DILEMMAS for change in _CHANGES),
    "gamabench": ("beauty-contest", "diner", "el-farol", "public-goods-coopeval"),
    "gtbench": (
        "tic-tac-toe",
        _NIM,
        "pig(goal=20)",
        "kuhn-poker",
        "first-price-auction(roles=bidder 1;bidder 2,highest=10,whole=true)",
        "liars-dice(sides=6,wild=true)",
        *_BOARDS,
        "prisoners-dilemma with repeated(rounds=3)",
    ),
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


def split_suite(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Take `--suite NAME` out of the words of a command, where that names several games.

    Return the games and the other words. `invariance` names a game with its twins, if it has any,
    and asks which game it is.

    >>> split_suite(["tic-tac-toe", "--suite", "invariance", "--model", "random"])
    (('tic-tac-toe', 'barrels', 'fifteen', 'three-colours'), ['--model', 'random', '--recognise'])
    >>> split_suite(["--suite=invariance"])
    ((), ['--suite=invariance'])
    """
    spread = [part for word in words for part in _split(word)]
    for place, (word, name) in enumerate(pairwise(spread)):
        rest = [*spread[:place], *spread[place + 2 :]]
        if word == "--suite" and name in SUITES:
            return SUITES[name], rest
        if word == "--suite" and name == "invariance" and rest:
            twins = list_twins(rest[0])
            return (twins, [*rest[1:], "--recognise"]) if twins else ((), list(words))
        near = did_you_mean(name, list(SUITES), 0.7)
        if word == "--suite" and near:
            raise UsageError(f"there is no suite {name!r}.{near}")
    return (), list(words)


def list_twins(name: str) -> tuple[str, ...]:
    """List a game and its twins with the same settings; nothing where it has none."""
    plain = name.partition("(")[0]
    if plain not in TWINS:
        return ()
    known = list_parameters(find_game(name).playable())
    settings = ",".join(f"{key}={value}".lower() for key, value in known.items())
    return name, *(f"{twin}({settings})" if settings else twin for twin in TWINS[plain])


def _split(word: str) -> list[str]:
    option, _, value = word.partition("=")
    return [option, value] if option == "--suite" and value else [word]
