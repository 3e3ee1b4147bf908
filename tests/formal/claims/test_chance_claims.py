"""Claims about games with chance and hidden moves: true, false, or unknown with the reason, as the
tree allows."""

from fractions import Fraction

import pytest

from bestresponse.formal.claims import Checker, Subject
from bestresponse.formal.claims.claim import parse
from bestresponse.logic.engine import open_engine
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree


def build_poker():
    """One card, high or low, is drawn for ann, who alone sees it; she bets 2 or folds 1; bob calls
    or folds."""

    def expand(state):
        if not state:
            return Chance({"high": (Fraction(1, 3), ("high",)), "low": (Fraction(2, 3), ("low",))})
        if len(state) == 1:
            return Turn("ann", state[0], {"bet": (*state, "bet"), "fold": (*state, "fold")})
        if state[-1] == "fold":
            return Leaf([-1, 1])
        if len(state) == 2:
            return Turn("bob", "bet", {"call": (*state, "call"), "pass": (*state, "pass")})
        if state[-1] == "pass":
            return Leaf([1, -1])
        return Leaf([2, -2] if state[0] == "high" else [-2, 2])

    return build_tree(("ann", "bob"), (), expand)


@pytest.fixture(scope="module")
def checker():
    engine = open_engine("embedded", confined=False)
    yield Checker(Subject(build_poker()), engine)
    engine.close()


HIGH = "do(choice(nature, high), s0)"
LOW = "do(choice(nature, low), s0)"
BET = "do(choice(you, bet), s0)"
HIGH_BET = f"do(choice(you, bet), {HIGH})"
CALLED = f"do(choice(them, call), {BET})"
HIDDEN = (
    "the tree has an information set of 2 nodes ('bet' of bob); backward induction needs perfect"
    " information"
)
NOT_SAID = "it depends on what nature draws, which is not said"


@pytest.mark.parametrize(
    ("claim", "verdict", "why"),
    [
        # the payoff of a path, with nature's draw said or not
        (f"finally(goal(you, 2), do(choice(them, call), {HIGH_BET}))", "proved", ""),
        (f"finally(goal(you, 1), do(choice(them, pass), {BET}))", "proved", ""),
        (f"finally(goal(you, 2), {CALLED})", "unknown", NOT_SAID),
        (f"finally(goal(you, 5), {CALLED})", "refuted", ""),
        # 1/3 of 2 and 2/3 of -2
        (f"average_payoff(you, -2/3, {CALLED})", "proved", ""),
        (f"average_payoff(you, 0, {CALLED})", "refuted", ""),
        # who moves
        ("moves_next(you, s0)", "proved", ""),
        (f"moves_next(them, {BET})", "proved", ""),
        (f"moves_next(you, {BET})", "refuted", ""),
        (f"not(moves_next(you, {BET}))", "proved", ""),
        # who knows what
        (f"knows(you, {HIGH}, {HIGH})", "proved", ""),
        (f"knows(them, {HIGH}, {HIGH_BET})", "refuted", ""),
        (f"knows(them, {BET}, {BET})", "proved", ""),
        (f"knows(you, {LOW}, s0)", "unknown", NOT_SAID),
        # with the high card a bet earns 1 or 2 and a fold -1, whatever bob does; with the low one
        # that depends on bob
        # Looking ahead is decided only where everybody sees what was done.
        (f"will_play(you, bet, {HIGH})", "unknown", HIDDEN),
        (f"will_play(you, fold, {LOW})", "unknown", HIDDEN),
        (f"will_play(them, call, {BET})", "unknown", HIDDEN),
        ("will_play(you, bet, s0)", "unknown", NOT_SAID),
        ("continuation_payoff(you, 2, s0)", "unknown", HIDDEN),
    ],
)
def test_claims_about_a_game_with_a_hidden_card(checker, claim, verdict, why):
    (read,) = parse(claim)
    found = checker.check(read)
    assert (found.verdict.value, found.proof.why) == (verdict, why)
