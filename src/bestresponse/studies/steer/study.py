"""Steering dialogue: build a tree, solve it, and compare guided with unguided talk.

The tree of a dialogue is built once.

Every text of a dialogue is asked for once and kept in a store of answers beside the runs, which all
runs share that ask the same of the same models; a run is worked out from it and has no plays of its
own. What it measured is told as frames of typed rows and metrics of what guidance earns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.core.errors import BestResponseError
from bestresponse.core.files import read_prose
from bestresponse.core.game import REFEREE
from bestresponse.games.dialogue.game import PERSON, Book
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.games.logic.tables import format_game
from bestresponse.models.base import Abilities, Model, ModelsByName
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.models.wrappers.limits import Budget
from bestresponse.players.llm.verified import bare_name
from bestresponse.report.blocks import (
    Measurement,
    Shown,
    lines,
    metrics_table,
    pivot,
    scatter,
    table,
    text,
)
from bestresponse.report.document import Block, Figure, Paragraph, Quote
from bestresponse.report.figures.tree import draw_tree
from bestresponse.report.frames import Frame, Heads, Row, column
from bestresponse.runs.execution import Execution, Job, Outcome
from bestresponse.runs.executors.processes import lend_workers
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.run import Run
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Estimate, Measured, OwnWays, Replay, Study, recorded_models
from bestresponse.studies.steer import session, solving
from bestresponse.studies.steer.advising import (
    FILE as ADVISER,
    Adviser,
    Situation,
    list_situations,
    write_adviser,
)
from bestresponse.studies.steer.answers import AnswerStore, open_answers, read_answers
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.dialogue_frames import (
    RARE,
    count_rows,
    measure_cfr,
    measure_imitation,
)
from bestresponse.studies.steer.evaluating import (
    METRICS,
    Evaluation,
    evaluate_cfr,
    evaluate_imitation,
    evaluate_psro,
)
from bestresponse.studies.steer.imitation import NETWORK_FILE
from bestresponse.studies.steer.search_frames import measure_psro
from bestresponse.telling.render import write_rules


class OverviewRow(TypedDict):
    """What the run was made of."""

    domain: str
    solved_games: Annotated[int | None, column("solved")]
    answers: int
    by_people: Annotated[int, column(help="messages written by a person instead of a model")]
    closed: Annotated[
        bool | None, column(help="whether the search ended because no response was new")
    ]
    plays: int
    void_plays: int
    known: Annotated[
        int | None, column("known situations", help="fresh texts: the situation was on record")
    ]
    nearest: Annotated[
        int | None,
        column("nearest situation", help="fresh texts: the most similar situation was used"),
    ]
    no_advice: Annotated[int | None, column(help="fresh texts: no situation was near enough")]
    distance: Annotated[
        float | None,
        column("mean distance", ".3f", "of the nearest situations: 1 minus the cosine"),
    ]
    stopped: str | None


@dataclass(frozen=True)
class SteerMeasured(Measured):
    """What a steering run measured, with the solved games themselves.

    The report draws the tree of the first of them.
    """

    results: session.SteerResults = field(kw_only=True)


def measure_steering(results: session.SteerResults) -> SteerMeasured:
    """Build every frame and metric of a run."""
    readings = Readings()
    for entry in results.entries:
        readings.add(entry.by, entry.reading.status, entry.reading.how)
    unread: Counter[str] = Counter()
    for entry in results.entries:
        if not entry.reading.status.readable:
            unread[entry.reading.how[:160]] += 1
    solution = _measure_solution(results)
    frames: dict[str, Frame[Any]] = {
        **solution,
        "overview": Frame(OverviewRow, [_describe_run(results)]),
        "rejected_scenarios": count_rows(
            Counter(results.written.rejected if results.written else ())
        ),
        "unread": count_rows(unread),
        "answers": readings.frames["answers"],
    }
    groups = _evaluate(results)
    answered = len(results.solved)
    answered += results.psro is not None
    answered += results.imitation is not None
    label = "who guides" if results.config.solver == "imitation" else "measured on"
    return SteerMeasured(
        frames,
        answered,
        (label,),
        groups,
        stopped=results.stopped,
        results=results,
    )


def _measure_solution(results: session.SteerResults) -> dict[str, Frame[Row]]:
    """Build the frames of the solver that the run has."""
    if results.psro is not None:
        return measure_psro(results, results.psro)
    if results.config.solver == "imitation":
        return measure_imitation(results, results.imitation)
    return measure_cfr(results)


def _evaluate(results: session.SteerResults) -> dict[Heads, Evaluation]:
    """Evaluate what the solver of the run found."""
    if results.psro is not None:
        return evaluate_psro(results, results.psro)
    if results.imitation is not None:
        return evaluate_imitation(results, results.imitation)
    return evaluate_cfr(results)


def _describe_run(results: session.SteerResults) -> OverviewRow:
    cfr = results.psro is None
    plays = [game.fresh for game in results.games if game.fresh is not None]
    met: Counter[str] = Counter()
    distances: list[float] = []
    for fresh in plays:
        met += fresh.met
        distances += fresh.distances
    by_people = [entry for entry in results.entries if entry.by == PERSON]
    return OverviewRow(
        domain=results.domain.name,
        solved_games=len(results.solved) if cfr else None,
        answers=len(results.entries),
        by_people=len(by_people),
        closed=None if results.psro is None else results.psro.closed,
        plays=sum(fresh.plays for fresh in plays) if cfr else results.psro_played,
        void_plays=sum(fresh.void for fresh in plays) if cfr else results.psro_voids,
        known=met["known"] if plays else None,
        nearest=met["nearest"] if plays else None,
        no_advice=met["no advice"] if plays else None,
        distance=float(np.mean(distances)) if distances else None,
        stopped=results.stopped or None,
    )


_MOST_TREES = 20
"""So many trees of a run are written as files."""
_MOST_NODES = 20_000
"""Larger trees are not written as files: every situation is a text."""
_MOST_ENDS = 70
"""A tree with more ends cannot be read."""


def run_steering(
    config: SteerConfig,
    folder: RunFolder,
    models: ModelsByName,
    how: Execution,
) -> Outcome:
    """Ask for every text that is not on record, solve, and evaluate.

    What cannot be finished is refused before.
    """
    path = _find_store(config, models, folder.path)
    recorded = AnswerStore(read_answers(path))
    need, nodes = session.estimate_run(config, models, recorded)
    budget = Budget() if config.cut_short else config.limits.budget
    session.check_budget(config, models, need, nodes, budget)
    job = Job(steer, config, models, how.workers, how.shared)
    prompts = folder.manifest.prompts
    with (
        open_answers(path, models, prompts) as (answers, recording),
        lend_workers(how.executor, job),
    ):
        _, outcome = session.run(
            config,
            recording,
            answers,
            workers=how.workers,
            on_progress=how.on_progress,
            train=None,
        )
    return outcome


def _find_store(config: SteerConfig, models: ModelsByName, path: Path) -> Path:
    """Return the store of answers beside a run, by who is asked what."""
    return session.locate_store(
        config,
        {name: model.identity for name, model in models.items()},
        path.parent,
    )


def estimate_all(config: SteerConfig) -> Estimate:
    """Count the calls of a run with nothing on record yet."""
    models: dict[str, Model] = {}
    for name in config.models:
        models[name] = RecordedModel(bare_name(name), {}, Abilities())
    estimate, _ = session.estimate_run(config, models, AnswerStore())
    return estimate


def estimate_rest(config: SteerConfig, models: ModelsByName, path: Path) -> Estimate:
    """Count what the store of answers does not hold yet."""
    recorded = read_answers(_find_store(config, models, path))
    estimate, _ = session.estimate_run(config, models, AnswerStore(recorded))
    return estimate


def locate_calls(folder: RunFolder) -> Path:
    """Return the calls of the store of answers, which runs may share.

    Runs that ask the same of the same models share it.
    """
    try:
        config = SteerConfig.from_json(folder.manifest.config)
        return session.find_answers(config, folder.manifest, folder.path.parent) / "calls.jsonl"
    except BestResponseError:
        return folder.path / "calls.jsonl"


def replay_answers(config: SteerConfig, folder: RunFolder) -> Replay:
    """Ask everything again, of models that give only the replies on record; compare the answers."""
    path = session.find_answers(config, folder.manifest, folder.path.parent)
    recorded = read_answers(path)
    by_people = [entry for entry in recorded.entries if entry.by == PERSON]
    answers = AnswerStore(Book(by_people))
    try:
        _, outcome = session.run(config, recorded_models(RunFolder(path, folder.manifest)), answers)
    except BestResponseError as error:
        return Replay(0, (f"the run cannot be made again: {error}",), "answers")
    same = 0
    different = list(outcome.failures)
    for entry in answers.book.entries:
        before = recorded.get(entry.key, entry.number)
        if entry == before:
            same += 1
            continue
        draw = f"{entry.by}, draw {entry.number} of {entry.key}"
        on_record = "none" if before is None else repr(before.text)[:80]
        different.append(f"{draw}: {repr(entry.text)[:80]}, recorded {on_record}")
    return Replay(same, tuple(different), "answers")


def show_first_dialogue(measured: Measurement) -> list[Shown]:
    """Show the advice, the tree and the dialogues of the first game that was solved."""
    results: SteerMeasured = measured.results  # type: ignore[attr-defined]
    first = next((game for game in results.results.games if game.solved is not None), None)
    if first is None or first.solved is None:
        return []
    advice = table(
        "policy",
        title=f"The policy of game {first.number}",
        columns=("speaker", "knows", "last_heard", "advice", "loss"),
        where={"game": first.number},
        most=40,
        caption=_PROSE["policy"],
    )(measured)
    shown = [] if advice is None else [advice]
    tree = first.solved.tree
    if len(tree.leaves) <= _MOST_ENDS:
        reach = solving.find_reach(first.solved.policy)
        path = frozenset(np.flatnonzero(reach > RARE).tolist())
        words = (
            "The dialogues of the game by the manners that were chosen; thick where all follow the"
            " policy"
        )
        ends = ", ".join(f"{value:.2f}" for value in first.solved.equilibrium_payoffs)
        picture = Figure(draw_tree(tree, path=path), words, f"{words}; it earns {ends}")
        shown.append(Shown(f"The tree of game {first.number}", (picture,)))
    view = first.game.view(first.game.start(), REFEREE)
    blocks: list[Block] = [Paragraph(write_rules(view))]
    for name, words in zip(first.game.names, view.facts["told"], strict=True):
        blocks.append(Quote(words, name))
    side_by_side = pivot(
        "dialogues",
        "message",
        "guided",
        "text",
        caption="The same game with and without guidance",
    )
    beside = side_by_side(measured)
    if beside:
        blocks += beside.blocks
    return [*shown, Shown("Dialogues", tuple(blocks))]


def write_more(measured: Measured, run: Run[SteerConfig]) -> Iterator[tuple[Path, str]]:
    """Write what `advise` reads, and the solved trees for other solvers."""
    results: session.SteerResults = measured.results  # type: ignore[attr-defined]
    # Whoever asks for advice has a transcript: it finds no situation that is known by a summary.
    by_transcript = results.config.observe == "transcript"
    text = write_adviser(make_adviser(results)) if by_transcript else ""
    if text and results.psro is None:
        yield run.path / ADVISER, text
    if results.imitation is not None:
        yield run.path / NETWORK_FILE, results.imitation.network_as_json()
    trees = [(game.number, game.solved.tree) for game in results.games if game.solved is not None]
    for number, tree in trees[:_MOST_TREES]:
        if tree.num_nodes <= _MOST_NODES:
            yield run.path / f"tree-{number}.efg", format_game(tree, ".efg")


def make_adviser(results: session.SteerResults) -> Adviser:
    """Gather what the policies of a run advise in every situation."""
    config = results.config
    pairs = [(solved.policy, solved.unguided) for solved in results.solved]
    pairs += [(game.solved.policy, game.unguided) for game in results.learnt]
    situations: list[Situation] = []
    for policy, unguided in pairs:
        situations += list_situations(policy, unguided)
    found = results.imitation
    return Adviser(
        domain=results.domain,
        manners=config.actions,
        replies=config.replies,
        policy=config.policy if found is None else "cfr",
        situations=tuple(situations),
        network=None if found is None else found.network,
        embed=config.embed,
    )


_PROSE = read_prose(__file__)
steer = Study(
    "steer",
    SteerConfig,
    measure=lambda config, folder: measure_steering(session.read_results(config, folder)),
    metrics=METRICS,
    title="Steering {{ config.model }} in {{ config.read_domain().name }} dialogues",
    subtitle=_PROSE["subtitle"],
    command="steer",
    unit="steps",
    texts=(TEXTS,),
    tables=lambda config: 1 if config.solver == "psro" else 2 + config.follow,
    count_plays=lambda config: (
        config.iterations + 1 if config.solver == "psro" else config.games + config.held_out
    ),
    estimate_calls=estimate_all,
    make_run=run_steering,
    own=OwnWays(
        estimate_rest=estimate_rest,
        locate_calls=locate_calls,
        more_files=write_more,
        repeat_run=replay_answers,
    ),
    report=(
        text(_PROSE["stopped"], kind="warning"),
        metrics_table("What guidance earns"),
        table("policies", caption=_PROSE["policies"]),
        table("following", caption="How well messages show their manner"),
        pivot(
            "named",
            "told",
            "named",
            "messages",
            where={"labelled": False},
            title="How well messages show their manner",
            caption="How often a manner (rows) was named as which (columns)",
        ),
        pivot(
            "named",
            "told",
            "named",
            "messages",
            where={"labelled": True},
            caption="The same for the labelled messages of the domain",
        ),
        text(_PROSE["worth"], kind="info"),
        text(_PROSE["observe"], kind="info"),
        text(_PROSE["published"], title="Compared with the published study"),
        table("guidance", title="Compared with the published study", caption=_PROSE["guidance"]),
        table("learning", title="What was learnt", caption=_PROSE["learning"]),
        scatter("games", "gain", "fresh_gain", title="Games", caption=_PROSE["fresh"]),
        table(
            "games",
            (
                "game",
                "people",
                *(metric.name for metric in METRICS),
                "situations",
                "fresh_gain",
                "why_void",
            ),
            title="Games",
        ),
        show_first_dialogue,
        table(
            "solution",
            title="Solution",
            caption="Intervals hold together with 95 % confidence over the plays",
        ),
        text(_PROSE["search"]),
        pivot(
            "manners",
            "manner",
            "iteration",
            "probability",
            heat=True,
            split="player",
            title="Manners over iterations",
            caption=_PROSE["manners"],
        ),
        lines("iterations", "iteration", "gain", "player", caption=_PROSE["gain"]),
        lines(
            "iterations",
            x="iteration",
            y="new_prompt_mass",
            by="player",
            caption=_PROSE["new_manners"],
        ),
        pivot(
            "profiles",
            "first",
            "others",
            "shown",
            split="player",
            title="Payoffs",
            caption=_PROSE["profiles"],
        ),
        table("candidates", title="Manners that were tried"),
        text(_PROSE["author"], title="Who wrote the games"),
        table(
            "rejected_scenarios",
            title="Who wrote the games",
            caption="Why scenarios were rejected",
        ),
        table("rulings", title="Rulings of the referee", caption="Rulings", most=20),
        table(
            "agreement",
            title="Rulings of the referee",
            caption="Two referees on the same dialogues",
        ),
        table(
            "unread",
            title="Rulings of the referee",
            caption=_PROSE["unread"],
            most=10,
        ),
    ),
)
"""What a speaker gains when an equilibrium solver chooses how it speaks."""
