"""A study of its own: how often does a model choose heads in matching pennies?"""

from dataclasses import asdict, dataclass

from bestresponse.core.episode import play
from bestresponse.games.lookup import find_game
from bestresponse.players.lookup import find_strategy, seat_model
from bestresponse.report.document import Document, Section
from bestresponse.report.metrics import Metric
from bestresponse.report.stats.rates import wilson
from bestresponse.runs import Spec, Study


@dataclass(frozen=True)
class HeadsConfig:
    """One model, asked `repeats` times."""

    model: str
    repeats: int = 10

    @property
    def models(self):
        return (self.model,)

    def to_json(self):
        return asdict(self)

    @classmethod
    def from_json(cls, data):
        return cls(**data)


@dataclass(frozen=True)
class HeadsResults:
    """One row a play."""

    rows: tuple

    @property
    def answered(self):
        return len(self.rows)

    @property
    def summary(self):
        return {}


def share_heads(rows):
    return wilson(sum(row["heads"] for row in rows), len(rows)) if rows else None


class HeadsStudy(Study[HeadsConfig, HeadsResults]):
    """How often a model chooses heads in matching pennies."""

    name, config = "heads", HeadsConfig
    metrics = (Metric("heads", "heads", "share of plays in which the model chose heads", "", ".2f", share_heads),)

    def specs(self, config):
        for repeat in range(config.repeats):
            yield Spec.of({"study": self.name, "model": config.model, "repeat": repeat})

    def make_player(self, config, models):
        game = find_game("matching-pennies").playable()
        row, col = game.roles

        def play_one(spec, done, keep):
            seats = {
                row: seat_model(config.model, models[config.model], game, row, spec.data["repeat"]),
                col: find_strategy("equilibrium", game, col, spec.data["repeat"]),
            }
            return play(game, seats, submissions=done, on_submission=keep)

        return play_one

    def measure(self, config, folder):
        chosen = [play.record.submissions[0].decision.action for play in folder.plays() if not play.record.void]
        return HeadsResults(tuple({"play": number, "heads": move == "heads"} for number, move in enumerate(chosen)))

    def findings(self, results, run):
        table = run.figures.to_table(f"Choices of {run.config.model}")
        return Document("Heads or tails", "", (Section("Choices", (table,)),), footer=run.manifest.footer)
