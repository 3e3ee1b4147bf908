"""Steering dialogue: build the tree of a dialogue once, solve it, and compare guided with unguided
talk.

Every text of a dialogue is asked for once and kept in a store of answers beside the runs, which all
runs share that ask the same of the same models; a run is worked out from it and has no plays of its
own. What it measured is told as frames of typed rows and figures of what guidance earns.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, TypedDict, get_args

import numpy as np

from bestresponse.core.episode import play
from bestresponse.core.errors import BestResponseError
from bestresponse.core.files import read_toml
from bestresponse.core.game import NATURE, REFEREE
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Nature
from bestresponse.core.seeds import split
from bestresponse.games.dialogue.game import PERSON, Book, DialogueGame
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.games.logic.tables import format_game
from bestresponse.models.base import Abilities, Model
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.models.wrappers.limits import Budget
from bestresponse.players.dialogue.speaker import Guided
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
from bestresponse.report.frames import Frame, Heads, Row, Value, column, list_metrics
from bestresponse.report.stats.agreement import krippendorff_alpha
from bestresponse.report.stats.statistics import Interval, cluster_bootstrap
from bestresponse.runs.execution import Execution, Job, Outcome
from bestresponse.runs.executors.driver import lend_workers
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.run import Run
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Estimate, Measured, Replay, Study, recorded_models
from bestresponse.studies.steer import building, session, solving
from bestresponse.studies.steer.advising import (
    FILE as ADVISER,
    Adviser,
    list_situations,
    write_adviser,
)
from bestresponse.studies.steer.config import PolicyName, SteerConfig
from bestresponse.studies.steer.imitation import NETWORK_FILE, Imitation, build_choice_game
from bestresponse.studies.steer.psro import Candidate, PsroResult, find_intervals, weigh_table
from bestresponse.telling.render import write_rules
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import regret
from bestresponse.theory.trees.sequence_form import policy_value
from bestresponse.theory.trees.tree import Policy

_THREAT = 0.01
"""A recommendation that loses more than this share of the range of payoffs where it is given is a
threat."""
_LONGEST = 200
_RARE = 0.005  # moves with less probability are not worth a reader's time
_MOST_GUIDED = 3

_NASH_CONV = "what all could gain by deviating alone; 0 at an equilibrium"
_PUBLISHED = {"debate": (0.024, 0.106), "meeting": (0.417, 1.596)}
"""NashConv and CFR gain of the published study (Gemp et al. 2024, appendix J, table 1), by
domain."""

Evaluation = Mapping[str, Value]
"""What guidance earns on one set of texts or games, by the name of the metric."""


METRICS = list_metrics(solving.GuidanceFigures)


class OverviewRow(TypedDict):
    """What the run was made of."""

    domain: str
    solved_games: Annotated[int | None, column("solved")]
    answers: int
    by_people: Annotated[int, column(help="messages that a person wrote in place of a model's")]
    closed: Annotated[
        bool | None, column(help="whether the search ended because no response was new")
    ]
    plays: int
    void_plays: int
    known: Annotated[
        int | None, column("known situations", help="fresh texts: the policy knew the words")
    ]
    nearest: Annotated[
        int | None, column("nearest situation", help="fresh texts: advised as the most similar one")
    ]
    no_advice: Annotated[int | None, column(help="fresh texts: nothing near enough was known")]
    distance: Annotated[
        float | None, column("mean distance", ".3f", "of the nearest situations: 1 less the cosine")
    ]
    stopped: str | None


class DialogueRow(solving.GuidanceFigures, total=False):
    """One game, with its figures on the recorded texts; a void one has a reason and no figures."""

    game: int
    people: str
    scenario: list[JsonObject]
    nodes: int
    situations: Annotated[
        int, column(help="different situations in which somebody chooses a manner")
    ]
    threats: Annotated[
        int, column(help="situations in which the commitment advises what loses more than 1 %")
    ]
    unguided_payoffs: Sequence[float]
    guided_payoffs: Sequence[float]
    equilibrium_payoffs: Sequence[float]
    fresh_gain: Annotated[
        float | None, column("", ".3f", "the gain in dialogues with fresh texts, mean over draws")
    ]
    why_void: Annotated[str | None, column("void because")]


class PolicyRow(TypedDict):
    """One policy on the recorded texts, mean over games; `published` is table 1 of the published
    study."""

    policy: str
    followed: Annotated[str, column(help="whether the run's advice is this policy's")]
    nash_conv: Annotated[Value, column("NashConv", ".3f", _NASH_CONV)]
    gain: Annotated[Value, column("", ".3f", "over unguided talk among unguided partners")]
    published_nash_conv: Annotated[float | None, column("published NashConv", ".3f")]
    published_gain: Annotated[float | None, column("published gain", ".3f")]


class AdviceRow(TypedDict):
    """What is advised at one information set."""

    game: int
    speaker: str
    knows: str
    last_heard: str
    advice: Annotated[str, column("how to speak")]
    loss: Annotated[
        float, column("", ".4f", "what the advice loses there, as a share of the range of payoffs")
    ]
    commitment: Annotated[str, column(help="what the equilibrium that gains most would advise")]
    threat: Annotated[
        str | None, column(help="what carrying out the threat would lose, share of the range")
    ]


class MessageRow(TypedDict):
    """One message of a dialogue, or what it earned."""

    game: int
    message: str
    guided: str
    text: str


class CountRow(TypedDict):
    """How often something was said, ruled or rejected."""

    what: str
    times: int


class RefereeRow(TypedDict):
    """How far two referees agree."""

    payoffs: Annotated[int, column("payoffs ruled on by both referees")]
    same: Annotated[float | None, column("the same", ".3f")]
    distance: Annotated[float | None, column("mean absolute difference", ".3f")]
    alpha: Annotated[float | None, column("Krippendorff's alpha", ".3f")]
    void: Annotated[int, column("dialogues the second referee left void")]


class FollowRow(TypedDict):
    """Whether messages show the manner that they were told; a classifier that was tested and not
    taken has only what the test says."""

    classifier: str
    taken: Annotated[str, column(help="whether this classifier named the manners of messages")]
    held_out: Annotated[
        bool, column(help="whether the classifier is another model than the speaker's")
    ]
    rate: Annotated[Value, column("messages in the manner they were told", ".3f")]
    chance: Annotated[float, column("by chance", ".3f")]
    judged: int
    unreadable: int
    labelled: Annotated[
        int, column("labelled messages", help="messages of the domain whose manner is known")
    ]
    labelled_right: Annotated[
        float | None, column("of these named right", ".3f", "how good the classifier itself is")
    ]


class NamedRow(TypedDict):
    """How often messages that were told one manner were taken for another."""

    told: str
    named: str
    messages: int
    labelled: Annotated[bool, column(help="whether these are the labelled messages of the domain")]


class GuidanceRow(TypedDict):
    """What both earn if they choose whether to be guided."""

    first: Annotated[str, column("player 1")]
    second: Annotated[str, column("player 2")]
    payoffs: str
    probability: Annotated[float, column("", ".3f", "in one equilibrium of that choice")]


class LearningRow(TypedDict):
    """What the network learnt from, and how well it fits."""

    games: Annotated[int, column("games learnt from")]
    situations: Annotated[int, column("situations learnt from")]
    numbers: Annotated[int, column("numbers per situation")]
    embedding: str
    layers: Annotated[str, column("hidden layers")]
    learnt_loss: Annotated[float, column("cross entropy", ".3f", "on the games learnt from")]
    held_out_loss: Annotated[float, column("cross entropy, held-out games", ".3f")]
    held_out: Annotated[int, column("games held out")]


class SolutionRow(TypedDict):
    """How often a player uses a manner at the solution of the search."""

    player: str
    manner: str
    probability: Annotated[Interval, column("", ".3f")]
    payoff: Annotated[Interval, column("payoff of the player", ".3f")]


class IterationRow(TypedDict):
    """What one iteration brought a player."""

    iteration: int
    player: str
    gain: Annotated[float, column("gain over the neutral manner", ".3f")]
    new_prompt_mass: Annotated[float, column("equilibrium mass of new prompts", ".3f")]


class MannerRow(TypedDict):
    """How often a player uses a manner at the equilibrium of one iteration, over all manners that
    were known then."""

    iteration: int
    player: str
    manner: str
    probability: Annotated[float, column("", ".3f")]
    entered: Annotated[int, column(help="the iteration in which the manner was first in the table")]


class ProfileRow(TypedDict):
    """The mean payoff of one player in one profile of manners."""

    player: str
    first: Annotated[str, column("player 1 \\ player 2")]
    others: str
    plays: int
    payoff: Annotated[float, column("", ".3f")]
    error: Annotated[float | None, column("standard error", ".3f")]
    shown: str


class CandidateRow(TypedDict):
    """A manner that was tried or rejected."""

    iteration: int
    player: str
    manner: str
    score: Annotated[float | None, column("", ".3f")]
    plays: int
    outcome: str


@dataclass(frozen=True)
class SteerMeasured(Measured):
    """What a steering run measured, with the solved games themselves, of which the report draws the
    first tree."""

    results: session.SteerResults = field(kw_only=True)


def measure_steering(results: session.SteerResults) -> SteerMeasured:
    """Build every frame and figure of a run."""
    readings = Readings()
    for entry in results.entries:
        readings.add(entry.by, entry.reading.status, entry.reading.how)
    unread = Counter(
        entry.reading.how[:160] for entry in results.entries if not entry.reading.status.readable
    )
    solution = _measure_solution(results)
    frames: dict[str, Frame[Any]] = {
        **solution,
        "overview": Frame(OverviewRow, [_describe_run(results)]),
        "rejected_scenarios": _count(Counter(results.written.rejected if results.written else ())),
        "unread": _count(unread),
        "answers": readings.frames["answers"],
    }
    groups = _evaluate(results)
    found = (results.psro, results.imitation)
    answered = len(results.solved) + sum(one is not None for one in found)
    label = "who guides" if results.config.solver == "imitation" else "measured on"
    return SteerMeasured(frames, answered, (label,), groups, results=results)


def _measure_solution(results: session.SteerResults) -> dict[str, Frame[Row]]:
    """Build the frames of the solver that the run has."""
    if results.psro is not None:
        return _measure_psro(results, results.psro)
    if results.config.solver == "imitation":
        return _measure_imitation(results, results.imitation)
    return _measure_cfr(results)


def _evaluate(results: session.SteerResults) -> dict[Heads, Evaluation]:
    """Evaluate what the solver of the run found."""
    if results.psro is not None:
        return _evaluate_psro(results, results.psro)
    if results.imitation is not None:
        return _evaluate_imitation(results, results.imitation)
    return _evaluate_cfr(results)


def _count(counts: Counter[str]) -> Frame[CountRow]:
    return Frame(
        CountRow, [CountRow(what=what, times=times) for what, times in counts.most_common()]
    )


def _describe_run(results: session.SteerResults) -> OverviewRow:
    cfr = results.psro is None
    plays = [game.fresh for game in results.games if game.fresh is not None]
    met = sum((fresh.met for fresh in plays), Counter[str]()) if plays else None
    distances = [distance for fresh in plays for distance in fresh.distances]
    return OverviewRow(
        domain=results.domain.name,
        solved_games=len(results.solved) if cfr else None,
        answers=len(results.entries),
        by_people=sum(entry.by == PERSON for entry in results.entries),
        closed=None if results.psro is None else results.psro.closed,
        plays=sum(fresh.plays for fresh in plays) if cfr else results.psro_played,
        void_plays=sum(fresh.void for fresh in plays) if cfr else results.psro_voids,
        known=None if met is None else met["known"],
        nearest=None if met is None else met["nearest"],
        no_advice=None if met is None else met["no advice"],
        distance=float(np.mean(distances)) if distances else None,
        stopped=results.stopped or None,
    )


def _average(
    results: session.SteerResults,
    values: Sequence[float],
    name: str,
    games: Sequence[int] | None = None,
) -> Value:
    """Average figures, with an interval over whole games; None where there is nothing."""
    if not len(values):
        return None
    return cluster_bootstrap(
        values, games, rng=np.random.default_rng(split(results.config.seed, name))
    )


def evaluate_plays(
    results: session.SteerResults, parts: Sequence[tuple[int, building.FreshPlays]], name: str
) -> Evaluation:
    """Evaluate plays, which come with the number of their game."""
    games = np.concatenate([np.full(len(plays.unguided), game) for game, plays in parts])
    figures: dict[str, Value] = {}
    for metric, attribute in (("gain", "gains"), ("margin", "margins"), ("won", "wins")):
        values = np.concatenate([getattr(plays, attribute) for _, plays in parts])
        known = np.isfinite(values)
        figures[metric] = _average(
            results, values[known].tolist(), f"{name} {attribute}", games[known].tolist()
        )
    guided = np.concatenate(
        [table[:, seat] for _, plays in parts for seat, table in enumerate(plays.guided)]
    )
    unguided = np.concatenate([plays.unguided.T.ravel() for _, plays in parts])
    known = np.isfinite(guided - unguided)  # the same dialogues as in the gain: both could be read
    return {
        **figures,
        "relative_gain": solving.compare_earnings(guided[known].tolist(), unguided[known].tolist()),
    }


def _evaluate_cfr(results: session.SteerResults) -> dict[Heads, Evaluation]:
    """Evaluate what is advised on the recorded texts and on fresh ones."""
    solved = results.solved
    if not solved:
        return {}
    rows: list[Mapping[str, Any]] = [dialogue.figures for dialogue in solved]
    means = {
        name: _average(results, [row[name] for row in rows], name)
        for name in rows[0]
        if name != "relative_gain"
    }
    guided = [value for dialogue in solved for value in dialogue.guided_payoffs]
    unguided = [value for dialogue in solved for value in dialogue.unguided_payoffs]
    whole: Evaluation = {
        "relative_gain": solving.compare_earnings(guided, unguided),
        "loss": max(row["loss"] for row in rows),
    }
    groups: dict[Heads, Evaluation] = {("recorded texts",): {**means, **whole}}
    fresh = [(game.number, game.fresh) for game in results.games if game.fresh is not None]
    if fresh:
        groups["fresh texts",] = evaluate_plays(results, fresh, "fresh")
    return groups


def _evaluate_psro(results: session.SteerResults, psro: PsroResult) -> dict[Heads, Evaluation]:
    config = results.config
    plays = weigh_table(psro)
    neutral = [
        np.eye(len(prompts))[k] for prompts, k in zip(psro.prompts, psro.game.alone, strict=True)
    ]
    games = config.games if config.games > 1 else len(plays.unguided)
    groups: dict[Heads, Evaluation] = {
        ("plays of the search",): {
            **evaluate_plays(results, _split_by_game(plays, games), "table"),
            "nash_conv": float(regret(psro.game.means, psro.solution.marginals).sum()),
            "unguided_nash_conv": float(regret(psro.game.means, neutral).sum()),
        }
    }
    if results.psro_held_out is not None:
        parts = _split_by_game(results.psro_held_out, config.held_out)
        groups["held-out games",] = evaluate_plays(results, parts, "held out")
    return groups


def _split_by_game(plays: building.FreshPlays, games: int) -> list[tuple[int, building.FreshPlays]]:
    """Split plays by their game: play n is on game n % games."""
    parts = ((game, slice(game, None, games)) for game in range(min(games, len(plays.unguided))))
    return [
        (game, building.FreshPlays(plays.unguided[part], plays.guided[:, part]))
        for game, part in parts
    ]


def _measure_cfr(results: session.SteerResults) -> dict[str, Frame[Row]]:
    games = results.games
    solved = [game for game in results.games if game.solved is not None]
    advice = [
        row
        for game in solved
        if game.solved
        for row in _list_advice(game.game, game.number, game.solved)
    ]
    rulings: Counter[str] = Counter()
    for game in solved:
        if game.recorded is not None:
            ends = (
                json.loads(state.ruling)
                for state in building.list_dialogue_states(game.recorded)
                if state.over
            )
            rulings.update(_describe_ruling(ruling, game.game.names) for ruling in ends)
    choices: list[GuidanceRow] = []
    if results.solved and results.solved[0].tree.num_players == 2:
        choices = list(_list_choices(build_guidance_game(results.solved)))
    return {
        "games": Frame(DialogueRow, [_describe_game(game) for game in games]),
        "policies": Frame(PolicyRow, list(_list_policies(results))),
        "policy": Frame(AdviceRow, advice),
        "dialogues": Frame(
            MessageRow, [row for game in solved[:1] for row in _list_dialogues(game)]
        ),
        "rulings": _count(rulings),
        "agreement": Frame(RefereeRow, list(_compare_referees(games))),
        **_measure_following(results),
        "guidance": Frame(GuidanceRow, choices),
    }


def _list_policies(results: session.SteerResults) -> Iterator[PolicyRow]:
    """Put the policies of the run side by side, with unguided talk last."""
    config = results.config
    solved = results.solved
    if not solved:
        return
    names = {
        "cfr": (
            f"{config.variant} at {config.iterations:,} iteration" + "s" * (config.iterations > 1)
        ),
        "credible": "credible",
        "commitment": "commitment",
    }
    published = _PUBLISHED.get(results.domain.name, (None, None))
    for name in get_args(PolicyName):
        found = [dialogue.policies[name] for dialogue in solved]
        beside = published if name == "cfr" else (None, None)
        convs = [policy.nash_conv for policy in found]
        gains = [policy.earned.gain for policy in found]
        yield PolicyRow(
            policy=names[name],
            followed="yes" if name == config.policy else "no",
            nash_conv=_average(results, convs, f"{name} NashConv"),
            gain=_average(results, gains, f"{name} gain"),
            published_nash_conv=beside[0],
            published_gain=beside[1],
        )
    unguided = []
    for dialogue in solved:
        figure = dialogue.figures["unguided_nash_conv"]
        assert isinstance(figure, float), "NashConv is measured of every solved dialogue"
        unguided.append(figure)
    yield PolicyRow(
        policy="unguided",
        followed="no",
        nash_conv=_average(results, unguided, "unguided NashConv"),
        gain=0.0,
        published_nash_conv=None,
        published_gain=None,
    )


def _describe_game(game: session.GameResult) -> DialogueRow:
    solved = game.solved
    people = ", ".join(game.game.names)
    scenario = [case.to_json() for case in game.game.cases]
    if solved is None:
        void = game.why_void[:_LONGEST] or None
        return DialogueRow(game=game.number, people=people, scenario=scenario, why_void=void)
    fresh = [] if game.fresh is None else game.fresh.gains[np.isfinite(game.fresh.gains)].tolist()
    return DialogueRow(
        **solved.figures,
        game=game.number,
        people=people,
        scenario=scenario,
        nodes=solved.tree.num_nodes,
        situations=len(solved.tree.infosets),
        threats=int((solved.threats > _THREAT).sum()),
        unguided_payoffs=solved.unguided_payoffs,
        guided_payoffs=solved.guided_payoffs,
        equilibrium_payoffs=solved.equilibrium_payoffs,
        fresh_gain=float(np.mean(fresh)) if fresh else None,
        why_void=None,
    )


def _list_advice(
    game: DialogueGame, number: int, solved: solving.SolvedDialogue
) -> Iterator[AdviceRow]:
    for index, infoset in enumerate(solved.tree.infosets):
        _, _, _, facts, *_ = json.loads(infoset.key)
        knows = "; ".join(
            (
                ", ".join(f"{item} {worth}" for item, worth in value.items())
                if isinstance(value, dict)
                else str(value)
            )
            for value in facts["private"].values()
        )
        heard = "nothing yet"
        if facts["said"]:
            seat, _, text = facts["said"][-1]
            who = "summary" if seat is None else game.names[seat]
            heard = f"{who}: {text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}"
        threat = float(solved.threats[index])
        yield AdviceRow(
            game=number,
            speaker=game.names[infoset.player],
            knows=knows,
            last_heard=heard,
            advice=_describe_mix(solved.policy, index),
            loss=float(solved.losses[index]),
            commitment=_describe_mix(solved.commitment, index),
            threat=f"a threat: loses {threat:.1%}" if threat > _THREAT else None,
        )


def _describe_mix(policy: Policy, index: int) -> str:
    """List the moves at an information set, the likeliest first."""
    first = policy.tree.first_move[index]
    moves = policy.tree.infosets[index].moves
    chances = zip(moves, policy.probabilities[first : first + len(moves)].tolist(), strict=True)
    return ", ".join(
        f"{move} {p:.2f}" for move, p in sorted(chances, key=lambda pair: -pair[1]) if p > _RARE
    )


def _list_dialogues(game: session.GameResult) -> Iterator[MessageRow]:
    """Hold a dialogue in words of the record with nobody guided, and with each speaker guided in
    turn."""
    names = game.game.names
    if game.recorded is None or game.solved is None:
        return
    for seat in (None, *range(min(_MOST_GUIDED, len(names)))):
        policy = solving.mixed_policy(
            game.solved.unguided, {} if seat is None else {seat: game.solved.policy}
        )
        nature = Nature(seat or 0)
        state = game.recorded.start()
        seated = {role: Guided(nature, policy, seat or 0) for role in game.recorded.roles}
        record = play(game.recorded, {NATURE: nature, **seated})
        for submission in record.submissions:
            state = game.recorded.apply(state, {submission.role: submission.decision.action})
        guided = f"{'nobody' if seat is None else names[seat]} is guided"
        lines = [f"{names[spoken.seat]} ({spoken.manner}): {spoken.text}" for spoken in state.said]
        payoffs = ", ".join(
            f"{name} {value:g}" for name, value in zip(names, record.payoffs.values(), strict=True)
        )
        for number, line in [*enumerate(lines, 1), ("payoffs", payoffs)]:
            yield MessageRow(game=game.number, message=str(number), guided=guided, text=line)


def _describe_ruling(ruling: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Say in words what a ruling found."""
    if "payoffs" in ruling:
        return f"payoffs {', '.join(f'{value:g}' for value in ruling['payoffs'])}"
    if "winner" in ruling:
        return (
            "undecided" if ruling["winner"] is None else f"{names[ruling['winner']]} argued better"
        )
    if "moves" in ruling:
        return "; ".join(
            f"{name} plays {move}" for name, move in zip(names, ruling["moves"], strict=True)
        )
    if not ruling["agreed"]:
        return "no agreement"
    if "terms" in ruling:
        return f"agreed on {', '.join(ruling['terms'].values())}"
    if "price" in ruling:
        return f"agreed on a price of {ruling['price']:g}"
    if "choice" in ruling:
        return f"agreed on {ruling['choice']}"
    return "; ".join(
        f"{name} gives {', '.join(f'{count} {item}' for item, count in gives.items()) or 'nothing'}"
        for name, gives in zip(names, ruling["gives"], strict=True)
    )


def _compare_referees(games: Sequence[session.GameResult]) -> Iterator[RefereeRow]:
    pairs = np.array([pair for game in games for pair in game.opinions.pairs]).reshape(-1, 2)
    void = sum(game.opinions.void for game in games)
    apart = np.abs(pairs[:, 0] - pairs[:, 1])
    if void or len(pairs):
        yield RefereeRow(
            payoffs=len(pairs),
            same=float(np.mean(apart < 1e-9)) if len(pairs) else None,
            distance=float(apart.mean()) if len(pairs) else None,
            alpha=krippendorff_alpha(pairs.T, "interval") if len(np.unique(pairs)) > 1 else None,
            void=void,
        )


def _measure_following(results: session.SteerResults) -> dict[str, Frame[Row]]:
    config = results.config
    manners = results.domain.manners(results.config.actions)
    pairs = [
        (game.number, *pair)
        for game in results.games
        for pair in Counter(game.followed.named).elements()
    ]
    hits = [float(manner == name) for _, manner, name in pairs]
    # The labelled messages are the same in every game, and each is asked about once.
    first = next((game.followed for game in results.games if game.followed.by), building.Followed())
    rows = []
    for classifier in config.classifiers:
        taken = classifier == (first.by or config.classifiers[0])
        tested = first.tested.get(classifier, ())
        row = FollowRow(
            classifier=classifier,
            taken="yes" if taken else "no",
            held_out=classifier != config.model,
            rate=None,
            chance=1 / len(manners.options),
            judged=0,
            labelled=len(tested),
            labelled_right=building.share_named_right(tested),
            unreadable=0,
        )
        if taken:
            row["rate"] = _average(results, hits, "follow", [number for number, _, _ in pairs])
            row["judged"] = len(hits)
            row["unreadable"] = sum(game.followed.unreadable for game in results.games)
        rows.append(row)
    counts = Counter((manner, name, False) for _, manner, name in pairs)
    counts.update(
        (manner, name or "unreadable", True) for manner, name in first.tested.get(first.by, ())
    )
    confused = [
        NamedRow(told=told, named=name, messages=times, labelled=labelled)
        for (told, name, labelled), times in sorted(counts.items())
    ]
    found = config.follow and hits
    return {
        "following": Frame(FollowRow, rows if found else []),
        "named": Frame(NamedRow, confused if found else []),
    }


def _list_choices(form: NormalForm) -> Iterator[GuidanceRow]:
    """List the payoffs of both for every pair of choices, and how likely it is in one
    equilibrium."""
    rows, columns = nash_one(form).strategies
    for (i, first), (j, second) in product(enumerate(form.actions[0]), enumerate(form.actions[1])):
        payoffs = f"{form.payoffs[0, i, j]:.3f}, {form.payoffs[1, i, j]:.3f}"
        yield GuidanceRow(
            first=first, second=second, payoffs=payoffs, probability=float(rows[i] * columns[j])
        )


def build_guidance_game(solved: Sequence[solving.SolvedDialogue]) -> NormalForm:
    """Build the game of choosing how to be guided: exact payoffs on the recorded trees, mean over
    games."""
    guided = {"guided": [dialogue.policy for dialogue in solved]}
    return build_choice_game([dialogue.unguided for dialogue in solved], guided)


def _evaluate_imitation(results: session.SteerResults, found: Imitation) -> dict[Heads, Evaluation]:
    """Evaluate every guide on the held-out games, those who follow nobody last."""
    groups: dict[Heads, Evaluation] = {}
    before = [tuple(policy_value(base.tree, base).values()) for base in found.unguided]
    unguided = [payoff for payoffs in before for payoff in payoffs]
    for guide, policies in found.evaluated.items():
        earned = [one.earned for one in policies]
        guided = [payoff for one in earned for payoff in one.payoffs]
        groups[guide,] = {
            "gain": _average(results, [one.gain for one in earned], f"{guide} gain"),
            "margin": _average(results, [one.margin for one in earned], f"{guide} margin"),
            "relative_gain": solving.compare_earnings(guided, unguided),
            "won": _average(results, [one.won for one in earned], f"{guide} won"),
            "nash_conv": _average(
                results, [one.nash_conv for one in policies], f"{guide} NashConv"
            ),
        }
    convs = [solving.judge_policy(base, base) for base in found.unguided]
    groups["unguided",] = {
        "gain": 0.0,
        "won": _average(results, [one.earned.won for one in convs], "unguided won"),
        "nash_conv": _average(results, [one.nash_conv for one in convs], "unguided NashConv"),
    }
    return groups


def _measure_imitation(
    results: session.SteerResults, found: Imitation | None
) -> dict[str, Frame[Row]]:
    """Say what was learnt from how much, and build the game between policies."""
    games = [_describe_game(game) for game in results.games]
    frames: dict[str, Frame[Any]] = {"games": Frame(DialogueRow, games)}
    if found is None:
        return frames
    row = LearningRow(
        games=found.games,
        situations=found.situations,
        numbers=found.network.width,
        embedding=results.config.embed,
        layers=" x ".join(str(len(bias)) for _, bias in found.network.layers[:-1]),
        learnt_loss=found.losses[0],
        held_out_loss=found.losses[1],
        held_out=len(found.unguided),
    )
    choices = list(_list_choices(found.build_game()))
    return {
        **frames,
        "learning": Frame(LearningRow, [row]),
        "guidance": Frame(GuidanceRow, choices),
    }


def _measure_psro(results: session.SteerResults, psro: PsroResult) -> dict[str, Frame[Row]]:
    players = [f"player {seat + 1}" for seat in range(len(psro.prompts))]
    rng = np.random.default_rng(split(results.config.seed, "psro intervals"))
    span = (results.domain.low, results.domain.high)
    intervals = find_intervals(psro.game, results.config.meta, rng=rng, span=span)
    solution = [
        SolutionRow(player=player, manner=manner, probability=mass, payoff=value)
        for player, manners, value, masses in zip(players, psro.prompts, *intervals, strict=True)
        for manner, mass in zip(manners, masses, strict=True)
    ]
    iterations = []
    candidates = []
    alone = psro.game.alone
    for number, step in enumerate(psro.history):
        for seat, player in enumerate(players):
            start = psro.history[0].prompts[seat]
            mix = step.solution.marginals[seat]
            payoffs = psro.game.means[seat][
                tuple(slice(None) if s == seat else a for s, a in enumerate(alone))
            ]
            used = dict(zip(step.prompts[seat], mix.tolist(), strict=True))
            earned = sum(
                chance * payoffs[psro.prompts[seat].index(manner)]
                for manner, chance in used.items()
            )
            new = sum(chance for manner, chance in used.items() if manner not in start)
            gain = float(earned - payoffs[alone[seat]])
            iterations.append(
                IterationRow(iteration=number, player=player, gain=gain, new_prompt_mass=new)
            )
        for response in step.responses:
            rejected = [Candidate(name, math.nan, math.nan, 0) for name in response.rejected]
            for candidate in (*response.tried, *rejected):
                outcome = (
                    "added"
                    if candidate == response.best
                    else "not better"
                    if candidate.plays
                    else "rejected"
                )
                candidates.append(
                    CandidateRow(
                        iteration=number,
                        player=players[response.seat],
                        manner=candidate.manner,
                        score=candidate.score if candidate.plays else None,
                        plays=candidate.plays,
                        outcome=outcome,
                    )
                )
    return {
        "solution": Frame(SolutionRow, solution),
        "iterations": Frame(IterationRow, iterations),
        "manners": Frame(MannerRow, list(_list_manners(psro, players))),
        "profiles": Frame(ProfileRow, list(_list_profiles(psro, players))),
        "candidates": Frame(CandidateRow, candidates),
    }


def _list_manners(psro: PsroResult, players: Sequence[str]) -> Iterator[MannerRow]:
    """List every iteration's equilibrium over all manners, as in figure 3 of the published
    study."""
    entered: dict[tuple[str, str], int] = {}
    for number, step in enumerate(psro.history):
        seats = zip(players, step.prompts, step.solution.marginals, strict=True)
        for player, manners, mix in seats:
            for manner, probability in zip(manners, mix.tolist(), strict=True):
                yield MannerRow(
                    iteration=number,
                    player=player,
                    manner=manner,
                    probability=probability,
                    entered=entered.setdefault((player, manner), number),
                )


def _list_profiles(psro: PsroResult, players: Sequence[str]) -> Iterator[ProfileRow]:
    errors = psro.game.errors
    counts = psro.game.counts
    for seat, player in enumerate(players):
        for profile in np.ndindex(psro.game.means.shape[1:]):
            mean = float(psro.game.means[seat][profile])
            error = float(errors[seat][profile])
            first, *others = (prompts[k] for prompts, k in zip(psro.prompts, profile, strict=True))
            shown = f"{mean:.2f} ± {error:.2f}" if math.isfinite(error) else f"{mean:.2f}"
            yield ProfileRow(
                player=player,
                first=first,
                others=", ".join(others),
                plays=int(counts[profile]),
                payoff=mean,
                error=error if math.isfinite(error) else None,
                shown=shown,
            )


_MOST_TREES = 20
"""So many trees of a run are written as files."""
_MOST_NODES = 20_000
"""Larger trees are not written as files: every situation is a text."""
_MOST_ENDS = 70
"""A tree with more ends cannot be read."""


def run_steering(
    config: SteerConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution
) -> Outcome:
    """Ask for every text that is not on record, solve, and evaluate; what cannot be finished is
    refused before."""
    path = _find_store(config, models, folder.path)
    need, nodes = session.estimate_run(
        config, models, building.AnswerStore(building.read_answers(path))
    )
    session.check_budget(
        config, models, need, nodes, Budget() if config.cut_short else config.limits.budget
    )
    job = Job(steer, config, models, how.workers, how.shared)
    prompts = folder.manifest.prompts
    with (
        building.open_answers(path, models, prompts) as (answers, recording),
        lend_workers(how.executor, job),
    ):
        return session.run(
            config,
            recording,
            answers,
            workers=how.workers,
            on_progress=how.on_progress,
            train=None,
        )[1]


def _find_store(config: SteerConfig, models: Mapping[str, Model], path: Path) -> Path:
    """Return the store of answers beside a run, by who is asked what."""
    return session.locate_store(
        config, {name: model.identity for name, model in models.items()}, path.parent
    )


def estimate_all(config: SteerConfig) -> Estimate:
    """Count the calls of a run with nothing on record yet."""
    models: dict[str, Model] = {
        name: RecordedModel(name, {}, Abilities()) for name in config.models
    }
    return session.estimate_run(config, models, building.AnswerStore())[0]


def estimate_rest(config: SteerConfig, models: Mapping[str, Model], path: Path) -> Estimate:
    """Count what the store of answers does not hold yet."""
    return session.estimate_run(
        config,
        models,
        building.AnswerStore(building.read_answers(_find_store(config, models, path))),
    )[0]


def locate_calls(folder: RunFolder) -> Path:
    """Return the calls of the store of answers, which runs that ask the same of the same models
    share."""
    try:
        config = SteerConfig.from_json(folder.manifest.config)
        return session.find_answers(config, folder.manifest, folder.path.parent) / "calls.jsonl"
    except BestResponseError:
        return folder.path / "calls.jsonl"


def replay_answers(config: SteerConfig, folder: RunFolder) -> Replay:
    """Ask everything again, of models that give only the replies on record; compare the answers."""
    path = session.find_answers(config, folder.manifest, folder.path.parent)
    recorded = building.read_answers(path)
    answers = building.AnswerStore(Book(entry for entry in recorded.entries if entry.by == PERSON))
    try:
        _, outcome = session.run(config, recorded_models(RunFolder(path, folder.manifest)), answers)
    except BestResponseError as error:
        return Replay(0, (f"the run cannot be made again: {error}",), "answers")
    compared = [(entry, recorded.get(entry.key, entry.number)) for entry in answers.book.entries]
    different = [
        f"{entry.by}, draw {entry.number} of {entry.key}: {repr(entry.text)[:80]}, recorded "
        + ("none" if before is None else repr(before.text)[:80])
        for entry, before in compared
        if entry != before
    ]
    same = sum(entry == before for entry, before in compared)
    return Replay(same, (*outcome.failures, *different), "answers")


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
        caption=_PROSE["policy"],
    )(measured)
    shown = [] if advice is None else [advice]
    tree = first.solved.tree
    if len(tree.leaves) <= _MOST_ENDS:
        path = frozenset(np.flatnonzero(solving.find_reach(first.solved.policy) > _RARE).tolist())
        words = (
            "The dialogues of the game by the manners that were chosen; thick where all follow the"
            " policy"
        )
        ends = ", ".join(f"{value:.2f}" for value in first.solved.equilibrium_payoffs)
        picture = Figure(draw_tree(tree, path=path), words, f"{words}; it earns {ends}")
        shown.append(Shown(f"The tree of game {first.number}", (picture,)))
    view = first.game.view(first.game.start(), REFEREE)
    quotes = (
        Quote(words, name) for name, words in zip(first.game.names, view.facts["told"], strict=True)
    )
    briefing: tuple[Block, ...] = (Paragraph(write_rules(view)), *quotes)
    beside = pivot("dialogues", "message", "guided", "text", caption="The same game, side by side")(
        measured
    )
    return [*shown, Shown("Dialogues", (*briefing, *(beside.blocks if beside else ())))]


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
    situations = tuple(
        one for policy, unguided in pairs for one in list_situations(policy, unguided)
    )
    found = results.imitation
    return Adviser(
        domain=results.domain,
        manners=config.actions,
        replies=config.replies,
        policy=config.policy if found is None else "cfr",
        situations=situations,
        network=None if found is None else found.network,
        embed=config.embed,
    )


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

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
    estimate_rest=estimate_rest,
    make_run=run_steering,
    repeat_run=replay_answers,
    locate_calls=locate_calls,
    more_files=write_more,
    report=(
        text(_PROSE["stopped"], kind="warning"),
        metrics_table("What guidance earns"),
        table("policies", caption=_PROSE["policies"]),
        table("following", caption="Whether messages show their manner"),
        pivot(
            "named",
            "told",
            "named",
            "messages",
            where={"labelled": False},
            title="Whether messages show their manner",
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
        text(_PROSE["published"], title="Beside the published study"),
        table("guidance", title="Beside the published study", caption=_PROSE["guidance"]),
        table("learning", title="What was learnt", caption=_PROSE["learning"]),
        scatter("games", "gain", "fresh_gain", title="Games", caption=_PROSE["fresh"]),
        table(
            "games",
            (
                "game",
                "people",
                *(metric.name for metric in METRICS),
                "situations",
                "threats",
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
            "rejected_scenarios", title="Who wrote the games", caption="Why scenarios were rejected"
        ),
        table("rulings", title="What was ruled", caption="Rulings", most=20),
        table("agreement", title="What was ruled", caption="Two referees on the same dialogues"),
        table("unread", title="What was ruled", caption=_PROSE["unread"], most=10),
    ),
)
"""What a speaker gains when an equilibrium solver chooses how it speaks."""
