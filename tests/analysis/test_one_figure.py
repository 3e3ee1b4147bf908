"""One figure for one decision, whichever study plays the game."""

import bestresponse as br
from bestresponse.analysis.costs import price_choices
from bestresponse.core.episode import Submission, play
from bestresponse.core.player import Decision
from bestresponse.games.lookup import find_game
from bestresponse.players.lookup import find_strategy
from bestresponse.runs.reporting.steps import list_stages
from bestresponse.web.services.export import _judge

C, D = "cooperate", "defect"


def cooperate(prompt):
    """A model that cooperates, by whatever letter or name it is asked."""
    return f"ANSWER: {C}"


def regret_of(run, player):
    return next(row["regret"].estimate for row in run.frame("skill") if row["player"] == player)


def test_cooperating_against_a_defector_loses_1_in_seven_places(tmp_path):
    """The sucker's payoff is 0, mutual defection pays 1."""
    found = {}
    run = br.simulate(
        "prisoners-dilemma",
        seat={"row": f"always:{C}", "col": f"always:{D}"},
        repeats=2,
        output_dir=tmp_path / "simulate",
    )
    found["simulate"] = regret_of(run, f"always:{C}")

    run = br.tournament(
        "prisoners-dilemma", [cooperate, "defector"], rounds=2, output_dir=tmp_path / "tournament"
    )
    found["tournament"] = regret_of(run, "cooperate")

    (tmp_path / "moves.csv").write_text(
        f"play,game,player,move\n1,prisoners-dilemma,A,{C}\n1,prisoners-dilemma,B,{D}\n"
    )
    run = br.import_plays(tmp_path / "moves.csv", mapping="moves", output_dir=tmp_path / "import")
    found["import"] = regret_of(run, "A")

    game = find_game("prisoners-dilemma").playable()
    players = {
        "row": find_strategy(f"always:{C}", game, "row", 0),
        "col": find_strategy(f"always:{D}", game, "col", 0),
    }
    record = play(game, players)
    (choice,) = price_choices(game, record, "row")
    found["play"] = choice["equilibrium_cost"]
    (stage,) = list_stages(record, game)
    found["replay"] = stage.steps[0].regret_equilibrium
    submissions = [Submission("row", Decision(C)), Submission("col", Decision(D))]
    found["serve"] = _judge(game, submissions)[1]

    run = br.bench(cooperate, "prisoners-dilemma", output_dir=tmp_path / "bench")
    heads, figures = run.metrics.groups[0]
    assert heads[0] == "cooperate"
    found["bench"] = figures["nash_gap"].estimate
    assert found == dict.fromkeys(found, 1.0)
    assert len(found) == 7
