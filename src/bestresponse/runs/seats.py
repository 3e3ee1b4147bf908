"""Games with seats: who sits where, which plays there are, one play of them, and what they cost at most.

Every repeat has a seed of its own, from which chance and every seat draw: runs of one game with other players in the
seats meet the same chances in the same situations, so they can be compared repeat by repeat. Seats that move together
are asked at the same time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache

import numpy as np

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.capabilities import AdjustableRounds
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.game import NATURE, REFEREE, AnyGame, find_first_asks
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Nature, Player
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasNormalForm, HasSpeakers
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.games.named_game import NamedGame
from bestresponse.models.base import Model
from bestresponse.players.llm.agent import Policy, lets_pass
from bestresponse.players.llm.persona import Persona
from bestresponse.players.llm.player import Sampling
from bestresponse.players.llm.verified import is_verified
from bestresponse.players.lookup import SIMULATED, find_strategy, seat_speaker
from bestresponse.players.strategies.fixed import RandomPlayer
from bestresponse.runs.agents import AGENT_SETTINGS, AgentSettings, Replies, ask_at_once, settled_agent
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.inputs import GameSetting
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.spec import Spec
from bestresponse.theory.trees.tree import Tree

__all__ = [
    "MatchSettings",
    "count_thoughts",
    "estimate_plays",
    "find_model_seats",
    "list_plays",
    "make_player",
    "make_repeated",
]

_TRIALS = 5
"""How many plays of random players are counted where nothing else tells how often seats are asked."""
_REVIEWS = 5
"""How often a model is asked whose reasoning is checked, at most."""
_CHARACTERS_PER_TOKEN = 4


@settings
class MatchSettings(AgentSettings):
    """A game that is played once or for several rounds."""

    game: GameSetting = setting(
        help="A game (see `bestresponse games`), a .nfg, .efg, .json or .pl file, or a domain of `steer`.",
        kw_only=False,
        argument=True,
    )
    rounds: int = setting(
        default=1, ge=1, le=10_000, help="Rounds of a game with a payoff table; with continuation the most there are."
    )
    continuation: float = setting(default=1.0, ge=0, le=1, help="Probability of another round after each.")
    discount: float = setting(default=1.0, ge=0, le=1, help="What a payoff counts one round later.")
    noise: float = setting(default=0.0, ge=0, lt=1, help="Probability that another move is made than was meant.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("continuation", "discount"):
            if self.rounds == 1 and getattr(self, name) != 1:
                raise SettingError(name, "this is about several rounds; give rounds, the most there are")

    @property
    def policy(self) -> Policy:
        """What becomes of a seat without a usable answer: it passes where the game lets it, else the play is void."""
        usual: Policy = "abstain" if lets_pass(find_first_asks(self.make_game())) else "void"
        if self.on_failure == "abstain" and usual != "abstain":
            raise SettingError("on_failure", f"{self.game.name} lets nobody pass; use void")
        return self.on_failure or usual

    def make_game(self) -> AnyGame:
        """Return the game to be played, repeated where the settings say so; the same object each time."""
        return make_repeated(self.game, self.rounds, self.continuation, self.discount, self.noise)


@lru_cache(maxsize=16)
def make_repeated(source: NamedGame, rounds: int, continuation: float, discount: float, noise: float = 0.0) -> AnyGame:
    """Make the game, repeated where there are several rounds or moves can go wrong; SettingError where it cannot be."""
    game = source.game()
    if rounds == 1 and (not noise or isinstance(game, HasSpeakers)):
        return game
    if not isinstance(game, HasNormalForm):
        if rounds == 1:
            raise SettingError("noise", f"it belongs to games with a payoff table, and {source.name} has none")
        why = "it has rounds of its own" if isinstance(game, AdjustableRounds) else "it has no payoff table"
        raise SettingError("rounds", f"{source.name} cannot be repeated, because {why}")
    return RepeatedGame(game.normal_form, rounds, continuation, discount=discount, noise=noise)


def list_plays(
    config: MatchSettings,
    study: str,
    seats: Mapping[str, str],
    personas: Mapping[str, Persona] | None = None,
    referee: str = "",
) -> Iterator[JsonObject]:
    """Yield one play a repeat as plain data: the game, who sits where, and how models among them are asked."""
    data: JsonObject = {
        "study": study,
        "game": {"name": config.game.name, "digest": config.game.digest},
        "seats": [[role, str(player)] for role, player in seats.items()],
    }
    if config.rounds > 1 or config.noise:
        data |= {name: getattr(config, name) for name in ("rounds", "continuation", "discount", "noise")}
    if referee:
        data["referee"] = str(referee)
    if find_model_seats(config.make_game(), seats) or referee not in ("", SIMULATED):
        data |= {name: getattr(config, name) for name in AGENT_SETTINGS}
        data["personas"] = {name: asdict(persona) for name, persona in (personas or {}).items()}
    for repeat in range(config.repeats):
        yield {**data, "repeat": repeat, "seed": split(config.seed, "simulate", repeat)}


def find_model_seats(game: AnyGame, seats: Mapping[str, str]) -> tuple[str, ...]:
    """Return the seats in which models sit: those whose player is no strategy of the game."""
    return tuple(role for role, player in seats.items() if find_strategy(player, game, role, 0) is None)


def estimate_plays(config: MatchSettings, seats: Mapping[str, str], referee: str = "") -> Estimate:
    """Count the calls of models at most, shared out by seats; a prompt is about as long as the first briefing."""
    game = config.make_game()
    asked = [seats[role] for role in find_model_seats(game, seats)]
    most, sure = _count_calls(config, game, seats, referee)
    names = dict.fromkeys([*asked, *([referee] if referee not in ("", SIMULATED) else [])])
    calls = {str(name): most * asked.count(name) // max(len(asked), 1) for name in names}
    briefing = len(game.view(game.start(), game.roles[0]).briefing) // _CHARACTERS_PER_TOKEN
    return Estimate(
        config.repeats,
        f"{config.game.name} with {', '.join(f'{role} = {player}' for role, player in seats.items())}, "
        f"seed {config.seed}",
        calls,
        {name: count * briefing for name, count in calls.items()},
        {name: count * config.max_tokens for name, count in calls.items()},
        sure,
    )


def _count_calls(config: MatchSettings, game: AnyGame, seats: Mapping[str, str], referee: str) -> tuple[int, bool]:
    """Count the calls of all repeats at most, and say whether that is sure."""
    asked = find_model_seats(game, seats)
    if isinstance(game, HasSpeakers):
        rulings = sum(game.rules_after(said) for said in range(1, game.messages + 1))
        said = len(asked) * game.messages // len(game.roles)
        return config.repeats * (said + rulings * (referee != SIMULATED)), True
    if not asked:
        return 0, True
    questions, sure = _count_questions(config, game, asked)
    each = config.attempts + count_thoughts(config.reasoning, len(seats) - 1) + config.memory.startswith("summary")
    each *= _REVIEWS if any(is_verified(seats[role]) for role in asked) else 1
    return config.repeats * questions * each, sure


def count_thoughts(reasoning: str, rivals: int) -> int:
    """Count the calls that a way of reasoning makes before an answer."""
    name, _, depth = reasoning.partition(":")
    if name == "k-level":
        return sum(rivals**level for level in range(1, int(depth or 1) + 1))
    return {"predict": 1, "reflect": 1, "refine": 2}.get(name, 0)


def _count_questions(config: MatchSettings, game: AnyGame, seats: tuple[str, ...]) -> tuple[int, bool]:
    """Count how often these seats are asked in one play at most, and say whether that is sure."""
    theory = describe_theory(game)
    if isinstance(game, AdjustableRounds):
        return game.most_answers * len(seats), True
    if theory.form is not None:
        return config.rounds * len(seats), True
    if theory.tree is not None:
        return _find_longest(theory.tree, [game.roles.index(seat) for seat in seats]), True
    return max(_count_in_trial(game, seats, trial) for trial in range(_TRIALS)), False


def _find_longest(tree: Tree, players: list[int]) -> int:
    """Return the most decisions of these players on any way through the tree."""
    before = np.zeros(tree.num_nodes, dtype=np.int64)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        before[node] = before[parent] + (int(tree.owner[parent]) in players)
    return int(before.max())


def _count_in_trial(game: AnyGame, seats: tuple[str, ...], trial: int) -> int:
    players: dict[str, Player] = dict.fromkeys(game.roles, RandomPlayer(trial))
    try:
        record = play(game, {**players, NATURE: Nature(trial)})
    except UsageError as error:
        raise UsageError(f"{game.name} cannot be simulated: {error}") from None
    counts = Counter(submission.role for submission in record.submissions)
    return sum(counts[seat] for seat in seats)


def make_player(
    game: AnyGame, models: Mapping[str, Model]
) -> Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]:
    """Return the function that plays one spec of this game, for `execute`."""

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        replies = Replies(done)
        seats = {
            role: _player(spec.data, game, role, who, models, replies.get(role)) for role, who in spec.data["seats"]
        }
        seats[NATURE] = Nature(spec.data["seed"])
        if isinstance(game, HasSpeakers):
            seats[REFEREE] = _player(spec.data, game, REFEREE, spec.data["referee"], models, ())
        return play(game, seats, submissions=done, ask_seats=ask_at_once, on_submission=replies.keep_with(keep))

    return play_one


def _player(
    data: JsonMapping,
    game: AnyGame,
    role: str,
    who: str,
    models: Mapping[str, Model],
    replies: Sequence[str],
) -> Player:
    player = find_strategy(who, game, role, data["seed"])
    if player is not None:
        return player
    own_seed = split(data["seed"], "seat", role)
    if isinstance(game, HasSpeakers):
        sampling = Sampling(data["temperature"], max_tokens=data["max_tokens"], seed=own_seed % 2**31)
        return seat_speaker(models[who], game, role, own_seed, sampling)
    persona = Persona(**data["personas"][role]) if role in data["personas"] else None
    return settled_agent(data, who, models[who], persona, own_seed, replies)
