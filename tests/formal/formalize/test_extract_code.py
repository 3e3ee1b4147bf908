"""Finding the program in an answer, whatever stands around it."""

import pytest
from cpu_limit import cpu_limit
from hypothesis import given, strategies as st

from bestresponse.formal.formalize.forms import ProgramForm, find_asides, find_code
from bestresponse.models.base import Reply

PROGRAM = "initial(s0).\nfinal(S) :-\n    \\+ holds(control(_), S)."


def test_fenced_with_and_without_a_language_and_with_tildes():
    for fence in (
        "```prolog\n{}\n```",
        "```\n{}\n```",
        "~~~pl\n{}\n~~~",
        "   ```Prolog\n{}\n   ```",
    ):
        assert find_code("Sure:\n" + fence.format(PROGRAM) + "\nEnjoy.").text == PROGRAM


def test_bare_programs_are_cut_out_of_the_prose():
    found = find_code(f"Here is the game, as you asked.\n\n{PROGRAM}\n\nLet me know if this helps.")
    assert (found.text, found.how) == (PROGRAM, "bare")


def test_comments_and_empty_lines_within_a_bare_clause_do_not_end_it():
    # Without fences, lines that begin no clause belong to the clause before them, else `M \\= stop`
    # would be lost.
    program = (
        "initial(s0).\nlegal(move(P, M), S) :-\n    option(M),\n    % not twice.\n    M \\="
        " stop,\n\n    P \\= M."
    )
    assert find_code(f"Here it is:\n\n{program}\n\nGood luck with it.").text == program


def test_a_program_that_uses_the_marker_of_the_published_study_is_not_cut_there():
    program = "initial(s0).\nbetter(X, Y) :- X @> Y, sort(0, @>=, [X, Y], _)."
    assert find_code(f"```\n{program}\n```").text == program


def test_an_unclosed_fence_is_the_rest_of_the_answer():
    found = find_code(f"```prolog\n{PROGRAM}\nfinally(goal(P, U), S) :- ")
    assert found.how == "unclosed"
    assert found.text.endswith(":- ")


def test_a_second_whole_program_replaces_the_first_and_a_second_part_continues_it():
    assert (
        find_code("```\ninitial(s0).\n```\nBetter:\n```\ninitial(s1).\n```").text == "initial(s1)."
    )
    both = find_code("```\ninitial(s0).\n```\nand\n```\npayoff(a, 1).\n```").text
    assert both == "initial(s0).\n\npayoff(a, 1)."


def test_blocks_that_are_no_programs_do_not_count():
    assert (
        find_code("```sh\nswipl game.pl\n```\n```prolog\ninitial(s0).\n```").text == "initial(s0)."
    )


def test_prose_is_no_program():
    for prose in (
        "",
        "I cannot do that.",
        "Think (hard) about it. Then act.",
        "e.g. nothing",
        "```\n```",
    ):
        assert find_code(prose) is None


def test_no_game_is_read_with_its_reason():
    assert find_asides("NO GAME: a recipe").no_game == "a recipe"
    assert find_asides("**NO GAME** - it is only a poem.").no_game == "it is only a poem."
    assert find_asides("There is no game here").no_game is None


@pytest.mark.parametrize("piece", ["x", " ", "`", "a(", "\n", "% ", "a.\n", "*", "> "])
def test_long_answers_without_a_program_end_in_none(piece):
    with cpu_limit(60):
        assert find_code(piece * 2_000_000) is None
        assert find_asides(piece * 2_000_000).no_game is None


def test_a_program_beyond_the_first_million_characters_is_not_looked_for():
    prose = "word " * 200_000
    assert find_code(f"{prose[:-20]}\n\ninitial(s0).").text == "initial(s0)."
    assert find_code(f"{prose}\n\ninitial(s0).") is None
    assert find_asides(f"{prose[:-20]}\nNO GAME: a poem").no_game == "a poem"
    assert find_asides(f"{prose}\nNO GAME: a poem").no_game is None


@given(st.text())
def test_whatever_the_answer_nothing_breaks(answer):
    found = find_code(answer)
    assert found is None or found.text


def test_an_answer_with_two_programs_says_that_the_last_one_was_taken():
    answer = ProgramForm([]).read(Reply("```\ninitial(s0).\n```\nBetter:\n```\ninitial(s1).\n```"))
    assert answer.source == "initial(s1)."
    assert [(question.text, question.assumed) for question in answer.questions] == [
        ("Which of the 2 programs in the answer is meant?", "the last one")
    ]
    assert ProgramForm([]).read(Reply("```\ninitial(s0).\n```")).questions == ()
