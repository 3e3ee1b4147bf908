"""Generated game programs, each with every play that stock SWI-Prolog finds in it: is any missing?

Half of the games have a rule that applies after one drawn way of playing only: a move more or less,
an early end, a draw, a payoff that depends on the order. A game that is accepted without a word
must have exactly the plays that the rules allow, in whatever order simultaneous moves are made.

    python benchmarks/complete_games.py --games 500 --engine swi
"""

import argparse
import random
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import bestresponse as br
from bestresponse.logic import Limits

PLAYERS = ("p1", "p2", "p3")
LEAST, MOST = 300, 3000

RULES = """
initial(s0).
initially(player(P), s0) :- member(P, [p1, p2, p3]).
depth(s0, 0).
depth(do(_, S), D) :- depth(S, E), D is E + 1.
recent(0, _, []).
recent(N, do(M, S), [M|L]) :- N > 0, K is N - 1, recent(K, S, L).
made(M, do(M, _)).
made(M, do(_, S)) :- made(M, S).
legal(move(P, M), S) :-
    depth(S, D), stage(First, Last, Ps, Ms), D >= First, D =< Last, N is D - First, recent(N, S, L),
    member(P, Ps), \\+ member(move(P, _), L), member(M, Ms), \\+ forbidden(S, move(P, M)).
chance(move(nature, N), 1 / Most, S) :- depth(S, D), draws(D, Most), between(1, Most, N).
final(S) :- depth(S, D), ends(D).
finally(goal(P, U), S) :-
    member(P, [p1, p2, p3]),
    findall(V, (made(move(Q, M), S), value(P, Q, M, V)), L), sum_list(L, Sum),
    ( extra(S, P, More) -> U is Sum + More ; U = Sum ).
value(P, P, M, M) :- integer(M).
value(P, Q, M, V) :- P \\== Q, integer(M), V is -2 * M.
value(_, _, jackpot, 1000).
forbidden(none, none).
extra(none, none, 0).
"""
ORACLE = """
:- style_check(-discontiguous), style_check(-singleton).
holds(F, S) :- initially(F, S).
walk(S, Moves) :-
    ( final(S)
    -> reverse(Moves, Made), forall(member(move(P, M), Made), format("~w:~w ", [P, M])), write('|'),
       forall(finally(goal(P, U), S), format("~w=~w ", [P, U])), nl
    ;  ( chance(_, _, S) -> findall(M, chance(M, _, S), Ms) ; findall(M, legal(M, S), Ms) ),
       sort(Ms, Distinct), forall(member(M, Distinct), walk(do(M, S), [M|Moves])) ).
:- initialization((walk(s0, []), halt)).
"""


@dataclass(frozen=True)
class Stage:
    """Who moves at the same time, or nature if nobody, and among how many moves."""

    movers: tuple[str, ...]
    moves: int

    @property
    def ways(self) -> int:
        """In how many ways the stage can be played, whatever the order."""
        return int(self.moves ** max(1, len(self.movers)))


def draw_stages(rng: random.Random, least: int = LEAST, most: int = MOST) -> list[Stage]:
    """Draw stages whose plays are as many as wanted, whatever the order."""
    while True:
        stages = []
        for _ in range(rng.randint(2, 4)):
            count = rng.choice((0, 1, 1, 2, 2, 2, 3))
            moves = rng.choice((2, 3, 4, 6, 15, 40)) if count < 2 else rng.choice((2, 3, 4, 7))
            stages.append(Stage(tuple(sorted(rng.sample(PLAYERS, count))), moves))
        plays = 1
        for stage in stages:
            plays *= stage.ways
        if least <= plays <= most and any(len(stage.movers) > 1 for stage in stages):
            return stages


def write_program(stages: list[Stage], rng: random.Random) -> str:
    """Write the program of some stages; half of them with a rule for one way of playing."""
    lines = [RULES]
    depth = 0
    path: list[str] = []
    for stage in stages:
        if not stage.movers:
            lines.append(f"draws({depth}, {stage.moves}).")
            path.append(f"move(nature, {rng.randint(1, stage.moves)})")
        else:
            last = depth + len(stage.movers) - 1
            moves = ", ".join(map(str, range(1, stage.moves + 1)))
            lines.append(f"stage({depth}, {last}, [{', '.join(stage.movers)}], [{moves}]).")
            order = rng.sample(stage.movers, len(stage.movers))
            path += [f"move({mover}, {rng.randint(1, stage.moves)})" for mover in order]
        depth += max(1, len(stage.movers))
    lines.append(f"ends({depth}).")
    if not any(not stage.movers for stage in stages):
        lines.append("draws(none, 0).")
    if rng.random() < 0.5:
        lines.append(write_exception(path, rng))
    if rng.random() < 0.2:
        lines.append("sees(P, N, do(move(nature, N), _)) :- member(P, [p1, p3]).")
    return "\n".join(lines) + "\n"


def write_exception(path: list[str], rng: random.Random) -> str:
    """Write a rule that applies after a beginning of one way of playing."""
    kind = rng.choice(("more", "less", "end", "draw", "payoff", "again"))
    made = path if kind == "payoff" else path[: rng.randint(1, len(path) - 1)]
    situation = "s0"
    for move in made:
        situation = f"do({move}, {situation})"
    player = rng.choice(PLAYERS)
    return {
        "more": f"legal(move({player}, jackpot), {situation}).",
        "less": f"forbidden({situation}, {path[len(made) % len(path)]}).",
        "end": f"final({situation}).",
        "draw": f"chance(move(nature, N), 1 / 2, {situation}) :- between(1, 2, N).",
        "payoff": f"extra({situation}, {player}, 5).",
        "again": f"legal({made[-1]}, {situation}).",
    }[kind]


Plays = dict[tuple[tuple[str, str], ...], set[tuple[str, ...]]]


def list_plays(program: str, folder: Path) -> Plays:
    """List all plays with stock SWI-Prolog: everybody's moves, and what they pay."""
    file = folder / "game.pl"
    file.write_text(ORACLE + program)
    done = subprocess.run(
        ["swipl", "-q", str(file)], capture_output=True, text=True, check=True, timeout=300
    )
    plays: Plays = {}
    for line in done.stdout.splitlines():
        made, _, payoffs = line.partition("|")
        moves = [tuple(step.split(":")) for step in made.split()]
        key = tuple(sorted(moves, key=lambda step: step[0]))
        plays.setdefault(key, set()).add(tuple(payoffs.split()))  # type: ignore[arg-type]
    return plays


def judge(program: str, engine: str, seconds: float, folder: Path) -> str:
    """Compare what is taken for the game with all plays."""
    report = br.check(program, engine=engine, limits=Limits.within(seconds))
    plays = list_plays(program, folder)
    if report.table is None:
        code = report.errors[0].code
        return f"refused ({code})"
    table: Plays = {}
    for row in report.table.rows:
        key = tuple(sorted(row.moves, key=lambda step: step[0]))
        earned = zip(report.table.players, row.payoffs, strict=True)
        table.setdefault(key, set()).add(tuple(f"{player}={value}" for player, value in earned))
    if table == plays:
        return "the game, with a warning" if report.not_compared else "the game"
    return "MISSING, with a warning" if report.not_compared else "MISSING IN SILENCE"


def main() -> None:
    """Print how many games came out how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--engine", default="swi", choices=("swi", "embedded"))
    parser.add_argument("--least", type=int, default=LEAST, help="plays of a game")
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--seconds", type=float, default=60, help="as --logic-seconds")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of games")
    options = parser.parse_args()
    numbers = options.only or range(options.first, options.first + options.games)
    verdicts: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        for seed in numbers:
            rng = random.Random(seed)
            program = write_program(draw_stages(rng, options.least, options.most), rng)
            verdict = judge(program, options.engine, options.seconds, Path(name))
            verdicts[verdict] += 1
            if "MISSING" in verdict:
                print(seed, verdict, flush=True)
    for verdict, count in verdicts.most_common():
        print(f"{count:5} {verdict}")


if __name__ == "__main__":
    main()
