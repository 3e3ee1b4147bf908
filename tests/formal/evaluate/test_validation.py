"""The levels of validation: on small programs by hand, and on all recorded programs of the
published study."""

from fractions import Fraction

import pytest
from recorded import DATA, needs_recorded

from bestresponse.formal.evaluate.validation import (
    check_constraints,
    check_names,
    judge_levels,
    named_game,
)
from bestresponse.formal.formalize.plan import library
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.studies.reproduce.program_levels import PublishedLevels, published_levels

FOLDER = DATA / "autoformalization"
GOOD = next(e.program for e in library() if e.name == "prisoners_dilemma")
MOVES = (("keep quiet", "talk"),) * 2
TRUE = table_from_cells(
    ("x", "y"),
    MOVES,
    tuple((Fraction(u), Fraction(v)) for u, v in [(3, 3), (0, 5), (5, 0), (1, 1)]),
)


def verdicts(program, **more):
    levels = judge_levels(
        validate(program, EmbeddedEngine()), TRUE, named_game("prisoners-dilemma"), **more
    )
    return {name: finding.ok for name, finding in levels.items()}, levels


def test_a_right_program_passes_every_level():
    assert set(verdicts(GOOD)[0].values()) == {True}


def test_swapped_cells_pass_only_the_approximate_level():
    swapped = GOOD.replace("'Silent', 'Betray', 0, 5", "'Silent', 'Betray', 5, 0").replace(
        "'Betray', 'Silent', 5, 0", "'Betray', 'Silent', 0, 5"
    )
    found, levels = verdicts(swapped)
    assert found == {
        "syntactic": True,
        "functional": True,
        "approximate": True,
        "exact": False,
        "order": False,
        "constraints": False,
        "equivalent": False,
    }
    assert (
        levels.exact.why
        == "after ada: Silent, ben: Betray the payoffs are 5, 0 in the program and 0, 5 in the true"
        " game"
    )


def test_the_right_order_with_other_numbers_is_right_in_order_and_constraints_only():
    found, levels = verdicts(GOOD.replace("5", "7"))
    assert (found["exact"], found["order"], found["constraints"], found["equivalent"]) == (
        False,
        True,
        True,
        False,
    )
    assert (
        levels.approximate.why == "over all ends the players earn 11 and 11 in total, not 9 and 9"
    )


def test_doubled_payoffs_are_equivalent():
    doubled = (
        GOOD.replace("3, 3)", "6, 6)")
        .replace("0, 5)", "0, 10)")
        .replace("5, 0)", "10, 0)")
        .replace("1, 1)", "2, 2)")
    )
    found, _ = verdicts(doubled)
    assert (found["exact"], found["equivalent"]) == (False, True)


def test_what_cannot_be_loaded_or_played_fails_all_and_says_where_it_begins():
    found, levels = verdicts("initial(s0")
    assert set(found.values()) == {False}
    assert levels.functional.why == "it cannot be loaded"
    found, levels = verdicts(GOOD.replace("payoff('Betray', 'Betray', 1, 1).", ""))
    assert (found["syntactic"], found["functional"], found["exact"]) == (True, False, False)
    assert "has no payoff after ada: Betray, ben: Betray" in levels.functional.why


def test_without_a_truth_only_the_first_levels_are_asked():
    levels = judge_levels(validate(GOOD, EmbeddedEngine()))
    assert levels.exact.ok is None
    assert levels.functional.ok


def test_the_published_procedure_plays_four_rounds_that_visit_every_pair_of_moves():
    true = {("C", "C"): (3, 3), ("C", "D"): (0, 5), ("D", "C"): (5, 0), ("D", "D"): (1, 1)}
    exact = {pair: (Fraction(u), Fraction(v)) for pair, (u, v) in true.items()}
    found = published_levels(
        EmbeddedEngine(), GOOD, exact, Fraction(9), named_game("prisoners-dilemma")
    )
    assert found == PublishedLevels(True, True, True, True)  # 3 + 0 + 1 + 5 = 9
    wrong = published_levels(EmbeddedEngine(), GOOD, exact, Fraction(8), named_game("stag-hunt"))
    assert wrong == PublishedLevels(True, False, True, False)
    other = exact | {("C", "D"): (Fraction(1), Fraction(5))}
    assert (
        published_levels(EmbeddedEngine(), GOOD, other, None, named_game("stag-hunt")).exact
        is False
    )
    assert published_levels(
        EmbeddedEngine(), "initial(s0", None, None, named_game("stag-hunt")
    ) == PublishedLevels(syntactic=False, approximate=None, exact=None, constraints=False)


@needs_recorded("autoformalization")
def test_every_fifth_recorded_program_gets_the_published_verdicts(tmp_path):
    from bestresponse.studies.reproduce.recorded_programs import judge_programs

    (tmp_path / "games.jsonl").write_bytes((FOLDER / "games.jsonl").read_bytes())
    lines = (FOLDER / "exp1_agents.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "exp1_agents.jsonl").write_bytes(b"".join(lines[::5]))
    found = judge_programs(tmp_path)
    assert len(found) == 55
    for name in ("syntactic", "approximate", "exact"):
        assert all(bool(getattr(one.published, name)) == one.row["verdict"][name] for one in found)


@pytest.mark.soak
@needs_recorded("autoformalization")
def test_the_275_recorded_programs_get_the_published_verdicts():
    from bestresponse.studies.reproduce.recorded_programs import check_programs, judge_programs

    found = judge_programs(FOLDER)
    levels = [one.published for one in found]
    assert len(found) == 275
    assert sum(bool(one.syntactic) for one in levels) == 263
    assert sum(bool(one.approximate) for one in levels) == 243
    assert sum(bool(one.exact) for one in levels) == 238
    assert sum(bool(one.approximate) and not one.exact for one in levels) == 5
    assert sum(one.is_true_game is True for one in found) == 239
    assert sum(one.is_true_game == one.published.exact for one in found) == 270
    for name in ("syntactic", "approximate", "exact"):
        assert all(bool(getattr(one.published, name)) == one.row["verdict"][name] for one in found)
    logged = [one.row["logged"] for one in found]
    assert sum(log["attempts"] == 1 and log["status"] != "syntactic_error" for log in logged) == 256
    assert sum(one.published.constraints != one.row["verdict"]["constraints"] for one in found) == 1
    differing = [check.what for check in check_programs(FOLDER)[0] if check.agrees is False]
    assert differing == ["recorded constraints verdicts found again"]


def make_table(players, moves, *payoffs):
    return table_from_cells(
        players, (moves, moves), tuple((Fraction(u), Fraction(v)) for u, v in payoffs)
    )


@pytest.mark.parametrize(
    ("players", "moves", "agrees"),
    [
        # 4, 4 where both talk and 2, 2 where both keep quiet: a dilemma in which talking is to
        # cooperate.
        (("x", "y"), ("talk", "keep quiet"), False),
        (("p", "q"), ("talk", "keep quiet"), False),
        # Names that the story does not have may mean anything.
        (("x", "y"), ("stay", "go"), True),
        (("x", "y"), ("keep quiet", "talk"), True),
    ],
)
def test_a_dilemma_whose_moves_have_exchanged_their_names_is_not_the_one_of_the_story(
    players, moves, agrees
):
    table = make_table(players, moves, (4, 4), (0, 9), (9, 0), (2, 2))
    assert check_constraints(table, named_game("prisoners-dilemma"))
    assert check_names(table, TRUE, named_game("prisoners-dilemma")).ok is agrees


@pytest.mark.parametrize(("players", "agrees"), [(("wife", "husband"), False), (("p", "q"), True)])
def test_players_with_names_of_the_story_want_what_they_want_there(players, agrees):
    places = ("opera", "football")
    true = make_table(("wife", "husband"), places, (2, 1), (0, 0), (0, 0), (1, 2))
    # The first player likes the football better here; without the names that may be the husband.
    table = make_table(players, places, (1, 2), (0, 0), (0, 0), (2, 1))
    assert check_names(table, true, named_game("battle-of-the-sexes")).ok is agrees
