"""What the tools do, as plain functions, each after the type of its result, so that clients get a schema.

The docstrings are the descriptions that a client's model reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from bestresponse.api.formalizing import check as check_program
from bestresponse.api.reasoning import verify as verify_text
from bestresponse.api.solving import solve as solve_game
from bestresponse.core import registry
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.formal.evaluate.named_games import find_names
from bestresponse.games.comparison import compare_games
from bestresponse.games.logic.tables import table_to_data
from bestresponse.games.named_game import NamedGame, as_source
from bestresponse.integrations.game_text import read_game
from bestresponse.integrations.mcp.profiles import (
    Strategies,
    measure_profile,
    read_others,
    read_policy,
    value_actions,
)
from bestresponse.studies.tournament.entries import gather_entries, make_stage
from bestresponse.studies.tournament.standings import measure_standings
from bestresponse.studies.tournament.study import TournamentConfig
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_entry, tree_names
from bestresponse.theory.trees.sequence_form import tree_best_response
from bestresponse.theory.trees.tree import Tree

_EQUAL = 1e-9
Mix = dict[str, float]

Game = Annotated[
    str,
    Field(
        description="A name from list_games, or the game itself: a JSON payoff matrix such as [[3,0],[5,1]] (zero-sum) "
        'or {"row": [[3,0],[5,1]], "col": [[3,5],[0,1]]}, the text of a Gambit .nfg or .efg file, or a logic program.'
    ),
]
Profile = Annotated[
    Strategies,
    Field(
        description='By player: an action, or probabilities of actions, e.g. {"row": "a0", "col": {"a0": 0.5, "a1": '
        "0.5}}; in a tree a move or probabilities for each information set."
    ),
]


class GameSummary(BaseModel):
    """A game that can be named."""

    name: str
    kind: Literal["matrix", "tree", "registered"]
    description: str


class GameList(BaseModel):
    """The games that can be named."""

    games: list[GameSummary]


def list_games(
    search: Annotated[str, Field(description="Only games with this text in name or description.")] = "",
) -> GameList:
    """List the games that can be named: matrix games, game trees, and games with rules of their own."""
    found = [GameSummary(name=e.name, kind="matrix", description=e.description) for e in catalogue.entries()]
    found += [GameSummary(name=n, kind="tree", description=tree_entry(n).description) for n in tree_names()]
    for name in registry.games.names():
        line = (registry.games.load(name).__doc__ or "").strip().partition("\n")[0]
        found.append(GameSummary(name=name, kind="registered", description=line))
    wanted = search.casefold()
    return GameList(games=[g for g in found if wanted in g.name.casefold() or wanted in g.description.casefold()])


class SolvedEquilibrium(BaseModel):
    """One equilibrium. `strategies` are by player and action; in a tree by player, information set and move."""

    kind: str
    strategies: dict[str, Mix] | dict[str, dict[str, Mix]] = Field(
        validation_alias=AliasChoices("strategies", "policy")
    )
    payoffs: Mix
    regret: float = Field(description="The most that any player gains by deviating alone: 0 up to rounding.")


class SolvedGame(BaseModel):
    """The equilibria of a game, how they were found and how sure they are."""

    game: str
    form: Literal["normal form", "tree"]
    players: list[str]
    method: str
    complete: bool = Field(description="Whether these are all equilibria, those in between of components aside.")
    equilibria: list[SolvedEquilibrium]
    regret: float
    value: float | None = Field(
        default=None, description="What the first player gets, in two-player constant-sum games."
    )
    remarks: list[str]


def solve(
    game: Game,
    method: Annotated[
        str,
        Field(
            description="auto; for tables enumeration, lemke-howson, zero-sum or pure; for trees sequence-form, "
            "backward-induction, normal-form, cfr, cfr+, dcfr or pcfr+."
        ),
    ] = "auto",
) -> SolvedGame:
    """Find the Nash equilibria of a game, with payoffs and a certificate (the largest regret)."""
    return SolvedGame.model_validate(solve_game(read_game(game), method=method).to_json())


class CheckedProfile(BaseModel):
    """What every player earns and could gain by deviating alone."""

    is_equilibrium: bool
    payoffs: Mix
    regrets: Mix
    nash_conv: float = Field(description="The sum of the regrets.")


def check(game: Game, strategies: Profile) -> CheckedProfile:
    """Check whether strategies are a Nash equilibrium: what each player earns and could gain by deviating alone."""
    form = read_game(game).solvable()
    payoffs, regrets = measure_profile(form, strategies)
    stable = max(regrets.values()) <= _EQUAL * max(1.0, float(np.abs(form.payoffs).max()))
    return CheckedProfile(is_equilibrium=stable, payoffs=payoffs, regrets=regrets, nash_conv=sum(regrets.values()))


class BestResponse(BaseModel):
    """The best answer of one player to the others."""

    player: str
    best: list[str] = Field(description="Every best action; in a tree one best move for each information set.")
    moves: dict[str, str] = Field(default={}, description="In a tree: the move at each information set.")
    value: float
    action_values: Mix = Field(default={}, description="In a normal form: what every action earns.")


def best_response(
    game: Game,
    player: Annotated[str, Field(description="Who responds.")],
    strategies: Profile,
) -> BestResponse:
    """Find the best response of one player to the strategies of the others."""
    form = read_game(game).solvable()
    read_others(form, strategies, player)
    if isinstance(form, Tree):
        answer = tree_best_response(form, read_policy(form, strategies, free=player), player)
        return BestResponse(player=player, best=list(answer.moves.values()), moves=answer.moves, value=answer.value)
    values = value_actions(form, player, strategies)
    most = max(values.values())
    near = most - _EQUAL * max(1.0, float(np.abs(form.payoffs).max()))
    best = [action for action, value in values.items() if value >= near]
    return BestResponse(player=player, best=best, value=most, action_values=values)


class Diagnosis(BaseModel):
    """One fault of a program; line and column count from 1, 0 means the whole."""

    model_config = ConfigDict(from_attributes=True)
    stage: str
    severity: str
    line: int
    column: int
    message: str
    hint: str


class CheckedProgram(BaseModel):
    """Whether a program is a game, and if not, why not."""

    ok: bool
    diagnostics: list[Diagnosis]
    players: list[str] = []
    moves: dict[str, list[str]] = {}
    known_as: list[str] = Field(default=[], description="Well-known games whose conditions the payoffs meet.")
    table: JsonObject | None = Field(default=None, description="Every end of the game with its moves and payoffs.")


def formalize_check(program: Annotated[str, Field(description="A game as a logic program.")]) -> CheckedProgram:
    """Check a game that was written as a logic program: syntax, names, running, and the game that comes out."""
    if "\n" not in program and program.strip().endswith(".pl"):
        raise UsageError("expected the text of a program, got the name of a file")
    report = check_program(program + "\n")
    diagnostics = [Diagnosis.model_validate(diagnosis) for diagnosis in report.diagnostics]
    table = report.table
    if table is None:
        return CheckedProgram(ok=report.ok, diagnostics=diagnostics)
    return CheckedProgram(
        ok=report.ok,
        diagnostics=diagnostics,
        players=list(table.players),
        moves={player: list(moves) for player, moves in zip(table.players, table.moves, strict=True)},
        known_as=list(find_names(table)),
        table=table_to_data(table),
    )


class JudgedClaim(BaseModel):
    """A claim found in a text and its verdict."""

    claim: str
    verdict: Literal["proved", "refuted", "unknown"]
    why: str


class Refuted(BaseModel):
    """A false claim, what is true instead, and the passages that make it."""

    claim: str
    correction: str
    passages: list[str]


class VerifiedText(BaseModel):
    """What the claims of a reasoning amount to."""

    state: Literal["unrefuted", "refuted", "undecided", "unchecked"]
    summary: str
    claims: list[JudgedClaim]
    refuted: list[Refuted]
    unread: list[str] | None


def verify(
    text: Annotated[str, Field(description="A reasoning in English about payoffs, best responses or equilibria.")],
    game: Game,
    seat: Annotated[str | None, Field(description="The player who reasons, by name; the first if not said.")] = None,
) -> VerifiedText:
    """Find the claims that a reasoning makes about a game, and prove or refute each; what is false is corrected."""
    review = verify_text(text, read_game(game), seat=seat)
    claims = [JudgedClaim(claim=one.text, verdict=one.verdict.value, why=one.proof.why) for one in review.checked]
    refuted = [
        Refuted(claim=str(one.claim), correction=one.correction, passages=[p.text for p in one.passages])
        for one in review.refutations
    ]
    unread = None if review.unread is None else list(review.unread)
    return VerifiedText(state=review.state.value, summary=review.summary, claims=claims, refuted=refuted, unread=unread)


class ComparedGames(BaseModel):
    """How two games are related; the maps lead from names of the first game to names of the second."""

    model_config = ConfigDict(from_attributes=True)
    verdict: Literal["same tree", "same reduced form, other tree", "same order of payoffs", "different"]
    relation: Literal["equal", "renamed", "equivalent", "ordinal", "different"]
    same: bool
    players: dict[str, str]
    actions: dict[str, dict[str, str]]
    differences: list[str]
    num_differences: int


def compare(first: Game, second: Game) -> ComparedGames:
    """Decide whether two games are the same up to names, order and positive affine payoffs, and where they differ."""
    comparison = compare_games(read_game(first).solvable(), read_game(second).solvable())
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
    method: str
    winners: list[str]
    standings: list[TournamentRow]
    left_out: dict[str, str]


def tournament(
    game: Game,
    strategies: Annotated[
        list[str],
        Field(description="Names such as tit-for-tat, or the groups all, published, classic.", max_length=200),
    ],
    rounds: Annotated[int, Field(ge=1, le=10_000)] = 10,
    noise: Annotated[float, Field(description="Probability that another move is made.", ge=0, le=1)] = 0.0,
    continuation: Annotated[float, Field(description="Probability of another round.", ge=0, le=1)] = 1.0,
) -> TournamentTable:
    """Let strategies meet in a repeated game with two players, every pair in both seats; payoffs are expected ones."""
    found = read_game(game)
    program = game if found.origin == "file" and game.strip().endswith(".") else ""
    source = NamedGame(found.name, ".pl", program) if program else as_source(found)
    entries, left_out = gather_entries(strategies, make_stage(source))
    if any(entry.kind in ("axelrod", "model") for entry in entries):
        raise UsageError("models and strategies of the Axelrod library are not offered here")
    config = TournamentConfig(source, entries, rounds=rounds, noise=noise, continuation=continuation, left_out=left_out)
    standings = measure_standings(config)
    rows = [
        TournamentRow(name=row["name"], total=row["total"] or 0.0, per_round=row["per_round"] or 0.0)
        for row in standings.rows
    ]
    return TournamentTable(
        game=found.name,
        rounds=rounds,
        method=standings.method,
        winners=list(standings.winners),
        standings=rows,
        left_out=dict(config.left_out),
    )


TOOLS: dict[str, Callable[..., BaseModel]] = {
    tool.__name__: tool
    for tool in (solve, check, best_response, formalize_check, verify, compare, tournament, list_games)
}
"""By name, in the order in which clients see them."""
