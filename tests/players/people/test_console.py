"""A person at the terminal, and trees that can be played."""

import pytest

from bestresponse.core.ask import PASS, Amount, Choice, Form, Mixture, Words
from bestresponse.core.conformance import check_game
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE, View
from bestresponse.core.told import Prose, Round, prose
from bestresponse.games.trees.game import TreeGame
from bestresponse.players.people.console import ConsolePlayer, Left, how_to_answer, summarise_rules
from bestresponse.telling.render import write_history
from bestresponse.theory.catalogue.trees import load_tree, tree_names
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree


def person(*lines):
    """A player who types these lines, and what the screen shows."""
    typed, screen = iter(lines), []

    def read(prompt):
        screen.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    return ConsolePlayer(read, screen.append), screen


def test_nonsense_is_answered_with_a_reason_and_the_person_tries_again():
    player, screen = person("", "lots", "-3", "nan", "71", "help", "1e99", "12.5")
    decision = player.decide(
        View("Alex", prose("rules"), prose("situation")), Amount(0, 70, may_pass=True)
    )
    assert decision.action == 12.5
    shown = "\n".join(screen)
    for reason in (
        "'lots' is not a number",
        "-3 is not between 0 and 70",
        "nan is not a finite number",
        "71 is not between",
    ):
        assert reason in shown
    assert "Other words: rules, history, help, quit" in shown


def test_a_decimal_comma_is_one_and_what_can_be_read_in_two_ways_is_asked_back():
    player, screen = person("1,000", "50,5")
    assert player.decide(View("a"), Amount(0, 100)).action == 50.5
    assert "1,000 can mean 1000 or 1; type one of them" in "\n".join(screen)
    assert person("2,500.50")[0].decide(View("a"), Amount(0, 5000)).action == 2500.5


def test_rules_and_history_are_shown_again_on_request():
    player, screen = person("rules", "history", "PASS")
    history = (Round(1), Prose("long ago"), Round(2), Prose("yesterday"), Round(3))
    view = View("Alex", prose("these rules"), history)
    assert player.decide(view, Amount(0, 1, may_pass=True)).action == PASS
    assert screen[0] == "\nRound 2: yesterday.\n\nRound 3.\n"
    assert "these rules" in screen
    assert "Round 1: long ago.\nRound 2: yesterday.\nRound 3." in screen


def test_a_choice_can_be_named_or_numbered():
    assert person("2")[0].decide(View("a"), Choice(("stag", "hare"))).action == "hare"
    assert person("STAG")[0].decide(View("a"), Choice(("stag", "hare"))).action == "stag"
    assert person("9", "1")[0].decide(View("a"), Choice(("1", "9"))).action == "9"
    assert person("2", "20")[0].decide(View("a"), Choice(("0", "10", "20"))).action == "20"


def test_a_form_is_asked_field_by_field():
    player, screen = person("9", "2", "x")
    form = Form((("points", Amount(0, 5, whole=True)), ("word", Choice(("x", "y")))))
    assert player.decide(View("a"), form).action == {"points": 2.0, "word": "x"}
    assert "a, points: a whole number from 0 to 5 > " in screen


def test_leaving_and_the_end_of_input_stop_the_game():
    with pytest.raises(Left, match="you left"):
        person("quit")[0].decide(View("a"), Choice(("x",)))
    with pytest.raises(Left, match="input has ended"):
        person()[0].decide(View("a"), Choice(("x",)))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (Choice(("a", "b")), "choose a / b"),
        (Amount(0, 5, whole=True), "a whole number from 0 to 5"),
        (Words(10), "your message, at most 10 characters"),
        (Mixture(("a", "b")), "probabilities such as a: 0.5, b: 0.5"),
    ],
)
def test_every_ask_is_put_in_a_few_words(ask, words):
    assert how_to_answer(ask) == words


@pytest.mark.parametrize("name", tree_names())
def test_every_tree_of_the_catalogue_can_be_played(name):
    for seed in range(3):
        check_game(TreeGame(load_tree(name)), seed)


def test_a_player_of_a_tree_knows_its_information_set_and_no_more():
    game = TreeGame(load_tree("kuhn-poker"))
    for deal in ("QJ", "QK"):
        state = game.apply(game.start(), {NATURE: deal})
        view = game.view(state, "player 1")
        assert view.facts["infoset"] == "Q"
        assert view.key == game.view(game.apply(game.start(), {NATURE: "QJ"}), "player 1").key
    assert (
        game.payoffs(game.apply(game.apply(state, {"player 1": "bet"}), {"player 2": "pass"}))[
            "player 1"
        ]
        == 1.0
    )


def test_a_tree_whose_player_is_called_nature_is_refused():
    from dataclasses import replace

    tree = load_tree("centipede")
    with pytest.raises(InvalidGame, match="this name belongs to the game itself"):
        TreeGame(replace(tree, players=("nature", "x")))


@pytest.mark.parametrize(
    ("options", "typed", "chosen"),
    [
        (("0", "5", "7"), "7", "7"),
        (("offer 0", "offer 7", "offer 17"), "7", "offer 7"),
        (("stag", "hare"), "2", "hare"),
    ],
)
def test_a_number_means_what_an_option_is_about_and_else_its_place(options, typed, chosen):
    player, _ = person(typed)
    assert player.decide(View("Alex", prose("rules")), Choice(options)).action == chosen


def test_a_number_that_two_options_are_about_is_asked_again():
    player, screen = person("7", "give 7")
    assert (
        player.decide(View("Alex", prose("rules")), Choice(("give 7", "take 7"))).action == "give 7"
    )
    assert "That cannot be played" in "\n".join(screen)


def test_long_rules_are_summed_up_and_short_ones_stand_as_they_are():
    assert summarise_rules("Short.\n\nStill short.") == "Short.\n\nStill short."
    table = "\n".join(["| how | pays |"] * 60)
    assert (
        summarise_rules(f"They move in turn.\n\n{table}\n\nThe end.")
        == "They move in turn.\n\n(These are the first of the rules. Type rules for all of them.)"
    )


@pytest.mark.parametrize(
    ("game", "label", "words"),
    [
        ("kuhn-poker", "Q pb", "You hold the queen. So far: you chose pass, player 2 chose bet."),
        (
            "leduc-poker",
            "J cc Q",
            (
                "You hold the jack. So far: you chose call, player 2 chose call, the queen was laid"
                " open."
            ),
        ),
        ("centipede", "move 1", "Nothing has happened yet."),
    ],
)
def test_an_information_set_is_told_in_words(game, label, words):
    tree = load_tree(game)
    node = tree.infoset.tolist().index([one.label for one in tree.infosets].index(label))
    view = TreeGame(tree).view(node, tree.players[int(tree.owner[node])])
    assert write_history(view) == f"It is your turn. {words}"


def test_a_hidden_move_stays_hidden_in_an_information_set_of_a_thousand_nodes():
    blind = Turn("Bob", "blind", {"yes": Leaf([0, 1]), "no": Leaf([1, 0])})
    draws = Chance({f"card {k}": (1 / 512, blind) for k in range(512)})
    tree = build_tree(["Ann", "Bob"], Turn("Ann", "start", {"left": draws, "right": draws}))
    node = tree.infoset.tolist().index(tree.infoset_index["Bob", "blind"])
    assert (
        write_history(TreeGame(tree).view(node, "Bob"))
        == "It is your turn. So far: Ann chose left or right, and you do not know which, chance"
        " drew one of 512 options. You are at one of the positions marked [a]."
    )


def test_the_end_of_a_game_says_who_held_what():
    tree = load_tree("kuhn-poker")
    leaf = next(
        leaf for leaf in tree.leaves.tolist() if tree.path(leaf).endswith("QK > pass > bet > pass")
    )
    assert (
        write_history(TreeGame(tree).view(leaf, "player 2"))
        == "The game is over: player 1 was dealt the queen, you were dealt the king, player 1 chose"
        " pass, you chose bet, player 1 chose pass."
    )
