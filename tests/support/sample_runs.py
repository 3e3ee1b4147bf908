"""A small finished run of every study, made by scripted models or by none."""

from running import run

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import simulate
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.study import steer
from bestresponse.studies.stories.strategies import StrategiesConfig, strategies_study
from bestresponse.studies.stories.study import StoriesConfig, stories_study
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import Contestant
from bestresponse.studies.tournament.study import tournament
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.study import verify_model
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water


def models(answer):
    return {"scripted": ScriptedModel(lambda request: answer)}


def bench_run(output, num_games=3, answer='{"A": 0.5, "B": 0.5}'):
    config = BenchConfig("scripted", num_games=num_games, num_rows=2, num_cols=2, seed=1)
    return run(bench, config, output, models(answer))


def tree_run(output):
    config = BenchConfig("scripted", "kuhn-poker")
    return run(bench, config, output, models('{"pass": 0.5, "bet": 0.5}'))


def positions_run(output):
    config = BenchConfig("scripted", "nim(piles=1-2)")
    return run(bench, config, output, models("take 1 from pile 2"))


def tournament_run(output):
    """A model and a strategy: (model, model), (model, strategy) and (strategy, model) are
    played."""
    entries = ("tit-for-tat", Contestant("scripted", "model", "scripted"))
    config = TournamentConfig("prisoners-dilemma", entries, rounds=2)
    return run(tournament, config, output, models("cooperate"))


def water_run(output):
    return run(water, WaterConfig("need", repeats=2), output)


def verify_run(output):
    config = VerifyConfig(
        "scripted", "prisoners-dilemma", repeats=2, attempts=1, translator="rules"
    )
    return run(verify_model, config, output, models("I choose A."))


def stories_run(output):
    return run(
        stories_study,
        StoriesConfig("scripted", count=1, attempts=1),
        output,
        models("This is no game."),
    )


def strategies_run(output):
    config = StrategiesConfig("scripted", strategies="tit-for-tat", samples=1, attempts=1)
    return run(strategies_study, config, output, models("I know none."))


def steer_run(output):
    config = SteerConfig("meeting", "simulated", iterations=20, fresh=0)
    return run(steer, config, output, {"simulated": SimulatedSpeaker(0)})


def simulate_run(output):
    return run(simulate, SimulateConfig("stag-hunt", "random"), output)


MAKERS = {
    "bench": (bench_run, {"plays": 3, "total": 3, "calls": 3, "money": 0.0}),
    "bench positions": (positions_run, {"plays": 2, "total": 2, "calls": 2, "money": 0.0}),
    "bench tree": (tree_run, {"plays": 12, "total": 12, "calls": 12, "money": 0.0}),
    "simulate": (simulate_run, {"plays": 10, "total": 10, "calls": 0, "money": 0.0}),
    "steer": (steer_run, {"plays": 0, "total": None, "calls": 28}),
    "strategies": (strategies_run, {"plays": 1, "total": 1, "calls": 1, "money": 0.0}),
    "stories": (stories_run, {"plays": 1, "total": 1, "calls": 1, "money": 0.0}),
    "tournament": (tournament_run, {"plays": 3, "total": 3, "calls": 8, "money": 0.0}),
    "verify": (verify_run, {"plays": 2, "total": 2, "calls": 2, "money": 0.0}),
    "water": (water_run, {"plays": 2, "total": 2, "calls": 0, "money": 0.0}),
}
"""By study and kind of question, what makes a run below a folder and what a watcher is told of it."""
