"""Steering dialogue: build the tree of a dialogue once, solve it, and compare guided with unguided talk.

Every text of a dialogue is asked for once and kept in a store of answers beside the runs, which all runs share that ask
the same of the same models; a run is worked out from it and has no plays of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.game import REFEREE
from bestresponse.core.json import canonical
from bestresponse.games.dialogue.game import PERSON, Book
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Abilities, Model
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.models.wrappers.limits import Budget
from bestresponse.report.blocks import Measurement, Shown, lines, metrics_table, pivot, scatter, table, text
from bestresponse.report.document import Block, Figure, Paragraph, Quote
from bestresponse.report.figures.tree import draw_tree
from bestresponse.report.frames import compute_figures
from bestresponse.runs.execution import Execution, Job, Outcome
from bestresponse.runs.executors.driver import lend_workers
from bestresponse.runs.store.folder import RunFolder, Spec
from bestresponse.runs.study import Estimate, Replay, Study, recorded_models
from bestresponse.studies.steer.building import AnswerStore, open_answers, read_answers
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.measuring import METRICS, SteerMeasured, measure_steering
from bestresponse.studies.steer.session import (
    SteerResults,
    check_budget,
    estimate_run,
    find_answers,
    locate_store,
    read_results,
    run,
)
from bestresponse.studies.steer.solving import find_reach

_MOST_ENDS = 70
"""A tree with more ends cannot be read."""
_RARE = 0.005
_DECIMALS = 6


def _refuse_play(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
    raise UsageError("a steering run has no plays of its own")


def run_steering(config: SteerConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution) -> Outcome:
    """Ask for every text that is not on record, solve, and evaluate; what cannot be finished is refused before."""
    if how.shard is not None:
        raise UsageError("a steering run has no plays to share out; leave out `shard`")
    path = _find_store(config, models, folder.path)
    need, nodes = estimate_run(config, models, AnswerStore(read_answers(path)))
    check_budget(config, models, need, nodes, Budget() if config.cut_short else config.limits.budget)
    job = Job(steer, config, models, how.workers, how.shared)
    with open_answers(path, models) as (answers, recording), lend_workers(how.executor, job):
        return run(config, recording, answers, workers=how.workers, on_progress=how.on_progress)[1]


def _find_store(config: SteerConfig, models: Mapping[str, Model], path: Path) -> Path:
    """Return the store of answers beside a run, by who is asked what."""
    return locate_store(config, {name: model.identity for name, model in models.items()}, path.parent)


def estimate_all(config: SteerConfig) -> Estimate:
    """Count the calls of a run with nothing on record yet."""
    models: dict[str, Model] = {name: RecordedModel(name, {}, Abilities()) for name in config.models}
    return estimate_run(config, models, AnswerStore())[0]


def estimate_rest(config: SteerConfig, models: Mapping[str, Model], path: Path) -> Estimate:
    """Count what the store of answers does not hold yet."""
    return estimate_run(config, models, AnswerStore(read_answers(_find_store(config, models, path))))[0]


def locate_calls(folder: RunFolder) -> Path:
    """Return the calls of the store of answers, which runs that ask the same of the same models share."""
    try:
        config = SteerConfig.from_json(folder.manifest.config)
        return find_answers(config, folder.manifest, folder.path.parent) / "calls.jsonl"
    except BestResponseError:
        return folder.path / "calls.jsonl"


def replay_answers(config: SteerConfig, folder: RunFolder) -> Replay:
    """Ask everything again, of models that give only the replies on record; compare the answers and the figures."""
    path = find_answers(config, folder.manifest, folder.path.parent)
    recorded = read_answers(path)
    answers = AnswerStore(Book(entry for entry in recorded.entries if entry.by == PERSON))
    try:
        results, outcome = run(config, recorded_models(RunFolder(path, folder.manifest)), answers)
    except BestResponseError as error:
        return Replay(0, (f"the run cannot be made again: {error}",), "answers")
    compared = [(entry, recorded.get(entry.key, entry.number)) for entry in answers.book.entries]
    different = [
        f"{entry.by}, draw {entry.number} of {entry.key}: {repr(entry.text)[:80]}, recorded "
        + ("none" if before is None else repr(before.text)[:80])
        for entry, before in compared
        if entry != before
    ]
    different = [*_compare_figures(folder, results), *outcome.failures, *different]
    return Replay(sum(entry == before for entry, before in compared), tuple(different), "answers")


def _compare_figures(folder: RunFolder, results: SteerResults) -> list[str]:
    """Name the figures that do not come out as the finished run says."""
    try:
        before = json.loads((folder.path / "summary.json").read_text("utf-8")).get("figures", [])
    except FileNotFoundError:
        return []
    measured = measure_steering(results)
    after = compute_figures(METRICS, measured.labels, measured.groups).to_json()
    spelled = {row["measured_on"]: _spell(row) for row in after}
    where = [row["measured_on"] for row in before if spelled.get(row["measured_on"]) != _spell(row)]
    return [f"the figures of {name} came out differently" for name in where]


def _spell(value: object) -> str:
    """Write plain data in one spelling, numbers to some decimals."""
    return canonical(json.loads(json.dumps(value), parse_float=lambda text: str(round(float(text), _DECIMALS) + 0.0)))


def show_first_dialogue(measured: Measurement) -> list[Shown]:
    """Show the advice, the tree and the dialogues of the first game that was solved."""
    results: SteerMeasured = measured.results  # type: ignore[attr-defined]
    first = next((game for game in results.results.games if game.solved is not None), None)
    if first is None or first.solved is None:
        return []
    advice = table(
        "policy",
        title=f"The policy of game {first.number}",
        columns=("speaker", "knows", "last_heard", "advice", "loss", "commitment", "threat"),
        where={"game": first.number},
        most=40,
        caption="What is advised in each situation, reached or not, beside what the equilibrium that gains most would "
        "advise. An advice that loses more than 1 % of the range of payoffs where it is given is a threat.",
    )(measured)
    shown = [] if advice is None else [advice]
    tree = first.solved.tree
    if len(tree.leaves) <= _MOST_ENDS:
        path = frozenset(np.flatnonzero(find_reach(first.solved.policy) > _RARE).tolist())
        words = "The dialogues of the game by the manners that were chosen; thick where all follow the policy"
        ends = ", ".join(f"{value:.2f}" for value in first.solved.equilibrium_payoffs)
        picture = Figure(draw_tree(tree, path=path), words, f"{words}; it earns {ends}")
        shown.append(Shown(f"The tree of game {first.number}", (picture,)))
    view = first.game.view(first.game.start(), REFEREE)
    quotes = (Quote(words, name) for name, words in zip(first.game.names, view.facts["told"], strict=True))
    told: tuple[Block, ...] = (Paragraph(view.briefing), *quotes)
    beside = pivot("dialogues", "message", "guided", "text", caption="The same game, side by side")(measured)
    return [*shown, Shown("Dialogues", (*told, *(beside.blocks if beside else ())))]


_WORTH = """
{% if config.solver == 'psro' %}
Plays of the search: those that the manners were found and the solution was fitted by, so the gain there is optimistic.
Held-out games: drawn afterwards; a guided speaker draws its manner from the solution and keeps to it, beside unguided
ones, and the same game and draws are played with everybody unguided.
{% else %}
{% set about = frame('overview')[0] %}
Recorded texts: exact on the tree that was solved, so there is no sampling error within a game; but the policy was
fitted to just these texts, and its gain there is optimistic. The policy that is followed is
{{ 'credible: at every information set it is a best reply, reached or not' if config.credible else
'the equilibrium that gains most: off its path it may advise threats' }}; beside its gain on the recorded texts stand
those of the credible policy and of the commitment.
{% if about.known is not none %}
Fresh texts: dialogues in words that were drawn afterwards, guided and unguided on the same games and draws. The policy
knew the words in {{ about.known }} of {{ about.known + about.nearest + about.no_advice }} situations that a guided
speaker met there; in {{ about.nearest }} it advised as in the most similar one that it knew
{%- if about.distance is not none %}, at a mean distance of {{ '%.3f'|format(about.distance) }}{% endif %}; in
{{ about.no_advice }} nothing was near enough (within {{ config.farthest }}), and there was no advice. {{
about.void_plays }} of {{ about.plays }} dialogues could not be read.
{% else %}No fresh text was drawn.{% endif %}
{% endif %}
Intervals are over games (95 %, bootstrap of whole games); one game alone has none.
"""

_PUBLISHED = """
{% set studies = {'debate': ('328', '0.024', '0.106'), 'meeting': ('67', '0.417', '1.596')} %}
{% set name = config.read_domain().name %}
{% if config.solver == 'cfr' and name in studies %}
{% set games, nash_conv, gain = studies[name] %}
The published study, with another model, has {{ games }} games of {{ name }}: the mean NashConv of its policies is {{
nash_conv }}, their mean gain {{ gain }} (I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024,
appendix J, table 1).
{% endif %}
"""

steer = Study(
    "steer",
    SteerConfig,
    specs=lambda config: (),
    play=lambda config, models: _refuse_play,
    measure=lambda config, folder: measure_steering(read_results(config, folder)),
    metrics=METRICS,
    title="Steering {{ config.model }} in {{ config.read_domain().name }} dialogues",
    subtitle="Solved by {% if config.solver == 'cfr' %}counterfactual regret minimisation and best replies{% else %}"
    "prompt-space response oracles{% endif %}",
    command="steer",
    unit="games",
    texts=(TEXTS,),
    count_plays=lambda config: None,
    estimate_calls=estimate_all,
    estimate_rest=estimate_rest,
    make_run=run_steering,
    repeat_run=replay_answers,
    locate_calls=locate_calls,
    report=(
        text(
            "{% set why = frame('overview')[0].stopped %}"
            "{% if why %}The run was stopped before its end: {{ why }}{% endif %}",
            kind="warning",
        ),
        metrics_table("What guidance earns"),
        text(_WORTH, kind="info"),
        text(_PUBLISHED, title="Beside the published study"),
        table(
            "guidance",
            title="Beside the published study",
            caption="If speakers could choose whether to be guided: mean payoffs of both, exact on the recorded texts",
        ),
        scatter(
            "games", "gain", "fresh_gain", title="Games", caption="What guidance gains on recorded and fresh texts"
        ),
        table(
            "games",
            ("game", "people", *(metric.name for metric in METRICS), "threats", "fresh_gain", "why_void"),
            title="Games",
        ),
        show_first_dialogue,
        table("following", title="Whether messages show their manner"),
        table("solution", title="Solution", caption="Intervals hold together with 95 % confidence over the plays"),
        text(
            "{% if config.solver == 'psro' %}The search ended because {{ 'no response was new' if "
            "frame('overview')[0].closed else 'the iterations were used up' }}, after {{ frame('overview')[0].plays }} "
            "plays, {{ frame('overview')[0].void_plays }} of them void.{% endif %}"
        ),
        lines(
            "iterations",
            x="iteration",
            y="gain",
            by="player",
            title="Manners over iterations",
            caption="What each speaker gains by the solution of each iteration while the others stay neutral, in the "
            "final table",
        ),
        lines(
            "iterations",
            x="iteration",
            y="new_prompt_mass",
            by="player",
            caption="Probability of all manners together that were not there at the start",
        ),
        pivot(
            "profiles",
            "first",
            "others",
            "shown",
            split="player",
            title="Payoffs",
            caption="Mean payoff and its standard error",
        ),
        table("candidates", title="Manners that were tried"),
        text(
            "{% if config.scenarios_by %}{{ config.scenarios_by }} wrote the games from examples that the seed drew."
            "{% endif %}",
            title="Who wrote the games",
        ),
        table("rejected_scenarios", title="Who wrote the games", caption="Why scenarios were rejected"),
        table("rulings", title="What was ruled", caption="Rulings", most=20),
        table("agreement", title="What was ruled", caption="Two referees on the same dialogues"),
        table(
            "unread", title="What was ruled", caption="Why answers could not be read: they are void, never 0", most=10
        ),
    ),
)
"""What a speaker gains when an equilibrium solver chooses how it speaks."""
