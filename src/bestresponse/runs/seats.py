"""Games with seats: models in them and how they are asked.

Also gives which plays there are, one play, and what they cost at most.

A study says of which game a spec is and who sits where; this module does the rest for all of them.
Every repeat has a seed of its own, from which chance and every seat draw: runs of one game with
other players in the seats meet the same chances in the same situations, so they can be compared
repeat by repeat. Seats that move together are asked at the same time.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.capabilities import AdjustableRounds, check_telling
from bestresponse.core.episode import Record, SeatAsk, Submission, play
from bestresponse.core.errors import ModelUnavailable, SettingError, UsageError
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Game, S, find_first_asks
from bestresponse.core.json import JsonObject
from bestresponse.core.player import FORCED, Decision, Nature, Player, Status
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasCourse, HasSpeakers
from bestresponse.games.lookup import NamedGame
from bestresponse.games.mechanisms import with_repeated
from bestresponse.models.base import ModelsByName
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.models.wrappers.tools import USUAL_CALLS, Tooled
from bestresponse.players.llm.agent import (
    Agent,
    Persona,
    Policy,
    WithFailurePolicy,
    lets_pass,
    memory,
    reasoning,
)
from bestresponse.players.llm.player import Sampling, Style
from bestresponse.players.llm.reading import find_reasons
from bestresponse.players.llm.verified import calls_per_answer, is_verified, with_review
from bestresponse.players.lookup import (
    SIMULATED,
    check_seat_name,
    choose_default,
    describe_seat,
    find_question,
    find_strategy,
    seat_speaker,
)
from bestresponse.players.strategies import RandomPlayer
from bestresponse.runs.execution import KeepAnswer, PlayOne
from bestresponse.runs.inputs import GameSetting, NamedModel, ToolsSetting
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import Spec
from bestresponse.runs.study import Estimate
from bestresponse.telling.render import write_rules
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.trees.tree import Tree

AGENT_SETTINGS = (
    "memory",
    "own_words",
    "reasoning",
    "reasons",
    "attempts",
    "style",
    "temperature",
    "max_tokens",
)
"""What a spec says about its agents, besides their personas and what becomes of them without an
answer (`policy`)."""


@settings
class AgentSettings(RunSettings):
    """How often a game is played and how models are asked in it."""

    repeats: int = setting(default=10, ge=1, le=1_000_000, help="Plays per game.")
    seed: int = setting(
        default=0,
        ge=0,
        lt=2**63,
        help="Seed for chance moves and random players.",
    )
    memory: str = setting(
        default="full", help="What agents remember of earlier rounds: full, window:N or summary:N."
    )
    reasoning: str = setting(default="direct")
    """How agents think: direct, step-by-step, predict, reflect, refine or k-level:K."""
    reasons: bool = setting(default=True, help="Let models explain each choice before they answer.")
    own_words: bool = setting(default=True, help="Show models their own earlier reasons.")
    attempts: int = setting(
        default=3,
        ge=1,
        le=20,
        help="Maximum attempts per question if an answer is unusable.",
    )
    on_failure: Literal["abstain", "void"] | None = setting(default=None)
    """What to do if a seat gives no usable answer: abstain if the game allows it, or void the
    play."""
    style: Literal["auto", "line", "json"] = setting(
        default="auto", help="How models answer; auto uses JSON if the model follows a schema."
    )
    temperature: float = setting(default=0.7, ge=0, le=5, help="Sampling temperature.")
    max_tokens: int = setting(
        default=512,
        ge=1,
        le=100_000,
        help="Maximum tokens per reply.",
    )

    def __post_init__(self) -> None:
        memory(self.memory)
        reasoning(self.reasoning)

    def make_game(self) -> AnyGame:
        """Return the game whose seats are filled; each study says which."""
        raise NotImplementedError


@settings
class ToolSettings(RunSettings):
    """Tools that models may call before they answer."""

    tools: ToolsSetting = setting(default=(), metavar="TOOL")
    """A tool that models may call before they answer: mcp:COMMAND starts a server, or the name
    of an installed tool."""
    tool_calls: int = setting(
        default=USUAL_CALLS,
        ge=1,
        le=100,
        help="Maximum tool calls per answer.",
    )

    def describe_tools(self) -> dict[str, object]:
        """Describe the tools as plain data of a spec; nothing where there are none."""
        if not self.tools:
            return {}
        return {"tools": ToolsSetting.to_json(self.tools), "tool_calls": self.tool_calls}

    def count_with_tools(self, calls: int) -> int:
        """Count the most calls of a model, where so many are made without tools."""
        return calls * (1 + self.tool_calls) if self.tools else calls

    def offer_tools(self, models: ModelsByName) -> ModelsByName:
        """Give every model its tools; in recorded replies their results are contained already."""
        if not self.tools:
            return models
        return {
            name: (
                model
                if isinstance(model, RecordedModel)
                else Tooled(model, tuple(self.tools), self.tool_calls)
            )
            for name, model in models.items()
        }


def ask_at_once(questions: list[SeatAsk]) -> list[Decision]:
    """Ask every seat at the same time.

    When no model seat can be reached, that is an outage and not a game.
    """
    if len(questions) == 1 or not any(
        isinstance(player, WithFailurePolicy) for _, player, _, _ in questions
    ):
        decisions = [player.decide(view, ask) for _, player, view, ask in questions]
    else:
        with ThreadPoolExecutor(len(questions), thread_name_prefix="seat") as pool:
            decisions = list(
                pool.map(lambda question: question[1].decide(question[2], question[3]), questions)
            )
    of_models = [
        decision
        for (_, player, _, _), decision in zip(questions, decisions, strict=True)
        if isinstance(player, WithFailurePolicy)
    ]
    if of_models and all(
        d.stand_in and not d.calls and d.reading.status is Status.REFUSED for d in of_models
    ):
        raise ModelUnavailable(of_models[0].reading.how)
    return decisions


C = TypeVar("C", bound=AgentSettings)
_TRIALS = 5
"""How many plays of random players are counted where nothing else tells how often seats are
asked."""
_CHARACTERS_PER_TOKEN = 4


@settings
class MatchSettings(AgentSettings):
    """A game that is played once or for several rounds."""

    game: GameSetting = setting(kw_only=False, argument=True)
    """A game (see `bestresponse games`), a .nfg, .efg, .json or .pl file, or a domain of
    `steer`."""
    rounds: int = setting(default=1, ge=1, le=10000)
    """Rounds of a game with a payoff table; --with "repeated(...)" can set more about them."""
    about_others: Literal["nothing", "participant", "truth"] = setting(default="nothing")
    """What models are told about the other players: nothing, that each is a participant, or who
    they really are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choose_policy(self, self.make_game())

    def make_game(self) -> AnyGame:
        """Return the game to be played, repeated where the settings say so.

        The same object each time.
        """
        return _make_match(self.game, self.rounds)

    @property
    def course(self) -> Repetition:
        """How often the game is played, what later rounds weigh, and noise."""
        game = self.make_game()
        return game.repetition if isinstance(game, HasCourse) else Repetition(1)


@lru_cache(maxsize=16)
def _make_match(source: NamedGame, rounds: int) -> AnyGame:
    """Make the game, repeated where there are several rounds; SettingError where it cannot be."""
    game = source.game()
    if rounds == 1:
        return game
    if isinstance(game, AdjustableRounds):
        raise SettingError(
            "rounds", f"{source.name} cannot be repeated, because it has rounds of its own"
        )
    try:
        return with_repeated(game, rounds)
    except UsageError as error:
        raise SettingError("rounds", str(error)) from None


def choose_policy(config: AgentSettings, game: Game[S]) -> Policy:
    """Choose what becomes of a seat without a usable answer.

    It passes if the game lets it; otherwise the play is void.
    """
    usual: Policy = "abstain" if lets_pass(find_first_asks(game)) else "void"
    if config.on_failure == "abstain" and usual != "abstain":
        raise SettingError("on_failure", f"{game.name} lets nobody pass; use void")
    return config.on_failure or usual


def assign_seats(
    game: Game[S],
    named: Mapping[str, NamedModel],
    model: NamedModel | None,
    others: NamedModel | None = None,
) -> dict[str, NamedModel]:
    """Seat the named players, then the model, then the others.

    The model takes only the first free seat if there are others.
    """
    for role in named:
        if role not in game.roles:
            raise SettingError(
                "seat", f"there is no seat {role!r}; expected one of {', '.join(game.roles)}"
            )
    free = [role for role in game.roles if role not in named]
    if model is not None and not free:
        raise SettingError("model", "every seat is taken, so there is none for the model")
    seated = {
        **named,
        **(dict.fromkeys(free[:1] if others else free, model) if model is not None else {}),
    }
    rest = others or NamedModel(choose_default(game))
    return {role: seated.get(role, rest) for role in game.roles}


def check_players(config: C) -> C:
    """Refuse a name that is neither a strategy of the game nor that of a model.

    The error lists the strategies there are.

    A game that is too large to be told is refused where models play it.
    """
    if config.models:
        check_telling(config.make_game())
    for name in config.models:
        if getattr(name, "model", None) is None:
            check_seat_name(name, config.make_game())
    return config


def find_model_seats(game: Game[S], seats: Mapping[str, str]) -> tuple[str, ...]:
    """Return the seats in which models sit: those whose player is no strategy of the game."""
    return tuple(role for role, player in seats.items() if is_model(player, game, role))


def is_model(player: str, game: Game[S], role: str) -> bool:
    """Say whether a player is a model.

    Raises UsageError for one that has the name of a strategy, which would play instead.
    """
    is_strategy = find_strategy(player, game, role, 0) is not None
    if is_strategy and getattr(player, "model", None) is not None:
        raise UsageError(
            f"{player} is the name of a strategy of {game.name}; give your model another one"
        )
    return not is_strategy


def describe_play(
    config: AgentSettings,
    game: Game[S],
    seats: Mapping[str, str],
    personas: Mapping[str, Persona] | None = None,
    referee: str | None = None,
) -> dict[str, object]:
    """Describe who sits where and, where a model is asked, how, as plain data of a spec."""
    data: JsonObject = {"seats": [[role, str(player)] for role, player in seats.items()]}
    if referee:
        data["referee"] = str(referee)
    if find_model_seats(game, seats) or referee not in (None, SIMULATED):
        data |= {name: getattr(config, name) for name in AGENT_SETTINGS}
        data["policy"] = choose_policy(config, game)
        if isinstance(config, ToolSettings):
            data |= config.describe_tools()
        data["personas"] = {seat: asdict(persona) for seat, persona in (personas or {}).items()}
    return data


def list_plays(
    config: MatchSettings,
    study: str,
    seats: Mapping[str, str],
    personas: Mapping[str, Persona] | None = None,
    referee: str | None = None,
) -> Iterator[dict[str, object]]:
    """Yield one play per repeat as plain data.

    It holds the game, who sits where, and how models among them are asked.
    """
    data: JsonObject = {
        "study": study,
        "game": {"name": config.game.name, "digest": config.game.digest},
    }
    data |= describe_play(config, config.make_game(), seats, personas, referee)
    if config.rounds > 1:
        data["rounds"] = config.rounds
    if config.about_others != "nothing":
        data["about_others"] = config.about_others
    for repeat in range(config.repeats):
        yield {**data, "repeat": repeat, "seed": split(config.seed, "simulate", repeat)}


def estimate_plays(
    config: AgentSettings,
    game: Game[S],
    seats: Mapping[str, str],
    rounds: int = 1,
    referee: str | None = None,
) -> Estimate:
    """Count the calls of models at most, shared out by seats.

    A prompt is about as long as the first briefing.
    """
    asked = [seats[role] for role in find_model_seats(game, seats)]
    if asked:
        check_telling(game)
    most, sure = _count_calls(config, game, seats, rounds, referee)
    names = dict.fromkeys([*asked, *([referee] if referee not in (None, SIMULATED) else [])])
    calls = {
        str(name): config.repeats * most * asked.count(name) // max(len(asked), 1) for name in names
    }
    briefing = len(write_rules(game.view(game.start(), game.roles[0]))) // _CHARACTERS_PER_TOKEN
    what = (
        f"{game.name} with {', '.join(f'{role} = {name}' for role, name in seats.items())}, seed"
        f" {config.seed}"
    )
    return Estimate.of_calls(
        config.repeats,
        what,
        calls,
        briefing,
        config.max_tokens,
        sure=sure,
    )


def _count_calls(
    config: AgentSettings,
    game: Game[S],
    seats: Mapping[str, str],
    rounds: int,
    referee: str | None,
) -> tuple[int, bool]:
    """Count the calls of one play at most, and say whether that is sure."""
    asked = find_model_seats(game, seats)
    if isinstance(game, HasSpeakers):
        rulings = sum(game.rules_after(message) for message in range(1, game.messages + 1))
        spoken = len(asked) * game.messages // len(game.roles)
        return spoken + rulings * (referee != SIMULATED), True
    if not asked:
        return 0, True
    questions, sure = _count_questions(game, asked, rounds)
    each = (
        config.attempts
        + _count_thoughts(config.reasoning, len(seats) - 1)
        + config.memory.startswith("summary")
    )
    if isinstance(config, ToolSettings):
        each = config.count_with_tools(each)
    each *= max(calls_per_answer(seats[role]) for role in asked)
    return questions * each, sure


def _count_thoughts(reasoning: str, rivals: int) -> int:
    """Count the calls that a way of reasoning makes before an answer."""
    name, _, depth = reasoning.partition(":")
    if name == "k-level":
        return sum(rivals**level for level in range(1, int(depth or 1) + 1))
    return {"predict": 1, "reflect": 1, "refine": 2}.get(name, 0)


def _count_questions(game: Game[S], seats: tuple[str, ...], rounds: int) -> tuple[int, bool]:
    """Count how often these seats are asked in one play at most, and say whether that is sure."""
    theory = describe_theory(game)
    if isinstance(game, AdjustableRounds):
        return game.most_answers * len(seats), True
    if theory.form is not None:
        return rounds * len(seats), True
    if theory.tree is not None:
        return _find_longest(theory.tree, [game.roles.index(seat) for seat in seats]), True
    return max(_count_in_trial(game, seats, trial) for trial in range(_TRIALS)), False


def _find_longest(tree: Tree, players: list[int]) -> int:
    """Return the most decisions of these players on any way through the tree."""
    before = np.zeros(tree.num_nodes, dtype=np.int64)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        is_asked = int(tree.owner[parent]) in players and len(tree.children[parent]) > 1
        before[node] = before[parent] + is_asked
    return int(before.max())


def _count_in_trial(game: Game[S], seats: tuple[str, ...], trial: int) -> int:
    players: dict[str, Player] = dict.fromkeys(game.roles, RandomPlayer(trial))
    try:
        record = play(game, {**players, NATURE: Nature(trial)})
    except UsageError as error:
        raise UsageError(f"{game.name} cannot be simulated: {error}") from None
    asked = [turn.role for turn in record.submissions if turn.decision.reading != FORCED]
    counts = Counter(asked)
    return sum(counts[seat] for seat in seats)


FindPlayer = Callable[[Spec, AnyGame, str, str], Player | None]
"""Finds the player of a spec, game, role and name who needs no model; None where the name is that
of a model."""


def find_named_player(spec: Spec, game: Game[S], role: str, name: str) -> Player | None:
    """Find the player whom everybody can name, see `players.lookup`."""
    return find_strategy(name, game, role, spec.data["seed"])


def make_player(
    find_game: Callable[[Spec], Game[S]],
    models: ModelsByName,
    find_player: FindPlayer = find_named_player,
) -> PlayOne:
    """Return the function that plays one spec, for `execute`.

    `find_game` finds the game of a spec.
    """

    def play_one(spec: Spec, done: list[Submission], keep: KeepAnswer) -> Record:
        game = find_game(spec)
        replies: defaultdict[str, list[str]] = defaultdict(
            list
        )  # what each seat has said, its answers left out

        def remember(submission: Submission) -> None:
            replies[submission.role].append(find_reasons(submission.decision.reasoning))

        def keep_and_remember(submission: Submission) -> None:
            keep(submission)
            remember(submission)

        for submission in done:
            remember(submission)
        seats = {
            role: (
                find_player(spec, game, role, name)
                or _seat_model(
                    spec,
                    game,
                    role=role,
                    name=name,
                    models=models,
                    replies=replies[role],
                )
            )
            for role, name in spec.data["seats"]
        }
        seats[NATURE] = Nature(spec.data["seed"])
        if isinstance(game, HasSpeakers):
            name = spec.data["referee"]
            seats[REFEREE] = find_player(spec, game, REFEREE, name) or _seat_model(
                spec,
                game,
                REFEREE,
                name,
                models,
            )
        return play(
            game,
            seats,
            submissions=done,
            ask_seats=ask_at_once,
            on_submission=keep_and_remember,
        )

    return play_one


def _seat_model(
    spec: Spec,
    game: Game[S],
    role: str,
    name: str,
    models: ModelsByName,
    replies: Sequence[str] = (),
) -> Player:
    """Seat a model: a speaker in a dialogue, elsewhere an agent as the spec says.

    `replies` are its own so far.
    """
    data = spec.data
    model = models[name]
    seed = split(spec.data["seed"], "seat", role)
    sampling = Sampling(data["temperature"], max_tokens=data["max_tokens"], seed=seed % 2**31)
    if isinstance(game, HasSpeakers):
        return seat_speaker(model, game, role, seed, sampling)
    style: Style = data["style"]
    if data["style"] == "auto":
        # JSON where the model keeps to schemas and the object has room for its thoughts; what is
        # checked is free text
        has_room = data["reasons"] or data["reasoning"] == "direct"
        style = "json" if model.abilities.schema and has_room and not is_verified(name) else "line"
    agent = Agent(
        model,
        Persona(**data["personas"][role]) if role in data["personas"] else None,
        memory(data["memory"]),
        reasoning(data["reasoning"]),
        sampling,
        style,
        data["attempts"],
        data["reasons"],
        replies if data["own_words"] else (),
        _describe_others(spec, game, role),
        find_question(game),
    )
    return WithFailurePolicy(with_review(name, agent), data["policy"])


def _describe_others(spec: Spec, game: Game[S], role: str) -> str:
    """Say who the other players are, as far as the spec wants it said."""
    wanted = spec.data.get("about_others", "nothing")
    if wanted == "nothing":
        return ""
    sentences = []
    for other, name in spec.data["seats"]:
        if other != role:
            description = (
                "another participant"
                if wanted == "participant"
                else describe_seat(name, game, other)
            )
            sentences.append(f"{other[:1].upper()}{other[1:]} is {description}.")
    return " ".join(sentences)
