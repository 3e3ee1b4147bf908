"""Tasks for Inspect, scored by the measures of this library.

nash_gap     the games, prompt, parsing and metrics of `bestresponse bench`
verify       whether every claim in a text about a game is true; a text without claims has no score
game         any game by name or file; the model, Inspect's model roles, strategies and solvers play
formalize    stories whose true games are known; a score says whether the model found that game
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

from anyio import from_thread, to_thread
from click import ClickException
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from bestresponse.api.formalizing import formalize as formalize_story
from bestresponse.api.reasoning import verify as verify_text
from bestresponse.core.capabilities import check_telling
from bestresponse.core.errors import InvalidMove, TooLarge, UsageError
from bestresponse.formal.evaluate.dataset import judge_program, stories
from bestresponse.games.lookup import find_game
from bestresponse.integrations.bench_questions import (
    SCORED,
    BenchQuestion,
    choose_questions,
    measure_reply,
    read_questions,
)
from bestresponse.integrations.seats import choose_players, play_seats
from bestresponse.models.base import Finish, Reply
from bestresponse.models.providers.function import FunctionModel, from_function
from bestresponse.models.providers.inspect import FINISH
from bestresponse.telling.render import write_rules

_REASON = (
    "Explain step by step what you would choose and why, with the payoffs that matter. You are"
    " {me}."
)
_UNREAD = float("nan")


@task  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap(num_games: int = 20, actions: int = 3, seed: int = 0) -> Task:
    """Ask what `bestresponse bench` asks: the mixed strategies of random zero-sum games."""
    return ask_questions(choose_questions(num_games, actions, seed))


def ask_questions(asked: Sequence[BenchQuestion] | Path) -> Task:
    """Make the task of some questions of the benchmark, or of a file that `publish` wrote."""
    questions = read_questions(asked) if isinstance(asked, Path) else asked
    samples = []
    for question in questions:
        messages = [
            ChatMessageSystem(content=question["system"]),
            ChatMessageUser(content=question["prompt"]),
        ]
        samples.append(Sample(id=question["id"], input=messages, target=question["measured_by"]))
    first = questions[0]
    config = GenerateConfig(max_tokens=first["max_tokens"], temperature=first["temperature"])
    return Task(
        dataset=MemoryDataset(samples),
        solver=generate(),
        scorer=nash_gap_scorer(),
        config=config,
    )


_NASH_GAP_METRICS = {name: [mean(), stderr()] for name in SCORED}
_PLAY_METRICS = {"payoff": [mean(), stderr()], "regret": [mean(), stderr()]}
_FORMALIZE_METRICS = {"game": [mean(), stderr()], "true": [mean(), stderr()]}


@scorer(metrics=_NASH_GAP_METRICS)  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap_scorer() -> Scorer:
    """Score the metrics of the benchmark under its names; NaN where there is nothing to be read."""

    async def score(state: TaskState, target: Target) -> Score:
        reply = Reply(state.output.completion, FINISH.get(state.output.stop_reason, Finish.STOP))
        try:
            measured = measure_reply(target.text, reply)
        except InvalidMove as error:
            return Score(value=dict.fromkeys(SCORED, _UNREAD), explanation=f"not scored: {error}")
        return Score(value=measured.metrics, answer=str(measured.strategy))

    return score


@task(name="verify")  # type: ignore[untyped-decorator, unused-ignore]
def verify_reasoning(game: str = "prisoners-dilemma", samples: int = 1) -> Task:
    """Ask for a reasoning about a game and check every claim in it."""
    with _show_without_trace():
        rules = find_game(game).playable()
        check_telling(rules)
    me = rules.roles[0]
    prompt = f"{write_rules(rules.view(rules.start(), me))}\n\n{_REASON.format(me=me)}"
    data = [Sample(id=number, input=prompt, metadata={"game": game}) for number in range(samples)]
    return Task(dataset=MemoryDataset(data), solver=generate(), scorer=claims_are_true())


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator, unused-ignore]
def claims_are_true() -> Scorer:
    """Score 1 where claims were decided and none is refuted, 0 where one is.

    Returns nothing where none could be decided.
    """

    async def score(state: TaskState, target: Target) -> Score:
        review = verify_text(state.metadata["game"], state.output.completion)
        value = {"unrefuted": 1.0, "refuted": 0.0}.get(review.state.value, _UNREAD)
        sentences = [review.summary, *(refutation.correction for refutation in review.refutations)]
        return Score(value=value, explanation="\n".join(sentences))

    return score


@contextmanager
def _show_without_trace() -> Iterator[None]:
    """Raise what is wrong with the arguments of a task as an error of Inspect.

    Inspect's command line shows it as a sentence.
    """
    try:
        yield
    except (TooLarge, UsageError) as error:
        raise ClickException(str(error)) from None


def ask_inspect(role: str | None) -> FunctionModel:
    """Return Inspect's model, or the one in that role, as a model of ours.

    For use in a thread of an Inspect task.
    """

    async def generate(prompt: str) -> str:
        model = get_model() if role is None else get_model(role=role)
        return str((await model.generate(prompt)).completion)

    def answer(prompt: str) -> str:
        return from_thread.run(generate, prompt)

    return from_function(role or "model", answer)


@task  # type: ignore[untyped-decorator, unused-ignore]
def game(
    game: str = "stag-hunt",
    seats: str | list[str] = "",
    others: str = "equilibrium",
    repeats: int = 1,
    seed: int = 0,
) -> Task:
    """Let the model play any game.

    `seats` lists a player for every seat, in order: `model`, `role:NAME` for one of Inspect's model
    roles, or a strategy such as `random`. Without it the model takes the first seat and `others`
    the rest. Inspect's command line makes a list of a value that has a comma, and leaves any other
    value as it is.
    """
    named = seats.split(",") if isinstance(seats, str) else map(str, seats)
    in_order = [name.strip() for name in named if name.strip()]
    with _show_without_trace():
        players = choose_players(game, in_order, "model", others)
    data = []
    for number in range(repeats):
        data.append(Sample(id=number, input=f"Play {game}.", metadata={"seed": seed + number}))
    return Task(
        dataset=MemoryDataset(data),
        solver=_play(game, players),
        scorer=payoff_and_regret(),
    )


@solver  # type: ignore[untyped-decorator, unused-ignore]
def _play(name: str, players: Mapping[str, str]) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        def run() -> None:
            seated = {role: _find_player(player) for role, player in players.items()}
            record, regrets = play_seats(name, seated, state.metadata["seed"])
            payoffs = record.payoffs
            void = record.void
            ours = [role for role, player in players.items() if player == "model"]
            state.metadata["played"] = [
                (payoffs[role], regrets.get(role)) for role in ours if payoffs
            ]
            state.metadata["payoffs"] = dict(payoffs)
            state.metadata["void"] = None if void is None else void.why

        await to_thread.run_sync(run)
        return state

    return solve


def _find_player(name: str) -> str | FunctionModel:
    if name == "model":
        return ask_inspect(None)
    return ask_inspect(name.removeprefix("role:")) if name.startswith("role:") else name


@scorer(metrics=_PLAY_METRICS)  # type: ignore[untyped-decorator, unused-ignore]
def payoff_and_regret() -> Scorer:
    """Score what the model's seats earned, and what their decisions cost against equilibrium.

    NaN where unknown.
    """

    async def score(state: TaskState, target: Target) -> Score:
        played = state.metadata["played"]
        regrets = [regret for _, regret in played if regret is not None]
        value = {
            "payoff": fmean(payoff for payoff, _ in played) if played else _UNREAD,
            "regret": fmean(regrets) if regrets else _UNREAD,
        }
        explanation = state.metadata["void"] or str(state.metadata["payoffs"])
        return Score(value=value, explanation=explanation)

    return score


@task  # type: ignore[untyped-decorator, unused-ignore]
def formalize(num_stories: int = 10, attempts: int = 3, kind: str = "") -> Task:
    """Let the model turn stories into game programs, with feedback.

    `kind` chooses stories of one kind of game.
    """
    chosen = [story for story in stories() if not kind or story.game == kind]
    if not chosen:
        known = ", ".join(sorted({story.game for story in stories()}))
        raise ClickException(f"there is no story of {kind!r}: expected one of {known}")
    step = max(1, len(chosen) // num_stories)
    chosen = chosen[::step][:num_stories]
    data = [Sample(id=story.id, input=story.text, metadata={"story": story.id}) for story in chosen]
    return Task(dataset=MemoryDataset(data), solver=_formalize(attempts), scorer=game_is_true())


@solver  # type: ignore[untyped-decorator, unused-ignore]
def _formalize(attempts: int) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        def run() -> None:
            story = next(story for story in stories() if story.id == state.metadata["story"])
            with tempfile.TemporaryDirectory() as folder:
                model = ask_inspect(None)
                formalized = formalize_story(
                    story.text,
                    model,
                    attempts=attempts,
                    output_dir=folder,
                    cache="off",
                )
            best = formalized.formalization.best
            is_true = False
            why = repr(formalized)
            if formalized.ok and best is not None and best.report is not None:
                _, meaning = judge_program(best.report, story)
                is_true = meaning.ok is True
                why = meaning.why
            state.metadata["found"] = (formalized.ok, is_true)
            state.metadata["why"] = why
            state.metadata["program"] = formalized.program

        await to_thread.run_sync(run)
        return state

    return solve


@scorer(metrics=_FORMALIZE_METRICS)  # type: ignore[untyped-decorator, unused-ignore]
def game_is_true() -> Scorer:
    """Score whether there is a game, and whether it is the story's true game."""

    async def score(state: TaskState, target: Target) -> Score:
        is_game, is_true = state.metadata["found"]
        value = {"game": float(is_game), "true": float(is_true)}
        return Score(
            value=value,
            answer=state.metadata["program"],
            explanation=state.metadata["why"],
        )

    return score
