"""The conformance kit notices every promise that a game or a player breaks."""

from dataclasses import dataclass
from random import Random

import pytest

from bestresponse.core import (
    NATURE,
    REFEREE,
    Amount,
    Choice,
    Decision,
    Form,
    Lottery,
    Mixture,
    Nature,
    View,
    Words,
)
from bestresponse.core.conformance import Broken, any_legal_action, check_game, check_player
from bestresponse.core.episode import play
from bestresponse.core.told import prose


@dataclass
class Steps:
    """One role says something, `length` times; sound as it is."""

    length: int = 2
    ask: object = Choice(("a", "b"))
    roles: tuple[str, ...] = ("me",)
    name: str = "steps"
    version: int = 1

    def start(self):
        return ()

    def asks(self, state):
        return {} if len(state) == self.length else {"me": self.ask}

    def view(self, state, role):
        return View(role, prose("Say something."), prose(f"step {len(state)}"))

    def apply(self, state, moves):
        return (*state, *moves.values())

    def payoffs(self, state):
        return dict.fromkeys(self.roles, 1.0)


class RestlessStart(Steps):
    def start(self):
        self.length = 0
        return (object(),)


class Stranger(Steps):
    def asks(self, state):
        return {} if state else {"somebody": self.ask}


class Misaddressed(Steps):
    def view(self, state, role):
        return View("other", prose("Say something."))


class Blinking(Steps):
    looks = 0

    def view(self, state, role):
        self.looks += 1
        return View(role, prose("Say something."), prose(f"look {self.looks}"))


class Unlisted(Choice):
    pass


class Spoiling(Steps):
    """Keeps what happened in a list that it changes."""

    def start(self):
        return []

    def apply(self, state, moves):
        state.append(moves["me"])
        return list(state)


class Forgetful(Steps):
    """Shows the state before differently once it has been left."""

    left = False

    def view(self, state, role):
        return View(
            role, prose("Say something."), prose("left" if self.left and not state else "here")
        )

    def apply(self, state, moves):
        self.left = True
        return super().apply(state, moves)


class Unpaid(Steps):
    def payoffs(self, state):
        return {"me": 1.0}


class Infinite(Steps):
    def payoffs(self, state):
        return {"me": float("inf")}


class Drifting(Steps):
    """Every play ends elsewhere."""

    count = 0

    def apply(self, state, moves):
        self.count += 1
        return (*state, self.count)


class SameView(Steps):
    """Nature sees the same before every draw."""

    def asks(self, state):
        return {} if len(state) == self.length else {NATURE: Lottery.uniform((1, 2))}

    def view(self, state, role):
        return View(role, prose("Draw."))


def test_draws_differ_where_nature_sees_the_same_twice():
    game = SameView(length=20)
    check_game(game)
    record = play(game, {NATURE: Nature(0)})
    drawn = [submission.decision.action for submission in record.submissions]
    assert set(drawn) == {1, 2}


@pytest.mark.parametrize(
    ("game", "promise"),
    [
        (RestlessStart(), r"start\(\) gives another state each time"),
        (Steps(roles=()), "roles must be different and not none"),
        (Steps(roles=("me", "me")), "roles must be different and not none"),
        (Stranger(), "an unknown role is asked: somebody"),
        (Misaddressed(), "the view of me is addressed to other"),
        (Blinking(), "two looks of me at one state differ"),
        (Steps(ask=Unlisted(("a", "b"))), "is of no kind that `Ask` lists"),
        (Spoiling(1), r"apply\(\) changed the state it was given"),
        (Forgetful(), r"apply\(\) changed what a role saw before"),
        (Unpaid(roles=("me", "you")), r"payoffs for \['me'\], roles are \['me', 'you'\]"),
        (Infinite(), "a payoff is not finite: {'me': inf}"),
        (Drifting(), "a replay ends in another state"),
    ],
)
def test_a_game_that_breaks_a_promise_is_told_which(game, promise):
    with pytest.raises(Broken, match=promise):
        check_game(game)


def test_a_game_that_keeps_its_promises_passes_within_the_steps_that_it_needs():
    check_game(Steps())
    check_game(Steps(3), max_steps=4)
    with pytest.raises(Broken, match="steps did not end within 3 steps"):
        check_game(Steps(3), max_steps=3)


class Everybody(Steps):
    """Nature, the referee and the only role are asked at once."""

    def asks(self, state):
        asked = {NATURE: Lottery.uniform((1, 2)), REFEREE: Choice(("yes", "no")), "me": self.ask}
        return {} if state else asked


def test_nature_and_the_referee_may_be_asked_with_all_roles_at_once():
    check_game(Everybody())


@pytest.mark.parametrize(
    "ask",
    [
        Choice(("a", "b")),
        Amount(0.5, 1),
        Amount(1, 3, whole=True),
        Words(20),
        Mixture(("a", "b", "c")),
        Form((("bid", Amount(0, 1)), ("word", Words(20)))),
        Lottery((("never", 0.0), ("a", 0.5), ("b", 0.5))),
    ],
    ids=lambda ask: type(ask).__name__,
)
def test_every_kind_of_ask_is_answered_legally_and_not_always_alike(ask):
    answers = [any_legal_action(ask, Random(seed)) for seed in range(40)]
    for answer in answers:
        ask.check(answer)
    assert len({repr(answer) for answer in answers}) > 1
    assert "never" not in answers


@dataclass
class Says:
    """Decides by a function of how often it was asked."""

    decide_nth: object = lambda number: "a"
    name: str = "says"
    asked: int = 0

    def decide(self, view, ask):
        self.asked += 1
        return Decision(self.decide_nth(self.asked))


@pytest.mark.parametrize(
    ("player", "promise"),
    [
        (Says(name=""), "a player needs a name"),
        (Says(name=3), "a player needs a name"),
        (Says(lambda number: "ab"[number % 2]), "says decides differently on one view"),
    ],
)
def test_a_player_that_breaks_a_promise_is_told_which(player, promise):
    with pytest.raises(Broken, match=promise):
        check_player(player, Steps())


def test_a_player_is_asked_twice_for_every_decision_and_never_as_nature_or_referee():
    player = Says()
    check_player(player, Steps(3), max_steps=4)
    assert player.asked == 6
    with pytest.raises(Broken, match="did not end within 2 steps"):
        check_player(Says(), Steps(3), max_steps=2)
    seated = Says()
    check_player(seated, Everybody())
    assert seated.asked == 2
