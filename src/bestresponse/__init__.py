"""Language models meet game theory: describe, formalize, solve, play, measure.

    import bestresponse as br

    br.solve("stag-hunt")                                  br.bench("openai/gpt-4o",
                                                           num_games=50).to_pandas()
    br.formalize(story, model="openai/gpt-4o").solve()     br.verify(text, game="chicken")
    br.tournament("prisoners-dilemma", ["tit-for-tat", my_strategy])

Names are imported when first used.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bestresponse.api.formalizing import (
        Formalized as Formalized,
        FormalizedStrategy as FormalizedStrategy,
        check as check,
        formalize as formalize,
        formalize_strategy as formalize_strategy,
        list_models as list_models,
        query as query,
    )
    from bestresponse.api.games import (
        ask as ask,
        compare as compare,
        convert as convert,
        list_games as list_games,
    )
    from bestresponse.api.judging import (
        WaterScores as WaterScores,
        judge_water as judge_water,
        make_judging_sheets as make_judging_sheets,
        read_scores as read_scores,
    )
    from bestresponse.api.nash import nash as nash
    from bestresponse.api.reasoning import (
        open_model as open_model,
        play as play,
        reproduce as reproduce,
        verify as verify,
    )
    from bestresponse.api.solving import Solution as Solution, solve as solve
    from bestresponse.core.errors import BestResponseError as BestResponseError
    from bestresponse.games.lookup import find_game as find_game
    from bestresponse.models.providers.function import from_function as from_function
    from bestresponse.runs import executors as executors
    from bestresponse.runs.comparison import (
        RunComparison as RunComparison,
        compare_runs as compare_runs,
    )
    from bestresponse.runs.run import Run as Run, load_run as load_run
    from bestresponse.runs.store.merge import merge_runs as merge_runs
    from bestresponse.studies.behave.importing import import_plays as import_plays
    from bestresponse.studies.behave.study import behave as behave
    from bestresponse.studies.bench.study import bench as bench
    from bestresponse.studies.improve.export import export_examples as export  # noqa: F401
    from bestresponse.studies.improve.rewards import (
        reward_replies as reward_replies,
        reward_reply as reward_reply,
        score_reply as score_reply,
    )
    from bestresponse.studies.improve.rounds import improve as improve
    from bestresponse.studies.improve.study import train as train
    from bestresponse.studies.population.study import (
        population as simulate_population,  # noqa: F401
    )
    from bestresponse.studies.simulate.study import simulate as simulate
    from bestresponse.studies.steer.advising import advise as advise
    from bestresponse.studies.steer.exporting import export_dialogues as export_dialogues
    from bestresponse.studies.steer.study import steer as steer
    from bestresponse.studies.stories.strategies import (
        strategies_study as bench_strategies,  # noqa: F401
    )
    from bestresponse.studies.stories.study import stories_study as bench_stories  # noqa: F401
    from bestresponse.studies.tournament.study import tournament as tournament
    from bestresponse.studies.verify.judge import judge_reasoning as judge_reasoning
    from bestresponse.studies.verify.study import verify_model as verify_model
    from bestresponse.studies.water.study import water as simulate_water  # noqa: F401
    from bestresponse.theory.games.normal_form import NormalForm as NormalForm
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
