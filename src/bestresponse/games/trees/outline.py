"""A game tree told in full: a nested outline of choices, draws with their odds, and payoffs.

    Chance draws:
    - strong (probability 9/10): Ann chooses:
      - raise: Bob chooses [a]:
        - call: Ann gets 3, Bob gets 0
        - drop: Ann gets 0, Bob gets 1
      - fold: Ann gets 1, Bob gets 1
    - weak (probability 1/10): Ann chooses:
      ...

Positions of one information set carry the same letter, and below the outline stands in words what the player knows
there. Everything about the game can be read back from the text: who moves where, which positions look alike, all
probabilities and payoffs exactly. A name that could be misread stands in double quotes, as JSON writes it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.theory.files.game_text import write_number
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

MOST_CHARACTERS = 50_000
"""The longest outline that is told. At about 3 characters per token (short names and numbers) it fills half of the
32,768 tokens that small open models can take, and leaves the other half for reasons and an answer."""

Step = tuple[int, str]
"""Who moved (CHANCE or the number of a player), and how."""

_PLAIN = re.compile(r"[+-]?[^\W_][\w+./%-]*(?: [\w+./%-]+)*")
_OWN_WORDS = frozenset({"chance", "chooses", "chose", "draws", "drew", "gets", "probability"})
_MOST_OPTIONS = 4
"""Of a longer list of what may have happened at one step only its length is told."""
_MOST_PLACES = 10_000
"""Payoffs of at most four decimals are written as decimals, others as fractions."""
_ALL_KNOWN = "Whoever chooses knows everything that has happened before."
_LETTERS = (
    "A letter in brackets marks positions that look alike: a player who chooses at one of them does not know which of "
    "the positions with this letter has been reached. At a position without a letter the player knows everything that "
    "has happened before."
)


def write_outline(tree: Tree, *, most: int | None = None) -> str:
    """Tell the whole tree; TooLarge where that takes more than `most` characters.

    >>> from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree
    >>> coin = Chance({"heads": (Fraction(1, 3), Leaf([1])), "tails": (Fraction(2, 3), Leaf([-0.5]))})
    >>> print(write_outline(build_tree(["Ann"], Turn("Ann", "start", {"toss": coin, "go home": Leaf([0])}))))
    Ann chooses:
    - toss: chance draws:
      - heads (probability 1/3): Ann gets 1
      - tails (probability 2/3): Ann gets -0.5
    - go home: Ann gets 0
    <BLANKLINE>
    Whoever chooses knows everything that has happened before.
    """
    lines = []
    length = -1  # no line break stands before the first line
    for line in _list_lines(tree):
        length += len(line) + 1
        # A tree may have a million nodes: no more of it is written than is needed to refuse it.
        if most is not None and length > most:
            raise TooLarge(
                f"{tree.name or 'the tree'} has {len(tree.leaves):,} ends; telling it takes more than {most:,} "
                "characters, the most that a player can be asked to read. Use a smaller version of the game"
            )
        lines.append(line)
    return "\n".join(lines)


def find_letters(tree: Tree) -> dict[int, str]:
    """Return the letter of every information set with several positions, by its number."""
    sizes = np.bincount(tree.infoset[tree.infoset >= 0], minlength=len(tree.infosets))
    shared = np.flatnonzero(sizes > 1).tolist()
    return {index: _make_letter(place) for place, index in enumerate(shared)}


def write_name(name: str) -> str:
    """Write the name of a player or a move, in quotes where it could be misread.

    >>> write_name("offer 7"), write_name("show 1, guess 2"), write_name('say "yes"')
    ('offer 7', '"show 1, guess 2"', '"say \\\\"yes\\\\""')
    """
    if _PLAIN.fullmatch(name) and _OWN_WORDS.isdisjoint(name.casefold().split(" ")):
        return name
    quoted = json.dumps(name, ensure_ascii=False)
    # JSON leaves separators of lines and marks of direction as they are.
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in quoted)


def write_payoff(payoff: float | Fraction) -> str:
    """Write a payoff exactly: as a decimal where that is short, else as a fraction or with all digits.

    >>> write_payoff(Fraction(51, 4)), write_payoff(Fraction(1, 3)), write_payoff(-2.0)
    ('12.75', '1/3', '-2')
    """
    text = write_number(payoff)
    if "/" not in text:
        return text
    exact = Fraction(text)
    is_short = _MOST_PLACES % exact.denominator == 0 and abs(exact) < 10**15
    return format(Decimal(exact.numerator) / Decimal(exact.denominator), "f") if is_short else text


def write_payoffs(tree: Tree, leaf: int) -> str:
    """Write what everybody gets at an end."""
    paid = zip(tree.players, tree.list_payoffs(leaf), strict=True)
    return ", ".join(f"{write_name(player)} gets {write_payoff(payoff)}" for player, payoff in paid)


def name_branch(tree: Tree, node: int) -> str:
    """Name the branch that leads to a node, with a number where a sibling has the same label."""
    label = tree.branch_labels[node]
    siblings = tree.children[int(tree.parent[node])]
    same = [other for other in siblings if tree.branch_labels[other] == label]
    return label if len(same) == 1 else f"{label} #{same.index(node) + 1}"


def list_moves_to(tree: Tree, node: int) -> list[Step]:
    """List who moved how on the way to a node."""
    steps: list[Step] = []
    while node > 0:
        parent = int(tree.parent[node])
        steps.append((int(tree.owner[parent]), tree.branch_labels[node]))
        node = parent
    return steps[::-1]


def list_known_steps(tree: Tree, index: int) -> list[tuple[int, list[str]]] | None:
    """List what the player knows of each step before an information set: who moved, and all that may have been done.

    None where not even that is known: the ways to its positions differ in length or in who moved.
    """
    # All positions are looked at: a move that only the first of them share is one that the player has not seen.
    ways = [list_moves_to(tree, node) for node in np.flatnonzero(tree.infoset == index).tolist()]
    movers = {tuple(owner for owner, _ in way) for way in ways}
    if len(movers) > 1:
        return None
    steps = []
    for step in zip(*ways, strict=True):
        labels = list(dict.fromkeys(label for _, label in step))
        steps.append((step[0][0], labels))
    return steps


def _list_lines(tree: Tree) -> Iterator[str]:
    """Yield the lines of the outline, then those on knowledge."""
    letters = find_letters(tree)
    waiting = [(0, "", "")]
    while waiting:
        node, margin, bullet = waiting.pop()
        yield f"{margin}{bullet}{_describe_position(tree, node, letters, is_root=node == 0)}"
        below = margin + "  " if bullet else margin
        waiting += [(child, below, "- ") for child in reversed(tree.children[node])]
    if not (tree.owner >= 0).any():
        return
    yield ""
    if not letters:
        yield _ALL_KNOWN
        return
    yield _LETTERS
    for index, letter in letters.items():
        yield f"- [{letter}] {_describe_knowledge(tree, index)}"


def _describe_position(tree: Tree, node: int, letters: dict[int, str], *, is_root: bool) -> str:
    """Say how a position is reached from the one above, and what happens there."""
    here = _describe_turn(tree, node, letters)
    if is_root:
        return here[0].upper() + here[1:] if tree.owner[node] == CHANCE else here
    branch = write_name(name_branch(tree, node))
    if tree.owner[tree.parent[node]] == CHANCE:
        branch += f" (probability {write_number(tree.find_probability(node))})"
    return f"{branch}: {here}"


def _describe_turn(tree: Tree, node: int, letters: dict[int, str]) -> str:
    owner = int(tree.owner[node])
    if owner == LEAF:
        return write_payoffs(tree, node)
    if owner == CHANCE:
        return "chance draws:"
    letter = letters.get(int(tree.infoset[node]))
    mark = f" [{letter}]" if letter else ""
    return f"{write_name(tree.players[owner])} chooses{mark}:"


def _describe_knowledge(tree: Tree, index: int) -> str:
    """Say what the player of an information set knows there."""
    player = write_name(tree.players[tree.infosets[index].player])
    steps = list_known_steps(tree, index)
    if steps is None:
        return f"{player} knows only that one of the positions with this letter has been reached."
    if not any(len(labels) > 1 for _, labels in steps):  # branches of equal names lead to them
        return f"{player} cannot tell these positions apart."
    told = []
    for owner, labels in steps:
        done = "chance drew" if owner == CHANCE else f"{write_name(tree.players[owner])} chose"
        told.append(f"{done} {list_options(labels)}")
    return f"{player} knows only this: {'; '.join(told)}."


def list_options(labels: Sequence[str]) -> str:
    """Say that one of these was chosen or drawn.

    >>> list_options(["left", "right"]), list_options("abcde")
    ('left or right', 'one of 5 options')
    """
    if len(labels) > _MOST_OPTIONS:
        return f"one of {len(labels)} options"
    return " or ".join(map(write_name, labels))


def _make_letter(place: int) -> str:
    """Return the letter with that number: a to z, then aa, ab and so on."""
    letter = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letter = chr(ord("a") + rest) + letter
    return letter
