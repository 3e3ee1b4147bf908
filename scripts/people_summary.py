"""Work out src/bestresponse/analysis/people.toml: python scripts/people_summary.py
dilemma.csv.gz."""

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from bestresponse.studies.behave.config import STRATEGIES
from bestresponse.studies.behave.layouts import read_rows
from bestresponse.theory.behaviour.mixtures import Histories, count_agreement, fit_mixture
from bestresponse.theory.repeated.automaton import classic_strategy

SOURCES = {
    "AM": "Andreoni & Miller, Economic Journal 103, 1993",
    "BR": "Bereby-Meyer & Roth, American Economic Review 96, 2006",
    "DB": "Dal Bo, American Economic Review 95, 2005",
    "DF": "Dal Bo & Frechette, American Economic Review 101, 2011",
}
COLLECTION = "in the collection of Nay & Vorobeychik, PLOS ONE 11, 2016"


def main(path: Path) -> None:
    """Print the summary as TOML: every treatment with its shares."""
    matches = defaultdict(lambda: defaultdict(list))
    for _, row in read_rows(path):
        matches[row["study"], row["treatment"]][row["match"]].append(row)
    print(
        "# Made by scripts/people_summary.py from recorded dilemmas of people; half of each"
        " record.\n\n[sources]"
    )
    for study, source in SOURCES.items():
        print(f'{study} = "{source}, {COLLECTION}"')
    for (study, treatment), played in sorted(
        matches.items(), key=lambda item: (item[0][0], float(item[0][1]))
    ):
        describe(study, treatment, list(played.values()))


def describe(study: str, treatment: str, played: list) -> None:
    """Print one treatment."""
    longest = max(map(len, played))
    own, other = np.full((2, len(played), longest), -1, dtype=np.int32)
    for i, rows in enumerate(played):
        own[i, : len(rows)] = ["CD".index(row["move"]) for row in rows]
        other[i, : len(rows) - 1] = ["CD".index(row["other_before"]) for row in rows[1:]]
    rewards = {name: float(played[0][0][name]) for name in "RSTP"}
    unit = rewards["R"] - rewards["P"]
    endless, delta = (
        float(played[0][0]["infinite"]),
        max(float(row["delta"]) for rows in played for row in rows),
    )
    length = f"continued with probability {delta:g}" if endless else f"at most {longest} rounds"
    seen = (own >= 0).sum(axis=0)
    shares = (own == 0).sum(axis=0) / np.maximum(seen, 1)
    fitted = fit_mixture(
        count_agreement(
            [Histories(own, other, list(map(classic_strategy, STRATEGIES)), np.arange(len(own)))]
        )
    )
    print(f'\n[[treatments]]\nstudy = "{study}"\ntreatment = "{float(treatment):g}"')
    print(
        f"gain = {(rewards['T'] - rewards['R']) / unit:.4f}\nloss ="
        f" {(rewards['P'] - rewards['S']) / unit:.4f}"
    )
    print(f'length = "{length}"\nmatches = {len(played)}\nfirst = {shares[0]:.4f}')
    print(f"cooperation = {(own == 0).sum() / (own >= 0).sum():.4f}")
    print(
        "rounds ="
        f" [{', '.join(f'{share:.4f}' for share, n in zip(shares, seen, strict=True) if n >= 20)}]"
    )
    names = ", ".join(
        f'"{name}" = {share:.4f}' for name, share in zip(fitted.names, fitted.shares, strict=True)
    )
    print(f"strategies = {{ {names} }}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
