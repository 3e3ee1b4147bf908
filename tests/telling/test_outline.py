"""A tree told in words: everything about the game can be read back from the text."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from random_games import change_tree, describe_structure, draw_game_tree
from rebuilt_words import read_outline

from bestresponse.core.errors import TooLarge
from bestresponse.core.told import Course, Players
from bestresponse.games.comparison import compare_games
from bestresponse.games.statements import tell
from bestresponse.telling.course import list_outline
from bestresponse.telling.knowledge import read_course
from bestresponse.telling.language import load_language
from bestresponse.telling.render import MOST_CHARACTERS, check_length
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree


def write_outline(tree: Tree) -> str:
    players, course = tell(tree)
    assert isinstance(players, Players)
    assert isinstance(course, Course)
    return "\n".join(list_outline(read_course(course), players.names, load_language("en")))


@pytest.mark.parametrize("seed", range(150))
def test_a_tree_is_rebuilt_from_its_outline(seed: int) -> None:
    tree = draw_game_tree(Random(seed), num_players=2 + seed % 3)
    rebuilt = read_outline(write_outline(tree), tree.players)
    assert describe_structure(rebuilt) == describe_structure(tree)


@pytest.mark.parametrize("name", ["centipede", "entry-deterrence", "kuhn-poker"])
def test_a_tree_of_the_catalogue_is_the_same_game_when_rebuilt(name: str) -> None:
    tree = load_tree(name)
    assert compare_games(tree, read_outline(write_outline(tree), tree.players)).relation == "equal"


@pytest.mark.parametrize("seed", range(60))
def test_the_text_changes_with_every_payoff_probability_and_information_set(seed: int) -> None:
    rng = Random(seed)
    tree = draw_game_tree(rng, num_players=2)
    told = write_outline(tree)
    changed = dict(change_tree(rng, tree))
    texts = {what: write_outline(other) for what, other in changed.items()}
    assert [what for what, text in texts.items() if text == told] == []


def test_an_outline_says_odds_movers_payoffs_and_knowledge() -> None:
    def answer(first: list[object], second: list[object]) -> Turn:
        return Turn("Bob, 2nd", "x", {"call": Leaf(first), "drop": Leaf(second)})

    strong = Turn("Ann", "s", {"raise": answer([3, 0], [0.5, 1]), "fold": Leaf([1, 1])})
    weak = Turn("Ann", "w", {"raise": answer([-1, 2], [Fraction(1, 3), 0]), "fold": Leaf([1, 1])})
    tree = build_tree(
        ["Ann", "Bob, 2nd"],
        Chance({"strong": (Fraction(9, 10), strong), "weak": (Fraction(1, 10), weak)}),
    )
    assert (
        write_outline(tree)
        == 'Chance draws:\n- strong (probability 9/10): Ann chooses:\n  - raise: "Bob, 2nd" chooses'
        ' [a]:\n    - call: Ann gets 3, "Bob, 2nd" gets 0\n    - drop: Ann gets 0.5, "Bob, 2nd"'
        ' gets 1\n  - fold: Ann gets 1, "Bob, 2nd" gets 1\n- weak (probability 1/10): Ann'
        ' chooses:\n  - raise: "Bob, 2nd" chooses [a]:\n    - call: Ann gets -1, "Bob, 2nd" gets'
        ' 2\n    - drop: Ann gets 1/3, "Bob, 2nd" gets 0\n  - fold: Ann gets 1, "Bob, 2nd" gets'
        " 1\n\nA letter in brackets marks positions that look alike: a player who chooses at one"
        " of them does not know which of the positions with this letter has been reached. At a"
        " position without a letter the player knows everything that has happened before.\n- [a]"
        ' "Bob, 2nd" knows only this: chance drew strong or weak; Ann chose raise.'
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

    told = write_outline(build(seen=0)).split("\n")
    assert told[:3] == [
        "A and B choose at the same time:",
        "- x, u: C chooses [a]:",
        "  - l: A gets 1, B gets 2, C gets 3",
    ]
    assert told[-3:] == [
        "Nobody knows what others choose at the same time.",
        "- [a] C knows only this: A chose x; B chose u or v.",
        "- [b] C knows only this: A chose y; B chose u or v.",
    ]
    assert write_outline(build(seen=1)).split("\n")[-2:] == [
        "- [a] C knows only this: A chose x or y; B chose u.",
        "- [b] C knows only this: A chose x or y; B chose v.",
    ]


def test_choices_at_the_same_time_after_a_draw_that_one_of_them_sees() -> None:
    def bob(ann: str, drawn: str) -> Turn:
        return Turn("Bob", "b", {"l": Leaf([1, 0]), "r": Leaf([0, int(drawn == ann)])})

    def ann(drawn: str) -> Turn:
        return Turn("Ann", drawn, {"h": bob("h", drawn), "t": bob("t", drawn)})

    coin = {side: (Fraction(1, 2), ann(side)) for side in ("h", "t")}
    assert write_outline(build_tree(["Ann", "Bob"], Chance(coin))).split("\n") == [
        "Chance draws:",
        "- h (probability 1/2): Ann and Bob [a] choose at the same time:",
        "  - h, l: Ann gets 1, Bob gets 0",
        "  - h, r: Ann gets 0, Bob gets 1",
        "  - t, l: Ann gets 1, Bob gets 0",
        "  - t, r: Ann gets 0, Bob gets 0",
        "- t (probability 1/2): Ann and Bob [a] choose at the same time:",
        "  - h, l: Ann gets 1, Bob gets 0",
        "  - h, r: Ann gets 0, Bob gets 0",
        "  - t, l: Ann gets 1, Bob gets 0",
        "  - t, r: Ann gets 0, Bob gets 1",
        "",
        (
            "A letter in brackets marks positions that look alike: a player who chooses at one of"
            " them does not know which of the positions with this letter has been reached. At a"
            " position without a letter the player knows everything that has happened before."
        ),
        "Nobody knows what others choose at the same time.",
        "- [a] Bob knows only this: chance drew h or t.",
    ]


def test_a_player_who_does_not_know_how_often_it_has_moved_is_told_so() -> None:
    second = Turn("driver", "road", {"on": Leaf([1]), "exit": Leaf([4])})
    tree = build_tree(["driver"], Turn("driver", "road", {"on": second, "exit": Leaf([0])}))
    assert (
        write_outline(tree).split("\n")[-1]
        == "- [a] driver knows only that one of the positions with this letter has been reached."
    )


def test_the_twenty_seventh_hidden_choice_is_marked_with_two_letters() -> None:
    pairs = {
        f"m{k}": Chance(
            dict.fromkeys(("h", "t"), (Fraction(1, 2), Turn("P", f"{k}", {"go": Leaf([k])})))
        )
        for k in range(28)
    }
    told = write_outline(build_tree(["P"], Turn("P", "start", pairs)))
    assert [told.count(f"P chooses [{letter}]:") for letter in ("a", "z", "aa", "ab", "ac")] == [
        2,
        2,
        2,
        2,
        0,
    ]


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
    assert load_language("en").write_name(name) == written


def test_an_outline_over_the_limit_is_refused_with_its_size_and_the_limit() -> None:
    def expand(path: str) -> Leaf | Turn:
        if len(path) == 7:
            return Leaf([1])
        return Turn("Ann", path, {move: path + move for move in "xyz"})

    tree = build_tree(["Ann"], "", expand, name="long")
    with pytest.raises(TooLarge) as refused:
        check_length(tell(tree), "long")
    assert str(refused.value) == (  # 3 ** 7 ends
        "long has 2,187 ends; telling it takes more than 17,000 tokens (51,000 characters), the"
        " most that a player can be asked to read. Use a smaller version of the game"
    )


def test_the_limit_is_counted_in_characters() -> None:
    def build(count: int) -> Tree:
        return build_tree(["A"], Turn("A", "a", {f"m{k:05}": Leaf([1]) for k in range(count)}))

    fixed = len("A chooses:\n\nWhoever chooses knows everything that has happened before.")
    line = len("- m00000: A gets 1\n")
    most = (MOST_CHARACTERS - fixed) // line
    check_length(tell(build(most)), "wide")
    with pytest.raises(TooLarge, match=f"wide has {most + 1:,} ends"):
        check_length(tell(build(most + 1)), "wide")
