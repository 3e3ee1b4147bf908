"""Whether the estimators of behaviour find what simulated players are made of: bias and coverage of
95 % intervals.

    python benchmarks/behave_recovery.py [--samples 400] [--seed 0] [PART ...]

Every sample is drawn from known parameters at a realistic size, fitted, and resampled 200 times; a
row says how far the mean estimate is from the truth and how often the interval held it. Parts are
`matches`, `people` and `depth` (three treatments in each of which 40 people keep their strategy or
level in ten matches, in both seats; the numbers are those that `behave` shows) and `choices`; all
of them by default.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestresponse.report.frames import Value
from bestresponse.report.stats.statistics import Interval, interval_of_draws
from bestresponse.studies.behave.config import BehaveConfig
from bestresponse.studies.behave.estimates import (
    PlayerGroup,
    estimate_choices,
    estimate_strategies,
)
from bestresponse.studies.behave.moves import SeatMoves
from bestresponse.theory.behaviour.choices import (
    Choices,
    fit_choices,
    predict_hierarchy,
    predict_quantal,
)
from bestresponse.theory.behaviour.mixtures import Histories, count_agreement, fit_mixture, resample
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.fitting import level_k
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import classic_strategy
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import exact_round_robin

NAMES = ("defector", "cooperator", "grim", "tit-for-tat")
SHARES, ERROR = np.array([0.4, 0.1, 0.2, 0.3]), 0.08
LAMBDA, TAU, LEVELS = 0.8, 1.5, np.array([0.2, 0.4, 0.3, 0.1])
DRAWS = 200
CONFIG = BehaveConfig(strategies=NAMES, bootstraps=DRAWS)
AUTOMATA = [classic_strategy(name) for name in NAMES]


def draw_matches(units: int, rounds: int, rng: np.random.Generator) -> Histories:
    """Let players who err meet others who do, in pairs of strategies drawn by their shares."""
    own, other = np.empty((2, units, rounds), dtype=np.int32)
    for i in range(units):
        own[i], other[i] = play_match(rng.choice(len(NAMES), 2, p=SHARES), rounds, ERROR, rng)
    return Histories(own, other, AUTOMATA, np.arange(units))


def play_match(pair: np.ndarray, rounds: int, error: float, rng: np.random.Generator) -> np.ndarray:
    """Let two strategies meet, by their numbers, and return the moves of both."""
    states = [0, 0]
    moves = np.empty((2, rounds), dtype=np.int32)
    for t in range(rounds):
        meant = [
            int(AUTOMATA[k].mix[state, 1] > 0.5) for k, state in zip(pair, states, strict=True)
        ]
        made = [1 - move if rng.random() < error else move for move in meant]
        moves[:, t] = made
        states = [AUTOMATA[k].step[states[s], made[s], made[1 - s]] for s, k in enumerate(pair)]
    return moves


@dataclass(frozen=True)
class Treatment:
    """How long the matches of a treatment are, and who plays them."""

    rounds: int
    shares: tuple[float, ...]
    error: float

    def expect_cooperation(self) -> float:
        """Work out how often a person cooperates on average, against persons drawn by the same
        shares."""
        rules = Repetition(self.rounds, noise=self.error)
        # The payoff of a round is 1 where one cooperates and 0 elsewhere, so that totals count
        # cooperation.
        counting = NormalForm(np.array([[[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]]))
        totals = exact_round_robin(AUTOMATA, counting, rules).totals[:, :, 0]
        return float(self.shares @ totals @ self.shares) / self.rounds


TREATMENTS = (
    Treatment(rounds=5, shares=(0.4, 0.1, 0.2, 0.3), error=0.08),
    Treatment(rounds=10, shares=(0.2, 0.2, 0.3, 0.3), error=0.04),
    Treatment(rounds=20, shares=(0.1, 0.15, 0.25, 0.5), error=0.15),
)
GAMES = (1, 4, 10)
"""How many games the persons of a treatment meet in their single choices."""


def recover_people(people: int, matches: int, seeds: range) -> None:
    """Print rows for shares, error and cooperation of people who keep their strategy and meet in
    random pairs."""
    for treatment in TREATMENTS:
        what = f"{people} people, {matches} matches of {treatment.rounds} rounds"
        cells: dict[str, list[Value]] = defaultdict(list)
        for sample in seeds:
            rng = np.random.default_rng([sample, treatment.rounds])
            group = PlayerGroup(meet_repeatedly(treatment, people, matches, rng), sample)
            frames: dict[str, list[Any]] = defaultdict(list, groups=[{}])
            cells["error"].append(estimate_strategies(CONFIG, what, group, frames))
            cells["cooperation"].append(group.average_cooperation())
            for row in frames["strategies"]:
                cells[row["strategy"]].append(row["share"])
        truths = dict(zip(NAMES, treatment.shares, strict=True))
        truths |= {"error": treatment.error, "cooperation": treatment.expect_cooperation()}
        print_cells(what, truths, cells)


def recover_single_choices(people: int, matches: int, games: int, seeds: range) -> None:
    """Print rows for lambda, and for the levels of people who keep theirs, of one choice in every
    match."""
    forms = draw_forms(games)
    what = f"{people} people, {matches} choices each in {games} games"
    quantal = [
        [side[-1] for side in sides] for sides in predict_quantal(forms, np.linspace(0, LAMBDA, 9))
    ]
    levels = [level_k(form, 3).strategies for form in forms]
    cells: dict[str, list[Value]] = defaultdict(list)
    for sample in seeds:
        rng = np.random.default_rng([sample, games])
        kinds = rng.choice(len(LEVELS), people, p=LEVELS)
        noisy = meet_once(forms, matches, lambda g, seat, who: quantal[g][seat], people, rng)
        by_level = [[side[kinds] for side in sides] for sides in levels]
        deep = meet_once(
            forms,
            matches,
            lambda g, seat, who, by_level=by_level: by_level[g][seat][who],
            people,
            rng,
        )
        for model, sequences in (("qre", noisy), ("level-k", deep)):
            group = PlayerGroup(sequences, sample)
            frames: dict[str, list[Any]] = defaultdict(list)
            estimate_choices(CONFIG, what, group, [model], frames)
            for row in frames["models"]:
                cells[row["parameter"]].append(row["estimate"])
    truths = {"lambda": LAMBDA, "mean level": float(LEVELS @ np.arange(len(LEVELS)))}
    truths |= {f"share of level {level}": share for level, share in enumerate(LEVELS)}
    print_cells(what, truths, cells)


def meet_repeatedly(
    treatment: Treatment, people: int, matches: int, rng: np.random.Generator
) -> list[SeatMoves]:
    """Let people with strategies drawn by their shares meet, in other pairs in every match."""
    form = load("prisoners-dilemma")
    kinds = rng.choice(len(NAMES), people, p=treatment.shares)
    sequences = []
    for number in range(matches):
        for pair in rng.permutation(people).reshape(-1, 2):
            moves = play_match(kinds[pair], treatment.rounds, treatment.error, rng)
            sequences += [name_seat(form, number, pair, seat, moves) for seat in range(2)]
    return sequences


def meet_once(
    forms: list[NormalForm],
    matches: int,
    choose: Callable[[int, int, int], np.ndarray],
    people: int,
    rng: np.random.Generator,
) -> list[SeatMoves]:
    """Let people choose once in every match, in other pairs each time: `choose` says how likely
    each move is in a game, for a seat and a person."""
    sequences = []
    for number in range(matches):
        game = number % len(forms)
        for pair in rng.permutation(people).reshape(-1, 2):
            moves = np.array([[rng.choice(3, p=choose(game, s, pair[s]))] for s in range(2)])
            sequences += [name_seat(forms[game], number, pair, seat, moves) for seat in range(2)]
    return sequences


def name_seat(
    form: NormalForm, number: int, pair: np.ndarray, seat: int, moves: np.ndarray
) -> SeatMoves:
    """Write down what a person did in one seat of a match."""
    return SeatMoves(
        labels={"run": "r", "seat": form.players[seat]},
        form=form,
        seat=seat,
        own=tuple(moves[seat].tolist()),
        other=tuple(moves[1 - seat].tolist()),
        match=f"{number} {pair[0]}",
        subject=str(pair[seat]),
        rival=str(pair[1 - seat]),
    )


def draw_forms(games: int) -> list[NormalForm]:
    """Draw 3 x 3 games with payoffs 1 to 9 in which every level does something of its own, so that
    even one of them tells all shares."""
    rng = np.random.default_rng(7)
    forms: list[NormalForm] = []
    while len(forms) < games:
        numbers = rng.permuted(np.tile(np.arange(1.0, 10.0), (2, 1)), axis=1)
        form = NormalForm(numbers.reshape(2, 3, 3))
        chances = np.concatenate([side.T for side in level_k(form, 3).strategies])
        if np.linalg.matrix_rank(chances) == len(LEVELS):
            forms.append(form)
    return forms


def print_cells(what: str, truths: dict[str, float], cells: dict[str, list[Value]]) -> None:
    """Print bias, spread and coverage of every parameter of a treatment."""
    for name, truth in truths.items():
        found = [value for value in cells[name] if isinstance(value, Interval)]
        estimates = [interval.estimate for interval in found]
        held = np.mean([interval.contains(truth) for interval in found])
        bias = np.mean(estimates) - truth
        print(
            f"| {what} | {name} | {truth:.4g} | {bias:+.4f} | {np.std(estimates):.4f}"
            f" | {held:.3f} |",
            flush=True,
        )
        if len(found) < len(cells[name]):
            print(f"{len(cells[name]) - len(found)} samples without an interval of {name}")


def recover_strategies(units: int, rounds: int, seeds: range) -> None:
    """Print a row for every share and the error."""
    found = []
    for sample in seeds:
        agreement = count_agreement([draw_matches(units, rounds, np.random.default_rng(sample))])
        fitted = fit_mixture(agreement, seed=sample)
        shares, errors = resample(
            agreement, fitted, DRAWS, np.arange(len(agreement.rows)), seed=sample
        )
        found.append((np.append(fitted.shares, fitted.error), np.column_stack([shares, errors])))
    bounds = [(units, (0.0, 1.0))] * len(NAMES) + [(units * rounds, (0.0, 0.5))]
    names = [*NAMES, "error"]
    report(
        f"strategies, {units} matches of {rounds} rounds",
        names,
        np.append(SHARES, ERROR),
        found,
        bounds,
    )


def recover_choices(games: int, choices: int, seeds: range) -> None:
    """Print a row for lambda, tau and the shares of levels, each in data of its own model."""
    grid = np.linspace(0, LAMBDA, 9)
    for model, names, truth in (
        ("qre", ["lambda"], np.array([LAMBDA])),
        ("cognitive-hierarchy", ["tau"], np.array([TAU])),
        ("level-k", [f"level {k}" for k in range(4)], LEVELS),
    ):
        found = []
        for sample in seeds:
            rng = np.random.default_rng(sample)
            forms = [
                NormalForm(rng.permuted(np.tile([1.0, 2, 3, 4], (2, 1)), axis=1).reshape(2, 2, 2))
                for _ in range(games)
            ]
            data = []
            for form, quantal in zip(forms, predict_quantal(forms, grid), strict=True):
                if model == "qre":
                    sides = [side[-1] for side in quantal]
                elif model == "level-k":
                    sides = [LEVELS @ side for side in level_k(form, 3).strategies]
                else:
                    sides = [side[0] for side in predict_hierarchy(form, np.array([TAU]))]
                data.append(
                    Choices(
                        form, tuple(rng.multinomial(choices, side).astype(float) for side in sides)
                    )
                )
            (fit,) = fit_choices(data, (model,), draws=DRAWS, seed=sample)
            found.append((fit.estimate, fit.resampled))
        bounds = [(games, (0.0, 1.0) if model == "level-k" else (-np.inf, np.inf))] * len(names)
        report(f"{model}, {games} games, {2 * choices} choices each", names, truth, found, bounds)


def report(what: str, names: list[str], truth: np.ndarray, found: list, bounds: list) -> None:
    """Print bias and coverage of every parameter; `bounds` says for each how many units there are
    and its bounds."""
    estimates = np.array([estimate for estimate, _ in found])
    held = [
        np.mean(
            [
                interval_of_draws(e[k], draws[:, k], units, ends).contains(truth[k])
                for e, draws in found
            ]
        )
        for k, (units, ends) in enumerate(bounds)
    ]
    for name, true, mean, spread, share in zip(
        names, truth, estimates.mean(axis=0), estimates.std(axis=0), held, strict=True
    ):
        print(
            f"| {what} | {name} | {true:g} | {mean - true:+.4f} | {spread:.4f} | {share:.3f} |",
            flush=True,
        )


def main() -> None:
    """Print the rows of the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0, help="of the first sample")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.samples)
    print(
        f"| {options.samples} samples | parameter | truth | bias | spread | coverage"
        " |\n|---|---|---:|---:|---:|---:|"
    )
    for part in options.parts or PARTS:
        PARTS[part](seeds)


def recover_matches(seeds: range) -> None:
    """Print rows for two sizes of matches of people without names."""
    recover_strategies(200, 10, seeds)
    recover_strategies(1000, 4, seeds)


def recover_depth(seeds: range) -> None:
    """Print rows for people who meet in one game, in a few and in many."""
    for games in GAMES:
        recover_single_choices(people=40, matches=10, games=games, seeds=seeds)


PARTS: dict[str, Callable[[range], None]] = {
    "matches": recover_matches,
    "people": lambda seeds: recover_people(40, 10, seeds),
    "depth": recover_depth,
    "choices": lambda seeds: recover_choices(72, 10, seeds),
}


if __name__ == "__main__":
    main()
