"""Wrong games that would pass for right ones are refused or warned of, with the line, the cause and
a hint."""

import pytest
from games_for_logic import DILEMMA, simultaneous

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits
from bestresponse.logic.language.diagnostics import Diagnostic
from bestresponse.logic.programs.validate import validate


def found(source: str) -> list[Diagnostic]:
    return list(validate(source, EmbeddedEngine()).diagnostics)


def line_of(source: str, start: str) -> int:
    return next(
        number for number, line in enumerate(source.splitlines(), 1) if line.startswith(start)
    )


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            "effect(did(P, M), move(P, M), _S).",
            "effects(did(P, M), move(P, M), _S).",
            "nothing calls effects/3",
            "did you mean effect/3?",
        ),
        (
            "effect(did(P, M), move(P, M), _S).",
            "effect(did(P, M), move(P, M)).",
            "effect/2 is defined, but the solver asks effect/3 and nothing calls effect/2",
            "give effect 3 arguments",
        ),
        (
            "effect(did(P, M), move(P, M), _S).",
            "effect(did(P), move(P, _M), _S).",
            "did/2 is tested with holds/2, but no effect/3 or initially/2 ever makes it true",
            "did you mean did/1?",
        ),
    ],
)
def test_a_misspelt_contract_is_told_with_its_line(
    old: str, new: str, message: str, hint: str
) -> None:
    source = DILEMMA.replace(old, new)
    assert source != DILEMMA
    slip = next(d for d in found(source) if d.message == message)
    assert (slip.hint, slip.severity.value) == (hint, "error")
    assert source.splitlines()[slip.line - 1] == slip.source_line


def test_a_name_in_capitals_is_told_with_its_line() -> None:
    source = DILEMMA.replace("possible(move(P, 'C'), S)", "possible(move(P, Cooperate), S)")
    slip = next(d for d in found(source) if d.code == "move")
    assert slip.line == line_of(source, "possible(move(P, Cooperate)")
    assert (
        "a name that starts with a capital letter is a variable unless it is in quotes" in slip.hint
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            simultaneous(2, 2)
            .replace("value(m0, 0).", "value(1, 0).")
            .replace("value(m1, 1).", "value('1', 1)."),
            "1 and '1' are two names that are written alike",
        ),
        (
            DILEMMA + "finally(goal(p3, 1), S) :- final(S).\n",
            "p3 has a payoff, but is not a player",
        ),
        (
            DILEMMA.replace("initially(player(p2), s0).", "initially(player(p4), s0).").replace(
                "possible(move(P, 'C'), S) :-", "possible(move(p2, 'C'), S) :- P = p1,"
            ),
            "p2 moves, but is not a player",
        ),
    ],
)
def test_what_would_be_another_game_is_refused(source: str, message: str) -> None:
    assert message in [d.message for d in found(source) if d.severity.value == "error"]


def test_a_player_who_gets_to_move_inside_a_block_is_refused_unless_percepts_say_what_is_seen() -> (
    None
):
    source = """
initial(s0).
initially(player(P), s0) :- member(P, [lead, left, right]).
initially(control(lead), s0).
initially(control(right), s0).
legal(move(P, M), S) :- holds(control(P), S), member(M, [a, b]).
effect(did(P, M), move(P, M), _).
effect(control(left), move(lead, _), _).
abnormal(control(P), move(P, _), _).
final(S) :- forall(member(P, [lead, left, right]), holds(did(P, _), S)).
finally(goal(P, U), S) :- holds(did(lead, A), S), holds(did(P, B), S), ( A = B -> U = 1 ; U = 0 ).
"""
    early = (
        "left gets to move after lead: a, while others who move at the same time have not moved yet"
    )
    assert early in [d.message for d in found(source)]
    seen = validate(source + "sees(left, M, do(move(lead, M), _)).\n", EmbeddedEngine())
    assert seen.ok
    assert seen.table is not None
    left = {seen.table.knowledge(row, 2, "left") for row in seen.table.rows}
    assert left == {(("", "a"),), (("", "b"),)}


def test_a_player_who_never_moves_is_a_warning() -> None:
    source = """
initial(s0).
initially(player(giver), s0).
initially(player(taker), s0).
legal(move(giver, N), s0) :- member(N, [0, 5]).
final(do(_, s0)).
finally(goal(giver, U), do(move(_, N), s0)) :- U is 10 - N.
finally(goal(taker, N), do(move(_, N), s0)).
"""
    assert [(d.severity.value, d.message) for d in found(source)] == [
        ("warning", "taker never moves")
    ]


def test_the_report_says_when_not_every_order_was_tried() -> None:
    patient = EmbeddedEngine(Limits())
    doubts = [(d.message, d.hint) for d in validate(simultaneous(5, 3), patient).warnings]
    message = "not compared: 28,674 of 28,917 other orders of simultaneous moves"
    hint = (
        "tried: every play in one other order; `bestresponse --logic-seconds 600 ...` compares more"
    )
    assert doubts == [(message, hint)]


def test_orders_whose_replay_reaches_a_limit_are_told_as_not_tried() -> None:
    brief = EmbeddedEngine(Limits(output=60_000))
    doubts = [(d.message, d.hint) for d in validate(simultaneous(3, 5), brief).diagnostics]
    message = "not compared: 625 of 625 other orders of simultaneous moves"
    hint = "tried: none within the limits; `bestresponse --logic-seconds 600 ...` compares more"
    assert doubts == [(message, hint)]
