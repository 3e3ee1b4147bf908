"""Every interval that a run prints holds its estimate and lies within what its game allows."""

from collections.abc import Iterator

import pytest
from running import run
from sample_runs import MAKERS

import bestresponse as br
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.frames import is_baseline
from bestresponse.report.stats.statistics import Interval
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.study import verify_model

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
        "prisoners-dilemma with repeated(noise=0.1)", entries, repetitions=4, output_dir=folder
    )


def play_water(folder):
    return br.water.simulate("random", repeats=6, days=8, output_dir=folder)


def describe_plays(folder):
    entries = ["grim", "tit-for-tat", "random"]
    played = br.tournament(
        "prisoners-dilemma", entries, rounds=6, repetitions=6, output_dir=folder / "played"
    )
    return br.behave([played.path], bootstraps=30, output_dir=folder)


def check_reasoning(folder):
    model = ScriptedModel(lambda request: f"If we both cooperate I get {3 + len(model.asked) % 2}.")
    games = ("prisoners-dilemma", "stag-hunt")
    config = VerifyConfig("m", games, repeats=6, attempts=1, translator="rules", disguised=False)
    return run(verify_model, config, folder, {"m": model})


def guide_talks(folder):
    few = {"replies": 1, "wordings": 1, "fresh": 2, "iterations": 20}
    return br.steer("debate", "simulated", games=4, seed=1, output_dir=folder, **few)


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
    play_water: {
        "bid": (0.0, 8 * 120.0),
        "balance": (0.0, 8 * 120.0),
        "health": (-28.0, 10.0),
        "survived": SHARES,
        "survivors": (0.0, 5.0),
        "rsr": (0.0, 3.0),
        "rsr_end": (0.0, 3.0),
        "median_price": (0.0, 8 * 120.0),
    },
    describe_plays: {"first": SHARES, "cooperation": SHARES, "error": (0.0, 0.5), "share": SHARES},
    check_reasoning: {"first_by_checker": SHARES, "last_by_checker": SHARES},
    guide_talks: {
        "gain": DIFFERENCES,
        "cfr_gain": DIFFERENCES,
        "margin": (-2.0, 2.0),
        "won": SHARES,
        "nash_conv": (0.0, 2.0),
        "cfr_nash_conv": (0.0, 2.0),
    },
}
"""By study, the least and the most that figures with intervals can be, by name."""


def list_intervals(run) -> Iterator[tuple[str, Interval]]:
    """Yield every interval of a run's figures and frames by the name of its column."""
    rows = [values for heads, values in run.metrics.groups if not is_baseline(heads)]
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
    baselines = [row for heads, row in play_bench(tmp_path).metrics.groups if is_baseline(heads)]
    assert baselines
    assert not any(isinstance(value, Interval) for row in baselines for value in row.values())


def list_tables(run) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield every row of a run's figures and frames, with the name of its table."""
    for heads, values in run.metrics.groups:
        yield "metrics", dict(zip(run.metrics.labels, heads, strict=True)) | dict(values)
    for name in run.frames:
        for row in run.frame(name):
            yield name, dict(row)


def list_figures_told_twice(run) -> Iterator[tuple[str, Interval, Interval]]:
    """Yield the intervals of one figure in two tables: the same column of rows with the same
    labels."""
    seen: list[tuple[str, dict[str, object], dict[str, Interval]]] = []
    for table, row in list_tables(run):
        labels = {key: value for key, value in row.items() if isinstance(value, str)}
        found = {key: value for key, value in row.items() if isinstance(value, Interval)}
        for other, known, earlier in seen:
            if other == table or not (labels and known):
                continue
            if labels.items() <= known.items() or known.items() <= labels.items():
                for name in found.keys() & earlier.keys():
                    if found[name].estimate == earlier[name].estimate:
                        yield name, found[name], earlier[name]
        seen.append((table, labels, found))


@pytest.mark.parametrize("study", MAKERS)
def test_every_study_tells_one_interval_of_a_figure_around_its_estimate(study, tmp_path):
    run = MAKERS[study][0](tmp_path)
    for name, interval in list_intervals(run):
        assert interval.low <= interval.estimate <= interval.high, name
    for name, first, second in list_figures_told_twice(run):
        assert (first.low, first.high) == (second.low, second.high), name


@pytest.mark.parametrize("play", ALLOWED, ids=lambda play: play.__name__)
def test_two_tables_never_give_one_figure_two_intervals(play, tmp_path):
    for name, first, second in list_figures_told_twice(play(tmp_path)):
        assert (first.low, first.high) == (second.low, second.high), name
