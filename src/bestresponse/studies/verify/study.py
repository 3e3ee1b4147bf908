"""Checked reasoning: a model reasons, logic refutes, and it is asked again; the first against the
last attempt.

The payoff of a choice is what it earns against the others at one equilibrium of the game (`scenes`
says how), its gap how much less that is than the best choice would earn: 0 exactly for best
responses. "Right for the wrong reason" is a best response whose reasoning was refuted. In a game
played move by move the first decision is measured.

The transcript of all attempts are the decision's remarks: reasoning, choice, claims with verdicts
and corrections of each. Everything that is measured is a function of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, TypedDict

import numpy as np

from bestresponse.analysis.people import describe_people
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import SettingError, StoreError
from bestresponse.core.files import read_toml
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Player
from bestresponse.formal.claims.checker import BOTH_SOLVERS, list_solvers
from bestresponse.formal.claims.claim import FormSet
from bestresponse.formal.claims.review import Reviewer
from bestresponse.formal.claims.texts import TEXTS as CLAIM_TEXTS
from bestresponse.formal.claims.translation import (
    TRANSLATION_TOKENS,
    ModelTranslator,
    RulesTranslator,
    Translator,
    find_translator,
    translators,
    write_translation_prompt,
)
from bestresponse.games.lookup import NamedGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models.base import Model
from bestresponse.players.llm.player import LlmPlayer, Sampling, Thinking
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.players.llm.verified import Verified, is_verified
from bestresponse.report.blocks import Measurement, Shown, metrics_table, pivot, table, text
from bestresponse.report.document import Code, Paragraph
from bestresponse.report.frames import Frame, Metric, Value, column, list_metrics
from bestresponse.report.stats.statistics import (
    Interval,
    cluster_bootstrap,
    paired_difference,
    wilson,
)
from bestresponse.report.tables import to_csv
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.inputs import (
    FileTextSetting,
    ModelSetting,
    ModelsSetting,
    NamedGamesSetting,
    NamedModel,
    NamesSetting,
    list_once,
)
from bestresponse.runs.run import Run
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay
from bestresponse.runs.study import Estimate, Measured, OwnWays, Study
from bestresponse.studies.verify.audit import sample_verdicts, show_audit
from bestresponse.studies.verify.ratings import (
    BOTH,
    RATERS,
    SHEET,
    AgreementRow,
    CorrectnessRow,
    JudgementRow,
    RunRow,
    When,
    compare_with_people,
    list_sheet_rows,
    measure_correctness,
    read_rated_sheets,
    split_runs,
)
from bestresponse.studies.verify.scenes import (
    Scene,
    TableScene,
    TreeScene,
    disguised,
    disguised_tree,
    name_moves,
)
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.telling.catalogues import CATALOGUES
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import LEAF, Tree

AUTO = "auto"
"""The translator that is the model which reasons."""
_MOST_WAYS = 200
"""In how many ways a game played move by move may end: all of them are told."""
_MOST_MOVES = 2_000
"""How many moves these ways may have together."""
_CHARACTERS_PER_TOKEN = 4
_BEST = 1e-9
"""A choice that loses no more than this is a best response."""


@settings
class VerifyConfig(RunSettings):
    """Let a model reason about a game, refute its errors, and measure the change from the first to
    the last attempt."""

    model: ModelsSetting = setting(kw_only=False, short="-m", help="A model that reasons.")
    game: NamedGamesSetting = setting(kw_only=False, argument=True)
    """Games: names of the catalogue, or files (.nfg .efg .json .pl)."""
    translator: ModelSetting = setting(default=AUTO)
    """Who finds the claims: auto (the model that reasons), a model, rules (no model), or an
    installed translator. Rules check what a model finds."""
    forms: FormSet = setting(default="all")
    """Which claims count: all, those about payoffs, or those of LELMA's thirteen queries."""
    solver: str = setting(default=BOTH_SOLVERS)
    """What decides claims: both (logic and theory), theory alone, or an installed solver."""
    repeats: int = setting(default=30, ge=1, le=100_000)
    """Runs per model and game."""
    attempts: int = setting(default=5, ge=1, le=20, help="Maximum attempts per problem.")
    feedback: Literal["positive", "negative"] = setting(default="positive")
    """What the model is told about a refuted claim: the true values, or its negation."""
    unit: Literal["text", "paragraph"] = setting(
        default="text", help="What is translated in one step."
    )
    framing: Literal["human", "rational"] = setting(default="human")
    """human says nothing about goals; rational says that everybody is rational and maximises their
    own payoff."""
    instruction: FileTextSetting = setting(default=None, metavar="FILE")
    """A text file with the instruction to the reasoner, in place of ours."""
    disguised: bool = setting(
        default=True, help="Use letters instead of the game's own names of moves."
    )
    inverted: bool = setting(default=True, help="Reverse the order of actions.")
    seat: str | None = setting(default=None, help="Player who reasons. [default: the first]")
    after: NamesSetting = setting(default=())
    """In a game played move by move: the moves made before, in order."""
    think: bool = setting(default=True)
    """Ask the model to write down its reasons before it answers."""
    temperature: float = setting(
        default=1.0, ge=0, le=5, help="Sampling temperature of the reasoner."
    )
    max_tokens: int = setting(default=1024, ge=1, le=100_000, help="Maximum tokens per reply.")
    llm_seed: int | None = setting(default=None, help="Seed sent to the models.")

    def __post_init__(self) -> None:
        if not isinstance(self.translator, NamedModel):
            object.__setattr__(self, "translator", NamedModel(self.translator))
        if self.solver not in list_solvers():
            raise SettingError(
                "solver",
                f"there is no solver {self.solver!r}; expected one of {', '.join(list_solvers())}",
            )
        for field, given in (("model", self.model), ("game", self.game)):
            if not given:
                raise SettingError(field, "expected at least one")
        names = [game.name for game in self.game]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise SettingError("game", f"{twice[0]!r} is named twice; name each game once")
        for model in self.models:
            if is_verified(model):
                raise SettingError(
                    "model",
                    f"{model}: the reasoning is checked anyway; name it without `verified:`",
                )
        for game in self.game:
            self._check_game(game)

    def _check_game(self, game: NamedGame) -> None:
        """Refuse a game that has no such seat, or that cannot be told."""
        form = game.loaded.solvable()
        if self.seat is not None and self.seat not in form.players:
            raise SettingError(
                "seat", f"there is no player {self.seat!r}; expected {' or '.join(form.players)}"
            )
        if isinstance(form, Tree):
            self._check_tree(game.name, form)
        elif self.after:
            raise SettingError(
                "after", f"nothing is chosen before in {game.name}, where all choose at once"
            )

    def _check_tree(self, name: str, form: Tree) -> None:
        """Refuse a game that cannot be told move by move."""
        hides = not form.is_perfect_information
        if self.after and hides:
            raise SettingError(
                "after", f"{name} hides some moves; a model is asked from the start only"
            )
        if hides and form.num_players != 2:
            raise SettingError(
                "game",
                f"{name} hides some moves from some of its {form.num_players} players; a model can"
                " reason about such games of two players. A text about this game can be checked",
            )
        moves = 0
        for depth, nodes in enumerate(form.levels):
            moves += depth * int((form.owner[nodes] == LEAF).sum())
        if len(form.leaves) > _MOST_WAYS or moves > _MOST_MOVES:
            raise SettingError(
                "game",
                f"{name} can end in {len(form.leaves):,} ways with {moves:,} moves together; at"
                f" most {_MOST_WAYS} ways with {_MOST_MOVES:,} moves can be told to a model",
            )

    @cached_property
    def scenes(self) -> Mapping[str, Scene]:
        """Every game as it is told, by its name, and what choices are worth in it."""
        return {game.name: self._set_scene(game.loaded.solvable()) for game in self.game}

    def _set_scene(self, form: NormalForm | Tree) -> Scene:
        seat = 0 if self.seat is None else form.players.index(self.seat)
        aim = TEXTS.text("aim_rational") if self.framing == "rational" else ""
        if isinstance(form, NormalForm):
            told = disguised(form, letters=self.disguised, inverted=self.inverted)
            return TableScene(seat, told, aim)
        tree = disguised_tree(form, letters=self.disguised, inverted=self.inverted)
        scene = TreeScene(
            seat, original=form, tree=tree, inverted=self.inverted, after=self.after, aim=aim
        )
        scene.check()
        return scene

    @property
    def scene(self) -> Scene:
        """The scene of the first game."""
        return self.scenes[self.game[0].name]

    @property
    def moves(self) -> Mapping[str, tuple[dict[str, str], ...]]:
        """By game, for each player its moves as they are told, each with its name in the game."""
        return {
            game.name: name_moves(game.loaded.solvable(), letters=self.disguised)
            for game in self.game
        }

    @property
    def system(self) -> str:
        """The instruction to the reasoner."""
        return self.instruction or TEXTS.text("reasoner")

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """Every model that is opened, each once."""
        offline = (AUTO, *translators.names())
        translating = () if self.translator in offline else (self.translator,)
        return list_once((*self.model, *translating))

    def name_translator(self, reasoner: str) -> str:
        """Name who translates what `reasoner` wrote: a model, or an installed translator."""
        return reasoner if self.translator == AUTO else str(self.translator)

    @property
    def translated_by(self) -> str:
        """Who translates, in words."""
        if self.translator != AUTO:
            return str(self.translator)
        return "itself" if len(self.model) == 1 else "each model itself"


def list_runs(config: VerifyConfig) -> Iterator[dict[str, object]]:
    """Yield every run of the loop as plain data."""
    shared = {name: value for name, value in config.to_json().items() if name != "repeats"}
    for model in config.model:
        for game in config.game:
            own = {**shared, "study": "verify", "model": str(model), "game": game.to_json()}
            for repeat in range(config.repeats):
                yield {**own, "repeat": repeat}


def prepare_runs(config: VerifyConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that makes one run: the verified reasoner in its seat, the others at an
    equilibrium."""
    reviewers = {str(name): _make_reviewer(config, str(name), models) for name in config.model}

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        repeat: int = spec.data["repeat"]
        scene = config.scenes[read_game_name(spec.data)]
        sampling = Sampling(
            config.temperature, max_tokens=config.max_tokens, seed=config.llm_seed, replicate=repeat
        )
        model = LlmPlayer(models[spec.data["model"]], sampling, system=config.system)
        reasoner = Thinking(model) if config.think else model
        reviewer = reviewers[spec.data["model"]]
        verified = Verified(reasoner, reviewer, config.attempts, scene.subject)
        game: AnyGame = scene.game
        seats: dict[str, Player] = {game.roles[scene.seat]: verified}
        return play(game, seats | scene.others(repeat), submissions=done, on_submission=keep)

    return play_one


def _make_reviewer(config: VerifyConfig, reasoner: str, models: Mapping[str, Model]) -> Reviewer:
    """Make who reviews what that model writes; rules check a translator that is a model."""
    name = config.name_translator(reasoner)
    translator: Translator
    second: Translator | None = None
    if name in translators.names():
        translator = find_translator(name)
    else:
        translator = ModelTranslator(models[name], seed=config.llm_seed)
        second = RulesTranslator()
    return Reviewer(
        translator,
        EmbeddedEngine,
        tone=config.feedback,
        unit=config.unit,
        second=second,
        forms=config.forms,
        solver=config.solver,
    )


def read_game_name(data: JsonMapping) -> str:
    """Return the name of the game of one run."""
    return str(data["game"]["name"])


def estimate_runs(config: VerifyConfig) -> Estimate:
    """Count every attempt at every decision; a prompt is the briefing and the feedback before
    it."""
    runs = config.repeats * len(config.game) * len(config.model)
    decisions = sum(scene.decisions for scene in config.scenes.values())
    most = config.repeats * config.attempts * decisions
    longest = max(len(_write_briefing(scene)) for scene in config.scenes.values())
    told = longest // _CHARACTERS_PER_TOKEN + config.max_tokens
    what = f"{runs} runs of at most {config.attempts} attempts"
    calls = dict.fromkeys(map(str, config.model), most)
    reasoning = Estimate.of_calls(runs, what, calls, told, config.max_tokens)
    return Estimate.add((reasoning, _estimate_translations(config, most)), what)


def _estimate_translations(config: VerifyConfig, most: int) -> Estimate:
    """Estimate one call for each text, of so many from each reasoner; rules make none."""
    calls: Counter[str] = Counter()
    for model in config.model:
        translator = config.name_translator(model)
        if translator not in translators.names():
            calls[translator] += most
    longest = max(map(_count_asked, config.scenes.values()))
    asked = longest // _CHARACTERS_PER_TOKEN + config.max_tokens
    return Estimate.of_calls(None, "", calls, asked, TRANSLATION_TOKENS)


def _count_asked(scene: Scene) -> int:
    """Count the characters that a model reads with each text to translate."""
    view = scene.game.view(scene.opening, scene.game.roles[scene.seat])  # type: ignore[arg-type]
    subject = scene.subject(view)
    if subject is None:
        return 0
    return len(CLAIM_TEXTS.text("system")) + len(write_translation_prompt("", subject))


def _write_briefing(scene: Scene) -> str:
    """Return what the reasoner is told where it first has to choose."""
    view = scene.game.view(scene.opening, scene.game.roles[scene.seat])  # type: ignore[arg-type]
    return "\n\n".join(filter(None, (write_rules(view), write_history(view))))


class AttemptRow(TypedDict):
    """How many runs took how many attempts."""

    model: str
    game: str
    attempts: int
    runs: int


class ClaimRow(TypedDict):
    """How often a form of claim was made, refuted and left open, over all attempts."""

    form: Annotated[str, column("form of claim")]
    made: int
    refuted: int
    unknown: int


class AttemptCostRow(TypedDict):
    """What one attempt of a reasoner takes, on average; calls of translators are not counted
    here."""

    model: str
    game: str
    calls: int
    prompt_tokens: Annotated[float, column("prompt tokens per attempt", ".1f")]
    reply_tokens: Annotated[float, column("generated tokens per attempt", ".1f")]
    seconds: Annotated[float, column("seconds per attempt", ".2f")]


class ChangeRow(TypedDict):
    """How far the last attempt differs from the first, run by run."""

    model: str
    game: str
    figure: Annotated[str, column("from first to last attempt")]
    difference: Annotated[Interval, column("last minus first", ".3f")]
    p: Annotated[float, column(format=".3f")]


class TroubleRow(TypedDict):
    """What kept sentences from a verdict in translation, over all attempts."""

    trouble: str
    times: int


class LetterRow(TypedDict):
    """What a letter of a told game stands for."""

    game: str
    player: str
    letter: Annotated[str, column("told as")]
    move: str


class ChosenRow(TypedDict):
    """How often a choice was made at the first and at the last attempt, of readable runs."""

    model: str
    game: str
    choice: str
    first: Annotated[Interval | None, column(format=".3f")]
    last: Annotated[Interval | None, column(format=".3f")]


class AttemptFigures(TypedDict):
    """The figures of the first or the last attempts; the share of every choice is next to
    them."""

    unrefuted: int
    """runs in which at least one claim was proved and none refuted"""
    refuted: int
    """runs in which a claim is false"""
    undecided: int
    """runs in which no claim could be decided"""
    unchecked: int
    """runs in which no claim was found"""
    payoff: Annotated[Interval | None, column(format=".3f")]
    """what the choice earns, mean over readable runs"""
    gap: Annotated[Interval | None, column("Nash gap", ".3f")]
    """how much less that is than the best choice would earn"""
    wrong_reason: Annotated[Interval | None, column("right for a wrong reason", ".3f")]
    """share of the best responses whose reasoning was refuted"""


def list_readable(rows: Iterable[RunRow]) -> list[RunRow]:
    """List the runs with a first and a last choice that could be read."""
    return [
        row for row in rows if row["first_choice"] is not None and row["last_choice"] is not None
    ]


def list_values(rows: Iterable[RunRow], what: Literal["payoff", "gap"], when: When) -> list[float]:
    """List the payoff or gap of readable runs, at the first or the last attempt."""
    values = [row[f"{when}_{what}"] for row in list_readable(rows)]  # type: ignore[literal-required]
    return [value for value in values if value is not None]


def sum_up_attempts(
    rows: Sequence[RunRow], when: When, choices: Mapping[str, str]
) -> Mapping[str, Value]:
    """Compute the figures of the first or last attempts, and the shares of `choices` by the names
    of their metrics."""
    every: Any = rows
    readable: Any = list_readable(rows)
    states = Counter(row[f"{when}_state"] for row in every)
    values = {"payoff": list_values(rows, "payoff", when), "gap": list_values(rows, "gap", when)}
    best = [
        row for row in readable if row[f"{when}_gap"] is not None and row[f"{when}_gap"] <= _BEST
    ]
    chosen = Counter(row[f"{when}_choice"] for row in readable)
    return {
        **{state: states[state] for state in ("unrefuted", "refuted", "undecided", "unchecked")},
        **{
            name: cluster_bootstrap(v, rng=np.random.default_rng(0)) if v else None
            for name, v in values.items()
        },
        "wrong_reason": (
            wilson(sum(row[f"{when}_state"] == "refuted" for row in best), len(best))
            if best
            else None
        ),
        **{
            name: wilson(chosen[action], len(readable)) if readable else None
            for name, action in choices.items()
        },
    }


METRICS = list_metrics(AttemptFigures)
"""Every figure of the first and the last attempt; `measure` adds the share of every choice."""


def measure_reasoning(config: VerifyConfig, folder: RunFolder) -> Measured:
    """Measure every finished run, and how people judge them where raters have filled in their
    sheets."""
    rows = _list_rows(config, folder)
    sheets = read_rated_sheets(folder.path)
    judgements, agreements = compare_with_people(rows, sheets)
    choices = _name_choices(config)
    parts = list(split_runs(rows))
    changes = [row for model, game, part in parts for row in _list_changes(part, model, game)]
    return Measured(
        {
            "runs": Frame(RunRow, rows),
            "letters": Frame(LetterRow, list(_list_letters(config))),
            "choices": Frame(ChosenRow, list(_count_choices(parts, config))),
            "correctness": Frame(CorrectnessRow, list(measure_correctness(rows, sheets))),
            "attempts": Frame(AttemptRow, list(_count_attempts(parts, config.attempts))),
            "changes": Frame(ChangeRow, changes),
            "attempt_costs": Frame(AttemptCostRow, list(_average_attempts(parts, config, folder))),
            "claims": Frame(ClaimRow, list(_count_claims(rows))),
            "troubles": Frame(TroubleRow, list(_count_troubles(rows))),
            "judgements": Frame(JudgementRow, judgements),
            "agreement": Frame(AgreementRow, agreements),
        },
        len(list_readable(rows)),
        tuple(_list_labels(config)),
        {
            (*_list_heads(config, model, game), when): sum_up_attempts(part, when, choices)
            for model, game, part in parts
            for when in BOTH
        },
        (*METRICS, *_list_shares(config, choices)),
    )


def _list_rows(config: VerifyConfig, folder: RunFolder) -> list[RunRow]:
    """Measure every run; in the order of the models, the games and the repeats."""
    rows = [
        _measure_run(play, config.scenes[read_game_name(play.data)])
        for play in folder.sorted_plays()
    ]
    models = [str(model) for model in config.model]
    games = [game.name for game in config.game]
    return sorted(
        rows,
        key=lambda row: (models.index(row["model"]), games.index(row["game"]), row["repeat"]),
    )


def _list_labels(config: VerifyConfig) -> Iterator[str]:
    """Yield what tells the groups of a run apart: models and games only where there are several."""
    if len(config.model) > 1:
        yield "model"
    if len(config.game) > 1:
        yield "game"
    yield "attempt"


def _list_heads(config: VerifyConfig, model: str, game: str) -> Iterator[str]:
    if len(config.model) > 1:
        yield model
    if len(config.game) > 1:
        yield game


def _name_choices(config: VerifyConfig) -> dict[str, str]:
    """Return the choices of all games by the names of their metrics."""
    choices: dict[str, str] = {}
    told = dict.fromkeys(action for scene in config.scenes.values() for action in scene.choices)
    for number, action in enumerate(told, 1):
        name = "chose_" + re.sub(r"\W", "_", action)
        choices[f"{name}_{number}" if name in choices else name] = (
            action  # +1 and -1 are two choices
        )
    return choices


def _list_shares(config: VerifyConfig, choices: Mapping[str, str]) -> Iterator[Metric[Any]]:
    """Yield the share of every choice as a metric, with the move that it stands for where all games
    agree."""
    for name, action in choices.items():
        moves = {
            config.moves[game][scene.seat][action]
            for game, scene in config.scenes.items()
            if action in scene.choices
        }
        said = _explain(action, next(iter(moves))) if len(moves) == 1 else action
        yield Metric(
            name,
            f"chose {said}",
            help="share of readable runs",
            unit="",
            format=".3f",
            compute=itemgetter(name),
        )


def _explain(told: str, move: str) -> str:
    """Return a choice with the move that it stands for."""
    return told if told == move else f"{told} ({move})"


def _list_letters(config: VerifyConfig) -> Iterator[LetterRow]:
    for game, players in config.moves.items() if config.disguised else ():
        names = config.scenes[game].game.roles
        alike = all(moves == players[0] for moves in players)
        for player, moves in [("all", players[0])] if alike else zip(names, players, strict=True):
            for letter, move in moves.items():
                yield LetterRow(game=game, player=player, letter=letter, move=move)


def _count_choices(
    parts: Iterable[tuple[str, str, Sequence[RunRow]]], config: VerifyConfig
) -> Iterator[ChosenRow]:
    for model, game, rows in parts:
        readable: Any = list_readable(rows)
        if game not in config.scenes or not readable:
            continue
        scene = config.scenes[game]
        for action in scene.choices:
            shares = {}
            for when in BOTH:
                chosen = sum(row[f"{when}_choice"] == action for row in readable)
                shares[when] = wilson(chosen, len(readable))
            choice = _explain(action, config.moves[game][scene.seat][action])
            yield ChosenRow(
                model=model, game=game, choice=choice, first=shares["first"], last=shares["last"]
            )


def _count_attempts(
    parts: Iterable[tuple[str, str, Sequence[RunRow]]], most: int
) -> Iterator[AttemptRow]:
    for model, game, rows in parts:
        counts = Counter(row["attempts"] for row in rows)
        for number in range(1, most + 1):
            yield AttemptRow(model=model, game=game, attempts=number, runs=counts[number])


def _average_attempts(
    parts: Iterable[tuple[str, str, Sequence[RunRow]]], config: VerifyConfig, folder: RunFolder
) -> Iterator[AttemptCostRow]:
    """Yield tokens and seconds of a reasoner's attempt; its calls are those with the instruction to
    the reasoner."""
    replies: dict[str, list[JsonMapping]] = {}
    for call in folder.calls():
        _, instruction = call["request"]["messages"][0]
        if instruction == config.system:
            replies.setdefault(call["spec"], []).append(call["reply"])
    for model, game, rows in parts:
        own = [reply for row in rows for reply in replies.get(row["run"], ())]
        if own:
            yield AttemptCostRow(
                model=model,
                game=game,
                calls=len(own),
                prompt_tokens=fmean(reply["usage"]["prompt"] or 0 for reply in own),
                reply_tokens=fmean(reply["usage"]["completion"] or 0 for reply in own),
                seconds=fmean(reply["latency"] or 0 for reply in own),
            )


def _count_troubles(rows: Iterable[RunRow]) -> Iterator[TroubleRow]:
    troubles: Counter[str] = Counter()
    for attempt in (attempt for row in rows for attempt in row["transcript"]):
        troubles["sentences unread"] += len(attempt["unread"] or ())
        troubles["sentences partly read"] += len(attempt.get("partly_read") or ())
        troubles["sentences set aside"] += len(attempt.get("set_aside") or ())
        troubles.update(attempt["troubles"])
    if not troubles["sentences set aside"]:
        del troubles["sentences set aside"]
    for kind, times in troubles.items():
        yield TroubleRow(trouble=kind, times=times)


def _measure_run(play: StoredPlay, scene: Scene) -> RunRow:
    role = scene.game.roles[scene.seat]
    worth = scene.worth(play.record.submissions)
    decision = next((s.decision for s in play.record.submissions if s.role == role), None)
    attempts = [dict(remark) for remark in decision.remarks] if decision is not None else []
    if not attempts:
        raise StoreError(f"the run {play.spec} holds no transcript of its attempts")
    row: Any = {
        "run": play.spec,
        "model": play.data["model"],
        "game": read_game_name(play.data),
        "repeat": play.data["repeat"],
        "attempts": len(attempts),
        "transcript": attempts,
    }
    for when, attempt in zip(BOTH, (attempts[0], attempts[-1]), strict=True):
        choice = attempt["choice"]
        payoff = worth.get(choice) if isinstance(choice, str) else None
        row |= {
            f"{when}_choice": choice,
            f"{when}_state": attempt["state"],
            f"{when}_payoff": payoff,
            f"{when}_gap": None if payoff is None else max(worth.values()) - payoff,
        }
    return row  # type: ignore[no-any-return]


def _list_changes(rows: Sequence[RunRow], model: str = "", game: str = "") -> Iterator[ChangeRow]:
    """Yield by how much payoff and gap of the last attempt differ from those of the first."""
    figures: tuple[tuple[Literal["payoff", "gap"], str], ...] = (
        ("payoff", "payoff"),
        ("gap", "Nash gap"),
    )
    for what, title in figures:
        # A run of which one end has no value is no pair.
        whole = [row for row in rows if all(list_values([row], what, when) for when in BOTH)]
        if len(whole) > 1:
            first, last = (list_values(whole, what, when) for when in BOTH)
            change = paired_difference(last, first, rng=np.random.default_rng(0))
            yield ChangeRow(
                model=model, game=game, figure=title, difference=change.difference, p=change.p_value
            )


def _count_claims(rows: Iterable[RunRow]) -> Iterator[ClaimRow]:
    made: Counter[str] = Counter()
    verdicts: Counter[tuple[str, str]] = Counter()
    for claim in (
        claim for row in rows for attempt in row["transcript"] for claim in attempt["claims"]
    ):
        made[claim["form"]] += 1
        verdicts[claim["form"], claim["verdict"]] += 1
    for form, count in made.most_common():
        yield ClaimRow(
            form=form,
            made=count,
            refuted=verdicts[form, "refuted"],
            unknown=verdicts[form, "unknown"],
        )


def list_sheets(measured: Measured, run: Run[VerifyConfig]) -> list[tuple[Path, str]]:
    """List a sheet for each rater and the protocol; a sheet that is there already is left as it was
    filled in."""
    rows = measured.frames["runs"].rows
    sheet = to_csv(list_sheet_rows(rows), SHEET)
    texts = {f"sheet-rater-{rater}.csv": sheet for rater in range(1, RATERS + 1)}
    texts["protocol.txt"] = write_protocol(run.config)
    texts["verdicts.csv"] = to_csv(sample_verdicts(rows), ("item", "text"))
    return [
        (run.path / name, content)
        for name, content in texts.items()
        if not (run.path / name).exists()
    ]


def write_protocol(config: VerifyConfig) -> str:
    """Write the protocol for raters: every game as it was told, what to mark, and what is no
    error."""
    games = []
    for name, scene in config.scenes.items():
        letters = _describe_letters(config, name)
        games.append(f"{f'{name}. {letters}'.strip()}\n\n{_write_briefing(scene)}")
    return (
        TEXTS.fill("protocol", games="\n\n".join(games), first_move=config.scene.choices[0]) + "\n"
    )


def _describe_letters(config: VerifyConfig, game: str) -> str:
    """Say which letter stands for which move of a game; empty where it is told under its own
    names."""
    if not config.disguised:
        return ""
    players = config.moves[game]
    said = [", ".join(f"{letter} is {move}" for letter, move in moves.items()) for moves in players]
    if all(moves == players[0] for moves in players):
        return f"{said[0]}."
    roles = config.scenes[game].game.roles
    return "; ".join(f"{role}: {words}" for role, words in zip(roles, said, strict=True)) + "."


def show_letters(measured: Measurement) -> Shown:
    """Say which letter is which move, and what is inverted."""
    config: VerifyConfig = measured.config
    said = [
        f"{game}: {words}" for game in config.scenes if (words := _describe_letters(config, game))
    ]
    if not said:
        said.append("The games are told under the names of their own moves.")
    first = config.scene.choices
    order = "in the order of the game"
    if config.inverted:
        order = "in the reverse of the game's order"
    said.append(f"Moves are told {order}: {', '.join(first)}. Letters follow the game's own order.")
    return Shown("", (Paragraph(" ".join(said)),))


def show_people_beside(measured: Measurement) -> Shown | None:
    """Say what people did in the dilemmas nearest to the games; nothing where none is near."""
    config: VerifyConfig = measured.config
    forms = {game.name: game.loaded.solvable() for game in config.game}
    said = {
        name: describe_people(form) for name, form in forms.items() if isinstance(form, NormalForm)
    }
    paragraphs = tuple(Paragraph(f"{name}: {words}") for name, words in said.items() if words)
    return Shown("", paragraphs) if paragraphs else None


def show_briefing(measured: Measurement) -> Shown:
    """Show how reasoning was checked and what the reasoner was told."""
    about = Paragraph(
        "Each reasoning is translated into claims; each claim is decided by a logic engine on the"
        " game's program and by theory on its payoffs; refuted claims are put right and the"
        " reasoner is asked again. After A. Mensfelt, K. Stathis, V. Trencsenyi, Logic-Enhanced"
        " Language Model Agents, 2024."
    )
    config: VerifyConfig = measured.config
    told = [Code(config.system, title="The instruction")]
    for game, scene in config.scenes.items():
        told.append(
            Code(
                f"{game}\n\n{_write_briefing(scene)}"
                if len(config.game) > 1
                else _write_briefing(scene)
            )
        )
    return Shown("What the reasoner was told", (about, *told))


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

verify_model = Study(
    "verify",
    VerifyConfig,
    specs=list_runs,
    play=prepare_runs,
    measure=measure_reasoning,
    metrics=METRICS,
    title="Reasoning checked by logic",
    subtitle=_PROSE["subtitle"],
    command="verify",
    unit="runs",
    texts=(CATALOGUES, PLAYER_TEXTS, CLAIM_TEXTS, TEXTS),
    game=lambda config, data: config.scenes[read_game_name(data)].game,
    count_plays=lambda config: config.repeats * len(config.game) * len(config.model),
    estimate_calls=estimate_runs,
    own=OwnWays(more_files=list_sheets),
    report=(
        text(_PROSE["missing"], kind="warning"),
        metrics_table(
            "First and last attempt", "Numbers of runs, means and shares with 95 % intervals"
        ),
        show_letters,
        text(_PROSE["unrefuted"]),
        show_people_beside,
        table("changes", caption="Paired by run; {{ config.scene.yardstick }}"),
        text(_PROSE["changes"]),
        table("choices", title="Choices", caption="Shares of readable runs with 95 % intervals"),
        table("correctness", title="Correctness", caption="Shares of correct reasonings"),
        text(_PROSE["correctness"]),
        pivot(
            "attempts",
            "game",
            "attempts",
            "runs",
            split="model",
            title="Attempts",
            caption="Runs by attempts",
        ),
        table("attempt_costs", caption="Means over the attempts of reasoners"),
        table("claims", title="Claims", caption="Over all attempts"),
        table(
            "troubles",
            title="Translation",
            caption="Why sentences have no verdict, over all attempts",
        ),
        text(_PROSE["unread"]),
        table("judgements", title="People's judgement"),
        pivot("agreement", "figure", "game", "value", split="model"),
        text(_PROSE["people"]),
        show_audit,
        show_briefing,
    ),
)
"""What feedback from logic changes in a model's reasoning, choice and payoff."""
