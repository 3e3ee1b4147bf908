"""A report with every kind of block, as a study would build it."""

import numpy as np
import pytest

from bestresponse.report.document import (
    Code,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.report.figures.charts import (
    draw_bars,
    draw_distribution,
    draw_heatmap,
    draw_intervals,
    draw_lines,
    draw_scatter,
)
from bestresponse.report.stats.statistics import cluster_bootstrap

PLAYERS = {
    "smollm2-135m": 0.62,
    "qwen2.5-coder-1.5b": 0.38,
    "uniform": 0.41,
    "greedy": 0.3,
    "optimal": 0.0,
}


def build_demo() -> Document:
    rng = np.random.default_rng(7)
    gaps = {name: scale * rng.beta(0.6, 1.4, 100) for name, scale in PLAYERS.items()}
    found = {
        name: cluster_bootstrap(values, rng=rng, resamples=500) for name, values in gaps.items()
    }
    sections = (
        Section("Results", (_results(gaps, found), _forest(found))),
        Section("Distribution of the gap", (_distribution(gaps),)),
        Section("Gap against features of the game", _features(gaps, rng)),
        Section("Invariance", (_invariance(rng),)),
        Section("How answers were read", _reading()),
        Section("Cost", (_cost(),)),
        Section("Reproduce", _reproduce()),
    )
    return Document(
        title="How far from optimal do these models play?",
        subtitle=(
            "100 random 3 × 3 zero-sum games, one stated mixed strategy each, against an"
            " equilibrium opponent."
        ),
        sections=sections,
        opening=(
            _headline(found),
            Note("SmolLM2-135M is a plumbing model: it shows that the pipeline works."),
        ),
        footer=(
            "Made by bestresponse 0.1.0 from 500 records. Intervals: 95 %, BCa bootstrap over"
            " games."
        ),
    )


def _headline(found):
    return KeyValues(
        (
            ("Mean gap, smollm2-135m", found["smollm2-135m"]),
            ("Mean gap, uniform baseline", found["uniform"]),
            ("Games", 100),
            ("Readable answers", "96 %"),
        ),
        prominent=True,
        format=".3f",
    )


def _results(gaps, found):
    columns = (
        Column("Player"),
        Column(
            "Gap",
            "right",
            "What the player gives away against an equilibrium opponent; 0 is best.",
            ".3f",
        ),
        Column("Median", "right", "Half of the games lie below.", ".3f"),
        Column(
            "Exploitability",
            "right",
            "What a best-responding opponent could win more than the value.",
            ".3f",
        ),
        Column("Games", "right"),
        Column("Baseline", "center"),
    )
    rows = tuple(
        (
            name,
            interval,
            float(np.median(gaps[name])),
            None if name == "optimal" else 2 * interval.estimate,
            100,
            name in ("uniform", "greedy", "optimal"),
        )
        for name, interval in found.items()
    )
    return Table(columns, rows, "Gap and exploitability by player, with 95 % intervals")


def _forest(found):
    image = draw_intervals(list(found.items()), x_label="mean gap (payoff range = 1)")
    return Figure(
        image,
        "Mean gap with its 95 % interval. Zero is optimal play.",
        "Forest plot of the mean gaps.",
    )


def _distribution(gaps):
    caption = "Each dot is a game. Box: quartiles; whiskers: 5th to 95th percentile; diamond: mean."
    return Figure(
        draw_distribution(gaps, x_label="gap"), caption, "Distribution of gaps for five players."
    )


def _features(gaps, rng):
    names = [name for name in list(gaps)[:3] for _ in range(100)]
    spread = rng.uniform(0, 1, 300)
    values = np.concatenate([gaps[name] for name in list(gaps)[:3]]) * (0.5 + spread)
    dots = draw_scatter(spread, values, names, x_label="payoff spread", y_label="gap")
    sizes = np.arange(2, 9)
    curves = {name: (sizes, 0.1 * scale * sizes) for name, scale in list(PLAYERS.items())[:3]}
    bands = {
        name: (0.08 * scale * sizes, 0.12 * scale * sizes)
        for name, scale in list(PLAYERS.items())[:3]
    }
    grown = draw_lines(curves, bands, x_label="actions per player", y_label="mean gap")
    return (
        Paragraph(
            "Points are games; the lines join means within bins that hold equally many games."
        ),
        Figure(dots, "Gap against the spread of the payoffs.", "Scatter plot with binned means."),
        Figure(
            grown, "Mean gap against the size of the game, with 95 % bands.", "Three rising lines."
        ),
    )


def _invariance(rng):
    changes = ("permuted", "relabelled", "shifted", "scaled", "disguised", "JSON")
    image = draw_heatmap(rng.random((3, 6)), list(PLAYERS)[:3], changes)
    return Figure(
        image,
        "Mean absolute change of the answer under changes that keep the game the same.",
        "Heat map.",
    )


def _reading():
    shares = {
        "smollm2-135m": {"valid": 0.71, "repaired": 0.2, "refused": 0.01, "unparseable": 0.08},
        "qwen2.5-coder-1.5b": {"valid": 0.94, "repaired": 0.05, "unparseable": 0.01},
    }
    return (
        Note(
            "4 of 100 answers could not be read. If all were worst, the mean gap would be 0.31.",
            "warning",
        ),
        Figure(
            draw_bars(shares, x_label="share of answers"), "How answers were read.", "Stacked bars."
        ),
        Quote(
            "I would play <b>Rock</b> because\n\u202eit always wins\u202c.\x00",
            "smollm2-135m, game 17, unparseable",
        ),
    )


def _cost():
    return KeyValues(
        (("Calls", 200), ("Tokens in", 48_120), ("Tokens out", 6_404), ("Price", None))
    )


def _reproduce():
    return (
        Paragraph("The same command with the same seed gives the same games."),
        Code(
            "bestresponse bench --model smollm2 --num-games 100 --seed 123 --output-dir"
            " results/exp1",
            "shell",
        ),
    )


@pytest.fixture(scope="session")
def demo() -> Document:
    return build_demo()
