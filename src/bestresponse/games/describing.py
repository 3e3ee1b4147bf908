"""Games in words, so that whoever told one can check it, and what an edit changed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bestresponse.core.errors import InvalidGame
from bestresponse.core.told import Players, Statement
from bestresponse.games.logic.game import LogicGame, as_game
from bestresponse.games.lookup import LoadedGame
from bestresponse.games.statements import tell
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.telling.course import Narrator
from bestresponse.telling.language import load_language
from bestresponse.telling.render import list_choices, list_earned, list_sentences
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

MOST_TOLD = 20
_MOST_CHANGES = 30


def describe_loaded_game(loaded: LoadedGame) -> tuple[str, ...]:
    """Tell a game that was looked up."""
    game = loaded.game
    if isinstance(game, NormalForm | Tree | LogicGame):
        return describe_game(game)
    view = game.view(game.start(), game.roles[0])
    if view.position:
        return list_sentences(view.rules)
    return describe_game(loaded.solvable())


def describe_game(
    game: NormalForm | Tree | LogicGame | GameTable, most: int | None = MOST_TOLD
) -> tuple[str, ...]:
    """Tell a game in sentences, at most `most` on choices and draws and as many ends.

    >>> dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> print(*describe_game(dilemma)[4:6], sep="\\n")
    What each of them earns:
    - If row chooses a0 and col chooses a0, row gets 3, col gets 3.
    """
    try:
        statements = state_game(game)
    except InvalidGame as error:
        names = game.roles if isinstance(game, LogicGame) else game.players
        players = list_sentences([Players(tuple(names))])
        return (*players, f"It cannot be told how it is played: {error}.")
    return list_sentences(statements, most=most)


def describe_table(table: GameTable) -> str:
    """Tell the whole game of a program, one end per line."""
    return "\n".join(describe_game(table, most=None))


def state_game(game: NormalForm | Tree | LogicGame | GameTable) -> tuple[Statement, ...]:
    """State a game, that of a program by its tree; InvalidGame where it makes none."""
    played = as_game(game) if isinstance(game, GameTable) else game
    return tell(played.tree if isinstance(played, LogicGame) else played)


def describe_changes(before: GameTable, after: GameTable) -> tuple[str, ...]:
    """Return one sentence for each difference in the rules.

    Returns an empty result where both are the same game under the same names.
    """
    lines: list[str] = []
    if before.players != after.players:
        lines.append(
            f"The players were {', '.join(before.players)} and are now {', '.join(after.players)}."
        )
    stated = state_game(before), state_game(after)
    old, new = map(list_choices, stated)
    lines += [f"No more: {line}" for line in old if line not in new]
    lines += [f"New: {line}" for line in new if line not in old]
    earned_before, earned_after = map(list_earned, stated)
    lines += [f"No more: {end}." for end in earned_before if end not in earned_after]
    for end, payoffs in earned_after.items():
        earned = dict(zip(after.players, payoffs, strict=True))
        if end not in earned_before:
            lines.append(f"New: {end}: {_describe_payoffs(earned, earned)}.")
        else:
            was = dict(zip(before.players, earned_before[end], strict=True))
            if was != earned:
                lines.append(f"{end}: {_describe_payoffs(was, earned)}.")
    more = len(lines) - _MOST_CHANGES
    return (*lines[:_MOST_CHANGES], *([f"and {more} more changes"] if more > 0 else []))


def _describe_payoffs(was: Mapping[str, Fraction], earned: Mapping[str, Fraction]) -> str:
    """Say what everybody gets, and what it was where it was something else."""
    words = Narrator(load_language("en"))
    phrases = []
    for player, payoff in earned.items():
        earlier = was.get(player, payoff)
        before = f" (before: {words.language.write_number(earlier)})" if earlier != payoff else ""
        phrases.append(f"{words.list_payoffs((player,), (payoff,))}{before}")
    return ", ".join(phrases)
