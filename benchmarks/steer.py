"""Steering dialogue: calls per tree, speed of CFR on dialogue trees, and how often PSRO recovers the known equilibrium.

    python benchmarks/steer.py [--seeds 200]

The simulated speaker's true game is known, so "recovered" is checked against the truth: every true payoff and every
true probability of a prompt lies within the interval that PSRO states (95 %, all figures together).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from statistics import median

import numpy as np

from bestresponse.games.dialogue import DialogueGame
from bestresponse.games.dialogue_domain import load_domain
from bestresponse.games.dialogue_recorded import Book, RecordedDialogue
from bestresponse.games.dialogue_scenario import scenarios
from bestresponse.players.llm import Sampling
from bestresponse.players.referee import DealReferee
from bestresponse.players.speaker import Speaker
from bestresponse.players.speaker_manners import CYCLE, FIRMNESS, NEUTRAL
from bestresponse.players.speaker_simulated import SimulatedSpeaker
from bestresponse.players.speaker_truth import true_payoffs
from bestresponse.studies.steer.building import Cast, build, size_of
from bestresponse.studies.steer.psro import PsroResult, PsroSettings, psro
from bestresponse.studies.steer.psro_oracles import Inventor
from bestresponse.studies.steer.psro_plays import Arena
from bestresponse.theory import NormalForm, cfr, compile_game, load_tree, nash

WANTED = {(1, 1): 140, (1, 2): 536, (2, 1): 2300}


def cast_of(model, domain) -> Cast:
    return Cast(
        lambda number: Speaker(model, Sampling(0.7, max_tokens=200, replicate=number)), DealReferee(model, domain)
    )


def calls() -> None:
    print("calls to build one tree of 2 players and 4 tones (solving and evaluating need none)")
    domain = load_domain("meeting")
    for (replies, wordings), wanted in WANTED.items():
        game = DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners(), replies)
        size, book, model = size_of(game, wordings), Book(), SimulatedSpeaker(0)
        made = build(game, cast_of(model, domain), book, wordings=wordings).calls
        again = build(game, cast_of(model, domain), book, wordings=wordings).calls
        print(
            f"  R={replies} k={wordings}: at most {size.messages + size.rulings:5d}, simulated {made:4d}, "
            f"second run {again}; wanted <= {wanted}"
        )


def speed(rounds: int = 5) -> None:
    """Seconds per iteration and information set, dialogue tree against Leduc poker, interleaved."""
    domain = load_domain("meeting")
    game = DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners(), 2)
    book, model = Book(), SimulatedSpeaker(0)
    build(game, cast_of(model, domain), book, wordings=2)
    trees = {"dialogue": compile_game(RecordedDialogue(game, book, 2)), "leduc": load_tree("leduc-poker")}
    taken: dict[str, list[float]] = {name: [] for name in trees}
    for _ in range(rounds):
        for name, tree in trees.items():
            start = time.perf_counter()
            cfr(tree, 300, checkpoints=[300], engine="numpy")
            taken[name].append((time.perf_counter() - start) / 300 / len(tree.infosets))
    ratio = median(a / b for a, b in zip(taken["dialogue"], taken["leduc"], strict=True))
    for name, tree in trees.items():
        print(f"  {name}: {len(tree.infosets)} information sets, {1e6 * median(taken[name]):.2f} us each per iteration")
    print(f"  ratio {ratio:.2f} (wanted <= 2)")


def known_game(name: str) -> DialogueGame:
    domain = load_domain(name)
    game = DialogueGame(domain, (scenarios(domain, 4, 1)[0],), domain.manners())
    if name != "meeting":
        return game
    values = ({"values": {"Monday": 10, "Tuesday": 4}}, {"values": {"Monday": 3, "Tuesday": 20}})
    return replace(game, cases=(replace(game.cases[0], private=values),))


def truth(game: DialogueGame) -> tuple[list[str], list[np.ndarray], np.ndarray]:
    """All manners, the unique equilibrium over them, and its payoffs."""
    # In a debate all manners outside the cycle are alike, so one of them stands for all.
    manners = list(FIRMNESS) if game.domain.name == "meeting" else [*CYCLE, NEUTRAL]
    table = np.array([[true_payoffs(game, (a, b)) for b in manners] for a in manners])
    found = nash(NormalForm(np.moveaxis(table, -1, 0))).equilibria
    assert len(found) == 1, f"{len(found)} equilibria"
    return manners, list(found[0].strategies), found[0].payoffs


def search(game: DialogueGame, seed: int, plays: int) -> PsroResult:
    model, book = SimulatedSpeaker(seed), Book()
    arena = Arena([game], cast_of(model, game.domain), book, seed=seed)
    inventor = Inventor(model, "a dialogue", book, lambda entry: None, 1.0)
    return psro(arena, inventor, PsroSettings(8, plays, 12, "shotgun", "nash", seed))


def recovered(result: PsroResult, manners, mixes, payoffs) -> tuple[bool, bool]:
    """Whether the true payoffs, and the true probabilities of all prompts, lie within the stated intervals."""
    values = all(
        interval.low - 1e-9 <= u <= interval.high + 1e-9 for interval, u in zip(result.values, payoffs, strict=True)
    )
    masses = True
    for own, intervals, mix in zip(result.prompts, result.masses, mixes, strict=True):
        stated = dict(zip(own, intervals, strict=True))
        for manner, p in zip(manners, mix, strict=True):
            inside = p < 1e-9 if manner not in stated else stated[manner].low - 1e-9 <= p <= stated[manner].high + 1e-9
            masses = masses and inside
        masses = masses and all(one.low <= 1e-9 for manner, one in stated.items() if manner not in manners)
    return values, masses


def coverage(name: str, seeds: int, plays: int) -> None:
    game = known_game(name)
    manners, mixes, payoffs = truth(game)
    told = [{m: round(float(p), 3) for m, p in zip(manners, mix, strict=True) if p > 1e-9} for mix in mixes]
    print(f"  {name}: truth {told}, payoffs {np.round(payoffs, 3).tolist()}, {plays} plays a profile", flush=True)
    outcomes = []
    for seed in range(seeds):
        result = search(game, seed, plays)
        outcomes.append(recovered(result, manners, mixes, payoffs))
        if not all(outcomes[-1]):
            values = ", ".join(f"{one:.2f}" for one in result.values)
            mixed = [
                {prompt: f"{one:.2f}" for prompt, one in zip(own, masses, strict=True) if one.high > 0.01}
                for own, masses in zip(result.prompts, result.masses, strict=True)
            ]
            print(f"    seed {seed} missed: payoffs {values}; {mixed}", flush=True)
        if seed % 10 == 9:
            print(f"    {sum(map(all, outcomes))} of {seed + 1}", flush=True)
    both = sum(map(all, outcomes))
    print(
        f"  {name}: recovered in {both} of {seeds} seeds ({both / seeds:.1%}); payoffs {sum(a for a, _ in outcomes)}, "
        f"probabilities {sum(b for _, b in outcomes)}; wanted 95 %",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--domain", choices=["meeting", "debate"], action="append")
    arguments = parser.parse_args()
    calls()
    print("CFR on the built tree")
    speed()
    print("PSRO with the simulated speaker")
    for name in arguments.domain or ["meeting", "debate"]:
        coverage(name, arguments.seeds, 60 if name == "meeting" else 150)


if __name__ == "__main__":
    main()
