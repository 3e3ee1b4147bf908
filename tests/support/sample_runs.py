"""A small finished run of every study, made by scripted models or by none."""

import json

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.invocation import Occasion

OCCASION = Occasion(("test",), "2026-01-01T00:00:00", None)


def models(answer):
    return {"scripted": ScriptedModel(lambda request: answer)}


def quiet(progress):
    pass


def bench_run(output, num_games=3, answer='{"A": 0.5, "B": 0.5}'):
    from bestresponse.studies.bench import session
    from bestresponse.studies.bench.config import BenchConfig
    from bestresponse.studies.bench.plan import Plan

    config = BenchConfig(models=("scripted",), num_games=num_games, num_rows=2, num_cols=2, seed=1)
    players = models(answer)
    manifest = session.manifest_of(config, players, OCCASION)
    with RunFolder.open(output / f"bench-{manifest.run}", manifest) as folder:
        session.run(Plan(config), folder, players, workers=1, on_progress=quiet)
    return folder.path.name, {"plays": num_games, "total": num_games, "calls": num_games, "money": 0.0}


def tournament_run(output):
    """A model and a strategy: (model, model), (model, strategy) and (strategy, model) are played."""
    from bestresponse.studies.tournament import session
    from bestresponse.studies.tournament.config import Entry, TournamentConfig
    from bestresponse.studies.tournament.entries import gather, read_stage
    from bestresponse.studies.tournament.plan import Plan

    stage = read_stage("prisoners-dilemma")
    entries = (*gather(["tit-for-tat"], stage).entries, Entry("scripted", "model", "scripted"))
    config = TournamentConfig(stage, entries, rounds=2)
    players = models("cooperate")
    manifest = session.manifest_of(config, players, OCCASION)
    with RunFolder.open(output / f"tournament-{manifest.run}", manifest) as folder:
        session.run(Plan(config), folder, players, workers=1, on_progress=quiet)
    return folder.path.name, {"plays": 3, "total": 3, "calls": 8, "money": 0.0}


def water_run(output):
    from bestresponse.studies.water import session
    from bestresponse.studies.water.config import WaterConfig

    config = WaterConfig(("need",) * 5, repeats=2)
    manifest = session.manifest_of(config, {}, OCCASION)
    with RunFolder.open(output / f"water-{manifest.run}", manifest) as folder:
        session.run(config, folder, {})
    return folder.path.name, {"plays": 2, "total": 2, "calls": 0, "money": 0.0}


def verify_run(output):
    from bestresponse.studies.verify import session
    from bestresponse.studies.verify.config import VerifyConfig

    actions = (("cooperate", "defect"),) * 2
    payoffs = [[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]
    config = VerifyConfig("prisoners-dilemma", ("row", "col"), actions, payoffs, "scripted", repeats=2, attempts=1)
    players = models("I choose A.")
    manifest = session.manifest_of(config, players, OCCASION)
    with RunFolder.open(output / f"verify-{manifest.run}", manifest) as folder:
        session.run(config, folder, players)
    return folder.path.name, {"plays": 2, "total": 2, "calls": 2, "money": 0.0}


def stories_run(output):
    from bestresponse.logic.embedded.engine import EmbeddedEngine
    from bestresponse.studies.stories import session
    from bestresponse.studies.stories.config import StoriesConfig

    config = StoriesConfig(("scripted",), count=1, attempts=1)
    players = models("This is no game.")
    manifest = session.manifest_of(config, players, OCCASION)
    with RunFolder.open(output / f"autoformalization-{manifest.run}", manifest) as folder:
        session.run(config, folder, players, EmbeddedEngine(), workers=1, on_progress=quiet)
    return folder.path.name, {"plays": 1, "total": 1, "calls": 1, "money": 0.0}


def commanded(output, *words):
    """A run by the command line; the name of its folder."""
    from typer.testing import CliRunner

    from bestresponse.cli.app import app

    answer = CliRunner().invoke(app, [*words, "--output-dir", str(output)], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    (folder,) = (path.parent for path in output.glob("*/manifest.json") if path.parent.name != "sessions")
    return folder.name


def steer_run(output):
    name = commanded(output, "steer", "meeting", "--iterations", "20")
    calls = json.loads((output / name / "summary.json").read_text())["calls"]
    assert calls > 0
    return name, {"plays": 0, "total": None, "calls": calls}


def playground_run(output):
    name = commanded(output, "simulate", "game", "stag-hunt", "--seat", "row=random", "--seat", "col=random")
    return name, {"plays": 10, "total": 10, "calls": 0, "money": 0.0}


MAKERS = {
    "autoformalization": stories_run,
    "bench": bench_run,
    "playground": playground_run,
    "steer": steer_run,
    "tournament": tournament_run,
    "verify": verify_run,
    "water": water_run,
}
