"""The frames of solved dialogues: policies, advice, talks, rulings and whether manners show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, TypedDict, get_args

import numpy as np

from bestresponse.core.episode import play
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Nature
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.players.dialogue.speaker import Guided
from bestresponse.report.frames import Frame, Row, Value, column
from bestresponse.report.stats.agreement import krippendorff_alpha
from bestresponse.studies.steer import session, solving
from bestresponse.studies.steer.config import PolicyName
from bestresponse.studies.steer.evaluating import average_games
from bestresponse.studies.steer.following import Followed, list_dialogue_states, share_named_right
from bestresponse.studies.steer.imitation import Imitation, build_choice_game
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Policy

_LONGEST = 200
RARE = 0.005  # moves with less probability are not worth a reader's time
_MOST_GUIDED = 3
_NASH_CONV = "sum over speakers of the gain from a unilateral deviation; 0 at an equilibrium"
_PUBLISHED = {"debate": (0.024, 0.106), "meeting": (0.417, 1.596)}
"""NashConv and CFR gain of the published study (Gemp et al. 2024, appendix J, table 1), by
domain."""


class DialogueRow(solving.GuidanceMetrics, total=False):
    """One game, with its metrics on the recorded texts; a void one has a reason and no metrics."""

    game: int
    people: str
    scenario: list[JsonObject]
    nodes: int
    situations: Annotated[
        int, column(help="different situations in which somebody chooses a manner")
    ]
    unguided_payoffs: Sequence[float]
    guided_payoffs: Sequence[float]
    equilibrium_payoffs: Sequence[float]
    fresh_gain: Annotated[
        float | None, column("", ".3f", "the gain in dialogues with fresh texts, mean over draws")
    ]
    why_void: Annotated[str | None, column("void because")]


class PolicyRow(TypedDict):
    """One policy on the recorded texts, mean over games.

    `published` is table 1 of the published study.
    """

    policy: str
    followed: Annotated[str, column(help="whether the run follows this policy")]
    nash_conv: Annotated[Value, column("NashConv", ".3f", _NASH_CONV)]
    gain: Annotated[
        Value, column("", ".3f", "compared with speaking unguided to unguided partners")
    ]
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
        float,
        column("", ".4f", "what the recommendation loses there, as a share of the payoff range"),
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
    """Whether messages show the manner that they were told.

    A classifier that was tested and not taken has only what the test says.
    """

    classifier: str
    taken: Annotated[str, column(help="whether this classifier named the manners of messages")]
    held_out: Annotated[
        bool, column(help="whether the classifier is another model than the speaker's")
    ]
    rate: Annotated[Value, column("messages written in the instructed manner", ".3f")]
    chance: Annotated[float, column("by chance", ".3f")]
    judged: int
    unreadable: int
    labelled: Annotated[
        int, column("labelled messages", help="messages of the domain whose manner is known")
    ]
    labelled_right: Annotated[
        float | None, column("of these recognised", ".3f", "how accurate the classifier itself is")
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

    games: Annotated[int, column("training games")]
    situations: Annotated[int, column("training situations")]
    numbers: Annotated[int, column("numbers per situation")]
    embedding: str
    layers: Annotated[str, column("hidden layers")]
    learnt_loss: Annotated[float, column("cross entropy", ".3f", "on the training games")]
    held_out_loss: Annotated[float, column("cross entropy, held-out games", ".3f")]
    held_out: Annotated[int, column("held-out games")]


def count_rows(counts: Counter[str]) -> Frame[CountRow]:
    """Return how often each thing came up, the most frequent first."""
    rows = [CountRow(what=what, times=times) for what, times in counts.most_common()]
    return Frame(CountRow, rows)


def measure_cfr(results: session.SteerResults) -> dict[str, Frame[Row]]:
    """Build the frames of solved trees."""
    games = results.games
    advice: list[AdviceRow] = []
    rulings: Counter[str] = Counter()
    for game in games:
        if game.solved is None:
            continue
        advice += _list_advice(game.game, game.number, game.solved)
        if game.recorded is not None:
            for state in list_dialogue_states(game.recorded):
                if state.over:
                    ruling = json.loads(state.ruling)
                    rulings[_describe_ruling(ruling, game.game.names)] += 1
    first = next((game for game in games if game.solved is not None), None)
    dialogues = [] if first is None else list(_list_dialogues(first))
    choices: list[GuidanceRow] = []
    if results.solved and results.solved[0].tree.num_players == 2:
        choices = list(_list_choices(build_guidance_game(results.solved)))
    return {
        "games": Frame(DialogueRow, [_describe_game(game) for game in games]),
        "policies": Frame(PolicyRow, list(_list_policies(results))),
        "policy": Frame(AdviceRow, advice),
        "dialogues": Frame(MessageRow, dialogues),
        "rulings": count_rows(rulings),
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
            nash_conv=average_games(results, convs),
            gain=average_games(results, gains),
            published_nash_conv=beside[0],
            published_gain=beside[1],
        )
    unguided: list[Any] = [dialogue.metrics["unguided_nash_conv"] for dialogue in solved]
    yield PolicyRow(
        policy="unguided",
        followed="no",
        nash_conv=average_games(results, unguided),
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
        return DialogueRow(
            game=game.number,
            people=people,
            scenario=scenario,
            why_void=void,
        )
    fresh: list[float] = []
    if game.fresh is not None:
        gains = game.fresh.gains
        fresh += gains[np.isfinite(gains)].tolist()
    return DialogueRow(
        **solved.metrics,
        game=game.number,
        people=people,
        scenario=scenario,
        nodes=solved.tree.num_nodes,
        situations=len(solved.tree.infosets),
        unguided_payoffs=solved.unguided_payoffs,
        guided_payoffs=solved.guided_payoffs,
        equilibrium_payoffs=solved.equilibrium_payoffs,
        fresh_gain=float(np.mean(fresh)) if fresh else None,
        why_void=None,
    )


def _list_advice(
    game: DialogueGame,
    number: int,
    solved: solving.SolvedDialogue,
) -> Iterator[AdviceRow]:
    for index, infoset in enumerate(solved.tree.infosets):
        _, _, _, facts, *_ = json.loads(infoset.key)
        private = []
        for value in facts["private"].values():
            if isinstance(value, dict):
                value = ", ".join(f"{item} {worth}" for item, worth in value.items())
            private.append(str(value))
        heard = "nothing yet"
        if facts["said"]:
            seat, _, text = facts["said"][-1]
            who = "summary" if seat is None else game.names[seat]
            heard = f"{who}: {text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}"
        yield AdviceRow(
            game=number,
            speaker=game.names[infoset.player],
            knows="; ".join(private),
            last_heard=heard,
            advice=_describe_mix(solved.policy, index),
            loss=float(solved.losses[index]),
        )


def _describe_mix(policy: Policy, index: int) -> str:
    """List the moves at an information set, the likeliest first."""
    first = policy.tree.first_move[index]
    moves = policy.tree.infosets[index].moves
    mix = policy.probabilities[first : first + len(moves)].tolist()
    chances = sorted(zip(moves, mix, strict=True), key=lambda pair: -pair[1])
    return ", ".join(f"{move} {chance:.2f}" for move, chance in chances if chance > RARE)


def _list_dialogues(game: session.GameResult) -> Iterator[MessageRow]:
    """Hold a dialogue in recorded words with nobody guided, then with each speaker guided."""
    names = game.game.names
    if game.recorded is None or game.solved is None:
        return
    for seat in (None, *range(min(_MOST_GUIDED, len(names)))):
        advised = {} if seat is None else {seat: game.solved.policy}
        policy = solving.mixed_policy(game.solved.unguided, advised)
        nature = Nature(seat or 0)
        state = game.recorded.start()
        seated = {role: Guided(nature, policy, seat or 0) for role in game.recorded.roles}
        record = play(game.recorded, {NATURE: nature, **seated})
        for submission in record.submissions:
            state = game.recorded.apply(state, {submission.role: submission.decision.action})
        guided = f"{'nobody' if seat is None else names[seat]} is guided"
        lines = [f"{names[spoken.seat]} ({spoken.manner}): {spoken.text}" for spoken in state.said]
        earned = zip(names, record.payoffs.values(), strict=True)
        payoffs = ", ".join(f"{name} {value:g}" for name, value in earned)
        for number, line in [*enumerate(lines, 1), ("payoffs", payoffs)]:
            yield MessageRow(
                game=game.number,
                message=str(number),
                guided=guided,
                text=line,
            )


def _describe_ruling(ruling: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Say in words what a ruling found."""
    if "payoffs" in ruling:
        return f"payoffs {', '.join(f'{value:g}' for value in ruling['payoffs'])}"
    if "winner" in ruling:
        if ruling["winner"] is None:
            return "undecided"
        return f"{names[ruling['winner']]} argued better"
    if "moves" in ruling:
        moves = zip(names, ruling["moves"], strict=True)
        return "; ".join(f"{name} plays {move}" for name, move in moves)
    if not ruling["agreed"]:
        return "no agreement"
    if "terms" in ruling:
        return f"agreed on {', '.join(ruling['terms'].values())}"
    if "price" in ruling:
        return f"agreed on a price of {ruling['price']:g}"
    if "choice" in ruling:
        return f"agreed on {ruling['choice']}"
    given = []
    for name, gives in zip(names, ruling["gives"], strict=True):
        items = ", ".join(f"{count} {item}" for item, count in gives.items())
        given.append(f"{name} gives {items or 'nothing'}")
    return "; ".join(given)


def _compare_referees(games: Sequence[session.GameResult]) -> Iterator[RefereeRow]:
    pairs = np.array([pair for game in games for pair in game.opinions.pairs]).reshape(-1, 2)
    void = sum(game.opinions.void for game in games)
    if not void and not len(pairs):
        return
    row = RefereeRow(
        payoffs=len(pairs),
        same=None,
        distance=None,
        alpha=None,
        void=void,
    )
    if len(pairs):
        apart = np.abs(pairs[:, 0] - pairs[:, 1])
        row["same"] = float(np.mean(apart < 1e-9))
        row["distance"] = float(apart.mean())
    if len(np.unique(pairs)) > 1:
        row["alpha"] = krippendorff_alpha(pairs.T, "interval")
    yield row


def _measure_following(results: session.SteerResults) -> dict[str, Frame[Row]]:
    config = results.config
    manners = results.domain.manners(results.config.actions)
    pairs = []
    for game in results.games:
        for manner, name in Counter(game.followed.named).elements():
            pairs.append((game.number, manner, name))
    hits = [float(manner == name) for _, manner, name in pairs]
    # The labelled messages are the same in every game, and each is asked about once.
    first = next((game.followed for game in results.games if game.followed.by), Followed())
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
            labelled_right=share_named_right(tested),
            unreadable=0,
        )
        if taken:
            row["rate"] = average_games(
                results,
                hits,
                [number for number, _, _ in pairs],
            )
            row["judged"] = len(hits)
            row["unreadable"] = sum(game.followed.unreadable for game in results.games)
        rows.append(row)
    counts = Counter((manner, name, False) for _, manner, name in pairs)
    for manner, named in first.tested.get(first.by, ()):
        counts[manner, named or "unreadable", True] += 1
    confused = []
    for (told, name, labelled), times in sorted(counts.items()):
        confused.append(NamedRow(told=told, named=name, messages=times, labelled=labelled))
    found = config.follow and hits
    return {
        "following": Frame(FollowRow, rows if found else []),
        "named": Frame(NamedRow, confused if found else []),
    }


def _list_choices(form: NormalForm) -> Iterator[GuidanceRow]:
    """List both payoffs and an equilibrium probability for every pair of choices."""
    rows, columns = nash_one(form).strategies
    for (i, first), (j, second) in product(enumerate(form.actions[0]), enumerate(form.actions[1])):
        payoffs = f"{form.payoffs[0, i, j]:.3f}, {form.payoffs[1, i, j]:.3f}"
        probability = float(rows[i] * columns[j])
        yield GuidanceRow(
            first=first,
            second=second,
            payoffs=payoffs,
            probability=probability,
        )


def build_guidance_game(solved: Sequence[solving.SolvedDialogue]) -> NormalForm:
    """Build the game of choosing how to be guided.

    Its payoffs are exact on the recorded trees, and are the mean over games.
    """
    guided = {"guided": [dialogue.policy for dialogue in solved]}
    return build_choice_game([dialogue.unguided for dialogue in solved], guided)


def measure_imitation(
    results: session.SteerResults, found: Imitation | None
) -> dict[str, Frame[Row]]:
    """Say what was learnt from how much, and build the game between policies."""
    games = [_describe_game(game) for game in results.games]
    frames: dict[str, Frame[Any]] = {"games": Frame(DialogueRow, games)}
    if found is None:
        return frames
    widths = [str(len(bias)) for _, bias in found.network.layers[:-1]]
    row = LearningRow(
        games=found.games,
        situations=found.situations,
        numbers=found.network.width,
        embedding=results.config.embed,
        layers=" x ".join(widths),
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
