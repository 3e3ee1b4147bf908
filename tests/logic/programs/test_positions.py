"""Programs whose plays are too many are games by their positions: each is looked at once."""

import json
import shutil

import pytest

from bestresponse.games.logic.game import program_game
from bestresponse.games.nim.rules import Nim
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.programs.positions import asks_only_what_holds
from bestresponse.logic.programs.report import decode_report, encode_value
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.theory.positions.graph import explore

NEEDS_SWIPL = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)
NIM = """initial(s0).
initially(player(ann), s0).
initially(player(bob), s0).
initially(control(ann), s0).
initially(pile(1, 1), s0).
initially(pile(2, 3), s0).
other(ann, bob).
other(bob, ann).
legal(move(P, take(N, Pile)), S) :- holds(control(P), S), holds(pile(Pile, Size), S), between(1, Size, N).
effect(pile(Pile, Left), move(_, take(N, Pile)), S) :- holds(pile(Pile, Size), S), Left is Size - N.
effect(control(Q), move(P, _), _) :- other(P, Q).
abnormal(pile(Pile, _), move(_, take(_, Pile)), _).
abnormal(control(P), move(P, _), _).
final(S) :- \\+ (holds(pile(_, Size), S), Size > 0).
finally(goal(P, -1), S) :- holds(control(P), S).
finally(goal(Q, 1), S) :- holds(control(P), S), other(P, Q).
"""
DRAWN = NIM.replace("initially(control(ann), s0).\n", "").replace(
    "other(ann, bob).\n",
    "chance(move(nature, P), 1/2, S) :- \\\\+ holds(control(_), S), holds(player(P), S).\n"
    "effect(control(P), move(nature, P), _).\nother(ann, bob).\n".replace("\\\\+", "\\+"),
)


def list_plays(table, number=0, made=()):
    """List the plays through the positions: who moved how, and what is paid."""
    here = table.positions[number]
    if not here.moves:
        return [(made, here.payoffs)]
    plays = []
    for move, after in zip(here.moves, here.following, strict=True):
        plays += list_plays(table, after, (*made, (here.player, move)))
    return plays


@pytest.mark.parametrize("engine", [EmbeddedEngine, pytest.param(SwiEngine, marks=NEEDS_SWIPL)])
@pytest.mark.parametrize("program", [NIM, DRAWN], ids=["nim", "drawn"])
def test_the_plays_through_the_positions_are_those_of_the_table(engine, program):
    few = engine(Limits(positions=20 if program is NIM else 36))
    by_positions = validate(program, few)
    few.close()
    by_plays = validate(program, EmbeddedEngine())
    assert by_plays.positions is None
    assert by_positions.ok, by_positions.errors
    assert by_positions.table is None
    plays = list_plays(by_positions.positions)
    assert len(plays) == by_positions.positions.plays
    assert sorted(plays) == sorted((row.moves, row.payoffs) for row in by_plays.table.rows)


def test_nim_by_its_program_is_nim():
    program = NIM + "initially(pile(3, 4), s0).\n"
    report = validate(program, EmbeddedEngine(Limits(positions=500)))
    game = program_game(report, "nim")
    graph, own = explore(game), explore(Nim("1-3-4"))
    assert (graph.num_decisions, len(graph.owner)) == (own.num_decisions, len(own.owner))
    assert (game.payoff_bounds, game.total, game.roles) == ((-1, 1), 0, ("ann", "bob"))
    view = game.view(game.start(), "ann")
    assert game.read_position(view) == 0
    assert "pile(3,4)" in view.position[0].text


def test_a_report_by_positions_travels_between_processes():
    report = validate(DRAWN, EmbeddedEngine(Limits(positions=36)))
    data = json.loads(json.dumps(report, default=encode_value))
    *_, (players, positions, plays) = data
    data[-1] = [players, [], plays]
    assert decode_report(DRAWN, data, positions) == report


def test_more_positions_than_the_limit_are_named():
    report = validate(NIM, EmbeddedEngine(Limits(positions=4)))
    assert report.errors[0].message == "The game has more than 4 positions."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("final(S) :-", "final(do(_, do(_, S))) :- holds(player(_), S).\nfinal(S) :-"),
        ("final(S) :-", "final(S) :- S = do(_, s0).\nfinal(S) :-"),
        ("final(S) :-", "seen(S, S).\nfinal(S) :- seen(S, X), X == s1.\nfinal(S) :-"),
        ("effect(control(Q)", "effect(marked(X), M, _) :- M == take(X, X).\neffect(control(Q)"),
        ("effect(control(Q)", "effect(marked(X), M, _) :- \\+ M = X.\neffect(control(Q)"),
        ("effect(control(Q)", "effect(marked(_), _, _).\neffect(control(Q)"),
        ("other(P, Q).", "!, other(P, Q)."),
        ("other(ann, bob).", "sees(ann, M, do(M, _)).\nother(ann, bob)."),
        ("initially(pile(1, 1), s0)", "initially(pile(1, 1), _)"),
    ],
)
def test_rules_that_ask_more_than_what_holds_are_told_by_plays(old, new):
    assert asks_only_what_holds(check_source(NIM))
    assert old in NIM
    assert not asks_only_what_holds(check_source(NIM.replace(old, new, 1)))


def test_where_the_order_of_what_holds_matters_positions_are_not_taken():
    ordered = NIM.replace("finally(goal(P, -1), S) :-", "finally(goal(P, N), S) :- first(N, S),")
    ordered += "first(N, S) :- once(holds(pile(N, _), S)).\n"
    report = validate(ordered, EmbeddedEngine(Limits(positions=20)))
    assert report.positions is None
    assert not report.ok
