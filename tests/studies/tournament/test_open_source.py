"""Programs that read each other: what each plays against each, and how models write them.

In the prisoner's dilemma of the catalogue both cooperating pays 3 each, both defecting 1; who
defects against a cooperator gets 5, and the cooperator 0.
"""

import pytest

import bestresponse as br
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.strategies.open_source import OpenProgram, link_programs
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.matches import estimate_matches
from bestresponse.studies.tournament.open_source import play_programs

CLIQUE = r"""
% Cooperate with a copy of myself only.
select(_, _, _, cooperate) :- source(mine, Text), source(theirs, Text).
select(_, _, _, defect) :- source(mine, Text), \+ source(theirs, Text).
"""
CUPOD = r"""
% Cooperate unless the other is found to defect.
select(P, O, S, defect) :- would_play(O, P, S, defect).
select(P, O, S, cooperate) :- \+ would_play(O, P, S, defect).
"""
DUPOC = r"""
% Defect unless the other is found to cooperate.
select(P, O, S, cooperate) :- would_play(O, P, S, cooperate).
select(P, O, S, defect) :- \+ would_play(O, P, S, cooperate).
"""
COOPERATOR = "select(_, _, _, cooperate)."
DEFECTOR = "select(_, _, _, defect)."
# Cooperate where the other has a fact that cooperates, whatever its rules do.
TRUSTING = r"""
kind(Who) :- rule_of(Who, select(_, _, _, Move), true), Move == cooperate.
select(_, _, _, cooperate) :- kind(theirs).
select(_, _, _, defect) :- \+ kind(theirs).
"""


def config(**changed):
    given = {"open_source": True, "rounds": 1} | changed
    return TournamentConfig("prisoners-dilemma", ["default-move"], **given)


@pytest.mark.parametrize(
    ("first", "second", "earned"),
    [
        (CLIQUE, CLIQUE, (3, 3)),
        (CLIQUE, CLIQUE.replace("Text", "Program").replace("myself", "me"), (3, 3)),
        (CLIQUE, COOPERATOR, (5, 0)),
        (CUPOD, CUPOD, (3, 3)),
        (CUPOD, COOPERATOR, (3, 3)),
        (CUPOD, DEFECTOR, (1, 1)),
        # Two that look for cooperation never find it: the deepest program finds out nothing.
        (DUPOC, DUPOC, (1, 1)),
        (DUPOC, COOPERATOR, (3, 3)),
        # Each looks four programs deep, and at the bottom stands its own text: the first finds
        # itself cooperating there, the second itself defecting.
        (CUPOD, DUPOC, (0, 5)),
        (TRUSTING, COOPERATOR, (3, 3)),
        (TRUSTING, CUPOD, (1, 1)),
    ],
)
def test_programs_play_by_what_they_read(first, second, earned):
    assert play_programs((first, second), config()).per_round == earned


def test_cooperation_and_exploitation_are_shares_of_rounds():
    """Tit-for-tat loses the first of four rounds against a defector, and defects in the others."""
    tit_for_tat = r"""
    select(_, O, S, M) :- holds(last_move(O, M), S).
    select(_, O, S, cooperate) :- \+ holds(last_move(O, _), S).
    """
    played = play_programs((tit_for_tat, DEFECTOR), config(rounds=4))
    assert played.per_round == (0.75, 2.0)
    assert played.cooperates == (0.25, 0.0)
    assert played.exploits == (0.0, 0.25)


def test_a_game_without_a_cooperative_move_has_no_shares():
    rock = "select(_, _, _, rock)."
    paper = "select(_, _, _, paper)."
    settings = TournamentConfig("rock-paper-scissors", ["default-move"], open_source=True, rounds=1)
    played = play_programs((rock, paper), settings)
    assert (played.per_round, played.cooperates, played.exploits) == ((-1.0, 1.0), None, None)


def test_helpers_of_the_same_name_in_both_programs_stay_apart():
    """Both define decide/1; each runs its own, in the copies too."""
    first = "decide(cooperate). select(P, O, S, M) :- would_play(O, P, S, defect), decide(M)."
    second = "decide(defect). select(_, _, _, M) :- once(decide(M))."
    assert play_programs((first, second), config()).per_round == (0, 5)


def test_a_program_reads_the_other_if_a_rule_asks():
    reading = [
        CLIQUE,
        CUPOD,
        TRUSTING,
        "select(_, _, _, M) :- findall(T, source(_, T), [_, _]), M = d.",
    ]
    assert [OpenProgram.read(text).reads_other for text in reading] == [True] * 4
    # A mention in a comment or as data is not reading.
    blind = "% would_play(O, P, S, M)\nselect(_, _, _, M) :- member(M, [source(mine, x)])."
    assert not OpenProgram.read(blind).reads_other


def test_own_lines_come_first_so_that_messages_name_the_right_ones():
    linked = link_programs(OpenProgram.read(CUPOD), OpenProgram.read(DEFECTOR))
    assert linked.startswith(CUPOD)
    # Four copies in turn: the other's at the top, mine at the bottom.
    assert "':-'(select__3(_1,_2,_3,defect),true)." in linked
    assert "':-'(select__0(_1,_2,_3,defect),would_play__0(_2,_1,_3,defect))." in linked


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("select(_, _, _, defect", "the program cannot be read"),
        ("move(defect).", "no rule for select/4"),
        ("source(mine, x). select(_, _, _, defect).", "defines source/2"),
        ("select__0(x). select(_, _, _, defect).", "defines select__0/1"),
    ],
)
def test_what_is_no_program_is_refused_in_a_sentence(program, why):
    with pytest.raises(InvalidGame, match=why):
        OpenProgram.read(program)


def test_a_program_that_gives_no_move_is_named():
    with pytest.raises(InvalidGame, match="the second program cannot play prisoners-dilemma"):
        play_programs((DEFECTOR, "select(_, _, _, M) :- source(theirs, M), M == x."), config())


def test_entries_without_a_program_are_refused_or_left_out_of_a_group():
    with pytest.raises(UsageError, match="entries: grim is not a program"):
        TournamentConfig("prisoners-dilemma", ["grim"], open_source=True)
    with pytest.raises(UsageError, match="meta_rounds: it belongs to `open_source`"):
        TournamentConfig("prisoners-dilemma", ["grim"], meta_rounds=5)
    with pytest.raises(UsageError, match="continuation: it has no effect with `open_source`"):
        config(continuation=0.5)
    group = TournamentConfig("prisoners-dilemma", ["all"], open_source=True)
    assert "tit-for-tat" in [entry.name for entry in group.entries]
    assert ("grim", "it is not a program that another one can read") in group.left_out


@pytest.fixture
def programs(tmp_path):
    for name, text in (("clique", CLIQUE), ("cupod", CUPOD)):
        (tmp_path / f"{name}.pl").write_text(text)
    return tmp_path


def test_a_tournament_of_programs_reports_payoffs_and_who_reads(programs):
    entries = [programs / "clique.pl", programs / "cupod.pl", "default-move"]
    run = br.tournament(
        "prisoners-dilemma", entries, open_source=True, rounds=1, output_dir=programs / "runs"
    )
    # clique: 3 with itself, 1 with cupod (both defect), 5 with default-move, which cooperates.
    # cupod: 1, 3, 3; default-move: 0, 3, 3.
    assert {row["name"]: row["per_round"] for row in run.rows()} == {
        "clique": 3.0,
        "cupod": pytest.approx(7 / 3),
        "default-move": 2.0,
    }
    rows = {row["name"]: row for row in run.frame("meta_rounds").rows}
    assert [rows[name]["reads"] for name in ("clique", "cupod", "default-move")] == [1.0, 1.0, 0.0]
    assert rows["clique"]["exploits"] == pytest.approx(1 / 3)
    assert rows["default-move"]["exploited"] == pytest.approx(1 / 3)
    assert rows["cupod"]["cooperates"] == pytest.approx(2 / 3)
    assert run.replay().same


def answer(program):
    return f"```prolog\n{program}\n```"


def test_a_model_is_shown_the_program_it_meets_and_revises_its_own(programs):
    """It defects at first, sees that this earns 1 with cupod, and cooperates from then on."""
    asked = []

    def model(prompt):
        asked.append(prompt)
        return answer(COOPERATOR if "Your program until now" in prompt else DEFECTOR)

    run = br.tournament(
        "prisoners-dilemma",
        [model, programs / "cupod.pl"],
        open_source=True,
        meta_rounds=2,
        rounds=1,
        against="cupod",
        output_dir=programs / "runs",
    )
    own = [row for row in run.frame("meta_rounds").rows if row["name"] == "model"]
    assert [(row["meta_round"], row["per_round"], row["cooperates"]) for row in own] == [
        (1, 1.0, 0.0),
        (2, 3.0, 1.0),
    ]
    assert all("Cooperate unless the other is found to defect" in prompt for prompt in asked)
    revised = [prompt for prompt in asked if "Your program until now" in prompt]
    assert (len(asked), len(revised)) == (4, 2)
    told = "Meta-round 1: you earned 1 per round, your opponent 1."
    assert [told in prompt for prompt in revised] == [True, True]
    (earned,) = [row["per_round"] for row in run.rows() if row["name"] == "model"]
    assert earned == 2.0
    assert "Programs that read each other" in (run.path / "report.html").read_text()


def test_two_models_write_at_the_same_time(tmp_path):
    asked = []

    def model(prompt):
        asked.append(prompt)
        return answer(CUPOD)

    run = br.tournament(
        "prisoners-dilemma", [model], open_source=True, meta_rounds=2, rounds=1, output_dir=tmp_path
    )
    assert [row["per_round"] for row in run.frame("meta_rounds").rows] == [3.0, 3.0]
    assert len(asked) == 4
    assert ["has none before" in prompt for prompt in asked] == [True, True, False, False]


def test_a_revision_that_cannot_play_leaves_the_program_as_it_was(tmp_path):
    def model(prompt):
        revising = "Your program until now" in prompt
        return "I give up." if revising else answer(COOPERATOR)

    run = br.tournament(
        "prisoners-dilemma", [model], open_source=True, meta_rounds=2, rounds=1, output_dir=tmp_path
    )
    rows = run.frame("programs").rows
    assert [(row["meta_round"], row["written"], row["per_round"]) for row in rows] == [
        (1, True, 3.0),
        (1, True, 3.0),
        (2, False, 3.0),
        (2, False, 3.0),
    ]


def test_a_model_that_never_writes_a_program_has_missing_matches(tmp_path):
    run = br.tournament(
        "prisoners-dilemma",
        [lambda prompt: "No.", "default-move"],
        open_source=True,
        rounds=1,
        output_dir=tmp_path,
    )
    missing = {row["name"]: row["missing"] for row in run.rows()}
    assert missing["default-move"] == 2
    assert run.frame("meta_rounds").rows[0]["name"] == "default-move"


def test_an_estimate_counts_three_attempts_in_every_meta_round():
    """Two entries, one of them a model: four matches, in which the model sits four times."""
    settings = TournamentConfig(
        "prisoners-dilemma", ["some/model", "default-move"], open_source=True, meta_rounds=2
    )
    estimate = estimate_matches(settings)
    assert estimate.calls == {"some/model": 4 * 2 * 3}
    assert estimate.reply_tokens == {"some/model": 4 * 2 * 3 * 1024}
    assert estimate.what == "4 matches of programs, 2 meta-rounds each"
