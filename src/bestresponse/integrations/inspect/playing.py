"""Tasks for Inspect in which a model is asked several times: `bestresponse/game` and `bestresponse/formalize`.

game         any game by name or file; seats for the model, for Inspect's model roles, for strategies and solvers
formalize    stories with true games; every attempt with its feedback, scored by whether the game is the true one
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from statistics import fmean

from anyio import from_thread, to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from bestresponse.api.formalizing import formalize as formalize_story
from bestresponse.core.errors import UsageError
from bestresponse.formal.evaluate.dataset import stories
from bestresponse.formal.evaluate.validation import compare_tables
from bestresponse.integrations.seats import name_players, play_seats
from bestresponse.models.providers.function import FunctionModel, from_function
from bestresponse.runs.models import ModelLimits

_UNREAD = float("nan")


def _ask_inspect(role: str | None) -> FunctionModel:
    """Return Inspect's model, or the one in that role, as a model of ours; for use in a thread of an Inspect task."""

    async def generate(prompt: str) -> str:
        model = get_model() if role is None else get_model(role=role)
        return str((await model.generate(prompt)).completion)

    def answer(prompt: str) -> str:
        return from_thread.run(generate, prompt)

    return from_function(role or "model", answer)


@task  # type: ignore[untyped-decorator, unused-ignore]
def game(
    game: str = "stag-hunt", seats: str = "", others: str = "equilibrium", repeats: int = 1, seed: int = 0
) -> Task:
    """Let the model play any game.

    `seats` lists a player for every seat, in order: `model`, `role:NAME` for one of Inspect's model roles, or a
    strategy such as `random`. Without it the model takes the first seat and `others` the rest.
    """
    players = name_players(game, [name.strip() for name in seats.split(",") if name], "model", others)
    data = [Sample(id=number, input=f"Play {game}.", metadata={"seed": seed + number}) for number in range(repeats)]
    return Task(dataset=MemoryDataset(data), solver=_play(game, players), scorer=payoff_and_regret())


@solver  # type: ignore[untyped-decorator, unused-ignore]
def _play(name: str, players: Mapping[str, str]) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        def run() -> None:
            seated = {role: _find_player(one) for role, one in players.items()}
            played = play_seats(name, seated, state.metadata["seed"])
            payoffs, void = played.record.payoffs, played.record.void
            ours = [role for role, one in players.items() if one == "model"]
            state.metadata["played"] = [(payoffs[role], played.regrets.get(role)) for role in ours if payoffs]
            state.metadata["payoffs"] = dict(payoffs)
            state.metadata["void"] = None if void is None else void.why

        await to_thread.run_sync(run)
        return state

    return solve


def _find_player(name: str) -> str | FunctionModel:
    if name == "model":
        return _ask_inspect(None)
    return _ask_inspect(name.removeprefix("role:")) if name.startswith("role:") else name


@scorer(metrics={"payoff": [mean(), stderr()], "regret": [mean(), stderr()]})  # type: ignore[untyped-decorator, unused-ignore]
def payoff_and_regret() -> Scorer:
    """Score what the model's seats earned, and what their decisions cost against equilibrium; NaN where unknown."""

    async def score(state: TaskState, target: Target) -> Score:
        played = state.metadata["played"]
        regrets = [regret for _, regret in played if regret is not None]
        value = {
            "payoff": fmean(payoff for payoff, _ in played) if played else _UNREAD,
            "regret": fmean(regrets) if regrets else _UNREAD,
        }
        return Score(value=value, explanation=state.metadata["void"] or str(state.metadata["payoffs"]))

    return score


@task  # type: ignore[untyped-decorator, unused-ignore]
def formalize(num_stories: int = 10, attempts: int = 3, kind: str = "") -> Task:
    """Let the model turn stories into game programs, with feedback; `kind` chooses stories of one kind of game."""
    chosen = [one for one in stories() if not kind or one.game == kind]
    if not chosen:
        raise UsageError(
            f"there is no story of {kind!r}: expected one of {', '.join(sorted({s.game for s in stories()}))}"
        )
    chosen = chosen[:: max(1, len(chosen) // num_stories)][:num_stories]
    data = [Sample(id=story.id, input=story.text, metadata={"story": story.id}) for story in chosen]
    return Task(dataset=MemoryDataset(data), solver=_formalize(attempts), scorer=game_is_true())


@solver  # type: ignore[untyped-decorator, unused-ignore]
def _formalize(attempts: int) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        def run() -> None:
            story = next(story for story in stories() if story.id == state.metadata["story"])
            with tempfile.TemporaryDirectory() as folder:
                limits = ModelLimits(cache="off")
                model = _ask_inspect(None)
                found = formalize_story(story.text, model, attempts=attempts, output_dir=folder, limits=limits)
            table = found.formalization.table if found.ok else None
            same = compare_tables(table, story.table) if table is not None else None
            state.metadata["found"] = (table is not None, same is not None and same.exact)
            state.metadata["why"] = repr(found) if same is None else "; ".join(same.differences[:1])
            state.metadata["program"] = found.program

        await to_thread.run_sync(run)
        return state

    return solve


@scorer(metrics={"game": [mean(), stderr()], "true": [mean(), stderr()]})  # type: ignore[untyped-decorator, unused-ignore]
def game_is_true() -> Scorer:
    """Score whether a game came out, and whether it is the story's true game."""

    async def score(state: TaskState, target: Target) -> Score:
        is_game, is_true = state.metadata["found"]
        value = {"game": float(is_game), "true": float(is_true)}
        return Score(value=value, answer=state.metadata["program"], explanation=state.metadata["why"])

    return score
