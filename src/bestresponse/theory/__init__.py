"""Solutions of games: equilibria, regrets and dynamics, each with a certificate.

Names are imported when first used, so that `import bestresponse.theory` costs no more than numpy.
Classes of results that nobody builds by hand are in the modules of the functions that return
them.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.theory.catalogue.trees import (
        load_tree as load_tree,
        tree_entry as tree_entry,
        tree_names as tree_names,
    )
    from bestresponse.theory.correlation.equilibria import (
        correlated as correlated,
        correlated_regret as correlated_regret,
    )
    from bestresponse.theory.dynamics.alpha_rank import alpha_rank as alpha_rank
    from bestresponse.theory.dynamics.learning import (
        fictitious_play as fictitious_play,
        logit_dynamics as logit_dynamics,
        multiplicative_weights as multiplicative_weights,
        regret_matching as regret_matching,
    )
    from bestresponse.theory.dynamics.replicator import replicator as replicator
    from bestresponse.theory.equilibria.commitment import stackelberg as stackelberg
    from bestresponse.theory.equilibria.extremes import extreme_equilibria as extreme_equilibria
    from bestresponse.theory.equilibria.lemke_howson import (
        lemke_howson as lemke_howson,
        lemke_howson_all as lemke_howson_all,
    )
    from bestresponse.theory.equilibria.refinements import find_perfect as find_perfect
    from bestresponse.theory.equilibria.result import (
        Equilibrium as Equilibrium,
        NashResult as NashResult,
        pure_nash as pure_nash,
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
        format_nfg as format_nfg,
        load_game_file as load_game_file,
        parse_matrix_json as parse_matrix_json,
        parse_nfg as parse_nfg,
        write_game_file as write_game_file,
    )
    from bestresponse.theory.fitting import (
        cognitive_hierarchy as cognitive_hierarchy,
        level_k as level_k,
        quantal_branch as quantal_branch,
        quantal_response as quantal_response,
    )
    from bestresponse.theory.games.bargaining import (
        nash_bargaining as nash_bargaining,
    )
    from bestresponse.theory.games.classification import (
        classify as classify,
        efficiency as efficiency,
        exact_potential as exact_potential,
        finite_improvement as finite_improvement,
        pareto_optimal as pareto_optimal,
        payoff_dominant as payoff_dominant,
        risk_dominant as risk_dominant,
    )
    from bestresponse.theory.games.dominance import (
        find_dominated as find_dominated,
        iterated_elimination as iterated_elimination,
        maximin as maximin,
        rationalizable as rationalizable,
    )
    from bestresponse.theory.games.isomorphs import (
        name_ordinal as name_ordinal,
        ordinal_games as ordinal_games,
        random_isomorph as random_isomorph,
        rewrite_game as rewrite_game,
    )
    from bestresponse.theory.games.normal_form import (
        NormalForm as NormalForm,
    )
    from bestresponse.theory.games.regrets import (
        deviation_payoffs as deviation_payoffs,
        regret as regret,
    )
    from bestresponse.theory.generators import (
        generate as generate,
    )
    from bestresponse.theory.repeated.automaton import (
        Automaton as Automaton,
        classic_strategy as classic_strategy,
    )
    from bestresponse.theory.repeated.repetition import Repetition as Repetition
    from bestresponse.theory.repeated.round_robin import (
        exact_round_robin as exact_round_robin,
    )
    from bestresponse.theory.seeds import stream as stream
    from bestresponse.theory.trees.agents import agent_quantal_branch as agent_quantal_branch
    from bestresponse.theory.trees.cfr import cfr as cfr
    from bestresponse.theory.trees.compile import compile_game as compile_game
    from bestresponse.theory.trees.mccfr import mccfr_tree as mccfr_tree
    from bestresponse.theory.trees.normal_form import to_normal_form as to_normal_form
    from bestresponse.theory.trees.openspiel import load_openspiel as load_openspiel
    from bestresponse.theory.trees.perfection.sequential import find_sequential as find_sequential
    from bestresponse.theory.trees.perfection.subgame_perfect import (
        solve_subgames as solve_subgames,
        subgame_perfect as subgame_perfect,
    )
    from bestresponse.theory.trees.sequence_form import (
        nash_conv as nash_conv,
        policy_regrets as policy_regrets,
        policy_value as policy_value,
        to_sequence_form as to_sequence_form,
        tree_best_response as tree_best_response,
    )
    from bestresponse.theory.trees.sequence_form_lp import (
        solve_general_tree as solve_general_tree,
        solve_tree as solve_tree,
    )
    from bestresponse.theory.trees.tree import (
        Chance as Chance,
        Leaf as Leaf,
        Policy as Policy,
        Tree as Tree,
        Turn as Turn,
        build_tree as build_tree,
        policy_from_table as policy_from_table,
        uniform_policy as uniform_policy,
    )
    from bestresponse.theory.trees.types import (
        TypeCase as TypeCase,
        auction as auction,
        build_cases as build_cases,
        equilibrium_bid as equilibrium_bid,
        interim_form as interim_form,
    )
    from bestresponse.theory.zero_sum.solve import (
        ZeroSumStep as ZeroSumStep,
        solve_zero_sum as solve_zero_sum,
        solve_zero_sum_game as solve_zero_sum_game,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
