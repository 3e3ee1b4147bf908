"""Solutions of games: equilibria, regrets and dynamics, each with a certificate.

Names are imported when first used, so that `import bestresponse.theory` costs no more than numpy.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

# isort: off
if TYPE_CHECKING:
    from bestresponse.theory.catalogue.trees import (
        TreeEntry as TreeEntry,
        load_tree as load_tree,
        tree_entry as tree_entry,
        tree_names as tree_names,
    )
    from bestresponse.theory.correlation.batch import (
        CorrelatedBatch as CorrelatedBatch,
        correlated_batch as correlated_batch,
    )
    from bestresponse.theory.correlation.equilibria import (
        CorrelatedEquilibrium as CorrelatedEquilibrium,
        correlated as correlated,
        correlated_regret as correlated_regret,
    )
    from bestresponse.theory.dynamics.moran import (
        AlphaRank as AlphaRank,
        alpha_rank as alpha_rank,
    )
    from bestresponse.theory.dynamics.learning import fictitious_play as fictitious_play
    from bestresponse.theory.dynamics.learning import logit_dynamics as logit_dynamics
    from bestresponse.theory.dynamics.moran import (
        MoranResult as MoranResult,
        Takeovers as Takeovers,
        count_takeovers as count_takeovers,
        fixation_probability as fixation_probability,
        moran as moran,
    )
    from bestresponse.theory.dynamics.learning import multiplicative_weights as multiplicative_weights
    from bestresponse.theory.dynamics.learning import regret_matching as regret_matching
    from bestresponse.theory.dynamics.replicator import (
        replicator as replicator,
        replicator_velocity as replicator_velocity,
    )
    from bestresponse.theory.dynamics.trajectory import Trajectory as Trajectory
    from bestresponse.theory.equilibria.extremes import (
        Extremes as Extremes,
        extreme_equilibria as extreme_equilibria,
    )
    from bestresponse.theory.equilibria.lemke_howson import (
        LemkeHowsonBatch as LemkeHowsonBatch,
        lemke_howson as lemke_howson,
        lemke_howson_all as lemke_howson_all,
        lemke_howson_batch as lemke_howson_batch,
        nash_one_batch as nash_one_batch,
    )
    from bestresponse.theory.equilibria.refinements import (
        PerfectEquilibria as PerfectEquilibria,
        find_perfect as find_perfect,
    )
    from bestresponse.theory.equilibria.refinements import (
        ProperEquilibrium as ProperEquilibrium,
        find_proper as find_proper,
    )
    from bestresponse.theory.equilibria.result import pure_nash as pure_nash
    from bestresponse.theory.equilibria.result import (
        Component as Component,
        Equilibrium as Equilibrium,
        NashResult as NashResult,
        NashSubset as NashSubset,
    )
    from bestresponse.theory.equilibria.solve import (
        nash as nash,
        nash_one as nash_one,
    )
    from bestresponse.theory.files.efg import (
        format_efg as format_efg,
        parse_efg as parse_efg,
    )
    from bestresponse.theory.files.nfg import (
        load_game_file as load_game_file,
        write_game_file as write_game_file,
    )
    from bestresponse.theory.files.nfg import parse_matrix_json as parse_matrix_json
    from bestresponse.theory.files.nfg import (
        format_nfg as format_nfg,
        parse_nfg as parse_nfg,
    )
    from bestresponse.theory.fitting import (
        cognitive_hierarchy as cognitive_hierarchy,
        level_k as level_k,
    )
    from bestresponse.theory.fitting import (
        quantal_branch as quantal_branch,
        quantal_response as quantal_response,
    )
    from bestresponse.theory.games.bargaining import (
        Bargain as Bargain,
        nash_bargaining as nash_bargaining,
    )
    from bestresponse.theory.games.classification import (
        GameKind as GameKind,
        classify as classify,
        exact_potential as exact_potential,
        finite_improvement as finite_improvement,
    )
    from bestresponse.theory.games.dominance import (
        Domination as Domination,
        Elimination as Elimination,
        EliminationStep as EliminationStep,
        SecurityLevel as SecurityLevel,
        find_dominated as find_dominated,
        iterated_elimination as iterated_elimination,
        maximin as maximin,
        rationalizable as rationalizable,
    )
    from bestresponse.theory.games.isomorphs import (
        Isomorph as Isomorph,
        random_isomorph as random_isomorph,
    )
    from bestresponse.theory.games.normal_form import (
        Array as Array,
        NormalForm as NormalForm,
        as_payoffs as as_payoffs,
    )
    from bestresponse.theory.games.isomorphs import (
        name_ordinal as name_ordinal,
        ordinal_games as ordinal_games,
    )
    from bestresponse.theory.games.regrets import (
        best_responses as best_responses,
        deviation_payoffs as deviation_payoffs,
        expected_payoffs as expected_payoffs,
        regret as regret,
    )
    from bestresponse.theory.games.selection import (
        Efficiency as Efficiency,
        efficiency as efficiency,
        pareto_optimal as pareto_optimal,
        payoff_dominant as payoff_dominant,
        risk_dominant as risk_dominant,
    )
    from bestresponse.theory.generators import generate as generate
    from bestresponse.theory.repeated.automaton import (
        Automaton as Automaton,
        memory_one as memory_one,
    )
    from bestresponse.theory.repeated.automaton import cooperative_actions as cooperative_actions
    from bestresponse.theory.repeated.automaton import (
        classic_strategies as classic_strategies,
        classic_strategy as classic_strategy,
    )
    from bestresponse.theory.repeated.automaton import behave_alike as behave_alike
    from bestresponse.theory.repeated.round_robin import (
        Rules as Rules,
        TournamentResult as TournamentResult,
        exact_round_robin as exact_round_robin,
        play_round_robin as play_round_robin,
    )
    from bestresponse.theory.trees.agents import agent_quantal_branch as agent_quantal_branch
    from bestresponse.theory.trees.tree import (
        Chance as Chance,
        Leaf as Leaf,
        Turn as Turn,
        build_tree as build_tree,
    )
    from bestresponse.theory.trees.cfr import (
        CfrResult as CfrResult,
        Checkpoint as Checkpoint,
        cfr as cfr,
    )
    from bestresponse.theory.trees.compile import compile_game as compile_game
    from bestresponse.theory.trees.normal_form import to_normal_form as to_normal_form
    from bestresponse.theory.trees.compile import load_openspiel as load_openspiel
    from bestresponse.theory.trees.perfection.sequential import (
        SequentialEquilibrium as SequentialEquilibrium,
        find_sequential as find_sequential,
    )
    from bestresponse.theory.trees.perfection.subgame_perfect import (
        SubgamePerfect as SubgamePerfect,
        SubgamePerfectEquilibrium as SubgamePerfectEquilibrium,
        subgame_perfect as subgame_perfect,
    )
    from bestresponse.theory.trees.perfection.subgame_perfect import (
        SubgameEquilibria as SubgameEquilibria,
        solve_subgames as solve_subgames,
    )
    from bestresponse.theory.trees.policy import (
        Policy as Policy,
        policy_from_table as policy_from_table,
        uniform_policy as uniform_policy,
    )
    from bestresponse.theory.trees.sequence_form import (
        TreeBestResponse as TreeBestResponse,
        nash_conv as nash_conv,
        policy_regrets as policy_regrets,
        policy_value as policy_value,
        tree_best_response as tree_best_response,
    )
    from bestresponse.theory.trees.sequence_form import (
        SequenceForm as SequenceForm,
        to_sequence_form as to_sequence_form,
    )
    from bestresponse.theory.trees.sequence_form_lp import solve_general_tree as solve_general_tree
    from bestresponse.theory.trees.sequence_form_lp import (
        TreeSolution as TreeSolution,
        solve_tree as solve_tree,
    )
    from bestresponse.theory.trees.tree import (
        Infoset as Infoset,
        Tree as Tree,
    )
    from bestresponse.theory.zero_sum.double_oracle import search_matrix as search_matrix
    from bestresponse.theory.zero_sum.measure import (
        best_response_value as best_response_value,
        exploitability as exploitability,
        optimal_opponent_range as optimal_opponent_range,
    )
    from bestresponse.theory.zero_sum.solve import (
        ZeroSumSolution as ZeroSumSolution,
        ZeroSumSolutions as ZeroSumSolutions,
        ZeroSumStep as ZeroSumStep,
        solve_zero_sum as solve_zero_sum,
        solve_zero_sum_game as solve_zero_sum_game,
    )
    from bestresponse.theory.zero_sum.double_oracle import search_tree as search_tree
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
