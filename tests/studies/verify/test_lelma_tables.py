"""The tables of LELMA from a few recorded runs, each cell by hand, and the printed cells against each other."""

import json
from types import SimpleNamespace

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.formal.claims.claim import parse
from bestresponse.formal.claims.translation import Reading
from bestresponse.logic import EmbeddedEngine, Verdict
from bestresponse.studies.verify.reproduction import (
    GAMES,
    Recheck,
    RecordedAttempt,
    RecordedRating,
    Sample,
    _average_costs,
    _compare_verdicts,
    _count_attempts,
    _count_choices,
    _failed_checks,
    _judge,
    _strict,
    _tables,
    games_of,
    measure_translator,
    published_for,
    read_samples,
    recorded_verdicts,
    reproduce_lelma,
    turn_claim,
)

CELLS = ("passed", "false alarm", "missed", "caught")


def make_sample(name="a", game="pd", attempts=1, ratings=(), queries=(), **more):
    recorded = tuple(RecordedAttempt(queries=queries) for _ in range(attempts))
    raters = tuple(RecordedRating(first, last) for first, last in ratings)
    return Sample(name, game, recorded, raters=raters, **more)


def read_claim(text):
    (parsed,) = parse(text)
    return parsed


@pytest.fixture
def recheck(tmp_path):
    """Check queries on the games of the paper."""
    return Recheck(games_of(tmp_path), EmbeddedEngine(), {"pd": {"higher(5, X).": "true"}})


# The printed cells.


@pytest.mark.parametrize(
    ("model", "runs"),
    [("gpt-4o", {"hd": 30, "pd": 30, "sh": 30}), ("gemini-1.0-pro", {"hd": 31, "pd": 29, "sh": 30})],
)
def test_the_printed_cells_fit_together(model, runs):
    cells = published_for(model)
    # One run of Gemini is labelled as another game, so 31 and 29.
    assert sum(cells[f"samples with {number} attempts"] for number in range(1, 6)) == 90
    for scope, total in {"all games": 90, **{GAMES[game]: count for game, count in runs.items()}}.items():
        counts = [cells[f"{scope}: {cell}"] for cell in CELLS]
        assert sum(counts) == total
        assert cells[f"{scope}: accuracy, %"] == round(100 * (counts[0] + counts[3]) / total)
    for cell in ("passed", "caught"):
        assert cells[f"all games: {cell}"] == sum(cells[f"{GAMES[game]}: {cell}"] for game in runs)
    # Shares are those of whole runs: of 30 in the choices, and of as many as were rated in the judgements.
    for game, count in runs.items():
        for when in ("first", "last"):
            for share, total in (
                (cells[f"{GAMES[game]}: choice B {when}, %"], 30),
                (cells[f"{GAMES[game]}: correct {when}, %"], count),
            ):
                assert 0 <= share <= 100
                assert share == round(100 * round(share * total / 100) / total, 2)


def test_agreement_and_costs_are_those_of_the_paper():
    # Tables 5 and 9.
    four, gemini = published_for("gpt-4o"), published_for("gemini-1.0-pro")
    assert (four["Fleiss' kappa of the raters"], gemini["Fleiss' kappa of the raters"]) == (0.31, 0.59)
    assert (four["prompt tokens per attempt"], four["generated tokens per attempt"]) == (1269.77, 1224.38)
    assert (four["seconds per attempt"], gemini["seconds per attempt"]) == (16.53, 34.66)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("openai/gpt-4o", 41), ("GPT 4o", 41), ("gpt_4o-2024-05-13", 41), ("gpt-4-omni", 41), ("gpt-4o-mini", 0),
        ("google/gemini-1.0-pro", 39), ("gemini-pro-latest", 39), ("gemini-1.5-pro", 0), ("other", 0),
    ],
)  # fmt: skip
def test_a_model_is_known_by_its_names(name, cells):
    assert len(published_for(name)) == cells


# Cells worked out.


def test_attempts_are_counted_from_one_to_five_or_as_far_as_they_go():
    def count(*attempts):
        return [(what, number) for what, number, _, _ in _count_attempts([make_sample(attempts=n) for n in attempts])]

    assert count(1, 1, 2) == [
        ("samples with 1 attempts", 2), ("samples with 2 attempts", 1), ("samples with 3 attempts", 0),
        ("samples with 4 attempts", 0), ("samples with 5 attempts", 0),
    ]  # fmt: skip
    assert count(0, 7)[0] == ("samples with 0 attempts", 1)
    assert count(0, 7)[-1] == ("samples with 7 attempts", 1)
    assert {digits for _, _, digits, _ in _count_attempts([make_sample()])} == {None}


def test_choices_are_shares_of_those_that_were_made():
    made = [make_sample(orig_choice=first, final_choice=last) for first, last in (("B", "R"), ("R", "R"), ("B", "B"))]
    made.append(make_sample(orig_choice=None, final_choice=None))
    first, last, none, _ = _count_choices({"Hawk-Dove": made, "Stag Hunt": [make_sample()]})
    assert first == ("Hawk-Dove: choice B first, %", pytest.approx(200 / 3), 2, "")
    assert last == ("Hawk-Dove: choice B last, %", pytest.approx(100 / 3), 2, "")
    assert none == ("Stag Hunt: choice B first, %", None, 2, "")


def test_costs_are_means_of_the_means_of_samples():
    samples = [
        make_sample(attempts=2, sheet={"instr_tokens": 100, "seconds": "soon"}),
        make_sample(attempts=1, sheet={"instr_tokens": 30, "gen_tokens": 8}),
        make_sample(attempts=0, sheet={"instr_tokens": 1000}),
    ]
    # (100 / 2 + 30) / 2; a sample without attempts and a cost that is no number do not count.
    assert list(_average_costs(samples)) == [
        ("prompt tokens per attempt", 40.0, 2, ""),
        ("generated tokens per attempt", 8.0, 2, ""),
    ]


def test_people_and_the_checker_are_set_beside_each_other():
    yes, no = (True, True), (False, False)
    samples = [
        make_sample("passed", ratings=(yes, yes)),
        make_sample("alarm", ratings=(yes, yes), queries=("bad",)),
        make_sample("missed", ratings=(yes, no)),
        make_sample("caught", ratings=((False, True), (False, True)), queries=("bad",)),
        make_sample("caught too", ratings=(no, no), queries=("bad",)),
        make_sample("without attempts", attempts=0, ratings=(yes, yes)),
    ]
    recheck = SimpleNamespace(failed=lambda game, attempt: attempt.queries)
    printed = {"Stag Hunt: false alarm": 1, "Stag Hunt: missed": 1}
    cells = {
        what: (figure, digits, remark) for what, figure, digits, remark in _judge({"x": samples}, recheck, printed)
    }
    # Correct is what both say: at first 3 of 6, at last also the one that was put right.
    assert cells["x: correct first, %"] == (50.0, 2, "")
    assert cells["x: correct last, %"] == (pytest.approx(400 / 6), 2, "")
    for scope in ("x", "all games"):
        assert [cells[f"{scope}: {cell}"] for cell in CELLS] == [(count, None, "") for count in (1, 1, 1, 2)]
        assert cells[f"{scope}: accuracy, %"] == (60, None, "")
    # Of six pairs of ratings five agree; 7 of 12 say correct, so chance is (49 + 25) / 144.
    kappa = (5 / 6 - 74 / 144) / (1 - 74 / 144)
    assert cells["Fleiss' kappa of the raters"] == (pytest.approx(kappa), 2, f"{kappa:.3f}")


def test_two_cells_that_the_paper_swaps_are_named():
    yes, no = ((True, True),), ((False, False),)
    samples = [make_sample("passed", ratings=yes), *[make_sample("alarm", ratings=yes, queries=("bad",))] * 2]
    samples.append(make_sample("missed", ratings=no))
    recheck = SimpleNamespace(failed=lambda game, attempt: attempt.queries)

    def find_remarks(printed):
        return {what: remark for what, _, _, remark in _judge({"x": samples}, recheck, printed) if remark}

    # 2 false alarms and 1 that was missed.
    swapped = find_remarks({"x: passed": 1, "x: false alarm": 1, "x: missed": 2, "x: caught": 0})
    assert swapped.keys() == {"x: false alarm", "x: missed"}
    assert all("one of them is transposed" in remark for remark in swapped.values())
    assert find_remarks({"x: passed": 1, "x: false alarm": 2, "x: missed": 1, "x: caught": 0}) == {}
    assert find_remarks({"x: passed": 5, "x: false alarm": 1, "x: missed": 3, "x: caught": 0}) == {}


def test_nothing_that_was_checked_has_no_accuracy_and_no_kappa():
    samples = [make_sample(attempts=0, ratings=((True, True),))]
    cells = {what: figure for what, figure, _, _ in _judge({"x": samples}, None, {})}
    assert cells["x: accuracy, %"] is None
    assert cells["Fleiss' kappa of the raters"] is None


# Beside the paper.


def list_tables(samples):
    recheck = SimpleNamespace(failed=lambda game, attempt: ())
    return {check.what: check for check in _tables(samples, recheck)}


def test_all_runs_of_a_game_are_compared_with_its_cells_alone():
    # 29 of 30 choose B at first, which the paper prints as 96.67; 8 at last, where it prints 23.33.
    runs = [
        make_sample(str(k), model="gpt-4o", orig_choice="B" if k < 29 else "R", final_choice="B" if k < 8 else "R")
        for k in range(30)
    ]
    checks = list_tables(runs)
    part = checks["runs of gpt-4o"]
    assert (part.published, part.found, part.agrees) == (90, 30, None)
    first, last = (checks[f"Prisoner's Dilemma: choice B {when}, %"] for when in ("first", "last"))
    assert (first.published, first.found, first.agrees) == (96.67, 96.67, True)
    assert (last.published, last.found, last.agrees) == (23.33, 26.67, False)
    attempts = checks["samples with 1 attempts"]
    assert (attempts.published, attempts.found, attempts.agrees) == (None, 30, None)
    assert checks["correctness, confusion and agreement"].found is None
    assert list_tables(runs[:29])["Prisoner's Dilemma: choice B first, %"].published is None


def test_runs_of_other_models_stand_alone():
    runs = [make_sample("a", model="x", orig_choice="B", ratings=((True, True),)), make_sample("b", "chess", model="y")]
    checks = list_tables(runs)
    assert "runs of x" not in checks
    assert checks["Prisoner's Dilemma: choice B first, %"].found == 100.0
    assert checks["Prisoner's Dilemma: choice B last, %"].found is None
    assert checks["Prisoner's Dilemma: correct first, %"].found == 100.0
    assert checks["chess: choice B first, %"].agrees is None
    # Of y there are no ratings.
    assert checks["correctness, confusion and agreement"].remark == "these runs carry no ratings"
    assert "chess: correct first, %" not in checks


def test_ninety_runs_are_compared_with_every_cell():
    runs = [
        make_sample(f"{game} {k}", game, model="gpt-4o", orig_choice="B", final_choice="B")
        for game in GAMES
        for k in range(30)
    ]
    checks = list_tables(runs)
    assert "runs of gpt-4o" not in checks
    assert (checks["samples with 1 attempts"].published, checks["samples with 1 attempts"].agrees) == (24, False)
    assert checks["Stag Hunt: choice B first, %"].agrees


# Queries.


def test_failed_queries_are_compared_as_sets():
    attempts = (
        RecordedAttempt(queries=("a", "b"), failed=("b", "a")),
        RecordedAttempt(queries=(), failed=()),
        RecordedAttempt(queries=("a",), failed=("c",)),
        RecordedAttempt(queries=("a",)),
    )
    recheck = SimpleNamespace(failed=lambda game, attempt: attempt.queries)
    (check,) = _failed_checks([Sample("s", "pd", attempts)], recheck)
    # The last was never put to the solver; of the others the first two agree.
    assert (check.published, check.found, check.agrees) == (3, 2, False)
    (same,) = _failed_checks([Sample("s", "pd", attempts[:2])], recheck)
    assert (same.published, same.found, same.agrees) == (2, 2, True)
    (none,) = _failed_checks([Sample("s", "pd", attempts[3:])], recheck)
    assert (none.published, none.found) == (None, None)


def test_verdicts_are_the_same_different_or_of_ill_formed_queries(recheck):
    recorded = {
        "pd": {"higher(5, 3).": "true", "higher(1, 3).": "true", "higher(5, X).": "false", "higher(3, 1).": "true"},
        "chess": {"higher(5, 3).": "true"},
    }
    compared = _compare_verdicts(recorded, recheck)
    assert compared["same"] == 2
    assert [(row["query"], row["ours"]) for row in compared["different"]] == [("higher(1, 3).", "false")]
    assert [(row["game"], row["why"]) for row in compared["ill_formed"]] == [
        ("pd", "it has a variable: a capital letter without quotes"),
        ("chess", "its payoffs are not known"),
    ]


def test_a_query_that_states_several_payoffs_is_refuted_by_one(recheck):
    def decide(*verdicts):
        recheck._known["pd", "q"] = tuple(SimpleNamespace(verdict=verdict) for verdict in verdicts)
        return recheck.verdict("pd", "q")

    assert decide(Verdict.PROVED, Verdict.PROVED) is Verdict.PROVED
    assert decide(Verdict.PROVED, Verdict.UNKNOWN) is Verdict.UNKNOWN
    assert decide(Verdict.UNKNOWN, Verdict.REFUTED, Verdict.PROVED) is Verdict.REFUTED
    assert decide() is Verdict.UNKNOWN


def test_queries_fail_that_are_not_proved_unless_the_record_says_they_were(recheck):
    queries = ("higher(5, 3).", "higher(1, 3).", "higher(5, X).", "higher(3, Y).")
    # The record says that the third was proved; of the fourth it says nothing.
    assert recheck.failed("pd", RecordedAttempt(queries=queries)) == ("higher(1, 3).", "higher(3, Y).")
    assert recheck.failed("sh", RecordedAttempt(queries=queries[2:])) == queries[2:]
    refuted = Recheck({"pd": recheck.checkers["pd"].subject}, EmbeddedEngine(), {"pd": {"higher(1, 3).": "true"}})
    assert refuted.failed("pd", RecordedAttempt(queries=queries[:2])) == ("higher(1, 3).",)


def test_recorded_queries_are_taken_strictly(recheck):
    subject = recheck.checkers["pd"].subject

    def read(query):
        return [getattr(part, "why", "read") for part in _strict(query, subject)]

    assert read("highest_guaranteed_payoff_choice('B').") == ["read"]
    assert read("highest_guaranteed_payoff_choice(B).") == ["it has a variable: a capital letter without quotes"]
    assert read("highest_guaranteed_payoff_choice('b').") == ["it uses names that the game does not have"]
    assert read("higher(5, 3).") == ["read"]


def test_claims_are_turned_as_they_were_recorded_with_their_denials():
    assert turn_claim(read_claim("lower(3, 5).")) == read_claim("higher(5, 3).")
    assert turn_claim(read_claim("\\+ lower(3, 5).")) == read_claim("\\+ higher(5, 3).")
    assert turn_claim(read_claim("higher(5, 3).")) == read_claim("higher(5, 3).")


# Files.


def test_the_payoffs_of_the_paper_stand_in_for_missing_ones(tmp_path):
    forms = {name: subject.game.payoffs.tolist() for name, subject in games_of(tmp_path).items()}
    # Rows and columns are R and B. Table 1: both R, R against B, B against R, both B.
    assert forms == {
        "pd": [[[1, 5], [0, 3]], [[1, 0], [5, 3]]],
        "sh": [[[1, 3], [0, 5]], [[1, 0], [3, 5]]],
        "hd": [[[0, 5], [1, 3]], [[0, 1], [5, 3]]],
    }


def write_samples(folder, *rows):
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


ROW = {"id": "a", "model": "x", "game": "pd", "attempts": [{"queries": ["higher(5, 3)."], "failed": []}]}


def test_samples_are_read_with_their_ratings_and_an_empty_file_refused(tmp_path):
    write_samples(tmp_path, ROW | {"raters": [{"orig_cor": True, "fin_cor": False}]})
    (read,) = read_samples(tmp_path)
    assert [(rating.first, rating.last) for rating in read.ratings] == [(True, False)]
    (tmp_path / "samples.jsonl").write_text("\n\n")
    with pytest.raises(UsageError):
        read_samples(tmp_path)
    assert recorded_verdicts(tmp_path) == {}
    (tmp_path / "query_verdicts.json").write_text('{"pd": {"q": "true"}}')
    assert recorded_verdicts(tmp_path) == {"pd": {"q": "true"}}


@pytest.mark.parametrize(
    ("answers", "counts", "agrees", "remark"),
    [
        ({"higher(5, 3).": "true"}, (1, 1), True, ""),
        ({"higher(5, 3).": "true", "higher(1, 3).": "true"}, (2, 1), False, ""),
        ({"higher(5, 3).": "true", "higher(1, X).": "true"}, (1, 1), True, "1 ill-formed queries apart"),
    ],
)
def test_verdicts_stand_first_where_any_were_recorded(tmp_path, answers, counts, agrees, remark):
    write_samples(tmp_path, ROW, ROW | {"id": "b", "attempts": [{"queries": []}, {}]})
    (tmp_path / "query_verdicts.json").write_text(json.dumps({"pd": answers}))
    result = reproduce_lelma(tmp_path)
    check = result.checks[0]
    assert check.what == "verdicts on recorded queries"
    assert ((check.published, check.found), check.agrees, check.remark) == (counts, agrees, remark)
    detail = result.detail
    assert (detail["samples"], detail["models"], detail["attempts"], detail["unchecked_attempts"]) == (2, ["x"], 3, 2)


def test_without_recorded_verdicts_none_are_compared(tmp_path):
    write_samples(tmp_path, ROW)
    result = reproduce_lelma(tmp_path)
    assert "verdicts on recorded queries" not in [check.what for check in result.checks]
    cells = dict(result.tables[0].rows)
    # Numbers are shown as they are, shares in percent: the one recorded claim is not in the text, which is empty.
    assert (cells["recorded claims"], cells["recall"]) == (1, "0.0 %")


# The offline translator.


class Translating:
    """Reads the claims off a text: each line one, with `?` before what is not read."""

    def translate(self, text, subject):
        read = [line for line in text.splitlines() if not line.startswith("?")]
        passages = [SimpleNamespace(reading=Reading.READ)] * len(read)
        passages += [SimpleNamespace(reading=Reading.UNREAD)] * (len(text.splitlines()) - len(read))
        return SimpleNamespace(claims=[read_claim(line) for line in read], passages=passages)


def test_the_translator_is_measured_against_what_was_recorded(recheck):
    first = RecordedAttempt(
        "lower(3, 5).\nhigher(4, 2).\nhigher(6, 2).\nhigher(1, 2).\n? who knows\n? nobody",
        ("higher(5, 3).", "higher(9, 8)."),
    )
    silent = RecordedAttempt(""), RecordedAttempt("higher(1, 2).")
    samples = [
        # Of four claims one was recorded, the other way round; of the others two are true. People say it is wrong.
        Sample("a", "pd", (first, RecordedAttempt("higher(4, 2).")), raters=(RecordedRating(False, True),)),
        # Nothing refuted, and people say so too; here nothing was recorded.
        Sample("b", "pd", (RecordedAttempt("higher(4, 2)."),), raters=(RecordedRating(True, True),)),
        # Nothing refuted, but people say that it is wrong.
        Sample("c", "pd", (RecordedAttempt("higher(4, 2)."),), raters=(RecordedRating(False, True),)),
        # Nothing claimed at first; what is claimed later is not judged.
        Sample("d", "pd", silent, raters=(RecordedRating(True, True),)),
        Sample("e", "pd", (RecordedAttempt("higher(1, 2)."),)),
    ]
    assert measure_translator(samples, Translating(), recheck) == {
        "sentences_with_amounts_or_solutions": 11,
        "partly_read": 0,
        "refused_to_read": 2,
        "share_refused": 2 / 11,
        "claims": 4,
        "same_as_recorded": 1,
        "not_recorded_but_true": 2,
        "recorded_claims": 2,
        "found_of_recorded": 1,
        "recall": 0.5,
        "detection_accuracy": pytest.approx(2 / 3),
        "unchecked_first_attempts": 1,
    }
    nothing = measure_translator([], Translating(), recheck)
    assert [nothing[name] for name in ("share_refused", "recall", "detection_accuracy")] == [None] * 3
