"""What the tools return: typed, so that clients get a schema and structured content."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from bestresponse.core.json import JsonObject

__all__ = [
    "BestResponse",
    "CheckedProfile",
    "CheckedProgram",
    "ComparedGames",
    "Diagnosis",
    "GameList",
    "GameSummary",
    "JudgedClaim",
    "Refuted",
    "SolvedEquilibrium",
    "SolvedGame",
    "TournamentRow",
    "TournamentTable",
    "VerifiedText",
]

Mix = dict[str, float]


class GameSummary(BaseModel):
    """A game that can be named."""

    name: str
    kind: Literal["matrix", "tree", "registered"]
    description: str


class GameList(BaseModel):
    """The games that can be named."""

    games: list[GameSummary]


class SolvedEquilibrium(BaseModel):
    """One equilibrium. `strategies` are by player and action; in a tree by player, information set and move."""

    kind: str
    strategies: dict[str, Mix] | dict[str, dict[str, Mix]]
    payoffs: dict[str, float]
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
    remarks: list[str] = []


class CheckedProfile(BaseModel):
    """What every player earns and could gain by deviating alone."""

    is_equilibrium: bool
    payoffs: dict[str, float]
    regrets: dict[str, float]
    nash_gap: float = Field(description="The sum of the regrets.")


class BestResponse(BaseModel):
    """The best answer of one player to the others."""

    player: str
    best: list[str] = Field(description="Every best action; in a tree one best move for each information set.")
    moves: dict[str, str] = Field(default={}, description="In a tree: the move at each information set.")
    value: float
    action_values: Mix = Field(default={}, description="In a normal form: what every action earns.")


class Diagnosis(BaseModel):
    """One fault of a program; line and column count from 1, 0 means the whole."""

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
    players: list[str]
    moves: dict[str, list[str]]
    known_as: list[str] = Field(description="Well-known games whose conditions the payoffs meet.")
    table: JsonObject | None = Field(default=None, description="Every end of the game with its moves and payoffs.")


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


class ComparedGames(BaseModel):
    """How two games are related; the maps lead from names of the first game to names of the second."""

    verdict: Literal["same tree", "same reduced form, other tree", "same order of payoffs", "different"]
    relation: Literal["equal", "renamed", "equivalent", "ordinal", "different"]
    same: bool
    players: dict[str, str]
    actions: dict[str, dict[str, str]]
    differences: list[str]
    num_differences: int


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
