"""What the tools do, as plain functions, each after the type of its result, so that clients get a
schema.

The docstrings are the descriptions that a client's model reads.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    TypeAdapter,
    ValidationError,
)

from bestresponse.analysis.solve.positions import SolvedPositions, solve_by_positions
from bestresponse.analysis.solve.solution import Wish
from bestresponse.api.formalizing import check as check_program
from bestresponse.api.games import list_games
from bestresponse.api.reasoning import verify
from bestresponse.api.solving import solve
from bestresponse.core.capabilities import HasPositions
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import find_by_name
from bestresponse.formal.evaluate.validation import find_names
from bestresponse.formal.strategies.programs import PUBLISHED
from bestresponse.games.comparison import compare_games
from bestresponse.games.dialogue.domain import domain_names
from bestresponse.games.logic.tables import table_to_data
from bestresponse.games.lookup import FORMATS, LoadedGame, NamedGame, as_source, find_game
from bestresponse.integrations.mcp.programs import ask_program, load_program, repair_program
from bestresponse.logic.language.diagnostics import Diagnostic
from bestresponse.studies.steer.advising import advise
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import GROUPS, gather_entries, make_stage
from bestresponse.studies.tournament.standings import find_standings
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.positions.solve import list_best
from bestresponse.theory.repeated.automaton import classic_strategies
from bestresponse.theory.trees.normal_form import to_tree
from bestresponse.theory.trees.sequence_form import (
    counterfactual_values,
    policy_regrets,
    policy_value,
    tree_best_response,
)
from bestresponse.theory.trees.tree import Policy, Tree, policy_from_table, uniform_policy

_EQUAL = 1e-9
_SEARCH_SECONDS = 10.0  # half of what a call has by default
_STARTS = {"NFG": ".nfg", "EFG": ".efg", "[": ".json", "{": ".json"}
Mix = dict[str, FiniteFloat]
Strategies = dict[str, str | dict[str, FiniteFloat | str | Mix]]
_PLANS = TypeAdapter(dict[str, str | Mix])
"""By information set: a move, or probabilities of moves."""

Game = Annotated[
    str,
    Field(
        description=(
            "A name from list_games, or the game itself: a JSON payoff matrix such as [[3,0],[5,1]]"
            ' (zero-sum) or {"row": [[3,0],[5,1]], "col": [[3,5],[0,1]]}, the text of a Gambit .nfg'
            " or .efg file, or a logic program."
        )
    ),
]
Profile = Annotated[
    Strategies,
    Field(
        description=(
            'By player: an action, or probabilities of actions, e.g. {"row": "a0", "col": {"a0":'
            ' 0.5, "a1": 0.5}}; in a tree a move or probabilities for each information set.'
        )
    ),
]


class GameSummary(BaseModel):
    """A game that can be named."""

    name: str
    kind: Literal["matrix", "tree", "registered"]
    what: str


class GameList(BaseModel):
    """The games that can be named."""

    games: list[GameSummary]


def list_known_games(
    search: Annotated[
        str, Field(description="Only games with this text in name or description.")
    ] = "",
) -> GameList:
    """List the games that can be named: matrix games, game trees, and games with rules of their
    own."""
    games = [row for row in list_games().rows if row["kind"] != "family"]
    wanted = []
    for row in games:
        text = f"{row['name']}\n{row['what']}"
        if search.casefold() in text.casefold():
            wanted.append(row)
    return GameList.model_validate({"games": wanted})


class NameList(BaseModel):
    """Names that other tools or the command line take."""

    names: list[str]


def list_known_strategies() -> NameList:
    """List the strategies that `tournament` takes; the first names are those of groups."""
    classic = [bot.name for bot in classic_strategies()]
    names = dict.fromkeys((*GROUPS, *PUBLISHED, *classic))
    return NameList(names=list(names))


class SolvedEquilibrium(BaseModel):
    """One equilibrium. `strategies` are by player and action; in a tree by player, information set
    and move."""

    kind: str
    strategies: dict[str, Mix] | dict[str, dict[str, Mix]] = Field(
        validation_alias=AliasChoices("strategies", "policy")
    )
    payoffs: Mix
    regret: float = Field(
        description="The most that any player gains by deviating alone: 0 up to rounding."
    )


class SolvedGame(BaseModel):
    """The equilibria of a game, how they were found and how sure they are."""

    game: str
    form: Literal["normal form", "tree"]
    players: list[str]
    method: str
    complete: bool = Field(
        description="Whether these are all equilibria, those in between of components aside."
    )
    equilibria: list[SolvedEquilibrium]
    regret: float
    value: float | None = Field(
        default=None, description="What the first player gets, in two-player constant-sum games."
    )
    remarks: list[str]


def solve_game(
    game: Game,
    method: Annotated[
        str,
        Field(
            description=(
                "auto; for tables enumeration, lemke-howson, zero-sum or pure; for trees"
                " sequence-form, "
                "backward-induction, normal-form, cfr, cfr+, dcfr or pcfr+."
            )
        ),
    ] = "auto",
) -> SolvedGame:
    """Find the Nash equilibria of a game, with payoffs and a certificate (the largest regret)."""
    solution = solve(_read_game(game), method=method)
    return SolvedGame.model_validate(solution.to_json())


class CheckedProfile(BaseModel):
    """What every player earns and could gain by deviating alone."""

    is_equilibrium: bool
    payoffs: Mix
    regrets: Mix
    nash_conv: float = Field(description="The sum of the regrets.")


def check_profile(game: Game, strategies: Profile) -> CheckedProfile:
    """Check whether strategies are a Nash equilibrium: what each player earns and could gain by
    deviating alone."""
    form = _read_game(game).solvable()
    policy = _read_policy(form, strategies)
    payoffs = policy_value(policy.tree, policy)
    regrets = policy_regrets(policy.tree, policy)
    largest = float(np.abs(form.payoffs).max())
    stable = max(regrets.values()) <= _EQUAL * max(1.0, largest)
    return CheckedProfile(
        is_equilibrium=stable,
        payoffs=payoffs,
        regrets=regrets,
        nash_conv=sum(regrets.values()),
    )


class BestResponse(BaseModel):
    """The best answer of one player to the others."""

    player: str
    best: list[str] = Field(
        description="Every best action; in a tree one best move for each information set."
    )
    moves: dict[str, str] = Field(
        default={}, description="In a tree: the move at each information set."
    )
    value: float
    action_values: Mix = Field(default={}, description="In a normal form: what every action earns.")


def best_response(
    game: Game,
    player: Annotated[str, Field(description="Who responds.")],
    strategies: Profile,
) -> BestResponse:
    """Find the best response of one player to the strategies of the others."""
    form = _read_game(game).solvable()
    policy = _read_policy(form, strategies, responder=player)
    answer = tree_best_response(policy.tree, policy, player)
    if isinstance(form, Tree):
        return BestResponse(
            player=player,
            best=list(answer.moves.values()),
            moves=answer.moves,
            value=answer.value,
        )
    seat = form.players.index(player)
    # The tree of a table has one information set for each player, in their order, which is always
    # reached.
    own_values = counterfactual_values(policy.tree, policy)[seat].tolist()
    values = dict(zip(form.actions[seat], own_values, strict=True))
    largest = float(np.abs(form.payoffs).max())
    near = answer.value - _EQUAL * max(1.0, largest)
    best = [action for action, value in values.items() if value >= near]
    return BestResponse(
        player=player,
        best=best,
        value=answer.value,
        action_values=values,
    )


class ProgramReport(BaseModel):
    """Whether a program is a game, and if not, why not."""

    ok: bool
    diagnostics: list[Diagnostic]
    known_as: list[str] = Field(
        default=[], description="Well-known games whose conditions the payoffs meet."
    )
    table: JsonObject | None = Field(
        default=None, description="Players, moves, and every end with its payoffs."
    )


def formalize_check(
    program: Annotated[str, Field(description="A game as a logic program.")],
) -> ProgramReport:
    """Check a game that was written as a logic program: syntax, names, running, and the
    resulting game."""
    if "\n" not in program and program.strip().endswith(".pl"):
        raise UsageError("expected the text of a program, got the name of a file")
    report = check_program(program + "\n")
    checked = ProgramReport(ok=report.ok, diagnostics=list(report.diagnostics))
    if report.table is not None:
        checked.known_as, checked.table = (
            list(find_names(report.table)),
            table_to_data(report.table),
        )
    return checked


class JudgedClaim(BaseModel):
    """A claim found in a text and its verdict; where it is false, what is true instead."""

    words: str | None = Field(description="The claim in English, where it can be said.")
    claim: str
    verdict: Literal["proved", "refuted", "unknown"]
    why: str
    correction: str | None


class UnreadPassage(BaseModel):
    """A sentence of the text that gave no claim."""

    text: str
    why: str


class PartlyReadPassage(BaseModel):
    """A sentence of the text of which some part gave no claim."""

    text: str
    left_out: list[str]


class VerifiedText(BaseModel):
    """What the claims of a reasoning amount to."""

    state: Literal["unrefuted", "refuted", "undecided", "unchecked"]
    summary: str
    claims: list[JudgedClaim]
    partly_read: list[PartlyReadPassage] | None
    unread: list[UnreadPassage] | None


def verify_text(
    text: Annotated[
        str,
        Field(description="A reasoning in English about payoffs, best responses or equilibria."),
    ],
    game: Game,
    seat: Annotated[
        str | None, Field(description="Player who reasons. [default: the first]")
    ] = None,
) -> VerifiedText:
    """Find the claims that a reasoning makes about a game, and prove or refute each; what is false
    is corrected."""
    review = verify(_read_game(game), text, seat=seat)
    return VerifiedText.model_validate(review.to_json())


class ComparedGames(BaseModel):
    """How two games are related; the maps lead from names of the first game to names of the
    second."""

    model_config = ConfigDict(from_attributes=True)
    verdict: Literal[
        "same tree", "same reduced form, other tree", "same order of payoffs", "different"
    ]
    relation: Literal["equal", "renamed", "equivalent", "ordinal", "different"]
    same: bool
    players: dict[str, str]
    actions: dict[str, dict[str, str]]
    differences: list[str]
    num_differences: int


def compare_pair(first: Game, second: Game) -> ComparedGames:
    """Decide whether two games are the same up to names, order and positive affine payoffs, and
    where they differ."""
    comparison = compare_games(_read_game(first).solvable(), _read_game(second).solvable())
    return ComparedGames.model_validate(comparison)


class TournamentRow(BaseModel):
    """One strategy of a tournament."""

    name: str
    total: float
    per_round: float


class TournamentTable(BaseModel):
    """The standings, best first."""

    game: str
    rounds: int
    winners: list[str]
    standings: list[TournamentRow]
    left_out: dict[str, str]


def tournament(
    game: Game,
    strategies: Annotated[
        list[str],
        Field(
            description="Names such as tit-for-tat, or the groups all, published, classic.",
            max_length=200,
        ),
    ],
    rounds: Annotated[int, Field(ge=1, le=10_000)] = 10,
) -> TournamentTable:
    """Let strategies meet in a repeated game with two players, every pair in both seats; payoffs
    are expected ones. With noise: game "chicken with repeated(rounds=10, noise=0.1)"."""
    resolved = _read_game(game)
    for name in strategies:
        find_by_name(dict.fromkeys(list_known_strategies().names), name, "strategy")
    is_written = resolved.origin == "file"
    program = game if is_written and game.strip().endswith(".") else ""
    named = as_source(resolved if is_written else resolved.name)
    source = NamedGame(resolved.name, ".pl", program) if program else named
    entries, left_out = gather_entries(strategies, make_stage(source))
    config = TournamentConfig(
        source,
        entries,
        rounds=rounds,
        left_out=left_out,
    )
    standings = find_standings(config)
    return TournamentTable(
        game=resolved.name,
        rounds=config.repetition.rounds,
        winners=list(standings.winners),
        standings=list(map(TournamentRow.model_validate, standings.rows)),
        left_out=dict(config.left_out),
    )


class MoveValues(BaseModel):
    """What the legal moves in a position are worth to whoever moves there."""

    player: str
    worth: Mix
    best: list[str]
    bound: float = Field(description="By how much a worth can be off at most.")


def value_moves(
    game: Game,
    moves: Annotated[
        list[str],
        Field(
            description='The moves of all players and of chance so far, such as ["b2"].',
            max_length=1000,
        ),
    ],
) -> MoveValues:
    """Say what each move is worth in a position of a game without secrets if everybody plays best
    afterwards. Example: game "tic-tac-toe", moves ["a1"]."""
    solved = _solve_positions(game)
    played, solution = solved.game, solved.solution
    position = played.begin()
    for number, move in enumerate(moves, 1):
        legal = played.find_turn(position).moves
        if move not in legal:
            expected = f"one of {', '.join(legal)}" if legal else "none, as the play is over"
            raise UsageError(f"move {number} is {move!r}; expected {expected}")
        position = played.advance(position, move)
    turn = played.find_turn(position)
    if turn.role in ("", NATURE):
        raise UsageError("nobody chooses in this position: the play is over, or chance moves")
    worth = solution.list_worths(played, position)
    return MoveValues(player=turn.role, worth=worth, best=list_best(worth), bound=solution.bound)


@lru_cache(maxsize=2)
def _solve_positions(game: str) -> SolvedPositions:
    """Solve a game once for all questions about its positions."""
    loaded = _read_game(game)
    if not isinstance(loaded.game, HasPositions):
        raise UsageError(
            f"{loaded.name} is not solved by its positions; `solve` finds its equilibria and"
            " `best_response` what moves earn"
        )
    return solve_by_positions(loaded.game, Wish(seconds=_SEARCH_SECONDS))


class SpokenLine(BaseModel):
    """A message of a conversation."""

    text: str = Field(max_length=4000)
    name: str = Field(default="", description="Who wrote it, if known.")
    manner: str = Field(default="", description="In which manner it was written, if known.")


class ManneredAdvice(BaseModel):
    """In which manner to write the next message, and what that would earn."""

    manner: str
    instruction: str = Field(description="The manner in words, as an instruction to a writer.")
    probabilities: Mix
    earns: float | None = Field(
        description="What following the advice earns the speaker on average."
    )
    unguided: float | None = Field(
        description="What speaking in no particular manner earns instead."
    )
    worth: Mix = Field(description="What every manner earns, where the situation was solved.")
    source: Literal["solved tree", "nearest situation", "learnt policy", "solved positions"]
    policy: str
    games: int


def advise_speaker(
    domain: Annotated[
        str,
        Field(
            description=(
                "A domain of dialogue, such as meeting, fruit or debate, or the game haggling with"
                ' its numbers, such as "haggling(cost=12, value=88)".'
            )
        ),
    ],
    transcript: Annotated[
        list[SpokenLine], Field(description="The messages so far, in turn.", max_length=200)
    ],
    private: Annotated[
        dict[str, object] | None,
        Field(
            description=(
                "What the next speaker alone knows, nothing in haggling:"
                ' {"values": {"Monday": 8, "Friday": 3}} in a meeting, '
                '{"endowment": {...}, "values": {...}} in fruit, {"side": "for"} in a debate.'
            )
        ),
    ] = None,
    public: Annotated[
        dict[str, str] | None,
        Field(description="What everybody knows, such as the topic of a debate."),
    ] = None,
) -> ManneredAdvice:
    """Say in which manner to write next in a negotiation or debate, solved by `bestresponse steer`
    beforehand, or what to offer in haggling."""
    if domain not in domain_names() and not domain.startswith("haggling"):
        raise UsageError(
            f"there is no domain named {domain!r}; expected one of {', '.join(domain_names())}"
        )
    lines = [{"from": line.name, "text": line.text, "manner": line.manner} for line in transcript]
    found = advise(domain, lines, private, public=public).to_json()
    known = {name: value for name, value in found.items() if name in ManneredAdvice.model_fields}
    unknown = {name: None for name in ("earns", "unguided") if known[name] != known[name]}  # NaN
    return ManneredAdvice.model_validate({**known, **unknown})


def _read_game(text: str) -> LoadedGame:
    """Return the game that `text` names or writes down. No file is ever opened.

    >>> _read_game("[[0, 5], [4, 1]]").solvable().shape
    (2, 2)
    >>> _read_game("Stag hunt").name
    'stag-hunt'
    """
    stripped = text.strip()
    program = ".pl" if stripped.endswith(".") and "(" in text else ""
    known = (ending for start, ending in _STARTS.items() if stripped.startswith(start))
    ending = next(known, program)
    if not ending:
        try:
            return find_game(text, allow_files=False)
        except UsageError as error:
            raise UsageError(f"{error} list_games lists the names.") from None
    game = FORMATS[ending].parse(text.strip(), f"the {ending} text")
    return LoadedGame(game.name or "game", "file", game)


def _read_policy(
    form: NormalForm | Tree,
    strategies: Strategies,
    responder: str | None = None,
) -> Policy:
    """Read a strategy for every player but the responder, in the tree of the game; UsageError where
    one is missing."""
    names = (*strategies, *([responder] if responder else []))
    unknown = [name for name in names if name not in form.players]
    absent = [name for name in form.players if name not in names]
    if unknown or absent:
        what = (
            f"there is no player {unknown[0]!r}"
            if unknown
            else f"the strategy of {absent[0]!r} is missing"
        )
        raise UsageError(f"{what}; the players are {', '.join(form.players)}")
    tree = form if isinstance(form, Tree) else to_tree(form)
    table = uniform_policy(tree).table()
    for player, plan in strategies.items():
        # The one information set that a player has in the tree of a table is named after the
        # player.
        try:
            plans = _PLANS.validate_python(plan if isinstance(form, Tree) else {player: plan})
        except ValidationError:
            where = " for each information set" if isinstance(form, Tree) else ""
            raise UsageError(
                f"strategy of {player}: expected a move or probabilities{where}, got {plan!r}"
            ) from None
        table[player] = {
            label: {mix: 1.0} if isinstance(mix, str) else mix for label, mix in plans.items()
        }
    return policy_from_table(tree, table)


TOOLS: dict[str, Callable[..., BaseModel]] = {
    "solve": solve_game,
    "check": check_profile,
    "best_response": best_response,
    "formalize_check": formalize_check,
    "verify": verify_text,
    "compare": compare_pair,
    "tournament": tournament,
    "list_games": list_known_games,
    "list_strategies": list_known_strategies,
    "position": value_moves,
    "advise": advise_speaker,
    "prolog_load": load_program,
    "prolog_ask": ask_program,
    "prolog_repair": repair_program,
}
"""By name, in the order in which clients see them."""
