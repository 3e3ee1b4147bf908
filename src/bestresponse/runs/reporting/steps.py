"""A play step by step: who was asked, what they saw, said and lost by it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bestresponse.analysis.costs import price_against_strategies
from bestresponse.analysis.truth import find_truth, judge_decisions
from bestresponse.core.ask import Ask, Mixture
from bestresponse.core.episode import Episode, Record, Submission
from bestresponse.core.game import AnyGame, Game, Role, S
from bestresponse.core.json import JsonMapping
from bestresponse.players.lookup import find_known_strategies
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.telling.render import write_history, write_rules


@dataclass(frozen=True, slots=True)
class Step:
    """One answer.

    `stage` counts the states that were passed: answers given at the same time have the same.
    `regret` is what the best answer to what the others did in this round would have earned more,
    `regret_equilibrium` what this answer loses at least against others who play an equilibrium;
    None where that is not known.
    """

    number: int
    stage: int
    role: Role
    action: str
    status: str
    how: str
    stand_in: str
    words: str
    situation: str
    prompts: tuple[str, ...]
    regret: float | None = None
    regret_equilibrium: float | None = None


@dataclass(frozen=True, slots=True)
class ReplayStage:
    """Answers that were given in the same state.

    What everybody had earned before them where that is new.
    """

    number: int
    steps: tuple[Step, ...]
    earned: Mapping[Role, float]


def list_steps(
    record: Record,
    game: AnyGame | None,
    calls: Iterable[JsonMapping] = (),
    *,
    told: bool = True,
    traced: Sequence[S] | None = None,
) -> list[Step]:
    """List every answer in its order.

    Each comes with the view it was given from if the game is known and `told` asks for it.

    `traced` holds the states of the play where they are known already.
    """
    if game and traced is None:
        traced = trace_states(game, record.submissions)
    asked = group_calls(record, calls)
    states = range(len(record.submissions) + 1) if traced is None else traced
    steps: list[Step] = []
    stage = 0
    for number, (submission, state) in enumerate(zip(record.submissions, states, strict=False), 1):
        view = game.view(state, submission.role) if game and told else None
        decision = submission.decision
        prompts: list[str] = []
        for call in asked.get(number, []):
            prompts += [f"{role}:\n{content}" for role, content in call["request"]["messages"]]
            prompts.append(f"{call['model']}:\n{call['reply']['text']}")
        ask = None
        if game and isinstance(decision.action, tuple | list):
            ask = game.asks(state).get(submission.role)
        answer = (
            name_mixture(decision.action, ask),
            decision.reading.status.value,
            decision.reading.how,
        )
        words = (
            decision.stand_in,
            decision.reasoning,
            write_history(view) or write_rules(view) if view else "",
        )
        steps.append(Step(number, stage, submission.role, *answer, *words, tuple(prompts)))
        stage += states[number] is not state
    return steps


def list_stages(
    record: Record,
    game: AnyGame | None,
    calls: Iterable[JsonMapping] = (),
    *,
    told: bool = True,
    priced: bool = True,
) -> list[ReplayStage]:
    """List the answers in groups of those that were given at the same time.

    Where they are `priced` with what each cost, for which the game is solved.
    """
    states = trace_states(game, record.submissions) if game else None
    steps_told = list_steps(record, game, calls, told=told, traced=states)
    groups: dict[int, list[Step]] = {}
    for step in _price_steps(steps_told, record, game) if priced else steps_told:
        groups.setdefault(step.stage, []).append(step)
    stages: list[ReplayStage] = []
    before: Mapping[Role, float] = {}
    for number, steps in enumerate(groups.values(), 1):
        earned: Mapping[Role, float] = {}
        if game and states:
            earned = game.payoffs(states[steps[0].number - 1])
        stages.append(ReplayStage(number, tuple(steps), {} if earned == before else earned))
        before = earned
    return stages


def _price_steps(steps: Iterable[Step], record: Record, game: AnyGame | None) -> list[Step]:
    """Say of each answer what it cost beside the best reply and in equilibrium, where known."""
    known = {} if game is None else find_known_strategies(game, record.players)
    replies = price_against_strategies(record, game, known)
    equilibrium = judge_decisions(record, game, find_truth(game)) if game else {}
    priced: list[Step] = []
    for step in steps:
        reply = replies.get(step.number)
        expected = equilibrium.get(step.number)
        priced.append(
            replace(
                step,
                regret=None if reply is None else reply.least,
                regret_equilibrium=None if expected is None else expected.least,
            )
        )
    return priced


def group_calls(record: Record, calls: Iterable[JsonMapping]) -> dict[int, list[JsonMapping]]:
    """Group the calls that led to each answer, by its number.

    These are the calls up to the one that the answer was read from.

    Calls after the last reply that can be told are with the last answer of their seat.
    """
    waiting: dict[Role, list[JsonMapping]] = {}
    for call in calls:
        waiting.setdefault(call["role"], []).append(call)
    grouped: dict[int, list[JsonMapping]] = {}
    last: dict[Role, int] = {}
    for number, submission in enumerate(record.submissions, 1):
        seat_calls = waiting.get(submission.role, [])
        words = submission.decision.reasoning.strip()
        replies = [call["reply"]["text"].strip() for call in seat_calls if words]
        read = next(
            (k for k, reply in enumerate(replies) if reply and (reply in words or words in reply)),
            None,
        )
        if read is not None:
            grouped[number], waiting[submission.role] = (
                seat_calls[: read + 1],
                seat_calls[read + 1 :],
            )
        if seat_calls:
            last[submission.role] = number
    for role, left in waiting.items():
        if left and role in last:
            grouped[last[role]] = [*grouped.get(last[role], []), *left]
    return grouped


def trace_states(game: Game[S], submissions: Sequence[Submission]) -> list[S]:
    """List the state before every answer, and the last one.

    It is the same object until a stage is complete.
    """
    episode = Episode(game)
    states = [episode.state]
    for submission in submissions:
        episode.submit(submission.role, submission.decision)
        states.append(episode.state)
    return states


def round_amount(amount: float) -> float:
    """Round away what only floating-point arithmetic has added.

    >>> round_amount(39.800000000000004), round_amount(-9.252e-19)
    (39.8, 0.0)
    """
    return round(float(amount), 9) + 0.0


def format_action(action: object) -> str:
    """Format an answer for people; a dash where there is none.

    >>> format_action({"points": 2.0, "mix": (0.25, 0.75)})
    'points: 2, mix: 25 %, 75 %'
    """
    match action:
        case None:
            return "–"
        case Mapping():
            return ", ".join(f"{name}: {format_action(part)}" for name, part in action.items())
        case tuple() | list():
            return ", ".join(
                f"{100 * part:.3g} %" if isinstance(part, float) else str(part) for part in action
            )
        case float():
            return f"{round_amount(action):g}"
        case _:
            return str(action)


def name_mixture(action: object, ask: Ask | None) -> str:
    """Format an answer; the shares of a mixture with the names of the moves.

    >>> name_mixture((0.25, 0.75), Mixture(("stay", "go")))
    'stay 25 %, go 75 %'
    """
    if not isinstance(ask, Mixture) or not isinstance(action, tuple | list):
        return format_action(action)
    shares = zip(ask.options, action, strict=False)
    return ", ".join(f"{option} {100 * share:.3g} %" for option, share in shares if share)


_LABELS = (
    "story",
    "strategy",
    "player",
    "infoset",
    "variant",
    "condition",
    "abundance",
    "treatment",
)
"""What of a spec names a play beside its game."""


def name_play(play: StoredPlay) -> str:
    """Name a play by its game and by which of the games or repeats of the run it is."""
    data = play.data
    parts = [play.record.game]
    if isinstance(data.get("game"), int):
        parts.append(f"game {data['game'] + 1}")
    labels = [data.get(key) for key in _LABELS]
    parts += [
        part for part in labels if isinstance(part, str) and part not in ("", "original", "base")
    ]
    parts += [
        f"repeat {data[key] + 1}"
        for key in ("repeat", "repetition")
        if isinstance(data.get(key), int)
    ]
    if isinstance(data.get("group"), int):
        parts.append(f"group {data['group']}")
    return ", ".join(parts)
