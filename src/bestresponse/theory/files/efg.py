"""Trees in Gambit's `.efg` format, read and written.

The file names the players, then lists the nodes in preorder: `c` where chance moves, `p` where a
player moves, `t` where the game is over. An outcome (payoffs) may be attached to any node; payoffs
on the way add up. Moves and probabilities are given where an information set first appears, payoffs
where an outcome first appears.

R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: software tools for game theory", the .efg
file format.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.files.game_text import GameText, number_repeats, quote_text, write_number
from bestresponse.theory.trees.tree import (
    CHANCE,
    LEAF,
    NODE_LIMIT,
    Chance,
    Leaf,
    Tree,
    Turn,
    build_tree,
)

Payoffs = tuple[Fraction, ...]
_SUM_TOLERANCE = 1e-9  # decimals of a third do not sum to 1
_MAX_PLAYERS = 1_000


def parse_efg(text: str, source: str = ".efg text", *, limit: int = NODE_LIMIT) -> Tree:
    """Read the tree that `text` describes.

    InvalidGame names line, column and what was expected there.

    >>> coin = 'EFG 2 R "coin" { "P" } c "" 1 "" { "h" 1/2 "t" 1/2 } 0'
    >>> tree = parse_efg(coin + ' t "" 1 "" { 1 } t "" 2 "" { 0 }')
    >>> tree.payoffs.ravel().tolist()
    [0.0, 1.0, 0.0]
    """
    reader = _Reader(GameText(text, source))
    nothing = (Fraction(0),) * len(reader.players)
    tree = build_tree(
        reader.players,
        nothing,
        reader.node,
        limit=limit,
        name=reader.title,
    )
    reader.words.end("the end of the file, because every branch has ended")
    return tree


class _Reader:
    """Reads the header at once and then a node at a time, in the order in which the tree grows."""

    def __init__(self, words: GameText) -> None:
        self.words = words
        self.title, self.players = words.header("EFG", 2)
        if len(self.players) > _MAX_PLAYERS:
            raise TooLarge(
                f"{words.source}: {len(self.players)} players; the limit is {_MAX_PLAYERS}"
            )
        if words.kind == "text":
            words.quote("the comment")
        self.moves: dict[tuple[int, int], list[str]] = {}
        self.names: dict[tuple[int, int], str] = {}
        self.chances: dict[int, dict[str, Fraction]] = {}
        self.outcomes: dict[int, Payoffs] = {}

    def node(self, so_far: Payoffs) -> Leaf | Chance | Turn:
        """Read the next node; `so_far` are the payoffs of the outcomes above it."""
        kind = self.words.word("a node: 'c', 'p' or 't'", "c", "p", "t")
        self.words.quote("the node's name")
        match kind:
            case "c":
                chances = self._chances()
                now = self._outcome(so_far)
                return Chance({label: (p, now) for label, p in chances.items()})
            case "p":
                player = self.words.whole("the player's number", 1, len(self.players)) - 1
                number = self.words.whole("the information set's number", 1)
                moves = self._moves(player, number)
                now = self._outcome(so_far)
                label = self.names[player, number]
                return Turn(
                    self.players[player],
                    str(number),
                    dict.fromkeys(moves, now),
                    label,
                )
            case _:
                return Leaf(self._outcome(so_far))

    def _moves(self, player: int, number: int) -> list[str]:
        words = self.words
        key = (player, number)
        start = words.start
        name = words.quote("the information set's name") if words.kind == "text" else ""
        if words.at("{"):
            moves = number_repeats(words.quotes("move"))
            if not moves:
                raise words.wrong("at least one move", start)
            if self.moves.setdefault(key, moves) != moves:
                expected = ", ".join(self.moves[key])
                raise words.wrong(
                    f"the moves of information set {number} as before: {expected}", start
                )
            self.names.setdefault(key, name)
        if key not in self.moves:
            raise words.wrong(f"'{{' and the moves of information set {number}, which is new")
        return self.moves[key]

    def _chances(self) -> dict[str, Fraction]:
        words = self.words
        number = words.whole("the chance set's number", 1)
        start = words.start
        if words.kind == "text":
            words.quote("the chance set's name")
        if words.at("{"):
            chances = self._probabilities(start)
            if self.chances.setdefault(number, chances) != chances:
                raise words.wrong(f"the branches of chance set {number} as before", start)
        if number not in self.chances:
            raise words.wrong(f"'{{' and the branches of chance set {number}, which is new")
        return self.chances[number]

    def _probabilities(self, start: int) -> dict[str, Fraction]:
        words = self.words
        words.brace("{", "before the branches")
        labels = []
        numbers = []
        while not words.at("}"):
            labels.append(words.quote("a branch or '}'"))
            offset = words.start
            numbers.append(words.rational("its probability"))
            if not 0 <= numbers[-1] <= 1:
                raise words.error(
                    f"expected a probability between 0 and 1, got {float(numbers[-1]):g}", offset
                )
        words.brace("}", "after the branches")
        total = sum(numbers, Fraction(0))
        if abs(total - 1) > _SUM_TOLERANCE:
            raise words.error(
                f"expected probabilities that sum to 1, got {float(total):.12g}", start
            )
        return dict(zip(number_repeats(labels), numbers, strict=True))

    def _outcome(self, so_far: Payoffs) -> Payoffs:
        """The payoffs so far with those of the outcome that stands here."""
        words = self.words
        start = words.start
        number = words.whole("the outcome's number", 0)
        if words.kind == "text":
            words.quote("the outcome's name")
        if words.at("{"):
            opened = words.start
            words.brace("{", "before the payoffs")
            payoffs = words.payoffs(len(self.players), opened)
            if self.outcomes.setdefault(number, payoffs) != payoffs:
                raise words.error(f"expected the payoffs of outcome {number} as before", start)
        if number == 0:
            if any(self.outcomes.get(0, ())):
                raise words.error(
                    "expected no payoffs for outcome 0, which means that there is none", start
                )
            return so_far
        if number not in self.outcomes:
            raise words.wrong(f"'{{' and the payoffs of outcome {number}, which is new")
        total = tuple(a + b for a, b in zip(so_far, self.outcomes[number], strict=True))
        if max(map(abs, total)) > sys.float_info.max:
            raise words.error("expected payoffs with a finite sum along the path", start)
        return total


def format_efg(tree: Tree) -> str:
    """`tree` as the text of an `.efg` file, payoffs at the leaves.

    Reading it gives the same tree.
    """
    if not isinstance(tree, Tree):
        raise InvalidGame(f"expected a Tree to write as .efg, got {type(tree).__name__}")
    players = " ".join(map(quote_text, tree.players))
    return "\n".join(
        [
            f"EFG 2 R {quote_text(tree.name)} {{ {players} }}",
            '""',
            "",
            *_lines(tree),
            "",
        ]
    )


def _lines(tree: Tree) -> Iterator[str]:
    before: Counter[int] = Counter()
    numbers = []  # of the information sets, from 1 for each player
    for infoset in tree.infosets:
        before[infoset.player] += 1
        numbers.append(before[infoset.player])
    chances = outcomes = 0
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        if owner == LEAF:
            outcomes += 1
            yield (
                f't "" {outcomes} "" {{ {", ".join(map(write_number, tree.list_payoffs(node)))} }}'
            )
        elif owner == CHANCE:
            chances += 1
            drawn = [(tree.branch_labels[c], tree.find_probability(c)) for c in tree.children[node]]
            branches = (f"{quote_text(label)} {write_number(p)}" for label, p in drawn)
            yield f'c "" {chances} "" {{ {" ".join(branches)} }} 0'
        else:
            infoset = tree.find_infoset(node)
            moves = " ".join(map(quote_text, infoset.moves))
            ids = f"{owner + 1} {numbers[int(tree.infoset[node])]}"
            yield f'p "" {ids} {quote_text(infoset.label)} {{ {moves} }} 0'
