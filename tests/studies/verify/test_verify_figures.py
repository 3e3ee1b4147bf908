"""The figures of checked reasoning, from runs put together by hand."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.formal.claims.texts import TEXTS
from bestresponse.formal.claims.translation import write_translation_prompt
from bestresponse.studies.verify.audit import list_judged_sentences, sample_verdicts
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.measure import (
    _count_claims,
    _list_changes,
    list_values,
    sum_up_attempts,
)
from bestresponse.studies.verify.plays import estimate_runs, list_runs
from bestresponse.studies.verify.ratings import (
    Confusion,
    RatedSheets,
    Rating,
    agreement,
    compare_with_people,
    measure_correctness,
    merge_labels,
)
from bestresponse.telling.render import write_rules


def run(name, first=("A", "unrefuted", 3.0, 0.0), last=("A", "unrefuted", 3.0, 0.0), **more):
    row = {"run": name, "model": "m", "game": "g", "repeat": 0, "attempts": 1, "transcript": []}
    for when, (choice, state, payoff, gap) in (("first", first), ("last", last)):
        row |= {
            f"{when}_choice": choice,
            f"{when}_state": state,
            f"{when}_payoff": payoff,
            f"{when}_gap": gap,
        }
    return row | more


RUNS = [
    run("a", ("A", "refuted", 1.0, 2.0), ("B", "unrefuted", 3.0, 0.0)),
    run("b", ("B", "refuted", 3.0, 0.0), ("B", "refuted", 3.0, 0.0)),
    run("c", ("B", "undecided", 3.0, 1e-10), ("A", "unchecked", 1.0, 2.0)),
    run("d", (None, "unchecked", None, None), ("B", "unrefuted", 3.0, 0.0)),
    run("e", ("C", "unrefuted", None, None), ("A", "unrefuted", 1.0, 2.0)),
]
CHOICES = {"chose_A": "A", "chose_B": "B"}


def test_states_are_of_all_runs_and_choices_of_those_that_can_be_read():
    first, last = (sum_up_attempts(RUNS, when, CHOICES) for when in ("first", "last"))
    states = ("unrefuted", "refuted", "undecided", "unchecked")
    assert [first[state] for state in states] == [1, 2, 1, 1]
    assert [last[state] for state in states] == [3, 1, 0, 1]
    # a, b, c and e can be read: one A and two B at first, two of each at last.
    assert (first["chose_A"].estimate, first["chose_B"].estimate, first["chose_A"].n) == (
        0.25,
        0.5,
        4,
    )
    assert (last["chose_A"].estimate, last["chose_B"].estimate) == (0.5, 0.5)
    # What c could choose is worth nothing known: 1, 3 and 3 at first; 3, 3, 1 and 1 at last.
    assert first["payoff"].estimate == pytest.approx(7 / 3)
    assert first["gap"].estimate == pytest.approx(2 / 3)
    assert (last["payoff"].estimate, last["gap"].estimate) == (2.0, 1.0)
    # Best at first are b and c, of which b was refuted; at last a and b.
    assert (first["wrong_reason"].estimate, first["wrong_reason"].n) == (0.5, 2)
    assert (last["wrong_reason"].estimate, last["wrong_reason"].n) == (0.5, 2)
    assert list_values(RUNS, "gap", "first") == [2.0, 0.0, 1e-10]


def test_without_a_readable_run_there_are_states_only():
    figures = sum_up_attempts(RUNS[3:4], "first", CHOICES)
    assert (figures["unchecked"], figures["payoff"], figures["gap"], figures["wrong_reason"]) == (
        1,
        None,
        None,
        None,
    )
    assert (figures["chose_A"], figures["chose_B"]) == (None, None)


def test_changes_are_last_less_first_run_by_run():
    rows = [run("a", ("A", "refuted", 1.0, 2.0)), run("b", ("A", "refuted", 2.0, 1.0)), run("c")]
    payoff, gap = _list_changes(rows)
    # Payoffs 1, 2, 3 become 3, 3, 3 and gaps 2, 1, 0 become 0: one more and one less on average. Of
    # the four patterns of signs of 2 and 1 two are as extreme.
    assert (payoff["metric"], payoff["difference"].estimate, payoff["p"]) == ("payoff", 1.0, 0.5)
    assert (gap["metric"], gap["difference"].estimate, gap["p"]) == ("Nash gap", -1.0, 0.5)
    assert list(_list_changes(rows[:1])) == []
    assert len(list(_list_changes(rows[:2]))) == 2


def test_claims_are_counted_by_form_the_commonest_first():
    def claim(form, verdict):
        return {"form": form, "verdict": verdict}

    attempts = [
        {"claims": [claim("payoff", "proved"), claim("best", "refuted")]},
        {"claims": [claim("best", "unknown"), claim("best", "refuted")]},
    ]
    assert list(_count_claims([run("a", transcript=attempts)])) == [
        {"form": "best", "made": 3, "refuted": 2, "unknown": 1},
        {"form": "payoff", "made": 1, "refuted": 0, "unknown": 0},
    ]


def test_people_are_compared_with_the_checker_on_first_reasonings_that_it_decided():
    names = {
        "right": (True, "unrefuted"),
        "alarm": (True, "refuted"),
        "missed": (False, "unrefuted"),
    }
    names |= {
        "caught": (False, "refuted"),
        "more": (True, "unrefuted"),
        "open": (True, "undecided"),
    }
    rows = [run(name, ("A", state, 3.0, 0.0)) for name, (_, state) in names.items()]
    first = {name: Rating(said, True, () if said else ("pa",)) for name, (said, _) in names.items()}
    # The second rater leaves one out and finds another wrong, which then counts as incorrect.
    second = {name: rating for name, rating in first.items() if name != "caught"} | {
        "more": Rating(False, True, ("u",))
    }
    judgements, figures = compare_with_people(rows, RatedSheets((first, second)))
    assert judgements == [
        {"model": "m", "game": "g", "people": "correct", "unrefuted": 1, "refuted": 1},
        {"model": "m", "game": "g", "people": "incorrect", "unrefuted": 2, "refuted": 1},
    ]
    values = {row["metric"]: row["value"] for row in figures}
    # Two of five agree. Chance: people say 2/5 correct, the checker 3/5: 6/25 + 6/25 = 12/25; (10 -
    # 12) / (25 - 12).
    assert (values["accuracy"].estimate, values["accuracy"].n) == (0.4, 5)
    assert values["kappa of people and checker"] == pytest.approx(-2 / 13)
    assert values["raters"] == 2
    # Three kinds: "pa" twice by the first and once by the second, "u" once.
    assert values["errors: a payoff is given to the wrong choices or player"] == 3
    assert values["errors: another error about payoffs"] == 1
    # On the five that both rated they agree but for one. Of ten ratings 7 say correct: 4/5
    # observed, 0.58 by chance.
    assert values["Fleiss' kappa of the raters"] == pytest.approx((0.8 - 0.58) / (1 - 0.58))
    _, alone = compare_with_people(rows, RatedSheets((first,)))
    assert {row["metric"]: row["value"] for row in alone}["Fleiss' kappa of the raters"] is None
    assert compare_with_people(rows, RatedSheets()) == ([], [])


def test_nothing_decided_has_no_accuracy_and_labels_need_every_rater():
    empty = Confusion.of([])
    assert (empty.total, empty.accuracy, empty.kappa) == (0, None, None)
    table = Confusion.of(
        [(True, True)] * 3 + [(True, False)] + [(False, True)] * 2 + [(False, False)] * 4
    )
    # 7 of 10 agree; chance 0.4 * 0.5 + 0.6 * 0.5 = 0.5.
    assert (table.total, table.accuracy, table.kappa) == (10, 0.7, pytest.approx(0.4))
    assert merge_labels(
        [{"a": Rating(True, True), "b": Rating(False, True)}, {"b": Rating(True, True)}]
    ) == {
        "a": (True, True),
        "b": (False, True),
    }
    assert agreement([[Rating(True, True)]]) is None


def place(start, text, **more):
    return {"start": start, "text": text} | more


def test_sentences_are_listed_in_their_order_with_their_verdicts():
    attempt = {
        "claims": [
            {
                "words": "",
                "claim": "payoff(3)",
                "correction": "",
                "why": "by the table",
                "verdict": "proved",
                "places": [place(30, "I get 3."), place(5, "Three for me.")],
            },
            {
                "words": "B is best",
                "claim": "best(b)",
                "correction": "A is best",
                "why": "",
                "verdict": "refuted",
                "places": None,
            },
        ],
        "partly_read": [place(25, "I get 3, which is 7 more.", left_out=["is 7 more"])],
        "unread": [place(20, "Who knows 4?", why="a question")],
        "not_asserted": [place(10, "If I got 5,", why="a condition")],
    }
    assert [cells[:5] for cells in list_judged_sentences(attempt)] == [
        ("", "read", "B is best", "refuted", "A is best"),
        ("Three for me.", "read", "payoff(3)", "proved", "by the table"),
        ("If I got 5,", "not asserted", None, None, "a condition"),
        ("Who knows 4?", "unread", None, None, "a question"),
        ("I get 3, which is 7 more.", "partly read", None, None, "not read: is 7 more"),
        ("I get 3.", "read", "payoff(3)", "proved", "by the table"),
    ]
    drawn = sample_verdicts([run("a", transcript=[attempt])])
    assert sorted((one["sentence"], one["words"], one["verdict"]) for one in drawn) == [
        ("", "B is best", "refuted"),
        ("I get 3.", "payoff(3)", "proved"),
        ("Three for me.", "payoff(3)", "proved"),
    ]
    assert len(sample_verdicts([run("a", transcript=[attempt]) for _ in range(40)])) == 100


def test_a_claim_of_a_partly_read_sentence_says_what_was_left_out():
    claim = {
        "words": "I get 3",
        "claim": "payoff(3)",
        "correction": "",
        "why": "",
        "verdict": "proved",
    }
    attempt = {
        "claims": [claim | {"places": [place(4, "I get 3, which is 7 more.")]}],
        "partly_read": [place(4, "I get 3, which is 7 more.", left_out=["is 7 more"])],
        "unread": None,
    }
    (cells,) = list_judged_sentences(attempt)
    assert cells[1:] == ("partly read", "I get 3", "proved", "not read: is 7 more", "payoff(3)")


def test_people_and_checker_have_their_share_of_correct_reasonings_first_and_last():
    rows = [
        run("a", ("A", "refuted", 1.0, 0.0), game="pd"),
        run("b", game="pd"),
        run("c", ("A", "refuted", 1.0, 0.0), ("A", "refuted", 1.0, 0.0), game="hd"),
        run("d", ("A", "unchecked", 1.0, 0.0), ("A", "unchecked", 1.0, 0.0), game="hd"),
    ]
    raters = (
        {"a": Rating(False, True), "b": Rating(True, True), "c": Rating(False, False)},
        {"a": Rating(False, True), "b": Rating(False, True)},
    )
    pd, hd, both = measure_correctness(rows, RatedSheets(raters))
    names = ("first_by_checker", "last_by_checker", "first_by_people", "last_by_people")
    # One rater finds fault with the first reasoning of b, so neither first one is correct; both
    # last ones are.
    assert [pd[name].estimate for name in names] == [0.5, 1.0, 0.0, 1.0]
    # d was neither checked nor rated.
    assert [(hd[name].estimate, hd[name].n) for name in names] == [(0.0, 1)] * 4
    assert (both["game"], both["last_by_people"].n) == ("all games", 3)
    assert both["last_by_people"].estimate == pytest.approx(2 / 3)


def test_a_model_in_a_raters_place_is_compared_with_people():
    rows = [run(name) for name in "abcd"]
    people = {
        "a": Rating(True, True),
        "b": Rating(True, True),
        "c": Rating(False, True),
        "d": Rating(False, True),
    }
    model = {
        "a": Rating(True, True),
        "b": Rating(False, True),
        "c": Rating(False, True),
        "d": Rating(True, True),
    }
    _, figures = compare_with_people(rows, RatedSheets((people,), {"judge": model}))
    values = {row["metric"]: row["value"] for row in figures}
    # They agree on a and c, as two who say "correct" half of the time would by chance.
    assert values["accuracy of judge in a rater's place"].estimate == 0.5
    assert values["kappa of people and judge"] == pytest.approx(0.0)
    assert values["share that judge calls correct"].estimate == 0.5


def test_a_run_is_made_as_often_as_asked_for_and_told_as_data():
    first, second = list_runs(VerifyConfig("m", "prisoners-dilemma", repeats=2))
    assert (first["repeat"], second["repeat"], first["study"]) == (0, 1, "verify")
    assert "repeats" not in first
    assert first["attempts"] == 5


def test_an_estimate_counts_every_attempt_of_reasoner_and_translator():
    config = VerifyConfig("m", "prisoners-dilemma", repeats=3, attempts=4, translator="rules")
    alone, scene = estimate_runs(config), config.scene
    assert (alone.plays, alone.calls, alone.what) == (3, {"m": 12}, "3 runs of at most 4 attempts")
    both = estimate_runs(
        VerifyConfig("m", "prisoners-dilemma", repeats=3, attempts=4, translator="n")
    )
    assert both.calls == {"m": 12, "n": 12}
    same = estimate_runs(
        VerifyConfig("m", "prisoners-dilemma", repeats=3, attempts=4, translator="m")
    )
    assert same.calls == {"m": 24}
    # By default every model translates what it wrote itself.
    own = estimate_runs(VerifyConfig(("m", "n"), "prisoners-dilemma", repeats=3, attempts=4))
    assert own.calls == {"m": 24, "n": 24}
    # The first of two movers decides once in each run, and every reply may have 1,024 tokens.
    assert alone.reply_tokens == {"m": 12 * 1024}
    # A prompt is what is told, four characters a token, and the reply before.
    briefing = write_rules(scene.game.view(scene.opening, scene.game.roles[scene.seat]))
    assert alone.prompt_tokens == {"m": 12 * (len(briefing) // 4 + 1024)}
    # A translator may write 4,096 tokens; it reads its instruction, the forms and the reasoning.
    assert both.reply_tokens == {"m": 12 * 1024, "n": 12 * 4096}
    assert same.reply_tokens == {"m": 12 * (1024 + 4096)}
    subject = scene.subject(scene.game.view(scene.opening, scene.game.roles[scene.seat]))
    asked = TEXTS.text("system") + write_translation_prompt("", subject)
    assert both.prompt_tokens["n"] == 12 * (len(asked) // 4 + 1024)
    assert both.plays == 3


def test_the_seat_and_the_moves_before_have_to_be_those_of_the_game():
    assert VerifyConfig("m", "prisoners-dilemma", seat="col").seat == "col"
    with pytest.raises(UsageError, match="seat: there is no player 'nobody'; expected row or col"):
        VerifyConfig("m", "prisoners-dilemma", seat="nobody")
    with pytest.raises(UsageError, match="nothing is chosen before in prisoners-dilemma"):
        VerifyConfig("m", "prisoners-dilemma", after=("cooperate",))
    with pytest.raises(
        UsageError, match="kuhn-poker hides some moves; a model is asked from the start only"
    ):
        VerifyConfig("m", "kuhn-poker", after=("bet",))
    assert VerifyConfig("m", "kuhn-poker").repeats == 30
