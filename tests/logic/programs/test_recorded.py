"""The 275 programs of a published study, written by GPT-4o: our verdicts and tables beside the
recorded ones.

The recordings (Mensfelt et al., autoformalization; MIT licence) lie outside the repository.
"""

import json
from fractions import Fraction
from functools import cache
from typing import Any

from recorded import DATA, needs_recorded

from bestresponse.core.errors import InvalidGame, LimitReached
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, Program, RuntimeFault
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.programs.strategies import StrategyReader, strategy_table
from bestresponse.logic.programs.table import GameTable, extract, published_cells

FOLDER = DATA / "autoformalization"
pytestmark = needs_recorded("autoformalization")

LOAD_MESSAGES = {"singleton", "marked", "discontiguous", "syntax"}
"""What the published pipeline took as a failure to load: any message at all."""


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


@cache
def agents() -> list[tuple[dict[str, Any], Program]]:
    engine = EmbeddedEngine(Limits())
    return [(agent, engine.load(agent["program"])) for agent in lines("exp1_agents.jsonl")]


@cache
def cells() -> list[tuple[tuple[str, str, Any, Any], ...]]:
    engine = EmbeddedEngine(Limits())
    return [published_cells(engine, program) for _, program in agents()]


@cache
def tables() -> list[GameTable | None]:
    engine = EmbeddedEngine(Limits(steps=50_000))
    found = []
    for _, program in agents():
        try:
            found.append(extract(engine, program).table)
        except (LimitReached, RuntimeFault):
            found.append(None)
    return found


def test_the_gate_refuses_none_of_them() -> None:
    assert len(agents()) == 275


def test_verdicts_on_loading_are_those_recorded() -> None:
    verdicts = []
    for (agent, program), found in zip(agents(), cells(), strict=True):
        messages = [d for d in program.gated.diagnostics if d.code in LOAD_MESSAGES]
        ours = not messages and "finally/2" in program.gated.defined and bool(found)
        assert ours == agent["verdict"]["syntactic"], agent["id"]
        verdicts.append(ours)
    assert sum(verdicts) == 263


def test_published_cells_are_those_recorded() -> None:
    for (agent, _), found in zip(agents(), cells(), strict=True):
        recorded = tuple(
            (c["row"], c["col"], c["u_row"], c["u_col"]) for c in agent["replay"]["outcomes"]
        )
        assert found == recorded, agent["id"]


def test_tables_agree_with_the_recorded_cells() -> None:
    compared = 0
    for (agent, _), table in zip(agents(), tables(), strict=True):
        recorded = {
            (c["row"], c["col"]): (c["u_row"], c["u_col"]) for c in agent["replay"]["outcomes"]
        }
        if table is None or not recorded:
            continue
        ours = {
            tuple(dict(row.moves)[player] for player in table.players): row.payoffs
            for row in table.rows
        }
        assert ours == recorded, agent["id"]
        compared += 1
    assert compared == 248


def test_two_programs_that_named_the_initial_situation_otherwise_are_games_after_all() -> None:
    rescued = [
        agent["game_id"]
        for (agent, _), table in zip(agents(), tables(), strict=True)
        if table is not None and not agent["verdict"]["syntactic"]
    ]
    assert rescued == ["mp_noncanonic_numbers", "sh_noncanonic_numbersv11"]


def test_recorded_strategies_pass_the_gate_unless_they_were_cut_off() -> None:
    game = lines("exp3_program.jsonl")[0]["program"]
    refused = [
        (agent["strategy"], agent["status"])
        for agent in lines("exp3_agents.jsonl")
        if check_source(game + "\n" + agent["strategy_program"]).errors
    ]
    assert refused == [("best_response", "syntactic_error")]


def test_recorded_strategies_play_as_recorded_against_anti_tit_for_tat() -> None:
    game = lines("exp3_program.jsonl")[0]["program"]
    engine = EmbeddedEngine(Limits())
    table = extract(engine, engine.load(game)).require()
    opposite = {"C": "D", "D": "C"}
    replayed = 0
    for agent in lines("exp3_agents.jsonl"):
        if agent["strategy"] == "random" or agent["status"] != "correct":
            continue
        strategy = strategy_table(
            StrategyReader(check_source(game + "\n" + agent["strategy_program"]), *table.players),
            ("C", "D"),
        )
        assert strategy.pure
        own, other = [strategy.first[0][0]], ["C"]
        while len(own) < len(agent["moves"]):
            reply = strategy.reply(own[-1], other[-1])[0][0]
            other.append(opposite[own[-1]])
            own.append(reply)
        assert own == agent["moves"], agent["agent"]
        assert [table.payoffs(pair)[0] for pair in zip(own, other, strict=True)] == agent["payoffs"]
        replayed += 1
    assert replayed == 17


def test_recorded_random_strategies_are_even_or_leave_a_gap() -> None:
    game = lines("exp3_program.jsonl")[0]["program"]
    found = []
    for agent in lines("exp3_agents.jsonl"):
        if agent["strategy"] == "random":
            try:
                strategy = strategy_table(
                    StrategyReader(
                        check_source(game + "\n" + agent["strategy_program"]), "c1", "c2"
                    ),
                    ("C", "D"),
                )
                found.append(dict(strategy.first))
            except InvalidGame:
                found.append({})
    even = {"C": Fraction(1, 2), "D": Fraction(1, 2)}
    assert found.count(even) == 2
    assert found.count({}) == 3, (
        "these draw a move and fail when it is not the one they had in mind"
    )
