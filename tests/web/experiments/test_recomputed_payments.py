"""Sixty payments of six experiments drawn at random, with people who leave, are worked out again
from the exported tables by other code: equal to the cent."""

import csv
import io
import sys
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from daily import share_out

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.trial import TrialSettings, try_experiment

sys.path.append(str(Path(__file__).parents[2] / "oracles"))

from payments_from_export import recompute

PEOPLE = 12
"""Six files make 72 rows; more than sixty of them are of people who took part."""


def refuse_models(name):
    raise UsageError(f"no model {name}")


def draw_experiment(seed):
    """Draw a file: two or three games of two or four people, with rates, caps, bonuses and rules of
    payment of their own."""
    rng = Random(seed)
    lines = [
        f'title = "Drawn {seed}"',
        f"seed = {rng.randrange(1000)}",
        "groups = 6",
        "[assignment]",
        'matching = "strangers"',
        "matching_groups = 2",
        "[limits]",
        "answer = 100",
        'stand_in = "random"',
    ]
    for number in range(rng.randint(2, 3)):
        lines += ["[[games]]", f'name = "g{number}"', "quiz = false"]
        lines += [f"rounds = {rng.randint(1, 3)}"]
        if rng.random() < 0.5:
            lines += ['game = "prisoners-dilemma"', 'seats = ["person", "person"]']
        else:
            factor = rng.choice([1.3, 1.6, 2.5])
            endowment = rng.choice([10, 20])
            roles = '["A", "B"]'
            lines += ['game = "public-goods-punishment"', 'seats = ["person", "person"]']
            settings = (
                f"factor = {factor}, endowment = {endowment}, roles = {roles}, punishment = false"
            )
            lines += [f"parameters = {{ {settings} }}"]
        if rng.random() < 0.7:
            lines.append(f"rate = {rng.choice(['0.013', '0.25', '0.07', '1.005'])}")
        if rng.random() < 0.4:
            lines.append(f"most = {rng.choice(['0.5', '2'])}")
        if rng.random() < 0.5:
            lines.append(f"bonus = {rng.choice(['0.25', '1.1'])}")
    lines += ["[payment]", 'currency = "EUR"', f"show_up = {rng.choice(['0', '2.5'])}"]
    lines += [f"rate = {rng.choice(['0.1', '0.037'])}", f"least = {rng.choice(['0', '3'])}"]
    lines += [f'stand_ins = "{rng.choice(["none", "half", "count"])}"']
    lines += [f'paid = "{["all", "random game", "random round"][seed % 3]}"']
    if rng.random() < 0.3:
        lines.append("most = 9")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", share_out(range(6), parts=2))
def test_every_payment_follows_from_the_exported_tables(seed):
    text = draw_experiment(seed)
    check_experiment(text)
    trial = try_experiment(text, TrialSettings(PEOPLE, drop_outs=30), refuse_models)
    rows = list(csv.DictReader(io.StringIO(trial.files["participants.csv"].decode())))
    paid = {
        row["participant"]: Decimal(row["money"]).quantize(Decimal("0.01"))
        if row["money"]
        else None
        for row in rows
    }
    assert len(paid) == PEOPLE
    assert sum(amount is not None for amount in paid.values()) >= 10
    assert paid == recompute(trial.files)
