"""Steering dialogue: calls per tree, speed of CFR on dialogue trees, and how often PSRO recovers
the known equilibrium.

    PYTHONPATH=tests/support python benchmarks/steer.py [--seeds 200] [--first-seed 0] [--own-games]
    PYTHONPATH=tests/support python benchmarks/steer.py --credible [--seeds 50] [--domain meeting]

The second prints what credible advice gains, and what it loses at the worst information set.

The simulated speaker's true game is known, so "recovered" is checked against the truth: every true
payoff and every true probability of a prompt lies within the interval that PSRO states (95 %, all
figures together).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from true_dialogue import true_payoffs

import bestresponse as br
from bestresponse.games.dialogue.domain import all_scenarios, domain_names, load_domain, scenarios
from bestresponse.games.dialogue.game import DialogueGame, RecordedDialogue
from bestresponse.players.dialogue.simulated import CYCLE, FIRMNESS, NEUTRAL, SimulatedSpeaker
from bestresponse.players.dialogue.speaker import DealReferee, Speaker
from bestresponse.players.llm.player import Sampling
from bestresponse.report.stats.statistics import wilson
from bestresponse.studies.steer.answers import AnswerStore, Cast
from bestresponse.studies.steer.building import build_dialogue, size_of
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.meta_game import PromptArena, find_intervals
from bestresponse.studies.steer.oracles import Inventor
from bestresponse.studies.steer.psro import PsroResult, psro
from bestresponse.theory import NormalForm, cfr, compile_game, load_tree, nash

WANTED = {(1, 1): 140, (1, 2): 536, (2, 1): 2300}
PLAYS = {"meeting": 60, "fruit": 60, "debate": 150}


def cast_of(model, domain) -> Cast:
    return Cast(
        lambda number: Speaker(model, Sampling(0.7, max_tokens=200, replicate=number)),
        DealReferee(model, domain),
    )


def calls() -> None:
    print("calls to build one tree of 2 players and 4 tones (solving and evaluating need none)")
    domain = load_domain("meeting")
    for (replies, wordings), wanted in WANTED.items():
        game = DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners(), replies)
        size, answers, model = size_of(game, wordings), AnswerStore(), SimulatedSpeaker(0)
        made = build_dialogue(game, cast_of(model, domain), answers, wordings=wordings).calls
        again = build_dialogue(game, cast_of(model, domain), answers, wordings=wordings).calls
        print(
            f"  R={replies} k={wordings}: at most {size.messages + size.rulings:5d}, simulated"
            f" {made:4d}, second run {again}; wanted <= {wanted}"
        )


def speed(rounds: int = 5) -> None:
    """Seconds per iteration and information set, dialogue tree against Leduc poker, interleaved."""
    domain = load_domain("meeting")
    game = DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners(), 2)
    answers, model = AnswerStore(), SimulatedSpeaker(0)
    build_dialogue(game, cast_of(model, domain), answers, wordings=2)
    trees = {
        "dialogue": compile_game(RecordedDialogue(game, answers.book, 2)),
        "leduc": load_tree("leduc-poker"),
    }
    taken: dict[str, list[float]] = {name: [] for name in trees}
    for _ in range(rounds):
        for name, tree in trees.items():
            start = time.perf_counter()
            cfr(tree, 300, engine="numpy")
            taken[name].append((time.perf_counter() - start) / 300 / len(tree.infosets))
    ratio = median(a / b for a, b in zip(taken["dialogue"], taken["leduc"], strict=True))
    for name, tree in trees.items():
        print(
            f"  {name}: {len(tree.infosets)} information sets, {1e6 * median(taken[name]):.2f} us"
            " each per iteration"
        )
    print(f"  ratio {ratio:.2f} (wanted <= 2)")


def known_game(name: str, seed: int = 0, own_games: bool = False) -> DialogueGame:
    """A game with one equilibrium: the same for all seeds, or the first one that the seed draws."""
    domain = load_domain(name)
    if own_games:
        drawn = (
            DialogueGame(domain, (one,), domain.manners()) for one in all_scenarios(domain, seed)
        )
        return next(game for game in drawn if len(equilibria(game)) == 1)
    game = DialogueGame(domain, (scenarios(domain, 4, 3)[-1],), domain.manners())
    if name != "meeting":
        return game
    values = ({"values": {"Monday": 10, "Tuesday": 4}}, {"values": {"Monday": 3, "Tuesday": 20}})
    return replace(game, cases=(replace(game.cases[0], private=values),))


def manners_of(game: DialogueGame) -> list[str]:
    """All manners; in a debate all outside the cycle are alike, so one of them stands for all."""
    return [*CYCLE, NEUTRAL] if game.domain.name == "debate" else list(FIRMNESS)


def equilibria(game: DialogueGame):
    manners = manners_of(game)
    table = np.array([[true_payoffs(game, (a, b)) for b in manners] for a in manners])
    return nash(NormalForm(np.moveaxis(table, -1, 0))).equilibria


def truth(game: DialogueGame) -> tuple[list[str], list[np.ndarray], np.ndarray]:
    """All manners, the unique equilibrium over them, and its payoffs."""
    found = equilibria(game)
    assert len(found) == 1, f"{len(found)} equilibria"
    return manners_of(game), list(found[0].strategies), found[0].payoffs


def search(game: DialogueGame, seed: int, plays: int) -> tuple[PsroResult, tuple, tuple]:
    """Search, and return the result with the intervals of its payoffs and probabilities."""
    model, answers = SimulatedSpeaker(seed), AnswerStore()
    arena = PromptArena([game], cast_of(model, game.domain), answers, seed=seed)
    inventor = Inventor(model, "a dialogue", answers, 1.0)
    settings = SteerConfig(
        game.domain.name, solver="psro", iterations=8, plays=plays, candidates=12, seed=seed
    )
    result = psro(arena, inventor, settings)
    span = (game.domain.low, game.domain.high)
    return result, *find_intervals(result.game, "nash", rng=np.random.default_rng(seed), span=span)


def recovered(
    result: PsroResult, stated_values, stated_masses, manners, mixes, payoffs
) -> tuple[bool, bool]:
    """Whether the true payoffs, and the true probabilities of all prompts, lie within the stated
    intervals."""
    values = all(
        interval.low - 1e-9 <= u <= interval.high + 1e-9
        for interval, u in zip(stated_values, payoffs, strict=True)
    )
    masses = True
    for own, intervals, mix in zip(result.prompts, stated_masses, mixes, strict=True):
        stated = dict(zip(own, intervals, strict=True))
        for manner, p in zip(manners, mix, strict=True):
            inside = (
                p < 1e-9
                if manner not in stated
                else stated[manner].low - 1e-9 <= p <= stated[manner].high + 1e-9
            )
            masses = masses and inside
        masses = masses and all(
            one.low <= 1e-9 for manner, one in stated.items() if manner not in manners
        )
    return values, masses


def told(truth_of_game) -> str:
    manners, mixes, payoffs = truth_of_game
    mixed = [
        {m: round(float(p), 3) for m, p in zip(manners, mix, strict=True) if p > 1e-9}
        for mix in mixes
    ]
    return f"{mixed}, payoffs {np.round(payoffs, 3).tolist()}"


def missed(seed: int, result: PsroResult, stated_values, stated_masses, known) -> str:
    values = ", ".join(f"{one:.2f}" for one in stated_values)
    mixed = [
        {prompt: f"{one:.2f}" for prompt, one in zip(own, masses, strict=True) if one.high > 0.01}
        for own, masses in zip(result.prompts, stated_masses, strict=True)
    ]
    return f"    seed {seed} missed: payoffs {values}; {mixed}; truth {told(known)}"


def coverage(name: str, seeds: range, plays: int, own_games: bool) -> None:
    which = (
        "a game of its own for each seed" if own_games else f"truth {told(truth(known_game(name)))}"
    )
    print(f"  {name}: {which}, {plays} plays a profile", flush=True)
    outcomes, widths = [], []
    for number, seed in enumerate(seeds, 1):
        game = known_game(name, seed, own_games)
        known, found = truth(game), search(game, seed, plays)
        outcomes.append(recovered(*found, *known))
        widths.append([one.half_width for one in found[1]])
        if not all(outcomes[-1]):
            print(missed(seed, *found, known), flush=True)
        if number % 20 == 0:
            print(f"    {sum(map(all, outcomes))} of {number}", flush=True)
    both = sum(map(all, outcomes))
    print(
        f"  {name}: recovered in {both} of {len(seeds)} seeds from {seeds.start} on:"
        f" {wilson(both, len(seeds)):.3f}; payoffs {sum(a for a, _ in outcomes)}, probabilities"
        f" {sum(b for _, b in outcomes)}; median half-widths of payoffs"
        f" {np.round(np.median(widths, axis=0), 2).tolist()}; wanted 95 %",
        flush=True,
    )


def credibility(name: str, seeds: range) -> None:
    """Print the mean gains and the largest losses of one game a seed, each exact on its tree."""
    rows = []
    with TemporaryDirectory() as folder:
        for seed in seeds:
            # Few iterations: CFR is only the way out where best replies go round in a circle.
            run = br.steer(name, seed=seed, fresh=0, iterations=50, output_dir=folder)
            rows += run.frames["games"]
    credible, best = (
        np.mean([row[f"{kind}_gain"] for row in rows]) for kind in ("credible", "best_reply")
    )
    loss = max(row["loss"] for row in rows)
    print(
        f"  {name} ({len(rows)} games): credible gain {credible:.3f}, best replies"
        f" {best:.3f}; largest loss {loss:.1e} (wanted <= 0.01)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seeds", type=int, default=None, help="how many seeds; 200, or 50 with --credible"
    )
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--own-games", action="store_true", help="draw another game for every seed")
    parser.add_argument("--domain", choices=domain_names(), action="append")
    parser.add_argument(
        "--credible", action="store_true", help="only the gains and losses of what is advised"
    )
    parser.add_argument("--only-psro", action="store_true")
    arguments = parser.parse_args()
    if arguments.credible:
        print("advice on the recorded texts of the simulated speaker, exact on the tree")
        for name in arguments.domain or domain_names():
            credibility(
                name, range(arguments.first_seed, arguments.first_seed + (arguments.seeds or 50))
            )
        return
    if not arguments.only_psro:
        calls()
        print("CFR on the built tree")
        speed()
    print("PSRO with the simulated speaker")
    seeds = range(arguments.first_seed, arguments.first_seed + (arguments.seeds or 200))
    for name in arguments.domain or PLAYS:
        coverage(name, seeds, PLAYS[name], arguments.own_games)


if __name__ == "__main__":
    main()
