"""Language models meet game theory: describe, formalize, solve, play, measure.

    import bestresponse as br

    br.solve("stag-hunt")                                  br.bench("openai/gpt-4o",
                                                           num_games=50).to_pandas()
    br.formalize(story, model="openai/gpt-4o").solve()     br.verify("chicken", text)
    br.tournament("prisoners-dilemma", ["tit-for-tat", my_strategy])

Names are imported when first used.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bestresponse.analysis.theory import (
        describe_theory as describe_theory,
    )
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
    from bestresponse.api.solving import (
        Solution as Solution,
        solve as solve,
    )
    from bestresponse.core.ask import (
        Choice as Choice,
    )
    from bestresponse.core.episode import play as play_seats  # noqa: F401
    from bestresponse.core.errors import (
        BestResponseError as BestResponseError,
    )
    from bestresponse.core.game import (
        View as View,
    )
    from bestresponse.core.player import (
        Decision as Decision,
        Nature as Nature,
    )
    from bestresponse.formal.claims.review import (
        Reviewer as Reviewer,
    )
    from bestresponse.formal.claims.translation import (
        RulesTranslator as RulesTranslator,
    )
    from bestresponse.formal.evaluate.dataset import stories as list_stories  # noqa: F401
    from bestresponse.games.blotto.rules import (
        Blotto as Blotto,
    )
    from bestresponse.games.common_pool.rules import (
        CommonPool as CommonPool,
    )
    from bestresponse.games.dialogue.domain import (
        domain_names as list_domains,  # noqa: F401
        load_domain as load_domain,
        scenarios as draw_scenarios,  # noqa: F401
    )
    from bestresponse.games.dialogue.game import (
        DialogueGame as DialogueGame,
        RecordedDialogue as RecordedDialogue,
    )
    from bestresponse.games.logic.game import as_game as make_logic_game  # noqa: F401
    from bestresponse.games.lookup import (
        find_game as find_game,
    )
    from bestresponse.games.matrix.game import (
        MatrixGame as MatrixGame,
    )
    from bestresponse.games.trees.game import (
        TreeGame as TreeGame,
    )
    from bestresponse.games.trust.rules import (
        Trust as Trust,
    )
    from bestresponse.games.water.bidders import play_many as play_water  # noqa: F401
    from bestresponse.games.water.game import water as make_water  # noqa: F401
    from bestresponse.games.water.rules import (
        RESIDENTS as RESIDENTS,
        WaterRules as WaterRules,
        allocate as allocate_water,  # noqa: F401
    )
    from bestresponse.models.providers.function import (
        from_function as from_function,
    )
    from bestresponse.models.providers.scripted import (
        ScriptedModel as ScriptedModel,
    )
    from bestresponse.players.dialogue.simulated import (
        SimulatedSpeaker as SimulatedSpeaker,
    )
    from bestresponse.players.dialogue.speaker import (
        DealReferee as DealReferee,
        Guided as Guided,
        Speaker as Speaker,
    )
    from bestresponse.players.llm.agent import (
        Agent as Agent,
        WithFailurePolicy as WithFailurePolicy,
        memory as make_memory,  # noqa: F401
        published_personas as published_personas,
        reasoning as make_reasoning,  # noqa: F401
    )
    from bestresponse.players.llm.bids import (
        read_bid as read_bid,
    )
    from bestresponse.players.llm.player import (
        LlmPlayer as LlmPlayer,
        Sampling as Sampling,
    )
    from bestresponse.players.llm.verified import (
        Verified as Verified,
    )
    from bestresponse.players.lookup import (
        find_strategy as find_strategy,
        list_strategies as list_strategies,
        seat_model as seat_model,
    )
    from bestresponse.players.strategies import (
        FixedMix as FixedMix,
    )
    from bestresponse.runs import (
        executors as executors,
    )
    from bestresponse.runs.comparison import (
        RunComparison as RunComparison,
        compare_runs as compare_runs,
    )
    from bestresponse.runs.run import (
        Run as Run,
        load_run as load_run,
    )
    from bestresponse.runs.store.merge import (
        merge_runs as merge_runs,
    )
    from bestresponse.studies.behave.importing import (
        import_plays as import_plays,
    )
    from bestresponse.studies.behave.study import (
        behave as behave,
    )
    from bestresponse.studies.bench.study import (
        bench as bench,
    )
    from bestresponse.studies.improve.export import export_examples as export  # noqa: F401
    from bestresponse.studies.improve.rewards import (
        reward_replies as reward_replies,
        reward_reply as reward_reply,
        score_reply as score_reply,
    )
    from bestresponse.studies.improve.rounds import (
        improve as improve,
    )
    from bestresponse.studies.improve.study import (
        train as train,
    )
    from bestresponse.studies.simulate.study import (
        simulate as simulate,
    )
    from bestresponse.studies.steer.advising import (
        advise as advise,
    )
    from bestresponse.studies.steer.answers import AnswerStore as AnswerStore, Cast as Cast
    from bestresponse.studies.steer.building import build_dialogue as build_dialogue
    from bestresponse.studies.steer.embedding import HashedWords as HashedWords
    from bestresponse.studies.steer.exporting import (
        export_dialogues as export_dialogues,
    )
    from bestresponse.studies.steer.fresh import Nearest as Nearest
    from bestresponse.studies.steer.session import (
        Author as Author,
    )
    from bestresponse.studies.steer.solving import (
        solve_dialogue as solve_dialogue,
    )
    from bestresponse.studies.steer.study import (
        steer as steer,
    )
    from bestresponse.studies.stories.strategies import (
        strategies_study as bench_strategies,  # noqa: F401
    )
    from bestresponse.studies.stories.study import stories_study as bench_stories  # noqa: F401
    from bestresponse.studies.tournament.config import TournamentConfig as TournamentConfig
    from bestresponse.studies.tournament.study import (
        tournament as tournament,
    )
    from bestresponse.studies.verify.config import VerifyConfig as VerifyConfig
    from bestresponse.studies.verify.judge import (
        judge_reasoning as judge_reasoning,
    )
    from bestresponse.studies.verify.study import verify_model as verify_model
    from bestresponse.studies.water.study import water as simulate_water  # noqa: F401
    from bestresponse.telling.render import (
        write_history as write_history,
        write_rules as write_rules,
    )
    from bestresponse.theory.games.normal_form import (
        NormalForm as NormalForm,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
