"""The report of a run solved by counterfactual regret minimisation: games, policy, dialogues, imitation, readings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bestresponse.core.ask import Choice, Lottery
from bestresponse.core.episode import Episode
from bestresponse.core.game import REFEREE
from bestresponse.core.player import Decision, Nature
from bestresponse.games.dialogue.game import Dialogue, DialogueGame
from bestresponse.games.dialogue.recorded import RecordedDialogue
from bestresponse.players.dialogue.speaker import Guided
from bestresponse.report.document import (
    Block,
    Cell,
    Column,
    Figure,
    KeyValues,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.report.figures import charts as figures
from bestresponse.report.figures.tree import draw_tree
from bestresponse.report.stats.interval import Interval
from bestresponse.studies.steer.playing import GameResult
from bestresponse.studies.steer.reading.imitation import Imitation, Played
from bestresponse.studies.steer.reading.opinions import pooled
from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.solving import find_reach, mixed_policy
from bestresponse.studies.steer.summary import follow_interval, fresh_worth, imitation_worth, shown, unread

__all__ = ["cfr_sections"]

_EXAMPLES = 3
_MOST_GAMES = 200
_FEWEST_DOTS = 4
_LONGEST = 200
_MOST_RULINGS = 20
_MOST_ENDS = 70
_RARE = 0.005


def cfr_sections(steered: SteerResults) -> list[Section]:
    """Everything after the headline."""
    sections = [_games_section(steered)]
    if steered.solved:
        first = steered.solved[0]
        sections += [_policy_section(first), *_tree_sections(first), _examples_section(first)]
    if steered.imitation is not None:
        sections.append(_imitation_section(steered, steered.imitation))
    if steered.config.follow:
        sections.append(_follow_section(steered))
    sections.append(_reading_section(steered))
    return sections


def _imitation_section(steered: SteerResults, found: Imitation) -> Section:
    told = (
        f"A network of two layers of 256 units, reading {_READS[steered.config.embed]}, learned the policies of "
        f"{found.trained_on} games ({found.information_sets} information sets) in {found.steps} steps and was played "
        f"on {found.held_out} games that it has not seen, against unguided speakers. Beside it: the mean policy of the "
        "same games, which does not read what is said, and the equilibrium of each held-out game itself, on its own "
        "texts, which it was fitted to, and on fresh ones."
    )
    fresh = fresh_worth(steered, steered.held_out)
    worths = [
        ("network", imitation_worth(steered, found.network, "network")),
        ("average policy", imitation_worth(steered, found.average, "average")),
        ("equilibrium, its own texts", imitation_worth(steered, found.solver, "solver")),
        ("equilibrium, fresh texts", fresh),
    ]
    rows = tuple((name, shown(worth.gain), shown(worth.margin)) for name, worth in worths if worth.gain is not None)
    columns = (Column("speaker"), Column("gain", "right", format=".3f"), Column("margin", "right", format=".3f"))
    drawn = [(name, worth.gain) for name, worth in worths if worth.gain is not None]
    picture = figures.intervals(drawn, x_label="gain over unguided speech")
    caption = "Gain on held-out games, with 95 % intervals over games"
    losses = (
        ("cross entropy on the games learned from", found.losses[0]),
        ("cross entropy on held-out games", found.losses[1]),
    )
    return Section(
        "Imitation",
        (
            Paragraph(told),
            Table(columns, rows),
            Figure(picture, caption, _spoken(caption, drawn)),
            KeyValues(losses, format=".3f"),
            *_transfer_table(steered, found.elsewhere, columns),
        ),
    )


def _transfer_table(steered: SteerResults, found: Played | None, columns: tuple[Column, ...]) -> list[Block]:
    """Show what the network earns in a domain that it has not learned from."""
    if found is None:
        return []
    people = (
        ("network", found.network),
        ("average policy", found.average),
        ("equilibrium of the game itself", found.solver),
    )
    worths = [(name, imitation_worth(steered, own, f"transfer {name}")) for name, own in people]
    rows = tuple((name, shown(worth.gain), shown(worth.margin)) for name, worth in worths)
    caption = f"Transfer: what was learned from {steered.domain.name} played in {steered.config.transfer}"
    return [Table(columns, rows, f"{caption}, {len(found.network)} games")]


_READS = {"words": "hashed words", "minilm": "MiniLM sentence vectors"}


def _spoken(caption: str, rows: list[tuple[str, Interval]]) -> str:
    return f"{caption}: " + "; ".join(f"{name} {value:.3f}" for name, value in rows)


def _follow_section(steered: SteerResults) -> Section:
    config, rate = steered.config, follow_interval(steered)
    classifier = config.classifier or config.judge or config.model
    if classifier == config.model:
        who = f"{classifier}, the speaker's own model; name another by --classifier for a held-out judgement"
    elif classifier in _READS:
        who = f"a network on {_READS[classifier]}, trained on the messages of other games"
    else:
        who = classifier
    named = sum((Counter(one.followed.named) for one in steered.games), Counter[tuple[str, str]]())
    manners = steered.domain.manners(config.actions)
    told = [manner for manner in manners.options if manner != manners.neutral]
    columns = (Column("told"), *(Column(f"named {manner}", "right") for manner in manners.options))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (manner, *(named[manner, other] for other in manners.options)) for manner in told
    )
    values: tuple[tuple[str, Cell], ...] = (
        ("messages in the manner they were told", shown(rate)),
        ("by chance", 1 / len(manners.options)),
        ("messages judged", str(named.total())),
        ("left unreadable", str(sum(one.followed.unreadable for one in steered.games))),
        ("classifier", who),
    )
    return Section("Whether messages show their manner", (KeyValues(values, format=".3f"), Table(columns, rows)))


def _games_section(steered: SteerResults) -> Section:
    columns = (
        Column("game", "right"),
        Column("people"),
        Column("nodes", "right"),
        Column("information sets", "right"),
        Column("NashConv", "right", "what all speakers could gain by deviating alone from the policy", ".4f"),
        Column("unguided NashConv", "right", "the same when nobody is guided", ".3f"),
        Column("gain", "right", "on the recorded texts: what guidance gains a speaker among unguided ones", ".3f"),
        Column("attainable", "right", "the most that the gain can be in an equilibrium", ".3f"),
        Column("best reply", "right", "what best replies to unguided partners gain, in equilibrium or not", ".3f"),
        Column("margin", "right", "on the recorded texts: the guided speaker minus the unguided ones", ".3f"),
        Column("fresh gain", "right", "the gain in dialogues with fresh texts, mean over draws", ".3f"),
        Column("void because"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in steered.games[:_MOST_GAMES]:
        people, solved = ", ".join(one.game.names), one.solved
        if solved is None:
            rows.append((one.number, people, *[None] * 9, one.why_void[:200]))
            continue
        sizes = (solved.tree.num_nodes, len(solved.tree.infosets))
        gains = (solved.gain, solved.attainable_gain, solved.best_response_gain, solved.margin, _fresh_gain(one))
        rows.append((one.number, people, *sizes, solved.nash_conv, solved.unguided_nash_conv, *gains, None))
    return Section("Games", (*_gains_figure(steered), Table(columns, tuple(rows))))


def _gains_figure(steered: SteerResults) -> list[Block]:
    """The gain of every game, on recorded and on fresh texts."""
    if len(steered.solved) < _FEWEST_DOTS:
        return []
    groups = {"recorded texts": [one.solved.gain for one in steered.solved if one.solved]}
    fresh = [one.fresh.gains[np.isfinite(one.fresh.gains)] for one in steered.solved if one.fresh is not None]
    means = [float(gains.mean()) for gains in fresh if gains.size]
    if means:
        groups["fresh texts"] = means
    picture = figures.distribution(groups, x_label="gain of a guided speaker, one dot a game")
    told = "What a guided speaker gains in each game: dots, quartiles, and the mean as a diamond"
    return [Figure(picture, told, told)]


def _fresh_gain(one: GameResult) -> float | None:
    gains = [] if one.fresh is None else one.fresh.gains[np.isfinite(one.fresh.gains)].tolist()
    return float(np.mean(gains)) if gains else None


def _policy_section(one: GameResult) -> Section:
    if one.solved is None:
        return Section("Policy")
    tree, policy = one.solved.tree, one.solved.policy
    rows = []
    for index, infoset in enumerate(tree.infosets[:40]):
        first = tree.first_move[index]
        chances = policy.probabilities[first : first + len(infoset.moves)].tolist()
        order = sorted(zip(infoset.moves, chances, strict=True), key=lambda pair: -pair[1])
        told = ", ".join(f"{move} {p:.2f}" for move, p in order if p > 0.005)
        rows.append((one.game.names[infoset.player], *_situation(infoset.key, one.game), told))
    columns = (Column("speaker"), Column("knows"), Column("last heard"), Column("how to speak"))
    return Section(f"The policy of game {one.number}", (Table(columns, tuple(rows)),))


def _situation(key: str, game: DialogueGame) -> tuple[str, str]:
    """What a speaker knows alone, and the last message."""
    _, _, _, facts, *_ = json.loads(key)
    knows = "; ".join(
        ", ".join(f"{item} {worth}" for item, worth in value.items()) if isinstance(value, dict) else str(value)
        for value in facts["private"].values()
    )
    if not facts["said"]:
        return knows, "nothing yet"
    seat, _, text = facts["said"][-1]
    return knows, f"{game.names[seat]}: {text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}"


def _tree_sections(one: GameResult) -> list[Section]:
    """Draw the tree of a game with the branches that the policy takes; nothing where it is too large to be read."""
    if one.solved is None or len(one.solved.tree.leaves) > _MOST_ENDS:
        return []
    taken = find_reach(one.solved.policy)
    path = frozenset(np.flatnonzero(taken > _RARE).tolist())
    told = "The dialogues of the game by the manners that were chosen; thick where all follow the policy"
    ends = ", ".join(f"{value:.2f}" for value in one.solved.equilibrium_payoffs)
    picture = draw_tree(one.solved.tree, path=path)
    return [Section(f"The tree of game {one.number}", (Figure(picture, told, f"{told}; it earns {ends}"),))]


def _examples_section(one: GameResult) -> Section:
    """Show a dialogue of the first game in which nobody is guided beside those in which one speaker is."""
    told = one.game.view(one.game.start(), REFEREE)
    held = [_hold(one, seat) for seat in (None, *range(min(_EXAMPLES, one.game.domain.players)))]
    columns = (Column("message", "right"), *(Column(f"{title} is guided") for title, _ in held))
    longest = max(len(said) for _, said in held)
    rows = tuple(
        (str(number + 1) if number + 1 < longest else "payoffs", *(_pick(said, number, longest) for _, said in held))
        for number in range(longest)
    )
    return Section(
        "Dialogues",
        (
            Paragraph(told.briefing),
            *(Quote(text, name) for name, text in zip(one.game.names, told.facts["told"], strict=True)),
            Paragraph("The guided speaker follows the policy, the others speak unguided; texts are from the record."),
            Table(columns, rows, "The same game, side by side"),
        ),
    )


def _pick(said: list[str], number: int, longest: int) -> str:
    """Return a message of a dialogue, or its payoffs on the last line of the longest one."""
    if number + 1 == longest:
        return said[-1]
    return said[number] if number + 1 < len(said) else ""


def _hold(one: GameResult, seat: int | None) -> tuple[str, list[str]]:
    """Hold a dialogue in words of the record; return who is guided, the messages and, last, the payoffs."""
    if one.recorded is None or one.solved is None:
        return "", [""]
    policy = mixed_policy(one.solved.unguided, {} if seat is None else {seat: one.solved.policy})
    nature = Nature(seat or 0)
    episode = Episode(one.recorded)
    while pending := episode.pending:
        for role, ask in pending.items():
            player = nature if role == nature.name else Guided(nature, policy, seat or 0)
            episode.submit(role, Decision(player.decide(episode.view(role), ask).action))
    names, payoffs = one.game.names, one.recorded.payoffs(episode.state).values()
    said = [f"{names[spoken.seat]} ({spoken.manner}): {spoken.text}" for spoken in episode.state.said]
    earned = ", ".join(f"{name} {value:g}" for name, value in zip(names, payoffs, strict=True))
    return "nobody" if seat is None else names[seat], [*said, earned]


def _rulings_table(steered: SteerResults) -> list[Block]:
    """List what the referee ruled, the commonest first, and how often."""
    rulings: Counter[str] = Counter()
    for one in steered.solved:
        if one.recorded is not None:
            ends = _list_endings(one.recorded)
            rulings.update(_describe_ruling(json.loads(end.ruling), one.game.names) for end in ends)
    rows = tuple(rulings.most_common(_MOST_RULINGS))
    return [Table((Column("ruling"), Column("dialogues", "right")), rows, "Rulings")] if rows else []


def _list_endings(game: RecordedDialogue) -> Iterator[Dialogue]:
    """Yield every dialogue on record that came to an end."""
    stack = [game.start()]
    while stack:
        state = stack.pop()
        if state.over:
            yield state
        for role, ask in game.asks(state).items():
            match ask:
                case Choice(options):
                    stack += [game.apply(state, {role: option}) for option in options]
                case Lottery(chances):
                    stack += [game.apply(state, {role: outcome}) for outcome, _ in chances]


def _describe_ruling(ruling: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Say in words what a ruling found."""
    if "payoffs" in ruling:
        return f"payoffs {', '.join(f'{value:g}' for value in ruling['payoffs'])}"
    if "winner" in ruling:
        return "undecided" if ruling["winner"] is None else f"{names[ruling['winner']]} argued better"
    if "moves" in ruling:
        return "; ".join(f"{name} plays {move}" for name, move in zip(names, ruling["moves"], strict=True))
    if not ruling["agreed"]:
        return "no agreement"
    if "terms" in ruling:
        return f"agreed on {', '.join(ruling['terms'].values())}"
    if "price" in ruling:
        return f"agreed on a price of {ruling['price']:g}"
    if "choice" in ruling:
        return f"agreed on {ruling['choice']}"
    gives = (
        f"{name} gives {', '.join(f'{count} {item}' for item, count in own.items()) or 'nothing'}"
        for name, own in zip(names, ruling["gives"], strict=True)
    )
    return "; ".join(gives)


def _reading_section(steered: SteerResults) -> Section:
    kinds = Counter((entry.by, entry.reading.status.value) for entry in steered.entries)
    columns = (Column("answers of"), Column("reading"), Column("number", "right"))
    blocks: list[Block] = [
        Paragraph("An answer that cannot be read is void: its wording is not drawn and no payoff is put in its place."),
        Table(columns, tuple((by, status, count) for (by, status), count in sorted(kinds.items()))),
    ]
    blocks += _rulings_table(steered)
    reasons = Counter(entry.reading.how for entry in unread(steered))
    if reasons:
        rows = tuple((how[:160], count) for how, count in reasons.most_common(10))
        blocks.append(Table((Column("why unreadable"), Column("number", "right")), rows))
    opinions = pooled([one.opinions for one in steered.games])
    if opinions.pairs or opinions.void:
        blocks.append(
            KeyValues(
                (
                    ("payoffs ruled on by both referees", str(len(opinions.pairs))),
                    ("the same", opinions.same),
                    ("mean absolute difference", opinions.distance),
                    ("Krippendorff's alpha", opinions.alpha),
                    ("dialogues the second referee left void", str(opinions.void)),
                ),
                format=".3f",
            )
        )
    return Section("How the answers were read", tuple(blocks))
