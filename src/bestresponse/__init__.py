"""Language models meet game theory: describe, formalize, solve, play, measure.

    import bestresponse as br

    br.solve("stag-hunt")                                  br.bench("openai/gpt-4o",
                                                           num_games=50).to_pandas()
    br.formalize(story, model="openai/gpt-4o").solve()     br.verify("chicken", text)
    br.tournament("prisoners-dilemma", ["tit-for-tat", my_strategy])

Parts for building something yourself are in modules: `br.players`, `br.games`, `br.water`,
`br.dialogue`, `br.stories`, `br.models` and others. Names are imported when first used.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bestresponse import (
        dialogue,
        games,
        models,
        players,
        reasoning,
        rewards,
        runs,
        stories,
        telling,
        theory,
        water,
    )
    from bestresponse.analysis.theory import (
        describe_theory,
    )
    from bestresponse.api.formalizing import (
        check,
        formalize,
        list_models,
        query,
    )
    from bestresponse.api.games import (
        ask,
        compare,
        convert,
        list_games,
    )
    from bestresponse.api.nash import (
        nash,
    )
    from bestresponse.api.reasoning import (
        play,
        reproduce,
        verify,
    )
    from bestresponse.api.solving import (
        Solution,
        solve,
    )
    from bestresponse.core.errors import (
        BestResponseError,
    )
    from bestresponse.games.lookup import (
        find_game,
    )
    from bestresponse.runs.comparison import (
        compare_runs,
    )
    from bestresponse.runs.run import (
        load_run,
    )
    from bestresponse.runs.store.merge import (
        merge_runs,
    )
    from bestresponse.studies.behave.importing import (
        import_plays,
    )
    from bestresponse.studies.behave.study import (
        behave,
    )
    from bestresponse.studies.bench.study import (
        bench,
    )
    from bestresponse.studies.improve.export import (
        export_examples as export,
    )
    from bestresponse.studies.improve.rounds import (
        improve,
    )
    from bestresponse.studies.improve.study import (
        train,
    )
    from bestresponse.studies.simulate.study import (
        simulate,
    )
    from bestresponse.studies.steer.advising import (
        advise,
    )
    from bestresponse.studies.steer.study import (
        steer,
    )
    from bestresponse.studies.tournament.study import (
        tournament,
    )
    from bestresponse.studies.verify.study import (
        verify_model,
    )
    from bestresponse.theory.games.normal_form import (
        NormalForm,
    )

    __all__ = [
        "BestResponseError",
        "NormalForm",
        "Solution",
        "advise",
        "ask",
        "behave",
        "bench",
        "check",
        "compare",
        "compare_runs",
        "convert",
        "describe_theory",
        "dialogue",
        "export",
        "find_game",
        "formalize",
        "games",
        "import_plays",
        "improve",
        "list_games",
        "list_models",
        "load_run",
        "merge_runs",
        "models",
        "nash",
        "play",
        "players",
        "query",
        "reasoning",
        "reproduce",
        "rewards",
        "runs",
        "simulate",
        "solve",
        "steer",
        "stories",
        "telling",
        "theory",
        "tournament",
        "train",
        "verify",
        "verify_model",
        "water",
    ]
else:
    _MOVED = {
        "Agent": "players.Agent",
        "AnswerStore": "dialogue.AnswerStore",
        "Author": "dialogue.Author",
        "Blotto": "games.Blotto",
        "Cast": "dialogue.Cast",
        "Choice": "players.Choice",
        "DealReferee": "dialogue.DealReferee",
        "Decision": "players.Decision",
        "DialogueGame": "dialogue.DialogueGame",
        "FixedMix": "players.FixedMix",
        "Formalized": "stories.Formalized",
        "FormalizedStrategy": "stories.FormalizedStrategy",
        "Guided": "dialogue.Guided",
        "HashedWords": "dialogue.HashedWords",
        "LlmPlayer": "players.LlmPlayer",
        "MatrixGame": "games.MatrixGame",
        "Nature": "players.Nature",
        "Nearest": "dialogue.Nearest",
        "RESIDENTS": "water.RESIDENTS",
        "RecordedDialogue": "dialogue.RecordedDialogue",
        "Reviewer": "reasoning.Reviewer",
        "RulesTranslator": "reasoning.RulesTranslator",
        "Run": "runs.Run",
        "RunComparison": "runs.RunComparison",
        "Sampling": "players.Sampling",
        "ScriptedModel": "models.ScriptedModel",
        "SimulatedSpeaker": "dialogue.SimulatedSpeaker",
        "Speaker": "dialogue.Speaker",
        "TreeGame": "games.TreeGame",
        "Trust": "games.Trust",
        "Verified": "players.Verified",
        "VerifyConfig": "reasoning.VerifyConfig",
        "View": "players.View",
        "WaterRules": "water.WaterRules",
        "WaterScores": "water.WaterScores",
        "WithFailurePolicy": "players.WithFailurePolicy",
        "allocate_water": "water.allocate",
        "bench_stories": "stories.bench",
        "bench_strategies": "stories.bench_strategies",
        "build_dialogue": "dialogue.build",
        "draw_scenarios": "dialogue.draw_scenarios",
        "executors": "runs.executors",
        "export_dialogues": "dialogue.export",
        "find_strategy": "players.find_strategy",
        "formalize_strategy": "stories.formalize_strategy",
        "from_function": "models.from_function",
        "judge_reasoning": "reasoning.judge",
        "judge_water": "water.judge",
        "list_domains": "dialogue.list_domains",
        "list_stories": "stories.list_stories",
        "list_strategies": "players.list_strategies",
        "load_domain": "dialogue.load_domain",
        "make_judging_sheets": "water.make_sheets",
        "make_logic_game": "stories.make_logic_game",
        "make_memory": "players.make_memory",
        "make_reasoning": "players.make_reasoning",
        "make_water": "water.make_game",
        "open_model": "models.open_model",
        "play_seats": "players.play_seats",
        "play_water": "water.play",
        "published_personas": "players.published_personas",
        "read_bid": "water.read_bid",
        "read_scores": "water.read_scores",
        "reward_replies": "rewards.reward_replies",
        "reward_reply": "rewards.reward_reply",
        "score_reply": "rewards.score_reply",
        "seat_model": "players.seat_model",
        "simulate_water": "water.simulate",
        "solve_dialogue": "dialogue.solve",
        "write_history": "telling.write_history",
        "write_rules": "telling.write_rules",
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _MOVED)
