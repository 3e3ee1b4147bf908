"""The worker of the MCP server keeps the limits of a call, and a killed one is replaced."""

import asyncio
import json
import os
import signal
from dataclasses import replace

import pytest
from games_for_logic import DILEMMA

import bestresponse as br
from bestresponse.core.errors import LimitReached, UsageError
from bestresponse.integrations.mcp.server import CallLimits, WorkerPool
from bestresponse.integrations.mcp.tools import SpokenLine, tournament
from bestresponse.logic.settings import settings


def with_pool(limits, use):
    async def run():
        pool = WorkerPool(limits)
        try:
            return await use(pool)
        finally:
            await pool.close()

    return asyncio.run(run())


@pytest.mark.skipif(
    not hasattr(signal, "SIGSTOP"), reason="a process cannot be halted on this system"
)
def test_a_worker_that_does_not_answer_in_time_is_killed_and_replaced():
    async def use(pool):
        await pool.start()
        halted = pool._process
        os.kill(halted.pid, signal.SIGSTOP)
        with pytest.raises(LimitReached, match="was not done after 1 seconds"):
            await pool.call("list_games", {"search": "stag"})
        assert halted.returncode == -signal.SIGKILL
        pool.limits = CallLimits(seconds=60.0)
        return await pool.call("list_games", {"search": "stag"})

    found = with_pool(CallLimits(seconds=1.0), use)
    assert [game["name"] for game in found["games"]] == ["stag-hunt", "stag-hunt-lelma"]


def test_the_messages_of_a_transcript_reach_the_worker(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = br.steer("meeting", games=1, fresh=0, output_dir="results")
    solved = run.results.results.solved[0]
    answering = next(one for one in solved.tree.infosets if one.player == 1)
    facts = json.loads(answering.key)[3]
    said = [SpokenLine(text=text) for _, _, text in facts["said"]]

    async def use(pool):
        asked = {"domain": "meeting", "transcript": said, "private": facts["private"]}
        return await pool.call("advise", asked)

    found = with_pool(CallLimits(seconds=60.0), use)
    mix = solved.policy.at("player 2", answering.key)
    assert found["probabilities"] == pytest.approx(mix)
    assert found["source"] == "solved tree"


def test_programs_run_within_the_limits(monkeypatch):
    monkeypatch.setattr(settings, "limits", replace(settings.limits, ends=3))

    async def use(pool):
        return await pool.call("formalize_check", {"program": DILEMMA})

    found = with_pool(CallLimits(seconds=60.0), use)
    assert [one["message"] for one in found["diagnostics"]] == ["The game has more than 3 ends."]


def test_arguments_and_results_that_are_too_long_are_refused():
    async def use(pool):
        with pytest.raises(LimitReached, match="the limit is 300"):
            await pool.call("solve", {"game": "[" * 400})
        with pytest.raises(LimitReached, match="more than 200 characters"):
            await pool.call("list_games", {})
        with pytest.raises(UsageError, match="there is no game"):
            await pool.call("solve", {"game": "/etc/hosts"})

    with_pool(CallLimits(seconds=60.0, input=300, output=200), use)


def test_few_calls_wait_and_more_are_refused_at_once():
    async def use(pool):
        calls = [pool.call("list_games", {"search": "stag"}) for _ in range(30)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert (await pool.call("list_games", {"search": "stag"}))["games"]
        return answers

    answers = with_pool(CallLimits(seconds=120.0, waiting=3), use)
    refused = [answer for answer in answers if isinstance(answer, LimitReached)]
    # One is carried out and three wait.
    assert [isinstance(answer, dict) for answer in answers] == [True] * 4 + [False] * 26
    assert len(refused) == 26
    assert str(refused[0]) == (
        "3 calls wait already; send one after the other, and this one again later"
    )


def test_a_program_is_asked_and_repaired_within_sessions():
    async def use(pool):
        loaded = await pool.call("prolog_load", {"program": "p(1). p(2). q(X) :- p(X), X > 1."})
        asked = await pool.call("prolog_ask", {"session": loaded["session"], "goal": "q(X)"})
        change = {"session": loaded["session"], "old": "p(2).", "new": "p(3). p(4)."}
        repaired = await pool.call("prolog_repair", change)
        answers = []
        for session in (repaired["session"], loaded["session"]):
            question = {"session": session, "goal": "q(X)", "most": 1}
            answers.append(await pool.call("prolog_ask", question))
        return loaded, asked, answers

    loaded, asked, (after, before) = with_pool(CallLimits(seconds=60.0), use)
    assert (loaded["ok"], loaded["defined"]) == (True, ["p/1", "q/1"])
    assert asked == {"answers": [{"X": "2"}], "more": False}
    assert after == {"answers": [{"X": "3"}], "more": True}
    assert before == asked


def test_a_program_that_is_refused_can_be_repaired_and_none_escapes():
    async def use(pool):
        broken = await pool.call("prolog_load", {"program": "p(X) :- shell(X)."})
        with pytest.raises(UsageError, match="shell/1 is not allowed"):
            await pool.call("prolog_ask", {"session": broken["session"], "goal": "p(ls)"})
        change = {"session": broken["session"], "old": "shell(X)", "new": "p(X)"}
        endless = await pool.call("prolog_repair", change)
        for goal, why in (
            ("p(1)", "did not come to an end"),
            ("shell(ls)", "shell/1 is not allowed"),
            ("p(", "refused"),
            ("nothing(X)", "unknown procedure nothing/1"),
        ):
            with pytest.raises(UsageError, match=f"(?s){why}.*; mend the goal"):
                await pool.call("prolog_ask", {"session": endless["session"], "goal": goal})
        change = {"session": endless["session"], "old": "p(", "new": "q("}
        with pytest.raises(UsageError, match="occurs 2 times"):
            await pool.call("prolog_repair", change)
        return broken, endless

    broken, endless = with_pool(CallLimits(seconds=60.0), use)
    assert not broken["ok"]
    assert "shell/1 is not allowed" in broken["problem"]
    assert (endless["ok"], endless["problem"]) == (True, "")


def test_sixteen_programs_are_kept():
    async def use(pool):
        sessions = []
        for number in range(17):
            loaded = await pool.call("prolog_load", {"program": f"p({number})."})
            sessions.append(loaded["session"])
        asked = await pool.call("prolog_ask", {"session": sessions[1], "goal": "p(X)"})
        with pytest.raises(UsageError, match="load the program again"):
            await pool.call("prolog_ask", {"session": sessions[0], "goal": "p(X)"})
        return asked

    assert with_pool(CallLimits(seconds=60.0), use)["answers"] == [{"X": "1"}]


def test_moves_in_a_position_are_worth_what_best_play_earns():
    async def use(pool):
        found = []
        for moves in (["a1"], ["a1", "b2", "c3", "a3"], ["a1", "b1", "a2", "b2"]):
            found.append(await pool.call("position", {"game": "tic-tac-toe", "moves": moves}))
        over = ["a1", "b1", "a2", "b2", "a3"]
        with pytest.raises(UsageError, match="the play is over"):
            await pool.call("position", {"game": "tic-tac-toe", "moves": over})
        return found

    corner, threat, won = with_pool(CallLimits(seconds=120.0), use)
    # Only the centre answers a corner; then c1 stops the diagonal; a3 fills a column.
    assert corner["worth"] == {
        **dict.fromkeys(("a2", "a3", "b1", "b3", "c1", "c2", "c3"), -1.0),
        "b2": 0.0,
    }
    assert (threat["player"], threat["best"]) == ("player 1", ["c1"])
    assert (won["worth"]["a3"], "a3" in won["best"]) == (1.0, True)


def test_noise_of_a_tournament_is_a_mechanism_of_the_game():
    # with noise 1/2 every move is drawn evenly: (3 + 0 + 5 + 1) / 4 per round
    game = "prisoners-dilemma with repeated(rounds=3, noise=0.5)"
    table = tournament(game, ["tit-for-tat", "defector"])
    assert table.rounds == 3
    assert [row.per_round for row in table.standings] == pytest.approx([2.25, 2.25])
