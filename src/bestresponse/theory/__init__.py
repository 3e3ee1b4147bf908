"""Solutions of games: equilibria, regrets and dynamics, each with a certificate.

Names are imported when first used, so that `import bestresponse.theory` costs no more than numpy.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.theory.catalogue.trees import (
        TreeEntry as TreeEntry,
    )
    from bestresponse.theory.catalogue.trees import (
        load_tree as load_tree,
    )
    from bestresponse.theory.catalogue.trees import (
        tree_entry as tree_entry,
    )
    from bestresponse.theory.catalogue.trees import (
        tree_names as tree_names,
    )
    from bestresponse.theory.correlation.batch import (
        CorrelatedBatch as CorrelatedBatch,
    )
    from bestresponse.theory.correlation.batch import (
        correlated_batch as correlated_batch,
    )
    from bestresponse.theory.correlation.equilibria import (
        CorrelatedEquilibrium as CorrelatedEquilibrium,
    )
    from bestresponse.theory.correlation.equilibria import (
        correlated as correlated,
    )
    from bestresponse.theory.correlation.equilibria import (
        correlated_regret as correlated_regret,
    )
    from bestresponse.theory.dynamics.alpha_rank import (
        AlphaRank as AlphaRank,
    )
    from bestresponse.theory.dynamics.alpha_rank import (
        alpha_rank as alpha_rank,
    )
    from bestresponse.theory.dynamics.fictitious_play import (
        fictitious_play as fictitious_play,
    )
    from bestresponse.theory.dynamics.logit import (
        logit_dynamics as logit_dynamics,
    )
    from bestresponse.theory.dynamics.moran import (
        MoranResult as MoranResult,
    )
    from bestresponse.theory.dynamics.moran import (
        Takeovers as Takeovers,
    )
    from bestresponse.theory.dynamics.moran import (
        count_takeovers as count_takeovers,
    )
    from bestresponse.theory.dynamics.moran import (
        fixation_probability as fixation_probability,
    )
    from bestresponse.theory.dynamics.moran import (
        moran as moran,
    )
    from bestresponse.theory.dynamics.multiplicative_weights import (
        multiplicative_weights as multiplicative_weights,
    )
    from bestresponse.theory.dynamics.regret_matching import (
        regret_matching as regret_matching,
    )
    from bestresponse.theory.dynamics.replicator import (
        replicator as replicator,
    )
    from bestresponse.theory.dynamics.replicator import (
        replicator_velocity as replicator_velocity,
    )
    from bestresponse.theory.dynamics.trajectory import (
        Trajectory as Trajectory,
    )
    from bestresponse.theory.equilibria.extremes import (
        Extremes as Extremes,
    )
    from bestresponse.theory.equilibria.extremes import (
        extreme_equilibria as extreme_equilibria,
    )
    from bestresponse.theory.equilibria.lemke_howson import (
        LemkeHowsonBatch as LemkeHowsonBatch,
    )
    from bestresponse.theory.equilibria.lemke_howson import (
        lemke_howson as lemke_howson,
    )
    from bestresponse.theory.equilibria.lemke_howson import (
        lemke_howson_all as lemke_howson_all,
    )
    from bestresponse.theory.equilibria.lemke_howson import (
        lemke_howson_batch as lemke_howson_batch,
    )
    from bestresponse.theory.equilibria.lemke_howson import (
        nash_one_batch as nash_one_batch,
    )
    from bestresponse.theory.equilibria.perfect import (
        PerfectEquilibria as PerfectEquilibria,
    )
    from bestresponse.theory.equilibria.perfect import (
        find_perfect as find_perfect,
    )
    from bestresponse.theory.equilibria.proper import (
        ProperEquilibrium as ProperEquilibrium,
    )
    from bestresponse.theory.equilibria.proper import (
        find_proper as find_proper,
    )
    from bestresponse.theory.equilibria.pure import (
        pure_nash as pure_nash,
    )
    from bestresponse.theory.equilibria.result import (
        Component as Component,
    )
    from bestresponse.theory.equilibria.result import (
        Equilibrium as Equilibrium,
    )
    from bestresponse.theory.equilibria.result import (
        NashResult as NashResult,
    )
    from bestresponse.theory.equilibria.result import (
        NashSubset as NashSubset,
    )
    from bestresponse.theory.equilibria.solve import (
        nash as nash,
    )
    from bestresponse.theory.equilibria.solve import (
        nash_one as nash_one,
    )
    from bestresponse.theory.files.efg import (
        format_efg as format_efg,
    )
    from bestresponse.theory.files.efg import (
        parse_efg as parse_efg,
    )
    from bestresponse.theory.files.game_file import (
        load_game_file as load_game_file,
    )
    from bestresponse.theory.files.game_file import (
        read_efg as read_efg,
    )
    from bestresponse.theory.files.game_file import (
        read_matrix_json as read_matrix_json,
    )
    from bestresponse.theory.files.game_file import (
        read_nfg as read_nfg,
    )
    from bestresponse.theory.files.game_file import (
        write_game_file as write_game_file,
    )
    from bestresponse.theory.files.matrix_json import (
        parse_matrix_json as parse_matrix_json,
    )
    from bestresponse.theory.files.nfg import (
        format_nfg as format_nfg,
    )
    from bestresponse.theory.files.nfg import (
        parse_nfg as parse_nfg,
    )
    from bestresponse.theory.fitting.levels import (
        cognitive_hierarchy as cognitive_hierarchy,
    )
    from bestresponse.theory.fitting.levels import (
        level_k as level_k,
    )
    from bestresponse.theory.fitting.quantal import (
        quantal_branch as quantal_branch,
    )
    from bestresponse.theory.fitting.quantal import (
        quantal_response as quantal_response,
    )
    from bestresponse.theory.games.bargaining import (
        Bargain as Bargain,
    )
    from bestresponse.theory.games.bargaining import (
        nash_bargaining as nash_bargaining,
    )
    from bestresponse.theory.games.classification import (
        GameKind as GameKind,
    )
    from bestresponse.theory.games.classification import (
        classify as classify,
    )
    from bestresponse.theory.games.classification import (
        exact_potential as exact_potential,
    )
    from bestresponse.theory.games.classification import (
        finite_improvement as finite_improvement,
    )
    from bestresponse.theory.games.dominance import (
        Domination as Domination,
    )
    from bestresponse.theory.games.dominance import (
        Elimination as Elimination,
    )
    from bestresponse.theory.games.dominance import (
        EliminationStep as EliminationStep,
    )
    from bestresponse.theory.games.dominance import (
        SecurityLevel as SecurityLevel,
    )
    from bestresponse.theory.games.dominance import (
        find_dominated as find_dominated,
    )
    from bestresponse.theory.games.dominance import (
        iterated_elimination as iterated_elimination,
    )
    from bestresponse.theory.games.dominance import (
        maximin as maximin,
    )
    from bestresponse.theory.games.dominance import (
        rationalizable as rationalizable,
    )
    from bestresponse.theory.games.isomorphs import (
        Isomorph as Isomorph,
    )
    from bestresponse.theory.games.isomorphs import (
        random_isomorph as random_isomorph,
    )
    from bestresponse.theory.games.normal_form import (
        Array as Array,
    )
    from bestresponse.theory.games.normal_form import (
        NormalForm as NormalForm,
    )
    from bestresponse.theory.games.normal_form import (
        as_payoffs as as_payoffs,
    )
    from bestresponse.theory.games.ordinal import (
        name_ordinal as name_ordinal,
    )
    from bestresponse.theory.games.ordinal import (
        ordinal_games as ordinal_games,
    )
    from bestresponse.theory.games.regrets import (
        best_responses as best_responses,
    )
    from bestresponse.theory.games.regrets import (
        deviation_payoffs as deviation_payoffs,
    )
    from bestresponse.theory.games.regrets import (
        expected_payoffs as expected_payoffs,
    )
    from bestresponse.theory.games.regrets import (
        regret as regret,
    )
    from bestresponse.theory.games.selection import (
        Efficiency as Efficiency,
    )
    from bestresponse.theory.games.selection import (
        efficiency as efficiency,
    )
    from bestresponse.theory.games.selection import (
        pareto_optimal as pareto_optimal,
    )
    from bestresponse.theory.games.selection import (
        payoff_dominant as payoff_dominant,
    )
    from bestresponse.theory.games.selection import (
        risk_dominant as risk_dominant,
    )
    from bestresponse.theory.generators.draw import (
        generate as generate,
    )
    from bestresponse.theory.repeated.automaton import (
        Automaton as Automaton,
    )
    from bestresponse.theory.repeated.automaton import (
        memory_one as memory_one,
    )
    from bestresponse.theory.repeated.dilemma import (
        cooperative_actions as cooperative_actions,
    )
    from bestresponse.theory.repeated.library import (
        classic_strategies as classic_strategies,
    )
    from bestresponse.theory.repeated.library import (
        classic_strategy as classic_strategy,
    )
    from bestresponse.theory.repeated.reduce import (
        behave_alike as behave_alike,
    )
    from bestresponse.theory.repeated.round_robin import (
        Rules as Rules,
    )
    from bestresponse.theory.repeated.round_robin import (
        TournamentResult as TournamentResult,
    )
    from bestresponse.theory.repeated.round_robin import (
        exact_round_robin as exact_round_robin,
    )
    from bestresponse.theory.repeated.round_robin import (
        play_round_robin as play_round_robin,
    )
    from bestresponse.theory.trees.build import (
        Chance as Chance,
    )
    from bestresponse.theory.trees.build import (
        Leaf as Leaf,
    )
    from bestresponse.theory.trees.build import (
        Turn as Turn,
    )
    from bestresponse.theory.trees.build import (
        build_tree as build_tree,
    )
    from bestresponse.theory.trees.cfr import (
        CfrResult as CfrResult,
    )
    from bestresponse.theory.trees.cfr import (
        Checkpoint as Checkpoint,
    )
    from bestresponse.theory.trees.cfr import (
        cfr as cfr,
    )
    from bestresponse.theory.trees.compile import (
        compile_game as compile_game,
    )
    from bestresponse.theory.trees.normal_form import (
        to_normal_form as to_normal_form,
    )
    from bestresponse.theory.trees.openspiel import (
        load_openspiel as load_openspiel,
    )
    from bestresponse.theory.trees.perfection.sequential import (
        SequentialEquilibrium as SequentialEquilibrium,
    )
    from bestresponse.theory.trees.perfection.sequential import (
        find_sequential as find_sequential,
    )
    from bestresponse.theory.trees.perfection.subgame_perfect import (
        SubgamePerfect as SubgamePerfect,
    )
    from bestresponse.theory.trees.perfection.subgame_perfect import (
        SubgamePerfectEquilibrium as SubgamePerfectEquilibrium,
    )
    from bestresponse.theory.trees.perfection.subgame_perfect import (
        subgame_perfect as subgame_perfect,
    )
    from bestresponse.theory.trees.perfection.subgames import (
        SubgameEquilibria as SubgameEquilibria,
    )
    from bestresponse.theory.trees.perfection.subgames import (
        solve_subgames as solve_subgames,
    )
    from bestresponse.theory.trees.policy import (
        Policy as Policy,
    )
    from bestresponse.theory.trees.policy import (
        policy_from_table as policy_from_table,
    )
    from bestresponse.theory.trees.policy import (
        uniform_policy as uniform_policy,
    )
    from bestresponse.theory.trees.response import (
        TreeBestResponse as TreeBestResponse,
    )
    from bestresponse.theory.trees.response import (
        nash_conv as nash_conv,
    )
    from bestresponse.theory.trees.response import (
        policy_regrets as policy_regrets,
    )
    from bestresponse.theory.trees.response import (
        policy_value as policy_value,
    )
    from bestresponse.theory.trees.response import (
        tree_best_response as tree_best_response,
    )
    from bestresponse.theory.trees.sequence_form import (
        SequenceForm as SequenceForm,
    )
    from bestresponse.theory.trees.sequence_form import (
        to_sequence_form as to_sequence_form,
    )
    from bestresponse.theory.trees.sequence_form_lcp import (
        solve_general_tree as solve_general_tree,
    )
    from bestresponse.theory.trees.sequence_form_lp import (
        TreeSolution as TreeSolution,
    )
    from bestresponse.theory.trees.sequence_form_lp import (
        solve_tree as solve_tree,
    )
    from bestresponse.theory.trees.tree import (
        Infoset as Infoset,
    )
    from bestresponse.theory.trees.tree import (
        Tree as Tree,
    )
    from bestresponse.theory.zero_sum.double_oracle import (
        search_matrix as search_matrix,
    )
    from bestresponse.theory.zero_sum.measure import (
        best_response_value as best_response_value,
    )
    from bestresponse.theory.zero_sum.measure import (
        exploitability as exploitability,
    )
    from bestresponse.theory.zero_sum.measure import (
        optimal_opponent_range as optimal_opponent_range,
    )
    from bestresponse.theory.zero_sum.solve import (
        ZeroSumSolution as ZeroSumSolution,
    )
    from bestresponse.theory.zero_sum.solve import (
        ZeroSumSolutions as ZeroSumSolutions,
    )
    from bestresponse.theory.zero_sum.solve import (
        ZeroSumStep as ZeroSumStep,
    )
    from bestresponse.theory.zero_sum.solve import (
        solve_zero_sum as solve_zero_sum,
    )
    from bestresponse.theory.zero_sum.solve import (
        solve_zero_sum_game as solve_zero_sum_game,
    )
    from bestresponse.theory.zero_sum.tree_oracle import (
        search_tree as search_tree,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
