"""The classics in extensive form by name, each with a description and its source.

`tree_names()` lists them, `load_tree("kuhn-poker")` returns the tree, `tree_entry("kuhn-poker")`
also what it is about and where it comes from. They are listed in `data/trees.toml`; games in normal
form are in `tables`. A game that follows a rule has a function here that builds its `Tree`.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

from bestresponse.core.errors import UsageError
from bestresponse.theory.catalogue.tables import CatalogueEntry, find_entry, load_entries, read_data
from bestresponse.theory.files.efg import parse_efg
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree


def kuhn_poker(players: int = 2) -> Tree:
    """One card each from a deck of `players` + 1 ranks, ante 1, at most one bet of 1.

    H. W. Kuhn, "A simplified two-person poker", Contributions to the Theory of Games I, 1950 (value
    -1/18 for the first player); three players: N. Abou Risk and D. Szafron, AAMAS 2010.

    >>> kuhn_poker()
    Tree('kuhn-poker', players=['player 1', 'player 2'], 55 nodes, 30 leaves, 12 information sets)
    """
    if players not in _KUHN_RANKS:
        raise UsageError(f"kuhn poker is played by 2 to 5, got {players}")
    names = tuple(f"player {i + 1}" for i in range(players))
    ranks = _KUHN_RANKS[players]
    deals = list(map("".join, permutations(ranks, players)))

    def expand(position: tuple[str, str]) -> Leaf | Chance | Turn:
        deal, history = position
        if not deal:
            chance = Fraction(1, len(deals))
            return Chance({cards: (chance, (cards, "")) for cards in deals})
        bettor = history.find("b")
        if len(history) == players + max(bettor, 0):
            return Leaf(_kuhn_payoffs(ranks, deal, history, bettor))
        player = len(history) % players
        after = {move: (deal, history + move[0]) for move in ("pass", "bet")}
        return Turn(names[player], f"{deal[player]} {history}".strip(), after)

    name = "kuhn-poker" if players == 2 else f"kuhn-poker-{players}"
    return build_tree(names, ("", ""), expand, name=name)


_KUHN_RANKS = {2: "JQK", 3: "TJQK", 4: "9TJQK", 5: "9TJQKA"}


def _kuhn_payoffs(ranks: str, deal: str, history: str, bettor: int) -> list[float]:
    count = len(deal)
    paid = [1] * count
    for turn, move in enumerate(history):
        paid[turn % count] += move == "b"
    in_pot = [i for i in range(count) if bettor < 0 or paid[i] == 2]
    winner = max(in_pot, key=lambda i: ranks.index(deal[i]))
    payoffs = [-float(stake) for stake in paid]
    payoffs[winner] += sum(paid)
    return payoffs


def leduc_poker() -> Tree:
    """Six cards (J, Q, K twice), ante 1, and two betting rounds with raises of 2 and 4.

    There are at most two raises per round.

    After the first round one card is laid open; a pair with it wins, else the higher card. F.
    Southey et al., "Bayes' bluff: opponent modelling in poker", UAI 2005. Hands are told apart by
    rank only, so there are the 288 information sets of that paper rather than one per suit. The
    value for the first player is -0.085606424078.

    >>> tree = leduc_poker()
    >>> len(tree.leaves), len(tree.infosets)
    (1116, 288)
    """
    return build_tree(
        ("player 1", "player 2"),
        ("", "", ""),
        _leduc,
        name="leduc-poker",
    )


_LEDUC_CLOSED = ("cc", "crc", "rc", "crrc", "rrc")


def _leduc(position: tuple[str, str, str]) -> Leaf | Chance | Turn:
    """`position`: the cards drawn, the moves of the first round, those of the second."""
    cards, first, second = position
    in_first = first not in _LEDUC_CLOSED
    betting = first if in_first else second
    if betting.endswith("f") or second in _LEDUC_CLOSED:
        return Leaf(_leduc_payoffs(cards, first, second))
    if len(cards) < 2 or (len(cards) == 2 and not in_first):
        draws = {}
        for rank in "JQK":
            left = 2 - cards.count(rank)
            if left:
                chance = Fraction(left, 6 - len(cards))
                draws[rank] = (chance, (cards + rank, first, second))
        return Chance(draws)

    moves = {}
    if betting.endswith("r"):
        moves["fold"] = "f"
    moves["call"] = "c"
    if betting.count("r") < 2:
        moves["raise"] = "r"
    after = {}
    for move, letter in moves.items():
        after[move] = (cards, first + letter, "") if in_first else (cards, first, second + letter)
    player = len(betting) % 2
    seen = (cards[player], first, cards[2:], second)
    return Turn(f"player {player + 1}", " ".join(filter(None, seen)), after)


def _leduc_payoffs(cards: str, first: str, second: str) -> list[float]:
    paid = [1, 1]
    for betting, stake in ((first, 2), (second, 4)):
        for turn, move in enumerate(betting):
            if move != "f":
                paid[turn % 2] = paid[1 - turn % 2] + stake * (move == "r")

    betting = second or first
    if betting.endswith("f"):
        loser = (len(betting) - 1) % 2
    else:
        strength = []
        for card in cards[:2]:
            is_pair = card == cards[2]
            strength.append("JQK".index(card) + 3 * is_pair)
        if strength[0] == strength[1]:
            return [0.0, 0.0]
        loser = 0 if strength[0] < strength[1] else 1
    lost = float(paid[loser])
    return [-lost, lost] if loser == 0 else [lost, -lost]


def centipede(moves: int = 4) -> Tree:
    """Two piles, 0.40 and 0.10, double at every pass; whoever takes gets the larger one.

    R. W. Rosenthal, J. Econ. Theory 25, 1981; the payoffs and four moves of R. D. McKelvey and T.
    R. Palfrey, "An experimental study of the centipede game", Econometrica 60, 1992.
    """
    if moves < 1:
        raise UsageError(f"a centipede game has at least 1 move, got {moves}")
    names = ("player 1", "player 2")

    def expand(step: int) -> Leaf | Turn:
        taken = step < 0
        step = abs(step) - 1
        large = float(Fraction(2, 5) * 2**step)
        small = float(Fraction(1, 10) * 2**step)
        if taken or step == moves:
            is_first = step % 2 == 0
            return Leaf([large, small] if is_first else [small, large])
        return Turn(names[step % 2], f"move {step + 1}", {"take": -(step + 1), "pass": step + 2})

    return build_tree(names, 1, expand, name="centipede")


TREE_RULES: dict[str, Callable[..., Tree]] = {
    rule.__name__: rule
    for rule in (
        centipede,
        kuhn_poker,
        leduc_poker,
    )
}


class TreeEntry(CatalogueEntry):
    """A named tree, by its file or by the rule that builds it."""

    def make(self) -> Tree:
        """Build the tree."""
        if "file" in self.data:
            return parse_efg(read_data(self.data["file"]))
        return TREE_RULES[self.data["rule"]](**self.data.get("arguments", {}))


def tree_names() -> tuple[str, ...]:
    """List the names of all trees, in alphabetical order."""
    return tuple(load_entries("trees.toml", TreeEntry))


def tree_entry(name: str) -> TreeEntry:
    """Find the entry called `name`, leniently.

    >>> tree_entry("Kuhn poker").name
    'kuhn-poker'
    """
    tree: TreeEntry = find_entry(load_entries("trees.toml", TreeEntry), name)
    return tree


def load_tree(name: str) -> Tree:
    """Load the tree called `name`.

    >>> load_tree("centipede").num_nodes
    9
    """
    return tree_entry(name).make()
