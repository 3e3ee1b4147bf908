"""A study of its own: how often does a model choose heads in matching pennies?"""

from typing import TypedDict

import bestresponse as br
from bestresponse.report import Frame, Metric, metrics_table, table, wilson
from bestresponse.runs import Measured, ModelSetting, RunSettings, Study, setting, study_settings


@study_settings
class HeadsConfig(RunSettings):
    """Measure how often a model chooses heads in matching pennies."""

    model: ModelSetting = setting(kw_only=False, short="-m", help="The model that chooses.")
    repeats: int = setting(default=10, ge=1, le=1000, help="How often it chooses.")

    @property
    def models(self):
        return (self.model,)


class PlayRow(TypedDict):
    """One choice."""

    play: int
    heads: bool


def list_plays(config):
    for repeat in range(config.repeats):
        yield {"study": "heads", "model": str(config.model), "repeat": repeat}


def prepare(config, models):
    game = br.find_game("matching-pennies").playable()
    row, col = game.roles

    def play_one(spec, done, keep):
        seats = {
            row: br.players.seat_model(
                config.model, models[config.model], game, row, spec.data["repeat"]
            ),
            col: br.players.find_strategy("equilibrium", game, col, spec.data["repeat"]),
        }
        return br.players.play_seats(game, seats, submissions=done, on_submission=keep)

    return play_one


def measure(config, folder):
    chosen = [
        play.record.submissions[0].decision.action
        for play in folder.plays()
        if not play.record.void
    ]
    rows = [PlayRow(play=number, heads=move == "heads") for number, move in enumerate(chosen)]
    return Measured(
        {"plays": Frame(PlayRow, rows)}, len(rows), ("model",), {(str(config.model),): rows}
    )


def share_heads(rows):
    return wilson(sum(row["heads"] for row in rows), len(rows)) if rows else None


heads = Study(
    "heads",
    HeadsConfig,
    specs=list_plays,
    play=prepare,
    measure=measure,
    metrics=(
        Metric(
            "heads",
            "heads",
            "share of plays in which the model chose heads",
            ".2f",
            share_heads,
        ),
    ),
    title="Heads or tails",
    report=(metrics_table("Choices"), table("plays", title="The plays")),
)
