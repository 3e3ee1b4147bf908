"""What the tools do, as plain functions; the docstrings are the descriptions that a client's model reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, Field

from bestresponse.analysis.solve.solution import Wish
from bestresponse.analysis.solve.solve import check_scale
from bestresponse.analysis.solve.tables import find_equilibria, is_constant_sum
from bestresponse.api.formalizing import check as check_program
from bestresponse.api.reasoning import verify as verify_text
from bestresponse.api.solving import solve as solve_game
from bestresponse.core import registry
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.formal.evaluate.named_games import find_names
from bestresponse.formal.formalize.table_data import table_to_data
from bestresponse.games.comparison import compare_games
from bestresponse.games.inputs import as_source
from bestresponse.games.lookup import Found
from bestresponse.games.named_game import NamedGame
from bestresponse.integrations.game_text import read_game
from bestresponse.integrations.mcp.profiles import Strategies, check_profile, respond
from bestresponse.integrations.mcp.results import (
    BestResponse,
    CheckedProfile,
    CheckedProgram,
    ComparedGames,
    Diagnosis,
    GameList,
    GameSummary,
    JudgedClaim,
    Refuted,
    SolvedEquilibrium,
    SolvedGame,
    TournamentRow,
    TournamentTable,
    VerifiedText,
)
from bestresponse.studies.tournament.entries import gather, make_stage
from bestresponse.studies.tournament.standings import measure_standings
from bestresponse.studies.tournament.study import TournamentConfig
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_entry, tree_names
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

__all__ = ["TOOLS", "call_tool"]

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
    found = read_game(game)
    form = found.solvable()
    check_scale(form)
    return _solve_tree(found, method) if isinstance(form, Tree) else _solve_table(found.name, form, method)


def _solve_table(name: str, form: NormalForm, method: str) -> SolvedGame:
    result = find_equilibria(form, Wish(method).method)
    equilibria = [
        SolvedEquilibrium(
            kind=one.kind,
            strategies={
                who: dict(zip(names, mix.tolist(), strict=True))
                for who, names, mix in zip(form.players, form.actions, one.strategies, strict=True)
            },
            payoffs=dict(zip(form.players, one.payoffs.tolist(), strict=True)),
            regret=one.regret,
        )
        for one in result.equilibria
    ]
    has_value = bool(equilibria) and is_constant_sum(form)
    return SolvedGame(
        game=name,
        form="normal form",
        players=list(form.players),
        method=result.method,
        complete=result.complete,
        equilibria=equilibria,
        regret=result.regret,
        value=equilibria[0].payoffs[form.players[0]] if has_value else None,
    )


def _solve_tree(found: Found, method: str) -> SolvedGame:
    data = solve_game(found, method=method).to_json()
    equilibria = [
        SolvedEquilibrium(
            kind=one["kind"],
            strategies=one["strategies"] if "strategies" in one else one["policy"],
            payoffs=one["payoffs"],
            regret=one["regret"],
        )
        for one in data["equilibria"]
    ]
    return SolvedGame(
        game=found.name,
        form="tree",
        players=data["players"],
        method=data["method"],
        complete=data["complete"],
        equilibria=equilibria,
        regret=data["regret"],
        value=data.get("value"),
        remarks=data["remarks"],
    )


def check(game: Game, strategies: Profile) -> CheckedProfile:
    """Check whether strategies are a Nash equilibrium: what each player earns and could gain by deviating alone."""
    return check_profile(read_game(game).solvable(), strategies)


def best_response(
    game: Game,
    player: Annotated[str, Field(description="Who responds.")],
    strategies: Profile,
) -> BestResponse:
    """Find the best response of one player to the strategies of the others."""
    return respond(read_game(game).solvable(), player, strategies)


def formalize_check(program: Annotated[str, Field(description="A game as a logic program.")]) -> CheckedProgram:
    """Check a game that was written as a logic program: syntax, names, running, and the game that comes out."""
    if "\n" not in program and program.strip().endswith(".pl"):
        raise UsageError("expected the text of a program, got the name of a file")
    report = check_program(program + "\n")
    table = report.table
    return CheckedProgram(
        ok=report.ok,
        diagnostics=[
            Diagnosis(
                stage=one.stage.value,
                severity=one.severity.value,
                line=one.line,
                column=one.column,
                message=one.message,
                hint=one.hint,
            )
            for one in report.diagnostics
        ],
        players=list(table.players) if table else [],
        moves={who: list(moves) for who, moves in zip(table.players, table.moves, strict=True)} if table else {},
        known_as=list(find_names(table)) if table else [],
        table=table_to_data(table) if table else None,
    )


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


def compare(first: Game, second: Game) -> ComparedGames:
    """Decide whether two games are the same up to names, order and positive affine payoffs, and where they differ."""
    found = compare_games(read_game(first).solvable(), read_game(second).solvable())
    return ComparedGames(
        verdict=found.verdict,
        relation=found.relation,
        same=found.same,
        players=dict(found.players),
        actions={who: dict(names) for who, names in found.actions.items()},
        differences=list(found.differences),
        num_differences=found.num_differences,
    )


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
    entries, left_out = gather(strategies, make_stage(source))
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


def call_tool(name: str, arguments: JsonObject) -> JsonObject:
    """Call a tool and return its result as plain data."""
    return TOOLS[name](**arguments).model_dump(mode="json")
