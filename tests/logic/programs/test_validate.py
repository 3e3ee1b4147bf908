"""Validation: four stages, each with words its author can act on."""

from games_for_logic import DILEMMA

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits
from bestresponse.logic.language.diagnostics import Stage
from bestresponse.logic.programs.validate import Report, feedback, validate, validate_strategy


def report(source: str) -> Report:
    return validate(source, EmbeddedEngine(Limits(steps=50_000)))


def found(source: str) -> list[tuple[str, int, str]]:
    return [(d.stage.value, d.line, d.message) for d in report(source).errors]


def test_a_good_game_is_ok_and_has_nothing_to_repair() -> None:
    result = report(DILEMMA)
    assert result.ok
    assert result.table is not None
    assert feedback(result) == ""


def test_the_reader_reports_all_syntax_errors_and_nothing_else() -> None:
    broken = DILEMMA.replace("initial(s0).", "initial(s0)").replace(
        "effect(did(P, M), move", "effect(did(P, M, move"
    )
    stages = found(broken)
    assert [(stage, line) for stage, line, _ in stages] == [("reader", 3), ("reader", 15)]


def test_static_checks_find_missing_misspelt_and_wrong_arity() -> None:
    source = DILEMMA.replace("final(do(M2, do(M1, S))) :-", "finale(do(M2, do(M1, S))) :-").replace(
        "holds(role(P1, row), S)", "hold(role(P1, row), S)"
    )
    messages = found(source)
    assert ("static", 22, "hold/2 is called but not defined") in messages
    assert ("static", 0, "final/1 is missing") in messages
    hints = {d.message: d.hint for d in report(source).errors}
    assert hints["hold/2 is called but not defined"] == "did you mean holds?"
    assert hints["final/1 is missing"].startswith("for example: final(do(")


def test_reserved_names_are_static_errors() -> None:
    assert (
        found(DILEMMA + "game(_, s0).\n")[0][2]
        == "game/2 belongs to the solver; a game cannot define it"
    )


def test_runtime_errors_name_their_clause() -> None:
    source = DILEMMA.replace(
        "payoff('D', 'D', 1, 1).", "payoff('D', 'D', U, 1) :- U is unknown + 1."
    )
    assert found(source) == [("runtime", 18, "unknown is not a number")]
    assert report(source).errors[0].source_line == "payoff('D', 'D', U, 1) :- U is unknown + 1."


def test_a_game_without_end_is_said_plainly() -> None:
    endless = DILEMMA.replace("final(do(M2, do(M1, S))) :-", "final(never(M2, M1, S)) :-")
    source = endless.replace("abnormal(", "unusual(")
    errors = report(source).errors
    assert [d.stage for d in errors] == [Stage.RUNTIME]
    assert errors[0].message.startswith(
        "a play is not over after 300 moves (check final/1 and legal/2)"
    )


def test_an_empty_program_misses_everything() -> None:
    assert [message for _, _, message in found("")][:5] == [
        "initial/1 is missing",
        "initially/2 is missing",
        "legal/2 is missing",
        "final/1 is missing",
        "finally/2 is missing",
    ]


def test_prose_is_no_program() -> None:
    assert not report("Here is the game you asked for. It has two players, Ann and Bob.").ok


def test_feedback_holds_what_is_wrong_and_the_numbered_program() -> None:
    text = feedback(report("initial(s0)\ninitially(player(p1), s0).\n"))
    assert (
        text
        == "- line 2, column 1: error: an operator or the end of the clause was expected before"
        " 'initially' (is a full stop or comma missing at the end of line 1?)\n   "
        " initially(player(p1), s0).\n\n1 | initial(s0)\n2 | initially(player(p1), s0)."
    )


def test_a_strategy_is_checked_in_its_game() -> None:
    engine = EmbeddedEngine(Limits())
    good = "select(P, _O, S, M) :- holds(default_move(P, M), S).\n"
    assert validate_strategy(good, DILEMMA, engine).errors == ()
    uses_game = "select(_P, _O, _S, M) :- payoff(M, _, 5, _).\n"
    assert validate_strategy(uses_game, DILEMMA, engine).errors == ()
    for source, message in {
        "choose(a).\n": "select/4 is missing",
        "select(P, _O, S, M) :- hold(default_move(P, M), S).\n": "hold/2 is called but not defined",
        "select(_, _, _, _) :- fail.\n": "select/4 gives no move in the initial situation",
        "select(P, _O, S, M) :- holds(default_move(P, M, S).\n": (
            "')' or an operator was expected before '.'"
        ),
    }.items():
        errors = validate_strategy(source, DILEMMA, engine).errors
        assert len(errors) >= 1, source
        if "expected" not in message:
            assert errors[0].message == message
