"""Ask one thing of a game by name: a dynamic of play or a solution concept.

An answer is data, of which a page is made, and perhaps curves for a picture. A package adds its own
questions by an entry point of the group `bestresponse.concepts` or `bestresponse.dynamics`, which
names a `GameQuestion`; built-in ones are in the same registries.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, wraps
from inspect import signature
from itertools import islice
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np

from bestresponse import theory
from bestresponse.analysis.solve.data import describe_correlated, list_cells, name_mix, name_players
from bestresponse.analysis.solve.facts import show_facts
from bestresponse.analysis.solve.positions import describe_all_answers, solve_by_positions
from bestresponse.analysis.solve.solution import Wish
from bestresponse.analysis.solve.solve import check_scale
from bestresponse.core.capabilities import HasPositions
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.core.registry import Registry, did_you_mean, read_like
from bestresponse.games.lookup import LoadedGame
from bestresponse.report.document import Document, Figure, Section
from bestresponse.report.figures.charts import draw_lines
from bestresponse.theory.correlation.equilibria import Objective
from bestresponse.theory.dynamics.replicator import Form
from bestresponse.theory.dynamics.trajectory import Trajectory
from bestresponse.theory.fitting import Levels, QuantalBranch
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile, as_profile
from bestresponse.theory.trees.normal_form import find_behaviour, to_normal_form
from bestresponse.theory.trees.sequence_form import has_perfect_recall
from bestresponse.theory.trees.tree import Policy, Tree

G = TypeVar("G")

_MOST_SERIES = 12
_CHOICES = {"form": get_args(Form), "objective": get_args(Objective)}
"""What settings that are words can be."""
_OTHER_NAMES = {"lambda": "precision"}
"""What economists call a setting: the parameter of quantal response is their lambda."""
_ABBREVIATIONS = {
    **dict.fromkeys(
        ("nash", "ne", "nash-equilibrium", "nash-equilibria"),
        " Nash equilibria are found without a concept.",
    ),
    "qre": " Did you mean quantal-response?",
    "ch": " Did you mean cognitive-hierarchy?",
    "ce": " Did you mean correlated?",
    "cce": " Did you mean coarse-correlated?",
    "spe": " Did you mean subgame-perfect?",
    "spne": " Did you mean subgame-perfect?",
    "aqre": " Did you mean agent-quantal-response?",
}
"""What papers call a concept, with its name here."""
_INNER = ("background", "stride")
"""Arguments of the dynamics that say how a path is computed, and not which one."""


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Curves over a common axis."""

    series: Mapping[str, tuple[Array, Array]]
    x_label: str
    y_label: str
    caption: str

    def draw(self, kind: Literal["svg", "png"] = "svg") -> bytes:
        """Draw the first curves."""
        first = dict(islice(self.series.items(), _MOST_SERIES))
        return draw_lines(first, x_label=self.x_label, y_label=self.y_label, kind=kind)


@dataclass(frozen=True, slots=True, eq=False)
class GameAnswer:
    """An answer as data, of which the page is made; a chart where there is something to draw."""

    data: JsonObject
    chart: Chart | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GameQuestion(Generic[G]):
    """Something that can be asked of a game by name.

    Its settings are the arguments of `ask` that have a default.

    A question that `takes_trees` is asked of a tree itself, others of its reduced normal form.
    """

    name: str
    words: str
    ask: Callable[..., GameAnswer]
    takes_trees: bool = False

    @property
    def settings(self) -> dict[str, object]:
        """What can be set, and the defaults."""
        parameters = signature(self.ask).parameters.items()
        return {
            name: argument.default
            for name, argument in parameters
            if argument.default is not argument.empty
        }

    def answer(self, game: G, settings: Mapping[str, object] | None = None) -> GameAnswer:
        """Compute the answer with these settings in place of the defaults.

        Texts are read as numbers where need be.
        """
        known = {name: default for name, default in self.settings.items() if name not in _INNER}
        given = {}
        for typed, value in (settings or {}).items():
            name = _OTHER_NAMES.get(typed, typed)
            if name not in known:
                raise UsageError(self._explain_setting(typed, known))
            given[name] = read_setting(typed, known[name], str(value))
        return self.ask(game, **given)

    def _explain_setting(self, name: str, known: Mapping[str, object]) -> str:
        """Say that there is no such setting, and which ones there are."""
        if not known:
            return f"{self.name} has no settings, got {name!r}"
        others = {usual: other for other, usual in _OTHER_NAMES.items()}
        shown = []
        for setting, default in known.items():
            value = "" if default is None else default
            other = f" (or {others[setting]})" if setting in others else ""
            shown.append(f"{setting}={value}{other}")
        hint = did_you_mean(name, [*known, *(others[each] for each in known if each in others)])
        return f"{self.name} has no setting {name!r}; it has {', '.join(shown)}.{hint}"


def read_setting(name: str, default: object, text: str) -> object:
    """Read a value of the default's type, a number where it is None; SettingError where that fails.

    >>> read_setting("plus", False, "yes"), read_setting("start", None, "1,0/0,1")
    (True, '1,0/0,1')
    """
    if name == "start":
        return text
    try:
        return read_like(default, text, _CHOICES.get(name, ()))
    except ValueError as error:
        raise SettingError(name, str(error)) from None


def read_profile(game: NormalForm, text: str) -> Profile | None:
    """Read `0.2,0.8/0.5,0.5`: players between slashes, probabilities between commas.

    Returns None for no text.

    >>> read_profile(NormalForm.zero_sum([[1, 2], [3, 4]]), "1,0/0.5,0.5")[1].tolist()
    [0.5, 0.5]
    """
    if not text:
        return None
    try:
        mixes = [list(map(float, part.split(","))) for part in text.split("/")]
    except ValueError:
        raise SettingError(
            "start", f"expected probabilities such as 0.2,0.8/0.5,0.5, got {text!r}"
        ) from None
    return as_profile(game, mixes)


def _respond_quantally(game: NormalForm, precision: float = 5.0) -> GameAnswer:
    branch = theory.quantal_branch(game, precision)
    played = {"strategies": name_mix(game, branch.final.strategies)}
    return _describe_quantal(branch, dict(zip(game.players, game.actions, strict=True)), played)


def _respond_as_agents(tree: Tree, precision: float = 5.0) -> GameAnswer:
    branch = theory.agent_quantal_branch(tree, precision)
    agents = {}
    for infoset in tree.infosets:
        agents[f"{tree.players[infoset.player]} at {infoset.label}"] = infoset.moves
    policy = Policy(tree, np.concatenate(branch.final.strategies))
    return _describe_quantal(branch, agents, {"policy": policy.table()})


def _describe_quantal(
    branch: QuantalBranch,
    choosers: dict[str, tuple[str, ...]],
    played: Mapping[str, object],
) -> GameAnswer:
    end = branch.final
    series = {
        f"{chooser}: {name}": (branch.precisions, shares[:, a])
        for (chooser, names), shares in zip(choosers.items(), branch.strategies, strict=True)
        for a, name in enumerate(names)
    }
    data = {
        "method": branch.method,
        "precision": end.precision,
        **played,
        "gains": dict(zip(choosers, end.gains.tolist(), strict=True)),
        "gap": end.gap,
        "residual": end.residual,
    }
    caption = "Quantal response equilibria along the branch from uniform play."
    return GameAnswer(data, Chart(series, "precision", "probability", caption))


def _describe_levels(game: NormalForm, fitted: Levels) -> GameAnswer:
    levels = []
    for level, share in enumerate(fitted.shares.tolist()):
        profile = [path[level] for path in fitted.strategies]
        levels.append({"share": share, "strategies": name_mix(game, profile)})
    played = {"predicted": name_mix(game, fitted.final), "gains": name_players(game, fitted.gains)}
    return GameAnswer({"method": fitted.method, **played, "gap": fitted.gap, "levels": levels})


def _correlate(game: NormalForm, objective: Objective = "welfare") -> GameAnswer:
    return GameAnswer(describe_correlated(game, theory.correlated(game, objective)))


def _correlate_coarsely(game: NormalForm, objective: Objective = "welfare") -> GameAnswer:
    return GameAnswer(describe_correlated(game, theory.correlated(game, objective, coarse=True)))


def _rationalize(game: NormalForm) -> GameAnswer:
    left = theory.iterated_elimination(game)
    seats = zip(game.players, game.actions, left.kept, strict=True)
    kept = {seat: [names[a] for a in actions] for seat, names, actions in seats}
    rounds = max((s.round for s in left.steps), default=0)
    return GameAnswer({"method": "iterated strict dominance", "kept": kept, "rounds": rounds})


def _secure(game: NormalForm) -> GameAnswer:
    levels = [theory.maximin(game, player) for player in range(game.num_players)]
    earned = {seat: level.value for seat, level in zip(game.players, levels, strict=True)}
    strategies = name_mix(game, [level.strategy for level in levels])
    return GameAnswer(
        {"method": "zero-sum game against all others", "values": earned, "strategies": strategies}
    )


def _bargain(game: NormalForm) -> GameAnswer:
    bargain = theory.nash_bargaining(game)
    return GameAnswer(
        {
            "method": "Nash bargaining over mixtures of cells, disagreement at the security levels",
            "payoffs": name_players(game, bargain.payoffs),
            "disagreement": name_players(game, bargain.disagreement),
            "gap": bargain.gap,
            "agreed": list_cells(game, bargain.weights),
            "weights": bargain.weights.tolist(),
        }
    )


def _name(game: NormalForm) -> GameAnswer:
    ordinal = theory.name_ordinal(game)
    method = "order of each player's payoffs, which tells the 144 strict ordinal 2x2 games apart"
    return GameAnswer(
        {"method": method, "name": ordinal.name, "row": ordinal.row, "col": ordinal.col}
    )


def _tremble(game: NormalForm) -> GameAnswer:
    refined = theory.find_perfect(game)
    equilibria = []
    for e, perfect in zip(refined.equilibria, refined.perfect, strict=True):
        equilibria.append(
            {
                "strategies": name_mix(game, e.strategies),
                "payoffs": name_players(game, e.payoffs),
                "perfect": perfect,
            }
        )
    return GameAnswer(
        {"method": refined.method, "complete": refined.complete, "equilibria": equilibria}
    )


def _commit(
    game: NormalForm | Tree,
    leader: str = "",
    pure: bool = False,
    seconds: float = 60.0,
) -> GameAnswer:
    """Let the first player commit, or the one named; of trees of two players to a policy."""
    leading = leader or game.players[0]
    table = to_normal_form(game) if isinstance(game, Tree) else game
    committed = theory.stackelberg(table, leading, pure=pure, seconds=seconds)
    earned: JsonObject = {"payoffs": name_players(table, committed.payoffs)}
    if committed.exact_payoffs is not None:
        earned["payoffs_exact"] = _spell(table.players, committed.exact_payoffs)
    if table.num_players > 2:
        played: JsonObject = {"recommended": list_cells(table, committed.distribution)}
    elif isinstance(game, Tree) and has_perfect_recall(game):
        played = {"policy": find_behaviour(game, committed.strategies).table()}
    else:
        played = {"strategies": name_mix(table, committed.strategies)}
    if committed.exact is not None and "strategies" in played:
        reply = 1 - committed.leader
        whole = [Fraction(p) for p in committed.strategies[reply].tolist()]
        played["strategies_exact"] = {
            leading: _spell(table.actions[committed.leader], committed.exact),
            table.players[reply]: _spell(table.actions[reply], whole),
        }
    return GameAnswer(
        {
            "method": committed.method,
            "leader": leading,
            "value": committed.value,
            **earned,
            "gain": committed.gain,
            **played,
        }
    )


def _spell(names: Sequence[str], numbers: Sequence[Fraction]) -> dict[str, str]:
    """Give every name its number as a text."""
    return dict(zip(names, map(str, numbers), strict=True))


def _solve_subgames(tree: Tree, limit: int = 200) -> GameAnswer:
    perfect = theory.solve_subgames(tree, limit)
    equilibria = []
    for policy, payoffs in zip(perfect.policies, perfect.payoffs, strict=True):
        equilibria.append({"payoffs": name_players(tree, payoffs), "policy": policy.table()})
    extent = {"complete": perfect.complete, "subgames": perfect.num_subgames}
    return GameAnswer(
        {"method": "subgames from the last to the first", **extent, "equilibria": equilibria}
    )


def _solve_sequentially(tree: Tree) -> GameAnswer:
    solved = theory.find_sequential(tree)
    beliefs = []
    for k, infoset in enumerate(tree.infosets):
        inside = np.flatnonzero(tree.infoset == k).tolist()
        nodes = {tree.path(node): float(solved.beliefs[node]) for node in inside}
        beliefs.append(
            {
                "player": tree.players[infoset.player],
                "information_set": infoset.label,
                "nodes": nodes,
            }
        )
    certificate = {"method": solved.method, "payoffs": solved.payoffs, "gap": solved.gap}
    return GameAnswer({**certificate, "policy": solved.policy.table(), "beliefs": beliefs})


CONCEPTS: tuple[GameQuestion[NormalForm], ...] = (
    GameQuestion(
        "quantal-response",
        "Better actions are more likely: the logit equilibrium on the branch from uniform play",
        _respond_quantally,
    ),
    GameQuestion(
        "level-k",
        "Level k best-responds to level k - 1, level 0 plays uniformly",
        lambda game, level=2: _describe_levels(game, theory.level_k(game, level)),
    ),
    GameQuestion(
        "cognitive-hierarchy",
        "Everybody best-responds to a Poisson mixture of lower levels",
        lambda game, tau=1.5: _describe_levels(game, theory.cognitive_hierarchy(game, tau)),
    ),
    GameQuestion("correlated", "A mediator's advice that nobody gains by disobeying", _correlate),
    GameQuestion(
        "coarse-correlated",
        "Advice to which nobody prefers one fixed action",
        _correlate_coarsely,
    ),
    GameQuestion(
        "rationalizable",
        "What iterated elimination of strictly dominated actions leaves",
        _rationalize,
    ),
    GameQuestion("maximin", "What every player can make sure of", _secure),
    GameQuestion("bargaining", "The agreement that maximises the product of gains", _bargain),
    GameQuestion("ordinal", "The name of a 2x2 game by the order of its payoffs", _name),
    GameQuestion(
        "perfect",
        "Nash equilibria that survive small mistakes, of two players",
        _tremble,
    ),
    GameQuestion(
        "stackelberg",
        "The best strategy for a leader to commit to, when the others reply to it",
        _commit,
        takes_trees=True,
    ),
)
"""All concepts that can be asked for by name, of a table or of a tree."""
TREE_CONCEPTS: tuple[GameQuestion[Tree], ...] = (
    GameQuestion(
        "subgame-perfect",
        "Equilibria of every subgame, with hidden and simultaneous moves, mixed ones too",
        _solve_subgames,
        takes_trees=True,
    ),
    GameQuestion(
        "sequential",
        "An equilibrium with beliefs that holds at every information set",
        _solve_sequentially,
        takes_trees=True,
    ),
    GameQuestion(
        "agent-quantal-response",
        "Better moves are more likely at every information set: the agent logit equilibrium on the"
        " branch from noise",
        _respond_as_agents,
        takes_trees=True,
    ),
)
"""All concepts that can be asked for by name, of a tree only."""


_RECORDED = 200


def _follow(dynamics: Callable[..., Trajectory]) -> Callable[..., GameAnswer]:
    """Make a question of dynamics: follow a path to its end.

    The settings are the arguments of the dynamics.
    """

    @wraps(dynamics)
    def follow(game: NormalForm, *, start: str = "", **arguments: object) -> GameAnswer:
        path = dynamics(
            game,
            **arguments,
            **({"start": read_profile(game, start)} if start else {}),
        )
        count = min(len(path), _RECORDED)
        some = np.unique(np.linspace(0, len(path) - 1, count).astype(int))
        seats = list(zip(game.players, game.actions, path.strategies, strict=True))
        curves = {}
        for seat, names, shares in seats:
            curves[seat] = {name: shares[some, a].tolist() for a, name in enumerate(names)}
        data = {
            "method": path.method,
            "time": float(path.times[-1]),
            "final": name_mix(game, path.final),
            "last": name_mix(game, path.last),
            "gains": name_players(game, path.gains[-1]),
            "gap": path.gap,
            "external_regret": (
                None if path.external is None else name_players(game, path.external[-1])
            ),
            "path": {
                "times": path.times[some].tolist(),
                "gap": path.curve[some].tolist(),
                "strategies": curves,
            },
        }
        series = {
            f"{seat}: {name}": (path.times, shares[:, a])
            for seat, names, shares in seats
            for a, name in enumerate(names)
        }
        return GameAnswer(
            data,
            Chart(
                series,
                "time",
                "share",
                f"Shares of the actions over time, by {path.method}.",
            ),
        )

    return follow


def _rank(
    game: NormalForm,
    *,
    alpha: float = 100.0,
    population: int = 50,
    one_population: bool = False,
) -> GameAnswer:
    ranked = theory.alpha_rank(
        game,
        alpha=alpha,
        population=population,
        one_population=one_population,
    )
    ranking = [{"profile": list(profile), "probability": p} for profile, p in ranked.ranking()]
    method = f"{ranked.method}, alpha {ranked.alpha:g}, {ranked.population} individuals"
    return GameAnswer({"method": method, "residual": ranked.residual, "ranking": ranking})


DYNAMICS: tuple[GameQuestion[NormalForm], ...] = (
    GameQuestion(
        "replicator",
        "Actions that earn more than average grow",
        _follow(theory.replicator),
    ),
    GameQuestion(
        "fictitious-play",
        "Everybody plays a best reply to what the others have done so far",
        _follow(theory.fictitious_play),
    ),
    GameQuestion(
        "regret-matching",
        "Play each action in proportion to how much one regrets not having played it",
        _follow(theory.regret_matching),
    ),
    GameQuestion(
        "multiplicative-weights",
        "The weight of an action grows exponentially with what it would have earned",
        _follow(theory.multiplicative_weights),
    ),
    GameQuestion(
        "logit",
        "Play drifts towards the softmax reply to the present profile",
        _follow(partial(theory.logit_dynamics, precision=10.0)),
    ),
    GameQuestion("alpha-rank", "How long evolving populations stay at each pure profile", _rank),
)
"""All dynamics that can be asked for by name."""


_BUILT_IN: Mapping[str, tuple[GameQuestion[Any], ...]] = {
    "concept": (*CONCEPTS, *TREE_CONCEPTS),
    "dynamics": DYNAMICS,
}
_ADDED = {
    "concept": Registry("bestresponse.concepts", "concept"),
    "dynamics": Registry("bestresponse.dynamics", "dynamics"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A question that was asked of a game, and its answer."""

    game: LoadedGame
    question: GameQuestion[NormalForm] | GameQuestion[Tree]
    answer: GameAnswer

    def __repr__(self) -> str:
        return f"Answered({self.game.name!r}, {self.question.name})"

    def _repr_html_(self) -> str:
        rows = [(name, str(value)) for name, value in self.answer.data.items()]
        return format_html(repr(self), ("what", "answer"), rows)

    def to_json(self) -> dict[str, object]:
        """Give the answer as plain data."""
        head = {"game": self.game.name, "origin": self.game.origin, "asked": self.question.name}
        return {**head, **self.answer.data}

    def to_document(self, *, drawn: bool = False) -> Document:
        """Give the answer as a page, with its picture where wanted and there is one."""
        title = f"{self.game.name}: {self.question.name}"
        chart = self.answer.chart
        figure = (
            (Figure(chart.draw(), chart.caption, title),) if drawn and chart is not None else ()
        )
        blocks = show_facts(self.answer.data, self.game.players)
        return Document(title, self.question.words, (Section("Answer", (*figure, *blocks)),))


def list_questions(kind: str) -> list[str]:
    """List the names of all concepts or of all dynamics, those of installed packages among them."""
    return [*(question.name for question in _BUILT_IN[kind]), *_ADDED[kind].names()]


def _find_question(kind: str, name: str) -> GameQuestion[Any]:
    for question in _BUILT_IN[kind]:
        if question.name == name:
            return question
    if name not in _ADDED[kind].names():
        known = list_questions(kind)
        hint = _ABBREVIATIONS.get(name.casefold()) or did_you_mean(name, known)
        raise SettingError(kind, f"there is no {name!r}; expected one of {', '.join(known)}.{hint}")
    added = _ADDED[kind].load(name)
    if not isinstance(added, GameQuestion):
        raise UsageError(
            f"{_ADDED[kind].describe(name)} is no bestresponse.analysis.answers.GameQuestion"
        )
    return added


def ask_game(
    game: LoadedGame,
    *,
    dynamics: str | None = None,
    concept: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> Answered:
    """Answer one question about a game.

    Where the question is about tables, a tree is taken in its reduced normal form.

    >>> from bestresponse.games.lookup import find_game
    >>> ask_game(find_game("prisoners-dilemma"), concept="rationalizable").to_json()["kept"]
    {'row': ['defect'], 'col': ['defect']}
    """
    if (dynamics is None) == (concept is None):
        raise UsageError("expected either dynamics or concept, one of them")
    question = (
        _find_question("concept", concept)
        if concept is not None
        else _find_question("dynamics", dynamics or "")
    )
    if question.name == "subgame-perfect" and isinstance(game.game, HasPositions):
        solved = solve_by_positions(game.game, Wish())
        return Answered(game, question, GameAnswer(describe_all_answers(solved)))
    form = game.solvable()
    check_scale(form)
    if question in TREE_CONCEPTS and not isinstance(form, Tree):
        raise SettingError(
            "concept", f"{question.name} is for games played in turns; {game.name} is a table"
        )
    if isinstance(form, Tree) and question.takes_trees:
        return Answered(game, question, question.answer(form, settings))
    table = to_normal_form(form) if isinstance(form, Tree) else form
    return Answered(game, question, question.answer(table, settings))
