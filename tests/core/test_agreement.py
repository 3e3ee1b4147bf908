"""A game that states something else than it executes is found, whatever it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from bestresponse.core import View
from bestresponse.core.conformance import Broken, check_game
from bestresponse.core.told import (
    AtOnce,
    Cell,
    Cells,
    Course,
    Decides,
    Draw,
    NearestWins,
    Odds,
    Options,
    PlayEnd,
    Players,
    Repetition,
    Statement,
)
from bestresponse.games.blotto.rules import BattlefieldRule, Blotto
from bestresponse.games.guessing.rules import Guessing
from bestresponse.games.lookup import find_game, game_names
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.games.public_goods.rules import ProjectRule, PublicGoods
from bestresponse.games.sealed_bid.rules import FirstPriceRule, SealedBid
from bestresponse.games.trees.game import TreeGame
from bestresponse.games.trust.rules import Trust, TrustRule
from bestresponse.games.water.game import Water
from bestresponse.games.water.told import HealthRule, NeedsRule, ResidentNeed, SupplyRule
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree

DILEMMA = load("prisoners-dilemma")


@dataclass(frozen=True)
class Misstated:
    """A game that puts other statements in the place of its own."""

    game: object
    wrong: tuple[Statement, ...]

    def __getattr__(self, name: str) -> object:
        return getattr(self.game, name)

    def view(self, state: object, role: str) -> View:
        view = self.game.view(state, role)
        kinds = {type(statement): statement for statement in self.wrong}
        rules = tuple(kinds.get(type(statement), statement) for statement in view.rules)
        return replace(view, rules=rules)


def stated(game: object) -> dict[type, Statement]:
    return {type(rule): rule for rule in game.view(game.start(), game.roles[0]).rules}


def change_cell(cells: Cells) -> Cells:
    first, *others = cells.cells
    return Cells((Cell(first.moves, (first.payoffs[0] + 1, *first.payoffs[1:])), *others))


def change_position(course: Course, kind: type, changed: object) -> Course:
    place = next(k for k, one in enumerate(course.positions) if isinstance(one, kind))
    return Course((*course.positions[:place], changed, *course.positions[place + 1 :]))


def make_signal() -> TreeGame:
    bob = Turn("Bob", "b", {"l": Leaf([1, 2]), "r": Leaf([0, 1])})
    draw = Chance({"h": (Fraction(1, 4), bob), "t": (Fraction(3, 4), bob)})
    return TreeGame(build_tree(["Ann", "Bob"], draw))


@pytest.mark.parametrize("name", game_names())
def test_every_game_states_what_it_executes(name: str) -> None:
    check_game(find_game(name).playable(), seed=1)


@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_repeated_games_state_their_noise_and_their_end(noise: float) -> None:
    check_game(RepeatedGame(DILEMMA, rounds=3, continuation=0.5, noise=noise), seed=2)


def test_a_wrong_payoff_of_a_table_is_found() -> None:
    game = MatrixGame(DILEMMA)
    wrong = Misstated(game, (change_cell(stated(game)[Cells]),))
    with pytest.raises(
        Broken, match=r"the payoff of row for cooperate, cooperate is 4 by the rules .* it is 3"
    ):
        check_game(wrong)


def test_a_wrong_option_is_found() -> None:
    game = MatrixGame(DILEMMA)
    (first, second) = stated(game)[AtOnce].choices
    wrong = AtOnce((Options(first.who, ("cooperate", "betray")), second))
    with pytest.raises(Broken, match="row chooses cooperate or betray; the game asks for"):
        check_game(Misstated(game, (wrong,)))


def test_players_that_are_no_roles_are_found() -> None:
    with pytest.raises(Broken, match="the rules name the players Ann, Bob; the roles are row, col"):
        check_game(Misstated(MatrixGame(DILEMMA), (Players(("Ann", "Bob")),)))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (Repetition(3, noise=Fraction(1, 10)), "that cooperate is made as meant is 9/10"),
        (Repetition(3, Fraction(1, 2), noise=Fraction(1, 4)), "the game draws no end"),
    ],
)
def test_a_wrong_probability_of_errors_or_of_the_end_is_found(wrong: Repetition, why: str) -> None:
    with pytest.raises(Broken, match=why):
        check_game(Misstated(RepeatedGame(DILEMMA, rounds=3, noise=0.25), (wrong,)))


@pytest.mark.parametrize(
    ("kind", "changed", "why"),
    [
        (PlayEnd, PlayEnd((Fraction(1), Fraction(3))), "the payoff of Bob at position 3 .* is 3"),
        (
            Draw,
            Draw((Odds("h", Fraction(1, 2)), Odds("t", Fraction(1, 2)))),
            "the probability of h at position 1 of the course is 1/2 .* it is 0.25",
        ),
        (Decides, Decides("Bob", ("l", "m"), "a"), "Bob chooses l or m; the game asks for l or r"),
        (Decides, Decides("Bob", ("l", "r")), "the game shows the same twice"),
    ],
)
def test_a_wrong_payoff_probability_option_or_information_set_of_a_tree_is_found(
    kind: type, changed: object, why: str
) -> None:
    game = make_signal()
    course = change_position(stated(game)[Course], kind, changed)
    with pytest.raises(Broken, match=why):
        check_game(Misstated(game, (course,)))


@pytest.mark.parametrize(
    ("game", "wrong"),
    [
        (Guessing(("a", "b", "c"), rounds=8), NearestWins(Fraction(1, 8), Fraction(1))),
        (PublicGoods(rounds=1), ProjectRule(Fraction(20), Fraction(2), Fraction(1, 2))),
        (SealedBid(price="second"), FirstPriceRule(100)),
        (Trust(), TrustRule(Fraction(10), Fraction(2))),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_wrong_rule_of_an_economic_game_is_found(game: object, wrong: Statement) -> None:
    right = next(
        kind
        for kind in stated(game)
        if isinstance(wrong, kind) or kind.__name__ == "SecondPriceRule"
    )

    class Wrong(Misstated):
        def view(self, state: object, role: str) -> View:
            view = self.game.view(state, role)
            rules = tuple(wrong if isinstance(one, right) else one for one in view.rules)
            return replace(view, rules=rules)

    def check_five_plays() -> None:
        for seed in range(5):
            check_game(Wrong(game, ()), seed)

    with pytest.raises(Broken, match=r"after this play is .* by the rules that are told"):
        check_five_plays()


@pytest.mark.parametrize(
    ("game", "wrong", "why"),
    [
        (Blotto(4, 2), BattlefieldRule(5, 2, "2-3"), "the number of troops of Blotto is 5"),
        (Blotto(4, 2), BattlefieldRule(4, 3, "1-1-2"), "the number of fields of Blotto is 3"),
        (
            PublicGoods(rounds=1),
            ProjectRule(Fraction(20), Fraction(8, 5), Fraction(1, 2)),
            "a coin in the project gives every player is 1/2",
        ),
        (Water(), HealthRule(*map(Fraction, (10, 10, 2, 2))), "the health of .* on day 1"),
        (Water(), SupplyRule(1000, 2000), "there are 1000 to 2000 units of water per day"),
        (
            Water(),
            NeedsRule(
                tuple(ResidentNeed(name, Fraction(1), Fraction(70)) for name in Water().roles)
            ),
            "against the rules of the auction",
        ),
    ],
    ids=["troops", "fields", "share", "thirst", "supply", "needs"],
)
def test_a_wrong_rule_of_battlefields_or_of_a_drought_is_found(
    game: object, wrong: Statement, why: str
) -> None:
    with pytest.raises(Broken, match=why):
        check_game(Misstated(game, (wrong,)), seed=1)
