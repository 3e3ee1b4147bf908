"""Solutions of games: equilibria, regrets and dynamics, each with a certificate.

Names are imported when first used, so that `import bestresponse.theory` costs no more than numpy.
"""

from importlib import import_module
from typing import Any

_EXPORTS = {
    "Array": "normal_form",
    "CfrResult": "cfr_solve",
    "Chance": "tree_build",
    "Checkpoint": "cfr_solve",
    "Component": "equilibrium",
    "CorrelatedBatch": "correlated_many",
    "CorrelatedEquilibrium": "correlated_equilibria",
    "Equilibrium": "equilibrium",
    "Extremes": "bimatrix_extremes",
    "Infoset": "tree",
    "Isomorph": "isomorphs",
    "Leaf": "tree_build",
    "LemkeHowsonBatch": "lemke_howson_path",
    "NashResult": "equilibrium",
    "NashSubset": "equilibrium",
    "NormalForm": "normal_form",
    "Policy": "tree_policy",
    "SequenceForm": "sequence_form",
    "SubgamePerfect": "tree_subgame_perfect",
    "SubgamePerfectEquilibrium": "tree_subgame_perfect",
    "Trajectory": "trajectory",
    "Tree": "tree",
    "TreeBestResponse": "tree_response",
    "TreeEntry": "tree_catalogue",
    "TreeSolution": "sequence_form_lp",
    "Turn": "tree_build",
    "ZeroSumSolution": "zero_sum",
    "ZeroSumSolutions": "zero_sum",
    "ZeroSumStep": "zero_sum",
    "as_payoffs": "normal_form",
    "best_response_value": "zero_sum_measure",
    "best_responses": "regrets",
    "build_tree": "tree_build",
    "cfr": "cfr_solve",
    "compile_game": "compile_tree",
    "correlated": "correlated_equilibria",
    "correlated_batch": "correlated_many",
    "correlated_regret": "correlated_equilibria",
    "deviation_payoffs": "regrets",
    "expected_payoffs": "regrets",
    "exploitability": "zero_sum_measure",
    "extreme_equilibria": "bimatrix_extremes",
    "fictitious_play": "dynamics_fictitious_play",
    "format_efg": "efg",
    "format_nfg": "nfg",
    "generate": "generators",
    "lemke_howson": "lemke_howson_path",
    "lemke_howson_all": "lemke_howson_path",
    "lemke_howson_batch": "lemke_howson_path",
    "load_game_file": "game_file",
    "load_openspiel": "openspiel",
    "load_tree": "tree_catalogue",
    "logit_dynamics": "dynamics_logit",
    "multiplicative_weights": "dynamics_multiplicative_weights",
    "name_ordinal": "ordinal",
    "nash": "equilibria",
    "nash_conv": "tree_response",
    "nash_one_batch": "lemke_howson_path",
    "optimal_opponent_range": "zero_sum_measure",
    "ordinal_games": "ordinal",
    "parse_efg": "efg",
    "parse_matrix_json": "matrix_json",
    "parse_nfg": "nfg",
    "policy_from_table": "tree_policy",
    "policy_regrets": "tree_response",
    "policy_value": "tree_response",
    "pure_nash": "pure",
    "random_isomorph": "isomorphs",
    "random_tree": "tree_random",
    "read_efg": "game_file",
    "read_matrix_json": "game_file",
    "read_nfg": "game_file",
    "regret": "regrets",
    "regret_matching": "dynamics_regret_matching",
    "replicator": "dynamics_replicator",
    "solve_tree": "sequence_form_lp",
    "solve_zero_sum": "zero_sum",
    "solve_zero_sum_game": "zero_sum",
    "subgame_perfect": "tree_subgame_perfect",
    "to_normal_form": "tree_normal_form",
    "to_sequence_form": "sequence_form",
    "tree_best_response": "tree_response",
    "tree_entry": "tree_catalogue",
    "tree_names": "tree_catalogue",
    "uniform_policy": "tree_policy",
    "write_game_file": "game_file",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
