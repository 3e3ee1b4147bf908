"""A second opinion on game programs: stock SWI-Prolog runs them, and Python reads plays from that.

Nothing of the package is used. Programs are drawn at random from a family that is finite by
construction: stages in which some players move at the same time, or nature draws; what players
perceive, what they earn and where a play stops early is drawn too.
"""

from __future__ import annotations

import random
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path

PLAYERS = ("ann", "bob", "cid")
MOVES = ("up", "mid", "down")
_RULES = """
:- discontiguous holds/2, chance/3, sees/3.
:- dynamic chance/3, sees/3.
holds(F, S) :- initially(F, S).
holds(F, do(A, S)) :- effect(F, A, S).
holds(F, do(A, S)) :- holds(F, S), \\+ abnormal(F, A, S).
"""
_HARNESS = """
play(M, S, [], Goals) :- M:final(S), !, findall(P=U, M:finally(goal(P, U), S), Goals).
play(M, S, [step(P, X, Pr, Movers, Percepts)|Steps], Goals) :-
    findall(option(nature, X, Pr), M:chance(move(nature, X), Pr, S), Draws),
    findall(option(P, X, 1), M:legal(move(P, X), S), Moves),
    ( Draws == [] -> Options = Moves ; Options = Draws ),
    findall(P, member(option(P, _, _), Options), All),
    sort(All, Movers),
    member(option(P, X, Pr), Options),
    findall(Q=Seen, M:sees(Q, Seen, do(move(P, X), S)), Percepts),
    play(M, do(move(P, X), S), Steps, Goals).
tell(M) :- forall(play(M, s0, Steps, Goals), tell_play(Steps, Goals)), format("end~n").
tell_play(Steps, Goals) :-
    forall(member(step(P, X, Pr, Movers, Percepts), Steps),
           ( format("~w ~w ~w ", [P, X, Pr]), joined(Movers), format(" "), joined(Percepts),
             format("\\t") )),
    joined(Goals), format("~n").
joined([]) :- format("-").
joined([X|Xs]) :- format("~w", [X]), forall(member(Y, Xs), format(";~w", [Y])).
"""


def draw_program(number: int) -> str:
    """Return program `number` of the family."""
    rng = random.Random(number)
    players = PLAYERS[: rng.choice((2, 2, 3))]
    stages = rng.randint(1, 3)
    lines = ["initial(s0).", "initially(stage(0), s0)."]
    lines += [f"initially(player({player}), s0)." for player in players]
    movers: list[Sequence[str]] = []
    for stage in range(stages):
        if rng.random() < 0.3 and stage < stages - 1:
            movers.append(())
            odds = rng.choice((("1/2", "1/2"), ("1/3", "2/3"), ("0.25", "0.75")))
            lines += [f"draw({stage}, card{n}, {odd})." for n, odd in enumerate(odds)]
            continue
        together = sorted(rng.sample(players, rng.randint(1, 2)))
        movers.append(together)
        for player in together:
            lines.append(f"turn({stage}, {player}).")
            options = rng.sample(MOVES, rng.randint(2, 3))
            lines += [f"option({stage}, {player}, {move})." for move in options]
    lines += _draw_payoffs(rng, players, movers)
    private = rng.random() < 0.6
    if private:
        lines += _draw_percepts(rng, players, movers)
    single = [stage for stage, who in enumerate(movers[:-1]) if len(who) == 1]
    lines += [
        f"stops({stage}, {movers[stage][0]}, {rng.choice(MOVES)})."
        for stage in single
        if rng.random() < 0.4
    ]
    lines += _STAGES.strip().splitlines()
    lines += [f"last({stages}).", "stops(none, none, none).", "turn(none, none)."]
    if any(not who for who in movers):
        lines.append(
            "chance(move(nature, X), Pr, S) :- holds(stage(K), S), draw(K, X, Pr), \\+ over(S)."
        )
    return "\n".join(_group(lines)) + "\n"


_STAGES = """
over(S) :- holds(stage(K), S), last(K).
over(S) :- holds(did(K, P, M), S), stops(K, P, M).
final(S) :- over(S).
legal(move(P, M), S) :- holds(stage(K), S), turn(K, P), \\+ holds(did(K, P, _), S), option(K, P, M).
alone(move(P, _), K, S) :- \\+ ( turn(K, Q), Q \\== P, \\+ holds(did(K, Q, _), S) ).
effect(did(K, P, M), move(P, M), S) :- holds(stage(K), S).
effect(stage(L), A, S) :- holds(stage(K), S), alone(A, K, S), L is K + 1.
abnormal(stage(K), A, S) :- holds(stage(K), S), alone(A, K, S).
"""


def draw_large_program(number: int, planted: bool) -> str:
    """Return a game of 300 to 3,000 plays: one player picks a number, then several move at once.

    In one that is `planted` the rules differ where, after one of these numbers, one player is the
    first to move: another has a move more, has none, or the play is over.
    """
    rng = random.Random(number)
    players = PLAYERS[: rng.choice((2, 2, 3))]
    options = {player: rng.sample(MOVES, rng.randint(2, 3)) for player in players}
    ends = prod(map(len, options.values()))
    most = rng.randint(-(-300 // ends), (3_000 if len(players) == 2 else 1_200) // ends)
    lines = [f"initially(player({player}), s0)." for player in players]
    for player, moves in options.items():
        lines += [f"option({player}, {move})." for move in moves]
    first = rng.choice(players)
    move = rng.choice(options[first])
    at = f"do(move({first}, {move}), do(move(ann, {rng.randint(1, most)}), s0))"
    other = rng.choice([player for player in players if player != first])
    kind = rng.choice(("more", "none", "over")) if planted else ""
    if kind == "more":
        lines.append(f"legal(move({other}, jackpot), {at}).")
    lines.append(f"legal(move(ann, N), s0) :- between(1, {most}, N).")
    lines += _AT_ONCE.strip().splitlines()
    lines.append(f"stuck({other if kind == 'none' else 'nobody'}, {at}).")
    lines.append(f"ended({at})." if kind == "over" else "ended(never).")
    return "\n".join(_group(lines)) + "\n"


_AT_ONCE = """
initial(s0).
legal(move(P, M), do(A, S)) :- \\+ over(do(A, S)), free(P, do(A, S)), option(P, M).
free(P, S) :- initially(player(P), s0), \\+ did(P, S), \\+ stuck(P, S).
did(P, do(move(P, _), do(_, _))).
did(P, do(_, do(A, S))) :- did(P, do(A, S)).
over(S) :- ended(S).
over(do(A, S)) :- \\+ ( option(P, _), \\+ did(P, do(A, S)) ).
final(do(A, S)) :- over(do(A, S)).
finally(goal(P, 0), do(_, _)) :- initially(player(P), s0).
"""


def _draw_payoffs(
    rng: random.Random, players: Sequence[str], movers: Sequence[Sequence[str]]
) -> list[str]:
    lines = []
    for player in players:
        for stage, who in enumerate(movers):
            for mover in who or ("nature",):
                for move in MOVES if who else ("card0", "card1"):
                    worth = rng.randint(-4, 4)
                    lines.append(f"weight({player}, {stage}, {mover}, {move}, {worth}).")
    form = rng.choice(
        (
            "sum_list(L, U)",
            "max_list([0|L], U)",
            "sum_list(L, T), U is T * T - 3",
            "sort(L, D), length(D, N), sum_list(D, T), U is T + N",
            "sum_list(L, T), ( T > 2 -> U = 2 ; U is max(T, -2) )",
            "length(L, N), sum_list(L, T), U is T / 2 + N",
        )
    )
    gather = "findall(W, ( holds(did(K, Q, M), S), weight(P, K, Q, M, W) ), L)"
    lines.append(f"finally(goal(P, U), S) :- holds(player(P), S), {gather}, {form}.")
    return lines


def _draw_percepts(
    rng: random.Random, players: Sequence[str], movers: Sequence[Sequence[str]]
) -> list[str]:
    lines = ["low(down).", "low(card0)."]
    for stage, who in enumerate(movers):
        for mover in who or ("nature",):
            for seer in players:
                made = f"do(move({mover}, M), S)) :- holds(stage({stage}), S)"
                match rng.randrange(5):
                    case 0:
                        lines.append(f"sees({seer}, saw({mover}, M), {made}.")
                    case 1:
                        lines.append(f"sees({seer}, moved({mover}), {made}, atom(M).")
                    case 2:
                        lines.append(f"sees({seer}, low({mover}), {made}, low(M).")
                    case _:
                        pass
    return [*lines, "sees(P, nothing, never) :- holds(player(P), never)."]


def _group(lines: Sequence[str]) -> list[str]:
    """Put the clauses of a predicate together, in the order in which they were written."""
    groups: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        groups[line.partition("(")[0]].append(line)
    return [line for group in groups.values() for line in group]


@dataclass(frozen=True)
class Step:
    """A move: who made it, with what probability, who could have moved, and who perceived what."""

    mover: str
    move: str
    chance: Fraction
    movers: frozenset[str]
    percepts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Play:
    """A way through the game, in one order of simultaneous moves, and what everybody earns."""

    steps: tuple[Step, ...]
    payoffs: tuple[tuple[str, Fraction], ...]

    @property
    def moves(self) -> tuple[tuple[str, str], ...]:
        """Who made which move, in this order."""
        return tuple((step.mover, step.move) for step in self.steps)


def list_plays(programs: Sequence[str], folder: Path) -> list[list[Play]]:
    """Return the plays of each program, in every order, from one process of SWI-Prolog."""
    harness = _HARNESS
    for number, program in enumerate(programs):
        path = folder / f"game{number}.pl"
        path.write_text(_RULES + program)
        harness += f":- load_files(game{number}:'{path}', [silent(true)]), tell(game{number}).\n"
    (folder / "harness.pl").write_text(harness)
    done = subprocess.run(
        ["swipl", "-q", "-f", str(folder / "harness.pl"), "-g", "halt"],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    games: list[list[Play]] = [[]]
    for line in done.stdout.splitlines():
        if line == "end":
            games.append([])
        else:
            games[-1].append(_read_play(line))
    assert len(games) == len(programs) + 1, done.stderr
    return games[:-1]


def _read_play(line: str) -> Play:
    *steps, goals = line.split("\t")
    earned = [goal.partition("=") for goal in goals.split(";")]
    return Play(
        tuple(map(_read_step, steps)),
        tuple((player, Fraction(payoff)) for player, _, payoff in earned),
    )


def _read_step(text: str) -> Step:
    mover, move, chance, movers, percepts = text.split(" ")
    seen = [] if percepts == "-" else [one.partition("=") for one in percepts.split(";")]
    return Step(
        mover,
        move,
        Fraction(chance),
        frozenset(movers.split(";")),
        tuple((seer, what) for seer, _, what in seen),
    )


Knowledge = tuple[tuple[str, ...], ...]


def find_knowledge(play: Play, depth: int, private: bool) -> Knowledge:
    """Return what the mover at `depth` knows: of every group of moves that were made at the same
    time and before its own, all of them, or its own and what it perceived of them."""
    mover = play.steps[depth].mover
    known: list[tuple[str, ...]] = []
    for group in _list_groups(play):
        if depth in group:
            return tuple(known)
        steps = [play.steps[place] for place in group]
        if not private:
            known.append(tuple(sorted(f"{step.mover} {step.move}" for step in steps)))
            continue
        own = [f"own {step.move}" for step in steps if step.mover == mover]
        seen = {what for step in steps for seer, what in step.percepts if seer == mover}
        known += [(one,) for one in (*own, *sorted(seen))]
    raise AssertionError("nobody moves at this depth")


def _list_groups(play: Play) -> list[list[int]]:
    """List the places of moves that are made at the same time."""
    groups: list[list[int]] = []
    waiting: set[str] = set()
    for place, step in enumerate(play.steps):
        if step.mover in waiting:
            groups[-1].append(place)
        else:
            groups.append([place])
            waiting = set(step.movers)
        waiting.discard(step.mover)
    return groups


def list_information_sets(plays: Sequence[Play], private: bool) -> set[frozenset[object]]:
    """Return the information sets, each as the positions in it: the moves that led there."""
    sets: dict[object, set[object]] = defaultdict(set)
    for play in plays:
        for depth, step in enumerate(play.steps):
            if step.mover != "nature":
                known = find_knowledge(play, depth, private)
                sets[step.mover, known].add(play.moves[:depth])
    return {frozenset(positions) for positions in sets.values()}
