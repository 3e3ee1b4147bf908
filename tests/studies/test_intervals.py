"""Every interval that a run prints holds its estimate and lies within what its game allows."""

from collections.abc import Iterator

import pytest

import bestresponse as br
from bestresponse.report.frames import is_baseline
from bestresponse.report.stats.statistics import Interval

PAYOFFS = (0.0, 5.0)
"""Of the prisoner's dilemma."""
LOSSES = (0.0, 5.0)
SHARES = (0.0, 1.0)
DIFFERENCES = (-1.0, 1.0)


def play_bench(folder):
    return br.bench("random", num_games=6, output_dir=folder, suite="invariance")


def play_simulation(folder):
    seats = {"row": "random", "col": "tit-for-tat"}
    return br.simulate(
        "prisoners-dilemma", seat=seats, rounds=12, repeats=8, seed=5, output_dir=folder
    )


def play_tournament(folder):
    entries = ["grim", "tit-for-tat", "random"]
    return br.tournament(
        "prisoners-dilemma", entries, rounds=10, repetitions=4, noise=0.1, output_dir=folder
    )


ALLOWED = {
    play_bench: {
        "success_1": SHARES,
        "success_5": SHARES,
        "exploitability_normalised": SHARES,
        "gap_normalised": SHARES,
        "invariance": SHARES,
        "difference": DIFFERENCES,
    },
    play_simulation: {
        "payoff": PAYOFFS,
        "regret": (-5.0, 5.0),
        "best_reply_regret": LOSSES,
        "share": SHARES,
    },
    play_tournament: {"per_round": PAYOFFS},
}
"""By study, the least and the most that figures with intervals can be, by name."""


def list_intervals(run) -> Iterator[tuple[str, Interval]]:
    """Yield every interval of a run's figures and frames by the name of its column."""
    rows = [values for heads, values in run.figures.groups if not is_baseline(heads)]
    for name in run.frames:
        rows += list(run.frame(name))
    for row in rows:
        for name, value in row.items():
            if isinstance(value, Interval):
                yield name, value


@pytest.mark.parametrize("play", ALLOWED, ids=lambda play: play.__name__)
def test_every_interval_holds_its_estimate_within_what_the_game_allows(play, tmp_path):
    found = list(list_intervals(play(tmp_path)))
    seen = set()
    for name, interval in found:
        assert interval.low <= interval.estimate <= interval.high, name
        if name in ALLOWED[play] and interval.method != "none":
            least, most = ALLOWED[play][name]
            assert least - 1e-9 <= interval.low, (name, interval)
            assert interval.high <= most + 1e-9, (name, interval)
            seen.add(name)
    assert seen == set(ALLOWED[play])


def test_figures_of_baselines_have_no_intervals(tmp_path):
    baselines = [row for heads, row in play_bench(tmp_path).figures.groups if is_baseline(heads)]
    assert baselines
    assert not any(isinstance(value, Interval) for row in baselines for value in row.values())
