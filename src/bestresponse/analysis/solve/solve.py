"""Solve a game that was found, whatever its form, and gather what else is known of it.

Trees: backward induction where everything is seen; the sequence-form linear program where two
players' payoffs have a constant sum; all equilibria of the reduced normal form where that is small;
CFR+, whose answer is as good as its NashConv, otherwise. Tables are solved by enumeration where
they are small enough.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from bestresponse import theory
from bestresponse.analysis.solve import solution
from bestresponse.analysis.solve.positions import SolvedPositions, solve_by_positions
from bestresponse.analysis.solve.solution import (
    TABLE_METHODS,
    SolvedTable,
    SolvedTree,
    TreeEquilibrium,
    Value,
    Wish,
)
from bestresponse.core.capabilities import HasPositions
from bestresponse.core.errors import InvalidGame, NotCertified, SettingError, TooLarge
from bestresponse.games.lookup import LoadedGame
from bestresponse.theory.deadline import NEVER
from bestresponse.theory.engines import has_numba
from bestresponse.theory.equilibria.extremes import most_vertices
from bestresponse.theory.equilibria.lemke_howson import follow_short_path
from bestresponse.theory.equilibria.result import Concept, Equilibrium, NashResult, pure_nash
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.classification import has_constant_sum
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    find_best_values,
    has_perfect_recall,
    plan_regrets,
)
from bestresponse.theory.trees.tree import Policy, Tree
from bestresponse.theory.trees.types import order_types

if TYPE_CHECKING:
    from bestresponse.theory.correlation.equilibria import Objective
    from bestresponse.theory.trees.cfr import Variant


_LARGEST = 1e100
_FORGETS = (
    "Somebody forgets. These are the equilibria in plans: a mixture of plans is drawn before the"
    " play, which a player who draws move by move and forgets may not be able to do"
)
_ITERATIONS = 1000
_SAMPLES = 10_000
_PAYOFFS = 2000
"""Of the reduced normal form that `auto` still solves."""
_SIMPLE = 1_000
_LEAVES = 3_000
"""Of the largest tree whose value is proved in fractions."""
_PURE = 1e-9
_GOOD = 1e-3
_NEAR = "approximate: NashConv {:.3g} after {:,} iterations"


def solve_loaded_game(
    game: LoadedGame, wish: Wish | None = None
) -> SolvedTable | SolvedTree | SolvedPositions:
    """Everything known of the game; options that would do nothing for it are a UsageError.

    >>> from bestresponse.games.lookup import find_game
    >>> solve_loaded_game(find_game("matching-pennies")).value.number
    0.0
    """
    if isinstance(game.game, HasPositions):
        return solve_by_positions(game.game, wish or Wish())
    solvable = game.solvable()
    is_tree_of_two = isinstance(solvable, Tree) and solvable.num_players == 2
    if wish and wish.seconds != Wish().seconds and is_tree_of_two:
        raise SettingError(
            "seconds", "it has no effect on a tree of two players; it limits searches in tables"
        )
    return solve_form(solvable, wish)


def solve_form(game: NormalForm | Tree, wish: Wish | None = None) -> SolvedTable | SolvedTree:
    """Solve a table or a tree; InvalidGame where its payoffs are out of range."""
    wish = wish or Wish()
    check_scale(game)
    if isinstance(game, Tree) and has_perfect_recall(game):
        return solve_any_tree(game, wish)
    if isinstance(game, Tree):
        # A player who forgets has no sequence form; its plans have a table, unless it is
        # absent-minded.
        solved = solve_table(theory.to_normal_form(game), wish)
        return replace(solved, remarks=(_FORGETS, *solved.remarks))
    if wish.iterations:
        raise SettingError(
            "iterations", "it has no effect on a table; it is for trees solved by CFR"
        )

    return solve_table(game, wish)


def check_scale(game: NormalForm | Tree) -> None:
    """Refuse payoffs whose products overflow or vanish, with InvalidGame."""
    largest = float(np.abs(game.payoffs).max())
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise InvalidGame(
            f"{game.name or 'this game'}: the largest payoff is {largest:g}; expected payoffs"
            f" between {1 / _LARGEST:g} and {_LARGEST:g} in size; multiply them all by a constant,"
            " which changes no equilibrium"
        )


_ITERATED = (*solution.CFR_VARIANTS, solution.SAMPLING)
"""Methods for trees that take a number of iterations."""


def solve_any_tree(tree: Tree, wish: Wish | None = None) -> SolvedTree:
    """The equilibria of `tree`.

    Raises InvalidGame where a player forgets, UsageError where the method is not for it.
    """
    wish = wish or Wish()
    if wish.objective:
        raise SettingError(
            "objective",
            "it needs a game in normal form; the concept correlated has it as a setting, and takes"
            " a tree in its reduced normal form",
        )
    form = theory.to_sequence_form(tree)
    method = wish.method if wish.method != "auto" else ""
    _check_tree_method(method, wish)
    match method:
        case "":
            solved = _choose_method(form, wish)
        case "backward-induction":
            solved = _backward(form)
        case "sequence-form":
            solved = _linear_program(form) if tree.is_constant_sum else _complementarity(form)
        case "normal-form":
            solved = _normal_form(tree, None, wish)
        case "interim":
            solved = _by_types(form, wish)
        case solution.SAMPLING:
            solved = _sampled(form, wish)
        case _:
            solved = _iterated(form, cast("Variant", method), wish)
    if wish.iterations and solved.cfr is None and method not in _ITERATED:
        raise SettingError(
            "iterations",
            f"it has no effect here, as {solved.method} solves this tree; choose the method cfr+",
        )
    if wish.engine != "auto" and solved.cfr is None and solved.table is None:
        raise SettingError(
            "engine", f"{solved.method} has only one; CFR and the enumeration of plans have two"
        )
    return solved


def _check_tree_method(method: str, wish: Wish) -> None:
    """Refuse a method that does not solve trees, and iterations where none are made."""
    if method and method not in solution.TREE_METHODS:
        raise SettingError(
            "method",
            f"{method} solves tables; for a tree use auto, {', '.join(solution.TREE_METHODS)}",
        )
    if method and wish.iterations and method not in _ITERATED:
        raise SettingError(
            "iterations",
            f"it has no effect with the method {method}; it is for {', '.join(_ITERATED)}",
        )


def _choose_method(form: SequenceForm, wish: Wish) -> SolvedTree:
    tree = form.tree
    if tree.is_perfect_information:
        with suppress(TooLarge):
            return _backward(form)
    if tree.num_players == 2 and tree.is_constant_sum:
        return _linear_program(form)
    with suppress(TooLarge, NotCertified):
        return _normal_form(tree, _PAYOFFS, wish)
    if tree.num_players == 2 and not wish.iterations:
        with suppress(TooLarge, NotCertified):
            return _complementarity(form)
    return _iterated(form, "cfr+", wish)


def _backward(form: SequenceForm) -> SolvedTree:
    tree = form.tree
    perfect = theory.subgame_perfect(tree)
    equilibria = []
    for found in perfect.equilibria:
        table: dict[str, dict[str, dict[str, float]]] = {}
        for player, moves in found.moves.items():
            table[player] = {infoset: {move: 1.0} for infoset, move in moves.items()}
        played = _equilibrium(form, theory.policy_from_table(tree, table))
        equilibria.append(replace(played, payoffs=found.payoffs, exact=found.exact))
    value = None
    if tree.num_players == 2 and tree.is_constant_sum:
        first = tree.players[0]
        exact = equilibria[0].exact
        value = Value(
            equilibria[0].payoffs[first],
            exact[first] if exact else None,
            first,
            0.0,
        )
    remarks: tuple[str, ...] = ()
    extent: tuple[Concept, ...] = ()
    if perfect.complete:
        extent = ("pure subgame perfect",)
    else:
        remarks = (f"only the first of {perfect.count:,} subgame perfect equilibria is listed",)
    return SolvedTree(
        tree,
        "backward induction",
        equilibria=tuple(equilibria),
        value=value,
        remarks=remarks,
        complete_for=extent,
        subgame_perfect=perfect,
    )


def _linear_program(form: SequenceForm) -> SolvedTree:
    tree = form.tree
    solved = theory.solve_tree(tree)
    exact = exact_value(form, solved.policy)
    number = solved.value[tree.players[0]] if exact is None else float(exact)
    value = Value(number, exact, tree.players[0], solved.nash_conv)
    return SolvedTree(tree, solved.method, (_equilibrium(form, solved.policy),), value)


def exact_value(form: SequenceForm, policy: Policy) -> Fraction | None:
    """Find the value to the first player as a fraction.

    Returns None unless simple fractions near the policy prove it.

    Where what one plan guarantees is what the other concedes, in exact arithmetic, both are
    optimal.

    >>> tree = theory.load_tree("kuhn-poker")
    >>> print(exact_value(theory.to_sequence_form(tree), theory.solve_tree(tree).policy))
    -1/18
    """
    if form.payoffs.shape[1] > _LEAVES or not form.tree.is_exact:
        return None
    plans = []
    for plex in form.plexes:
        near = [Fraction(p).limit_denominator(_SIMPLE) for p in plex.behaviour(policy).tolist()]
        for first, size in zip(plex.first.tolist(), plex.size.tolist(), strict=True):
            # The last move of each set takes what the others leave.
            last = first + size - 1
            near[last] = 1 - sum(near[first:last], Fraction(0))
        plans.append(plex.plan(np.array(near, dtype=object)))
    exact = replace(form, payoffs=np.array(form.read_payoffs(), dtype=object))
    best = find_best_values(exact, 0, plans)[0]
    other = find_best_values(exact, 1, plans)[0]
    any_leaf = int(form.tree.leaves[0])
    constant = sum(form.tree.read_payoffs(any_leaf))
    are_plans = min(map(min, plans)) >= 0
    return best if are_plans and best + other == constant else None


def _complementarity(form: SequenceForm) -> SolvedTree:
    solved = theory.solve_general_tree(form.tree)
    return SolvedTree(
        form.tree,
        solved.method,
        (_equilibrium(form, solved.policy),),
        None,
    )


def _normal_form(tree: Tree, limit: int | None, wish: Wish) -> SolvedTree:
    form = (
        theory.to_normal_form(tree) if limit is None else theory.to_normal_form(tree, limit=limit)
    )
    table = solve_table(form, replace(wish, method="auto", iterations=None))
    method = f"reduced normal form, {table.nash.method}"
    return SolvedTree(
        tree,
        method,
        equilibria=(),
        value=table.value,
        remarks=table.remarks,
        complete_for=table.nash.complete_for,
        table=table,
    )


def _by_types(form: SequenceForm, wish: Wish) -> SolvedTree:
    """Find the equilibria of the types of a game with types, each a player of its own."""
    tree = form.tree
    found = nash(
        theory.interim_form(tree),
        engine=wish.engine,
        seconds=wish.seconds,
        report=wish.report,
    )
    equilibria = []
    for e in found:
        policy = np.empty(int(tree.first_move[-1]))
        for infoset, mix in zip(order_types(tree), e.strategies, strict=True):
            policy[tree.first_move[infoset] : tree.first_move[infoset + 1]] = mix
        equilibria.append(_equilibrium(form, Policy(tree, policy)))
    extent = found.complete_for
    remarks: tuple[str, ...] = ()
    if found.continua or not all(component.isolated for component in found.components):
        extent = ("pure Nash",)
        remarks = ("there are whole sets of equilibria between those listed",)
    elif found.complete:
        extent = ("Nash",)
    return SolvedTree(
        tree,
        f"interim form, {found.method}",
        equilibria=tuple(equilibria),
        value=None,
        remarks=remarks,
        complete_for=extent,
    )


def _iterated(form: SequenceForm, variant: Variant, wish: Wish) -> SolvedTree:
    tree = form.tree
    iterations = wish.iterations or _ITERATIONS
    regrets = theory.cfr(
        tree,
        iterations,
        variant,
        engine=wish.engine,
        report=wish.report,
    )
    remarks = [_NEAR.format(regrets.nash_conv, iterations)]
    if regrets.nash_conv > _GOOD * _measure_range(tree):
        remarks.append("this is not close to an equilibrium; more iterations may help")
    if tree.num_players != 2 or not tree.is_constant_sum:
        remarks.append("CFR is sure to converge only with two players and a constant sum")
    solved = _approximate(form, regrets.policy, f"{variant.upper()}, {iterations:,} iterations")
    return replace(solved, remarks=tuple(remarks), cfr=regrets)


def _sampled(form: SequenceForm, wish: Wish) -> SolvedTree:
    iterations = wish.iterations or _SAMPLES
    policy = theory.mccfr_tree(form.tree, iterations=iterations)
    solved = _approximate(form, policy, f"MCCFR, external sampling, {iterations:,} iterations")
    return replace(solved, remarks=(_NEAR.format(solved.equilibria[0].nash_conv, iterations),))


def _approximate(form: SequenceForm, policy: Policy, method: str) -> SolvedTree:
    """Give a policy that is an equilibrium up to its NashConv.

    For a constant-sum game of two players, the value is given too.
    """
    tree = form.tree
    near = _equilibrium(form, policy)
    constant = tree.num_players == 2 and tree.is_constant_sum
    value = None
    if constant:
        first = tree.players[0]
        value = Value(near.payoffs[first], None, first, near.nash_conv)
    return SolvedTree(tree, method, (near,), value)


def _measure_range(tree: Tree) -> float:
    return float(np.ptp(tree.payoffs[tree.leaves])) or 1.0


def _equilibrium(form: SequenceForm, policy: Policy) -> TreeEquilibrium:
    plans = form.plans(policy)
    players = form.tree.players
    doubt = np.minimum(policy.probabilities, 1 - policy.probabilities)
    is_pure = bool((doubt <= _PURE).all())
    payoffs = form.expected(plans).tolist()
    regrets = plan_regrets(form, plans).tolist()
    return TreeEquilibrium(
        kind="pure" if is_pure else "mixed",
        policy=policy,
        payoffs=dict(zip(players, payoffs, strict=True)),
        regrets=dict(zip(players, regrets, strict=True)),
    )


_VERTICES = 30_000
"""The most of both polytopes: above, enumerating them takes longer than a user waits unasked."""
_COMPILED_VERTICES = 15_000_000
"""The same where the enumeration is compiled: two to five seconds, because games have a tenth of
them."""
_CELLS = 20_000
"""From here on only equilibria and the value are looked for; `pareto_optimal` compares as many
cells."""
_ACTIONS = 200
"""The same for the actions of one player: each is compared with every other."""
_LABELS = 60
"""Of Lemke-Howson: up to this many, a path from each; above, one path."""
_PURE_LISTED = 10_000


def solve_table(game: NormalForm, wish: Wish | None = None) -> SolvedTable:
    """Everything about `game` that its size allows."""
    wish = wish or Wish()
    small = int(np.prod(game.shape)) <= _CELLS and max(game.shape) <= _ACTIONS
    left = theory.iterated_elimination(game) if small else None
    nash = find_equilibria(game, wish)
    if left is not None and left.solved and not nash.complete:
        nash = NashResult(
            nash.equilibria,
            f"{nash.method}; unique by iterated elimination",
            complete=True,
        )
    correlated = None
    if wish.objective:
        correlated = theory.correlated(game, cast("Objective", wish.objective))
    solved = SolvedTable(
        game=game,
        nash=nash,
        value=_find_value(game, nash) if is_constant_sum(game) else None,
        kind=None,
        security=None,
        dominated=None,
        elimination=left,
        efficiency=None,
        pareto=None,
        payoff_dominant=theory.payoff_dominant(nash),
        risk_dominant=None,
        correlated=correlated,
        remarks=_list_remarks(game, wish, nash, small),
    )
    return _describe_cells(solved) if small else solved


def _describe_cells(solved: SolvedTable) -> SolvedTable:
    """Add what compares cells or actions with each other, which takes long in large games."""
    game = solved.game
    nash = solved.nash
    security = [theory.maximin(game, player) for player in range(game.num_players)]
    return replace(
        solved,
        kind=theory.classify(game),
        security=tuple(security),
        dominated=theory.find_dominated(game),
        efficiency=theory.efficiency(game, nash) if nash.equilibria else None,
        pareto=theory.pareto_optimal(game),
        risk_dominant=theory.risk_dominant(game) if game.num_players == 2 else None,
    )


def _list_remarks(
    game: NormalForm,
    wish: Wish,
    nash: NashResult,
    small: bool,
) -> tuple[str, ...]:
    """List what the reader should know of the equilibria and of what is left out."""
    remarks = []
    if not nash.equilibria:
        remarks.append(
            "no pure equilibrium exists; a mixed one does (Nash 1951): use another method"
        )
    if wish.method == "auto" and game.num_players == 2 and not nash.complete:
        remarks.append("the method enumeration looks for all of them, which may take long")
    if not small:
        remarks.append(
            f"dominance, efficiency and kind are left out above {_CELLS:,} cells or {_ACTIONS}"
            " actions"
        )
    return tuple(remarks)


def find_equilibria(game: NormalForm, wish: Wish) -> NashResult:
    """The equilibria by the method wished; SettingError where it is not for such a game."""
    method = wish.method
    if method not in ("auto", *TABLE_METHODS):
        raise SettingError(
            "method", f"{method} solves trees; for a table use auto, {', '.join(TABLE_METHODS)}"
        )
    if method in ("lemke-howson", "zero-sum") and game.num_players != 2:
        raise SettingError(
            "method", f"{method} is for two players; this game has {game.num_players}"
        )
    if method == "zero-sum" and not is_constant_sum(game):
        raise SettingError(
            "method",
            f"{method} is for zero-sum and constant-sum games; this game is neither",
        )
    if wish.engine != "auto" and method not in ("auto", "enumeration"):
        raise SettingError(
            "engine", f"{wish.engine!r} is for enumeration; the method {method} has only one"
        )
    match method:
        case "enumeration":
            return nash(
                game,
                engine=wish.engine,
                seconds=wish.seconds,
                report=wish.report,
            )
        case "lemke-howson":
            return _by_paths(game)
        case "zero-sum":
            return _optimal_pair(game)
        case "pure":
            return _pure(game)
        case _:
            return _whatever_fits(game, wish)


def _whatever_fits(game: NormalForm, wish: Wish) -> NashResult:
    if game.num_players == 2:
        m, n = game.shape
        limit = _COMPILED_VERTICES if has_numba() else _VERTICES
        if max(m, n) <= _ACTIONS and most_vertices(m, m + n) + most_vertices(n, m + n) <= limit:
            with suppress(TooLarge, NotCertified):
                return nash(game, engine=wish.engine, seconds=wish.seconds)
        return _optimal_pair(game) if is_constant_sum(game) else _by_paths(game)
    try:
        return nash(game, engine=wish.engine, seconds=wish.seconds, report=wish.report)
    except (TooLarge, NotCertified):
        only_pure = _pure(game)
        if not only_pure.equilibria:
            raise
        return only_pure


def is_constant_sum(game: NormalForm) -> bool:
    """Say whether two players' payoffs have the same sum in every cell."""
    return game.num_players == 2 and has_constant_sum(game)


def _pure(game: NormalForm) -> NashResult:
    cells = pure_nash(game)
    if len(cells) > _PURE_LISTED:
        raise TooLarge(
            f"the game has {len(cells):,} pure equilibria; more than {_PURE_LISTED:,} are not"
            " listed"
        )
    equilibria = []
    for cell in cells:
        exact = []
        for chosen, count in zip(cell, game.shape, strict=True):
            mix = [Fraction(0)] * count
            mix[chosen] = Fraction(1)
            exact.append(tuple(mix))
        strategies = tuple(np.array(mix, dtype=np.float64) for mix in exact)
        equilibria.append(Equilibrium.at(game, strategies, tuple(exact)))
    return NashResult(
        tuple(equilibria),
        "pure strategies only",
        all_pure=True,
        mixed_searched=False,
    )


def _by_paths(game: NormalForm) -> NashResult:
    """The ends of Lemke-Howson's paths, and the pure equilibria they miss."""
    few = sum(game.shape) <= _LABELS
    ends = theory.lemke_howson_all(game) if few else (follow_short_path(game, NEVER),)
    pure = _pure(game).equilibria
    mixed = tuple(e for e in ends if e.kind == "mixed")
    paths = "from every label" if few else "along a short path"
    return NashResult((*pure, *mixed), f"pure strategies and Lemke-Howson {paths}", all_pure=True)


def _optimal_pair(game: NormalForm) -> NashResult:
    solved = theory.solve_zero_sum_game(game.payoffs[0])
    pair = Equilibrium.at(game, (np.array(solved.row), np.array(solved.col)))
    return NashResult((pair,), f"zero-sum, {solved.step.name.lower().replace('_', ' ')}")


def _find_value(game: NormalForm, nash: NashResult) -> Value:
    if (
        game.payoffs[0].size > _CELLS and nash.equilibria
    ):  # any equilibrium earns the value, up to both regrets
        e = nash.equilibria[0]
        return Value(float(e.payoffs[0]), None, game.players[0], 2 * e.regret)
    level = theory.maximin(game, 0)
    at_equilibrium = (
        payoffs[0] for e in nash.equilibria if (payoffs := e.exact_payoffs) is not None
    )
    exact = level.exact[0] if level.exact is not None else next(at_equilibrium, None)
    return Value(
        level.value if exact is None else float(exact),
        exact,
        game.players[0],
        level.gap,
    )
