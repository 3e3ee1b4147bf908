"""Claims decided per second, or how well the words of a quote hold a translator to them.

    python benchmarks/verify.py [--rounds 7]
    python benchmarks/verify.py --quotes

`--quotes` takes the sentences of `tests/formal/claims`, each with what a perfect translator makes
of it: how many of these claims lose their verdict, and how many false sentences would be proved if
the translator denied a claim or changed one of its arguments so that it is true.
`held_out_translations` was written before, and never used for, any change of the check.

Without it, claims are decided by theory, and by each logic engine with one program loaded. All
contestants take turns in every round; medians are printed, by the clock and of the processor (which
is what the clock would show on an idle machine), beside what is wanted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from bestresponse.core.errors import LogicError
from bestresponse.formal.claims import Checker, Claim, RulesTranslator, Subject, parse
from bestresponse.formal.claims.checker import TheoryCheck
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.logic_check import LogicCheck
from bestresponse.logic import EmbeddedEngine, Verdict, open_engine
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = NormalForm.bimatrix([[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(("R", "B"), ("R", "B")))
QUERIES = (
    "finally(goal(you, 5), do(choice(you, 'R'), do(choice(them, 'B'), s0)))",
    "finally(goal(them, 1), do(choice(you, 'B'), do(choice(them, 'R'), s0)))",
    "higher(3, 1)",
    "lower(3, 1)",
    "highest_possible_individual_payoff(5)",
    "lowest_possible_individual_payoff(1)",
    "highest_individual_payoff_for_choice(3, 'B')",
    "lowest_individual_payoff_for_choice(0, 'B')",
    "highest_guaranteed_payoff_choice('R')",
    "higher_guaranteed_payoff('R', 'B')",
    "lower_guaranteed_payoff('R', 'B')",
    "highest_mutual_payoff('B', 'B')",
    "lowest_mutual_payoff('R', 'B')",
    "expected_payoff(you, 3, 'R', [mix(them, ['R'-0.5, 'B'-0.5])])",
    "best_response('R', do(choice(them, 'B'), s0))",
    "strictly_dominates('R', 'B')",
    "equilibrium(do(choice(you, 'R'), do(choice(them, 'R'), s0)))",
    "pareto_optimal(do(choice(you, 'R'), do(choice(them, 'R'), s0)))",
    "maximin_payoff(1)",
)
TEXT = (
    "1. If I choose R:\n   - If they choose R, I get 1 and they get 1.\n   - If they choose B, I"
    " get 5.\n" * 20
)
WANTED = {"theory": 10_000, "logic, embedded": 1_000, "logic, swi": 1_000}


def claims() -> list[Claim]:
    return [claim for query in QUERIES for claim in parse(query) if isinstance(claim, Claim)]


def contestants() -> dict[str, tuple[Callable[[], object], int]]:
    """By name: what to do, and how many claims that is."""
    subject, all_claims = Subject(DILEMMA), claims()
    theory = TheoryCheck(subject)
    embedded = LogicCheck(subject, EmbeddedEngine())
    found: dict[str, tuple[Callable[[], object], int]] = {
        "theory": (
            lambda: [theory.decide(ground(claim, subject)) for claim in all_claims * 10],
            10 * len(all_claims),
        ),
        "logic, embedded": (
            lambda: [embedded.decide(ground(claim, subject)) for claim in all_claims * 5],
            5 * len(all_claims),
        ),
        "parsing": (lambda: [parse(query) for query in QUERIES * 5], 5 * len(QUERIES)),
        "rules, characters": (lambda: RulesTranslator().translate(TEXT, subject), len(TEXT)),
    }
    try:
        swi = LogicCheck(subject, open_engine("swi"))
    except LogicError as error:
        print(f"skipped: logic, swi ({error})")
        return found
    found["logic, swi"] = (
        lambda: [swi.decide(ground(claim, subject)) for claim in all_claims * 5],
        5 * len(all_claims),
    )
    return found


def measure_quotes() -> None:
    """Print, by file, the good claims that are lost and the false sentences that are proved."""
    tests = Path(__file__).resolve().parents[1] / "tests"
    sys.path.insert(0, str(tests / "support"))
    from mutated_claims import keeps, mutate
    from sentences import read_examples

    print(f"{'sentences':<24} {'good claims':>12} {'lost':>6} {'mutations':>10} {'proved':>7}")
    folder = tests / "formal" / "claims"
    for path in sorted((*folder.glob("*translations.json"), *folder.glob("*_forms.json"))):
        good = lost = tried = proved = 0
        for example in read_examples(path):
            checker = Checker(example.subject)
            for claim in example.claims:
                good += 1
                lost += not keeps(claim, example)
                if checker.check(claim).verdict is Verdict.PROVED:
                    continue
                for changed in mutate(claim, example.subject) - example.claims:
                    if checker.check(changed).verdict is Verdict.PROVED:
                        tried += 1
                        proved += keeps(changed, example, claim)
        print(f"{path.stem:<24} {good:>12} {lost:>6} {tried:>10} {proved:>7}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quotes", action="store_true")
    given = parser.parse_args()
    if given.quotes:
        measure_quotes()
        return
    rounds = given.rounds
    works = contestants()
    clock: dict[str, list[float]] = {name: [] for name in works}
    processor: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds + 1):
        for name, (work, count) in works.items():
            began, used = perf_counter(), process_time()
            work()
            if turn:
                clock[name].append(count / (perf_counter() - began))
                processor[name].append(count / max(process_time() - used, 1e-9))
    print(f"{'per second':<20} {'clock':>12} {'processor':>12} {'wanted':>10}")
    for name in works:
        wanted = f"{WANTED[name]:,}" if name in WANTED else "-"
        print(
            f"{name:<20} {median(clock[name]):>12,.0f} {median(processor[name]):>12,.0f}"
            f" {wanted:>10}"
        )


if __name__ == "__main__":
    main()
