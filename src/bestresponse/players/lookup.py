"""Who can take a seat, by name, in any game.

Used for `play`, `simulate`, `serve` and the Python interface alike.

    random         some legal move
    equilibrium    the game's first equilibrium, the same one for all seats
    always:MOVE    the same answer whenever it is asked
    uniform, greedy, maximin, level-1, level-2   in tables of two players, see `players.strategies`
    tit-for-tat and other automata               in repeated dilemmas, see `theory.repeated.library`
    simulated      in a dialogue, the simulated speaker or referee
    the game's own strategies (`core.capabilities.NamedStrategies`), such as the bidders of the
        water game
    the players of installed packages, by an entry point of the group `bestresponse.players`

Any other name is that of a model; `verified:MODEL` is a model whose reasoning is checked.

A package registers a function or class that is called with `(game, role, seed)` and returns a
player. An attribute `plays(game) -> bool` keeps it off the lists of games that it does not play.
"""

from collections.abc import Callable, Iterator, Mapping

from bestresponse.core import registry
from bestresponse.core.ask import Ask
from bestresponse.core.capabilities import (
    NamedStrategies,
    Wording,
    check_telling,
    find_known_equilibrium,
)
from bestresponse.core.errors import BestResponseError, InvalidGame, UsageError
from bestresponse.core.game import REFEREE, Game, Role, S
from bestresponse.core.player import Chances, Drawing, Player
from bestresponse.core.registry import check_members, did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import (
    HasNormalForm,
    HasSpeakers,
    HasStage,
    HasTree,
    HidesRounds,
    find_stage_form,
)
from bestresponse.models.base import Model
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.players import strategies
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.dialogue.speaker import DealReferee, Speaker, Unguided
from bestresponse.players.llm.agent import Agent
from bestresponse.players.llm.player import Sampling, Style
from bestresponse.players.llm.verified import bare_name, is_verified, with_review
from bestresponse.telling.language import ENGLISH, load_language
from bestresponse.theory.repeated.automaton import (
    Automaton,
    classic_strategies,
    cooperative_actions,
)

OpenModel = Callable[[str], Model]
"""Opens a model by its name."""

SIMULATED = "simulated"
"""The speaker and referee of dialogues who needs no model."""
_PEOPLE = ("me", "human", "person")
_SIMPLE = tuple(name for name in strategies.BASELINES if name != "random")


def list_strategies(game: Game[S]) -> tuple[str, ...]:
    """List the strategies that can sit in any seat of `game`, the default one first."""
    if isinstance(game, HasSpeakers):
        return (SIMULATED,)
    listed = game.strategy_names if isinstance(game, NamedStrategies) else ()
    form = find_stage_form(game)
    simple = (*_SIMPLE, *_list_automata(game)) if form is not None and form.num_players == 2 else ()
    registered = [name for name in registry.players.names() if _plays(name, game)]
    return tuple(dict.fromkeys((*listed, *registered, *simple)))


def choose_default(game: Game[S]) -> str:
    """Choose who takes the seats that nobody was named for."""
    if isinstance(game, HasSpeakers):
        return SIMULATED
    if isinstance(game, NamedStrategies):
        return game.strategy_names[0]
    solved = isinstance(game, HasNormalForm | HasTree) or find_known_equilibrium(game) is not None
    return strategies.EQUILIBRIUM if solved else "random"


def find_strategy(name: str, game: Game[S], role: Role, seed: int) -> Player | None:
    """Make the player of that name who needs no model.

    Returns None where the name is taken for that of a model.

    Raises:
        UsageError: the name is that of a strategy which cannot play this game.
    """
    own_seed = split(seed, "seat", role)
    if name in _PEOPLE:
        raise UsageError(
            f"{role}={name}: people play with `bestresponse play`; seat a model or a strategy here"
        )
    if isinstance(game, HasSpeakers):
        return (
            seat_speaker(SimulatedSpeaker(seed), game, role, own_seed)
            if name == SIMULATED
            else None
        )
    if (
        isinstance(game, NamedStrategies)
        and (player := game.make_strategy(name, role, own_seed)) is not None
    ):
        return player
    if name.startswith(strategies.ALWAYS):
        return strategies.make_always(name.removeprefix(strategies.ALWAYS), game, role)
    if name in registry.players.names():
        registered: Player = registry.players.make(name, game, role, own_seed)
        check_members(registered, ("name", "decide"), registry.players.describe(name))
        return registered
    form = find_stage_form(game)
    if name in _SIMPLE:
        if form is None or form.num_players != 2:
            raise UsageError(
                f"{role}={name}: baselines play tables of two players, and {game.name} is none"
            )
        return strategies.BaselinePlayer(name, own_seed)
    if form is None or name not in _list_automata(game):
        return None
    return strategies.AutomatonPlayer(
        strategies.make_automaton(name, form, game.roles.index(role)), own_seed
    )


def find_known_strategies(game: Game[S], seats: Mapping[Role, str]) -> dict[Role, Automaton]:
    """Return the strategies of the seats that are known, by the names of who sits there.

    What is known of nobody else: people, models, and strategies that are no automata.
    """
    known: dict[Role, Automaton] = {}
    for role, player in _seat_strategies(game, seats):
        strategy = strategies.describe_as_automaton(player, game, role)
        if strategy is not None:
            known[role] = strategy
    return known


def find_drawing(game: Game[S], seats: Mapping[Role, str]) -> dict[Role, Chances]:
    """Return how those draw their answers whose strategies are known, by their names."""
    players = dict(_seat_strategies(game, seats))
    return {role: one.find_chances for role, one in players.items() if isinstance(one, Drawing)}


def _seat_strategies(game: Game[S], seats: Mapping[Role, str]) -> Iterator[tuple[Role, Player]]:
    """Yield those who need no model, by the names of who sits there."""
    for role, name in seats.items():
        if role not in game.roles or name in _PEOPLE:
            continue
        try:
            player = find_strategy(name, game, role, 0)
        except BestResponseError:  # a name that means something else where the record comes from
            continue
        if player is not None:
            yield role, player


def check_strategy(name: str, game: Game[S]) -> None:
    """Raise a UsageError with the nearest name where no strategy of that name plays `game`."""
    if name in _PEOPLE or find_strategy(name, game, game.roles[0], 0) is None:
        classic = [automaton.name for automaton in classic_strategies()]
        if name in classic and not isinstance(game, HasStage):
            raise UsageError(
                f"the strategy {name!r} replies to earlier rounds, and {game.name} has one only;"
                " set rounds to 2 or more."
            )
        known = list_strategies(game)
        repeated = did_you_mean(name, classic, likeness=0.75)
        hint = (
            did_you_mean(name, list(known))
            or (f"{repeated} It needs 2 or more rounds." if repeated else "")
            or f" There are {strategies.ALWAYS}MOVE, {', '.join(known)}."
        )
        raise UsageError(f"there is no strategy named {name!r} for {game.name}.{hint}")


def check_seat_name(name: str, game: Game[S]) -> None:
    """Raise a UsageError that lists the strategies if a name is unknown.

    A name is unknown if it is neither that of a strategy nor that of a model.
    """
    bare = bare_name(name)
    if "/" not in bare and not bare.endswith(".gguf") and bare not in WEIGHTS:
        try:
            check_strategy(bare, game)
        except UsageError as error:
            raise UsageError(
                f"{error} Models are named PROVIDER/MODEL: `bestresponse models` lists models."
            ) from None


def describe_seat(name: str, game: Game[S], role: Role) -> str:
    """Describe who sits in a seat under that name, for the other players.

    The text completes the sentence "ROLE is ...".

    >>> from bestresponse.games.lookup import find_game
    >>> describe_seat("always:hare", find_game("stag-hunt").playable(), "row")
    'a program that always answers hare'
    """
    if find_strategy(name, game, role, 0) is None:
        return "a language model"
    if name.startswith(strategies.ALWAYS):
        return f"a program that always answers {name.removeprefix(strategies.ALWAYS)}"
    if name == strategies.EQUILIBRIUM and isinstance(game, HasStage):
        return "a program that plays an equilibrium of one round, as if there were no other"
    if name == strategies.EQUILIBRIUM:
        return "a program that plays an equilibrium of the game"
    return f"a program that plays the strategy {name}"


def seat_model(name: str, model: Model, game: Game[S], role: Role, seed: int) -> Player:
    """Seat a model: it speaks or rules in a dialogue, and elsewhere answers what it is asked.

    Where its reasoning is to be checked, it is not held to a schema. TooLarge where the game cannot
    be told.
    """
    check_telling(game)
    if isinstance(game, HasSpeakers):
        return seat_speaker(model, game, role, seed)
    reasons = is_verified(name)
    style: Style = "json" if model.abilities.schema and not reasons else "line"
    return with_review(name, Agent(model, style=style, question=find_question(game)), game)


def find_question(game: Game[S]) -> Callable[[Ask], str] | None:
    """Return how the game puts its questions in words; None where it has none of its own."""
    if not isinstance(game, Wording):
        return None
    word_question = game.word_question
    return lambda ask: load_language(ENGLISH).tell(word_question(ask))


def seat_speaker(
    model: Model,
    game: HasSpeakers,
    role: Role,
    seed: int,
    sampling: Sampling | None = None,
) -> Player:
    """Seat a model as the referee of a dialogue, or as a speaker whom nobody tells how to speak."""
    if role == REFEREE:
        return DealReferee(model, game.domain)
    speaker = Speaker(model) if sampling is None else Speaker(model, sampling)
    return Unguided(speaker, game.neutral(game.roles.index(role)), seed=seed)


def _plays(name: str, game: Game[S]) -> bool:
    """Say whether a registered player is for this game; a broken one is for none."""
    try:
        plays = getattr(registry.players.load(name), "plays", None)
        return plays is None or bool(plays(game))
    except BestResponseError:
        return False


def _list_automata(game: Game[S]) -> tuple[str, ...]:
    """List the classic strategies.

    There are none where nothing is repeated, or no action of a round is cooperation.
    """
    form = find_stage_form(game)
    try:
        seen = isinstance(game, HasStage) and not isinstance(game, HidesRounds)
        if form is None or not seen or not cooperative_actions(form):
            return ()
    except InvalidGame:
        return ()
    return tuple(
        automaton.name
        for automaton in classic_strategies()
        if automaton.name not in strategies.BASELINES
    )
