"""A tree told in words: everything about the game can be read back from the text."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from random import Random

import pytest

from bestresponse.core.errors import TooLarge
from bestresponse.games.comparison import compare_games
from bestresponse.games.trees.outline import MOST_CHARACTERS, write_name, write_outline
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.trees.tree import CHANCE, LEAF, Chance, Leaf, Tree, Turn, build_tree

NAME = r'"(?:[^"\\]|\\.)*"|[^":,()\[\]]+?'
BRANCH = re.compile(rf"(?P<margin> *)- (?P<name>{NAME})(?: \(probability (?P<odds>[^)]+)\))?: (?P<here>.*)")
TURN = re.compile(rf"(?P<player>{NAME}) chooses(?: \[(?P<letter>[a-z]+)\])?:")
PAID = re.compile(rf"(?P<player>{NAME}) gets (?P<payoff>[^,]+)(?:, |$)")

NAMES = ["m0", "left", "show 1, guess 2", 'say "yes"', "a: b", "[a]", "(probability 1/2)", "gets 3", "-1", "1/2", "ü x"]
PLAYERS = ["Ann", "Bob, the 2nd", 'the "third"']
NUMBERS = [
    Fraction(0),
    Fraction(3),
    Fraction(-1, 3),
    Fraction(51, 4),
    Fraction(1, 7),
    Fraction(10**20 + 1),
    Fraction(2, 3),
]


def read_name(text: str) -> str:
    return json.loads(text) if text.startswith('"') else text


def read_outline(text: str, players: tuple[str, ...]) -> Tree:
    """Rebuild the tree from the outline; what the lines below it say of knowledge is not needed."""
    lines = text.split("\n\n")[0].split("\n")
    place = 0

    def read_position(here: str, depth: int) -> Leaf | Chance | Turn:
        if here.casefold() == "chance draws:":
            return Chance({name: (Fraction(odds), after) for name, odds, after in read_branches(depth)})
        turn = TURN.fullmatch(here)
        if turn:
            # A position without a letter is an information set of its own: the line number tells it apart.
            infoset = turn["letter"] or f"line {place}"
            moves = {name: after for name, _, after in read_branches(depth)}
            return Turn(read_name(turn["player"]), infoset, moves)
        paid = {read_name(found["player"]): Fraction(found["payoff"]) for found in PAID.finditer(here)}
        assert tuple(paid) == players
        return Leaf(list(paid.values()))

    def read_branches(depth: int) -> list[tuple[str, str, object]]:
        nonlocal place
        branches = []
        while place < len(lines):
            found = BRANCH.fullmatch(lines[place])
            assert found, lines[place]
            if len(found["margin"]) != 2 * depth:
                break
            place += 1
            branches.append((read_name(found["name"]), found["odds"], read_position(found["here"], depth + 1)))
        return branches

    place = 1
    root = read_position(lines[0], 0)
    assert place == len(lines)
    return build_tree(players, root)


def draw_tree(rng: Random, num_players: int) -> Tree:
    """Draw a tree of at most four moves with hidden, forgotten and repeated positions, odd names and exact numbers."""
    players = tuple(rng.sample(PLAYERS, num_players))
    moves_at: dict[tuple[str, str], list[str]] = {}

    def expand(left: int) -> Leaf | Chance | Turn:
        if left == 0 or (left < 4 and rng.random() < 0.2):
            return Leaf([rng.choice(NUMBERS) for _ in players])
        if rng.random() < 0.3:
            weights = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
            labels = rng.sample(NAMES, len(weights))
            return Chance(
                {label: (Fraction(w, sum(weights)), left - 1) for label, w in zip(labels, weights, strict=True)}
            )
        player = rng.choice(players)
        # A few signals for all depths: sets of many positions, some of them on one path.
        infoset = str(rng.randrange(4))
        moves = moves_at.setdefault((player, infoset), rng.sample(NAMES, rng.randint(1, 3)))
        return Turn(player, infoset, dict.fromkeys(moves, left - 1))

    return build_tree(players, 4, expand)


def describe_structure(tree: Tree) -> list[object]:
    """All that makes up the game, node by node; sets by their first position, whatever they are called."""
    first = {}
    rows: list[object] = [tree.players]
    for node in range(tree.num_nodes):
        owner, index = int(tree.owner[node]), int(tree.infoset[node])
        row: list[object] = [int(tree.parent[node]), owner, tree.branch_labels[node]]
        if owner == LEAF:
            row.append(tree.read_payoffs(node))
        elif owner >= 0:
            row.append((first.setdefault(index, node), tree.infosets[index].moves))
        if node and tree.owner[tree.parent[node]] == CHANCE:
            row.append(tree.read_probability(node))
        rows.append(row)
    return rows


def regrow(tree: Tree, node: int, here: Leaf | Chance | Turn) -> Tree:
    """The same tree with something else at one node."""
    return build_tree(tree.players, 0, lambda at: here if at == node else tree.describe(at))


@pytest.mark.parametrize("seed", range(150))
def test_a_tree_is_rebuilt_from_its_outline(seed: int) -> None:
    tree = draw_tree(Random(seed), num_players=2 + seed % 2)
    rebuilt = read_outline(write_outline(tree), tree.players)
    assert describe_structure(rebuilt) == describe_structure(tree)


@pytest.mark.parametrize("name", ["centipede", "entry-deterrence", "kuhn-poker"])
def test_a_tree_of_the_catalogue_is_the_same_game_when_rebuilt(name: str) -> None:
    tree = load_tree(name)
    assert compare_games(tree, read_outline(write_outline(tree), tree.players)).relation == "equal"


@pytest.mark.parametrize("seed", range(60))
def test_the_text_changes_with_every_payoff_probability_and_information_set(seed: int) -> None:
    rng = Random(seed)
    tree = draw_tree(rng, num_players=2)
    told = write_outline(tree)
    changed = {}
    leaf = rng.choice(tree.leaves.tolist())
    first, *others = tree.read_payoffs(leaf)
    changed["payoff"] = regrow(tree, leaf, Leaf([first + Fraction(1, 1000), *others]))
    draws = [node for node in range(tree.num_nodes) if tree.owner[node] == CHANCE and len(tree.children[node]) > 1]
    if draws:
        here = tree.describe(draws[0])
        (one, (p, after)), (two, (q, later)), *rest = here.branches.items()
        moved = Chance({one: (p / 2, after), two: (q + p / 2, later), **dict(rest)})
        changed["probability"] = regrow(tree, draws[0], moved)
    shared = [
        node
        for node in range(tree.num_nodes)
        if tree.infoset[node] >= 0 and (tree.infoset == tree.infoset[node]).sum() > 1
    ]
    if shared:
        apart = tree.describe(shared[-1])
        changed["information set"] = regrow(tree, shared[-1], apart._replace(infoset="apart", label="apart"))
    texts = {what: write_outline(other) for what, other in changed.items()}
    assert [what for what, text in texts.items() if text == told] == []


def test_an_outline_says_odds_movers_payoffs_and_knowledge() -> None:
    def answer(first: list[object], second: list[object]) -> Turn:
        return Turn("Bob, 2nd", "x", {"call": Leaf(first), "drop": Leaf(second)})

    strong = Turn("Ann", "s", {"raise": answer([3, 0], [0.5, 1]), "fold": Leaf([1, 1])})
    weak = Turn("Ann", "w", {"raise": answer([-1, 2], [Fraction(1, 3), 0]), "fold": Leaf([1, 1])})
    tree = build_tree(
        ["Ann", "Bob, 2nd"], Chance({"strong": (Fraction(9, 10), strong), "weak": (Fraction(1, 10), weak)})
    )
    assert write_outline(tree) == (
        "Chance draws:\n"
        "- strong (probability 9/10): Ann chooses:\n"
        '  - raise: "Bob, 2nd" chooses [a]:\n'
        '    - call: Ann gets 3, "Bob, 2nd" gets 0\n'
        '    - drop: Ann gets 0.5, "Bob, 2nd" gets 1\n'
        '  - fold: Ann gets 1, "Bob, 2nd" gets 1\n'
        "- weak (probability 1/10): Ann chooses:\n"
        '  - raise: "Bob, 2nd" chooses [a]:\n'
        '    - call: Ann gets -1, "Bob, 2nd" gets 2\n'
        '    - drop: Ann gets 1/3, "Bob, 2nd" gets 0\n'
        '  - fold: Ann gets 1, "Bob, 2nd" gets 1\n'
        "\n"
        "A letter in brackets marks positions that look alike: a player who chooses at one of them does not know which "
        "of the positions with this letter has been reached. At a position without a letter the player knows "
        "everything that has happened before.\n"
        '- [a] "Bob, 2nd" knows only this: chance drew strong or weak; Ann chose raise.'
    )


def test_who_knows_which_of_two_moves_is_told() -> None:
    """A and B choose; then C has seen A's choice alone, or B's choice alone."""

    def build(seen: int) -> Tree:
        def expand(done: tuple[str, ...]) -> Leaf | Turn:
            match done:
                case ():
                    return Turn("A", "a", {"x": ("x",), "y": ("y",)})
                case (_,):
                    return Turn("B", "b", {"u": (*done, "u"), "v": (*done, "v")})
                case (_, _):
                    return Turn("C", done[seen], {"l": (*done, "l"), "r": (*done, "r")})
            return Leaf([1, 2, 3])

        return build_tree(["A", "B", "C"], (), expand)

    assert write_outline(build(seen=0)).split("\n")[-3:] == [
        "- [a] B knows only this: A chose x or y.",
        "- [b] C knows only this: A chose x; B chose u or v.",
        "- [c] C knows only this: A chose y; B chose u or v.",
    ]
    assert write_outline(build(seen=1)).split("\n")[-2:] == [
        "- [b] C knows only this: A chose x or y; B chose u.",
        "- [c] C knows only this: A chose x or y; B chose v.",
    ]


def test_a_player_who_does_not_know_how_often_it_has_moved_is_told_so() -> None:
    second = Turn("driver", "road", {"on": Leaf([1]), "exit": Leaf([4])})
    tree = build_tree(["driver"], Turn("driver", "road", {"on": second, "exit": Leaf([0])}))
    assert write_outline(tree).split("\n")[-1] == (
        "- [a] driver knows only that one of the positions with this letter has been reached."
    )


def test_the_twenty_seventh_hidden_choice_is_marked_with_two_letters() -> None:
    pairs = {
        f"m{k}": Chance(dict.fromkeys(("h", "t"), (Fraction(1, 2), Turn("P", f"{k}", {"go": Leaf([k])}))))
        for k in range(28)
    }
    told = write_outline(build_tree(["P"], Turn("P", "start", pairs)))
    assert [told.count(f"P chooses [{letter}]:") for letter in ("a", "z", "aa", "ab", "ac")] == [2, 2, 2, 2, 0]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("player 1", "player 1"),
        ("3/4", "3/4"),
        ("-2.5", "-2.5"),
        ("a, b", '"a, b"'),
        ("a:b", '"a:b"'),
        ('"a"', '"\\"a\\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("[a]", '"[a]"'),
        ("", '""'),
        (" a", '" a"'),
        ("a  b", '"a  b"'),
        ("two\nlines", '"two\\nlines"'),
        ("two\u2028lines", '"two\\u2028lines"'),
        ("Chance", '"Chance"'),
        ("he gets 3", '"he gets 3"'),
    ],
)
def test_a_name_that_could_be_misread_is_quoted(name: str, written: str) -> None:
    assert write_name(name) == written


def test_an_outline_over_the_limit_is_refused_with_its_size_and_the_limit() -> None:
    def expand(path: str) -> Leaf | Turn:
        if len(path) == 7:
            return Leaf([1])
        return Turn("Ann", path, {move: path + move for move in "xyz"})

    tree = build_tree(["Ann"], "", expand, name="long")
    with pytest.raises(TooLarge) as refused:
        write_outline(tree, most=MOST_CHARACTERS)
    assert str(refused.value) == (  # 3 ** 7 ends
        "long has 2,187 ends; telling it takes more than 50,000 characters, the most that a player can be asked to "
        "read. Use a smaller version of the game"
    )


def test_the_limit_is_counted_in_characters() -> None:
    tree = load_tree("entry-deterrence")
    whole = write_outline(tree)
    assert write_outline(tree, most=len(whole)) == whole
    with pytest.raises(TooLarge):
        write_outline(tree, most=len(whole) - 1)
