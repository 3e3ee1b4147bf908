from dataclasses import dataclass

import pytest

from bestresponse.core import (
    NATURE,
    Choice,
    Decision,
    Episode,
    Lottery,
    Nature,
    Reading,
    Status,
    View,
)
from bestresponse.core.codec import record_from_json, record_to_json
from bestresponse.core.conformance import Broken, check_game, check_player
from bestresponse.core.episode import play
from bestresponse.core.errors import InvalidMove, NotAsked
from bestresponse.core.told import prose
from bestresponse.telling.render import write_history


@dataclass(frozen=True)
class CoinThenPennies:
    """Nature draws the stake, then both show a side at once."""

    name: str = "coin-then-pennies"
    version: int = 1
    roles: tuple[str, ...] = ("even", "odd")

    def start(self):
        return ()

    def asks(self, state):
        if len(state) == 0:
            return {NATURE: Lottery.uniform((1, 2))}
        return {} if len(state) == 3 else {"even": Choice(("h", "t")), "odd": Choice(("h", "t"))}

    def view(self, state, role):
        return View(
            role, prose("Show a side."), history=prose(f"stake {state[0]}" if state else "")
        )

    def apply(self, state, moves):
        return (moves[NATURE],) if NATURE in moves else (*state, moves["even"], moves["odd"])

    def payoffs(self, state):
        if len(state) < 3:
            return {"even": 0.0, "odd": 0.0}
        won = state[0] if state[1] == state[2] else -state[0]
        return {"even": float(won), "odd": float(-won)}


@dataclass(frozen=True)
class Always:
    side: str
    name: str = "always"

    def decide(self, view, ask):
        return Decision(self.side)


def test_a_play_ends_with_payoffs_that_follow_from_the_moves():
    record = play(CoinThenPennies(), {"even": Always("h"), "odd": Always("t"), NATURE: Nature(5)})
    stake = record.submissions[0].decision.action
    assert record.payoffs == {"even": -stake, "odd": stake}
    assert [s.role for s in record.submissions] == [NATURE, "even", "odd"]


def test_a_play_goes_on_from_any_prefix_of_its_submissions():
    players = {"even": Always("h"), "odd": Always("t"), NATURE: Nature(5)}
    whole = play(CoinThenPennies(), players)
    for cut in range(len(whole.submissions)):
        assert play(CoinThenPennies(), players, submissions=whole.submissions[:cut]) == whole


def test_answers_out_of_turn_and_illegal_ones_change_nothing():
    episode = Episode(CoinThenPennies())
    with pytest.raises(NotAsked, match="waiting for nature"):
        episode.submit("even", Decision("h"))
    episode.submit(NATURE, Decision(1))
    episode.submit("even", Decision("h"))
    with pytest.raises(NotAsked, match="waiting for odd"):
        episode.submit("even", Decision("t"))
    with pytest.raises(InvalidMove):
        episode.submit("odd", Decision("edge"))
    assert len(episode.submissions) == 2


def test_an_unreadable_answer_voids_the_play_and_no_payoff_is_made_up():
    episode = Episode(CoinThenPennies())
    episode.submit(NATURE, Decision(1))
    episode.submit("even", Decision(None, reading=Reading(Status.REFUSED, "I cannot gamble")))
    record = episode.record({})
    assert record.payoffs == {}
    assert record.void is not None
    assert (record.void.role, record.void.why) == ("even", "refused: I cannot gamble")
    assert record_from_json(record_to_json(record)) == record


def test_the_same_seed_draws_the_same_and_seeds_differ():
    def stake(seed):
        return play(
            CoinThenPennies(), {"even": Always("h"), "odd": Always("h"), NATURE: Nature(seed)}
        ).payoffs["even"]

    assert [stake(s) for s in range(20)] == [stake(s) for s in range(20)]
    assert {stake(s) for s in range(20)} == {1.0, 2.0}


def test_the_conformance_kit_accepts_a_good_game_and_player():
    for seed in range(5):
        check_game(CoinThenPennies(), seed)
    check_player(Always("h"), CoinThenPennies())


class ForgetsARole(CoinThenPennies):
    def payoffs(self, state):
        return {"even": 0.0}


class NeverEnds(CoinThenPennies):
    def asks(self, state):
        return {"even": Choice(("h",))}

    def apply(self, state, moves):
        return ()


class ChangesItsMind:
    name = "fickle"
    calls = 0

    def decide(self, view, ask):
        self.calls += 1
        return Decision("ht"[self.calls % 2])


@pytest.mark.parametrize(
    ("game", "promise"),
    [
        (ForgetsARole(), "payoffs for"),
        (NeverEnds(), "did not end"),
    ],
)
def test_the_conformance_kit_names_the_broken_promise(game, promise):
    with pytest.raises(Broken, match=promise):
        check_game(game, max_steps=50)


def test_the_conformance_kit_finds_a_player_that_is_no_function_of_its_view():
    with pytest.raises(Broken, match="fickle decides differently"):
        check_player(ChangesItsMind(), CoinThenPennies())


def test_a_record_is_shown_in_a_notebook_move_by_move():
    record = play(CoinThenPennies(), {"even": Always("h"), "odd": Always("t"), NATURE: Nature(5)})
    shown = record._repr_html_()
    assert shown.startswith("<p>Record(&#x27;coin-then-pennies&#x27;, 3 submissions, payoffs [")
    assert "<tr><th>seat</th><th>player</th><th>move</th></tr>" in shown
    assert (
        "<tr><td>even</td><td>always</td><td>h</td></tr><tr><td>odd</td><td>always</td><td>t</td></tr>"
        in shown
    )


def test_a_seat_that_nobody_takes_is_named():
    with pytest.raises(NotAsked, match="nobody sits in the seat 'odd'; seated: even, nature"):
        play(CoinThenPennies(), {"even": Always("h"), NATURE: Nature(5)})


def test_every_answer_is_handed_on_as_it_comes():
    seen = []
    players = {"even": Always("h"), "odd": Always("t"), NATURE: Nature(5)}
    record = play(CoinThenPennies(), players, on_submission=seen.append)
    assert tuple(seen) == record.submissions
    assert record.players == {"even": "always", "odd": "always", NATURE: "nature"}


def test_simultaneous_answers_after_one_that_cannot_be_read_are_not_taken():
    refused = Decision(None, reading=Reading(Status.REFUSED, "no"))
    players = {"even": Always("h"), "odd": Always("t"), NATURE: Nature(5)}

    def ask_seats(questions):
        return [
            refused if role == "even" else player.decide(view, ask)
            for role, player, view, ask in questions
        ]

    record = play(CoinThenPennies(), players, ask_seats=ask_seats)
    assert [s.role for s in record.submissions] == [NATURE, "even"]
    assert repr(record) == "Record('coin-then-pennies', 2 submissions, void: refused: no)"


@dataclass(frozen=True)
class Looks:
    """Says heads where it sees nothing, and tails where it sees the stake."""

    name: str = "looks"

    def decide(self, view, ask):
        return Decision("t" if write_history(view) else "h")


class Blind(Looks):
    blind = True


def test_a_player_that_says_it_does_not_look_sees_nothing():
    record = play(CoinThenPennies(), {"even": Looks(), "odd": Blind(), NATURE: Nature(5)})
    assert [s.decision.action for s in record.submissions[1:]] == ["t", "h"]


def test_what_is_neither_over_nor_an_action_is_refused():
    episode = Episode(CoinThenPennies())
    with pytest.raises(NotAsked, match="the play is not over; waiting for nature"):
        episode.record({})
    with pytest.raises(InvalidMove, match="nature gave a decision without an action"):
        episode.submit(NATURE, Decision(None))
    with pytest.raises(TypeError, match="nature only draws lotteries"):
        Nature(1).decide(View(NATURE), Choice(("h", "t")))


def test_after_its_end_a_play_waits_for_nobody():
    record = play(CoinThenPennies(), {"even": Always("h"), "odd": Always("t"), NATURE: Nature(5)})
    episode = Episode(CoinThenPennies(), record.submissions)
    with pytest.raises(
        NotAsked, match="even is not asked now; waiting for nobody: the game is over"
    ):
        episode.submit("even", Decision("h"))
