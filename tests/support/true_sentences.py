"""Sentences about games that are true (or false) by construction, in words that were not taken from
the grammar.

Each template computes what it says from the payoffs. Some speak of differences, frequencies,
smaller games or other people's beliefs, where a reader that passes over a word finds something
false; some carry a clause that distracts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bestresponse.theory.games.normal_form import NormalForm

NAMES = (
    (("cooperate", "defect"), ("cooperate", "defect")),
    (("Up", "Down"), ("Left", "Right")),
    (("top", "middle", "bottom"), ("left", "centre", "right")),
    (("hawk", "dove"), ("hawk", "dove")),
    (("Invest", "Wait"), ("Invest", "Wait")),
    (("X", "Y", "Z"), ("X", "Y", "Z")),
    (("stay silent", "confess"), ("stay silent", "confess")),
    (("high-price", "low-price"), ("high-price", "low-price")),
)
BEFORE = (
    "",
    "",
    "",
    "So ",
    "Therefore, ",
    "As far as I can see, ",
    "In the end, ",
    "Of course, ",
    "Put simply, ",
    "Looking at the table, ",
    "To be honest, ",
    "Unless I am mistaken, ",
    "For what it is worth, ",
)
BEHIND = (
    "",
    "",
    "",
    ", which is good to know",
    ", as the rules say",
    " (at least on paper)",
    ", because the table says so",
    ", whatever that is worth to me",
    ", if I read the table correctly",
    ", and nobody disputes that",
    ", since the numbers do not lie",
)


@dataclass(frozen=True)
class Drawn:
    """A drawn game with the moves of one outcome, and numbers from its payoffs."""

    game: NormalForm
    rng: random.Random

    @property
    def a(self) -> np.ndarray:
        return self.game.payoffs[0]

    @property
    def b(self) -> np.ndarray:
        return self.game.payoffs[1]

    def cell(self) -> tuple[int, int, str, str]:
        i, j = (self.rng.randrange(n) for n in self.a.shape)
        return i, j, self.game.actions[0][i], self.game.actions[1][j]

    def two(self) -> tuple[int, int, int, str, str, str]:
        """Two moves of mine against one of theirs."""
        i, k = self.rng.sample(range(self.a.shape[0]), 2)
        j = self.rng.randrange(self.a.shape[1])
        rows, columns = self.game.actions
        return i, k, j, rows[i], rows[k], columns[j]


def say(number: float) -> str:
    value = Fraction(number).limit_denominator(1000)
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"


def outcome(d: Drawn) -> str:
    i, j, r, c = d.cell()
    mine, theirs = say(d.a[i, j]), say(d.b[i, j])
    return d.rng.choice(
        (
            f"playing {r} while the other one plays {c} would leave me with a payoff of {mine}",
            (
                f"if I were to pick {r} and they were to pick {c}, then I'd be looking at {mine}"
                f" and they at {theirs}"
            ),
            f"when they go for {c}, {r} brings me {mine}",
            (
                f"with me choosing {r} and my opponent choosing {c}, I receive {mine} and they"
                f" receive {theirs}"
            ),
            f"the cell for {r} and {c} shows {mine} for me",
            f"({r}, {c}) means {mine} for me and {theirs} for the other player",
            f"I get {mine} if I choose {r} and the other player chooses {c}",
            f"the other player earns {theirs} if I choose {r} and they choose {c}",
        )
    )


def difference(d: Drawn) -> str:
    i, k, j, r, s, c = d.two()
    gain = d.a[i, j] - d.a[k, j]
    word = "more" if gain >= 0 else "less"
    return d.rng.choice(
        (
            f"if they choose {c}, {r} gives me {say(abs(gain))} {word} than {s}",
            (
                f"when the other player picks {c}, I get {say(abs(gain))} {word} with {r} than"
                f" with {s}"
            ),
            f"against {c}, {r} pays me {say(abs(gain))} {word} than {s} does",
            f"if they choose {c}, swapping {s} for {r} changes my payoff by {say(gain)}",
            f"compared with {s}, {r} yields {say(abs(gain))} {word} against {c}",
            (
                f"if they choose {c}, my payoff goes from {say(d.a[k, j])} to {say(d.a[i, j])} once"
                f" I give up {s} for {r}"
            ),
        )
    )


def frequency(d: Drawn) -> str:
    i, _, r, _ = d.cell()
    j, k = d.rng.sample(range(d.a.shape[1]), 2)
    c, e = d.game.actions[1][j], d.game.actions[1][k]
    mean = (d.a[i, j] + d.a[i, k]) / 2
    third = (2 * d.a[i, j] + d.a[i, k]) / 3
    quarter = (d.a[i, j] + 3 * d.a[i, k]) / 4
    return d.rng.choice(
        (
            f"if they choose {c} half of the time and {e} the other half, {r} gives me {say(mean)}",
            f"if the other player picks {c} and {e} equally often, I get {say(mean)} with {r}",
            f"against an opponent who tosses a coin between {c} and {e}, {r} earns me {say(mean)}",
            (
                f"if they play {c} with probability 0.25 and {e} with probability 0.75, {r} yields"
                f" {say(quarter)} for me"
            ),
            f"if they choose {c} twice as often as {e} and nothing else, {r} gives me {third:.2f}",
            (
                f"over two rounds, one with {c} and one with {e}, {r} brings me {say(2 * mean)}"
                " altogether"
            ),
            f"a 50/50 mix of {c} and {e} makes {r} worth {say(mean)} to me",
        )
    )


def best_reply(d: Drawn) -> str:
    _, j, _, c = d.cell()
    best = d.game.actions[0][int(d.a[:, j].argmax())]
    worst = d.game.actions[0][int(d.a[:, j].argmin())]
    lines = [
        f"my best response to {c} is {best}",
        f"if I expect {c}, nothing beats {best} for me",
        f"{best} is a best response to {c}",
        f"facing {c}, I cannot do better than {best}",
    ]
    if d.a[:, j].min() < d.a[:, j].max():
        lines += [
            f"{worst} is not my best response to {c}",
            f"if the other player chooses {c}, {best} is better for me than {worst}",
            f"I'd rather play {best} than {worst} if they play {c}",
        ]
    return d.rng.choice(lines)


def equilibria(d: Drawn) -> str:
    stable = (d.a == d.a.max(axis=0)) & (d.b == d.b.max(axis=1, keepdims=True))
    i, j, r, c = d.cell()
    no = "" if stable[i, j] else "not "
    count = {0: "no", 1: "one", 2: "two", 3: "three"}.get(int(stable.sum()), "several")
    noun = "equilibrium" if count == "one" else "equilibria"
    return d.rng.choice(
        (
            f"({r}, {c}) is {no}a Nash equilibrium",
            f"the outcome in which I play {r} and they play {c} is {no}an equilibrium",
            (
                f"the game has {count} pure Nash {noun}"
                if count != "no"
                else "there is no pure Nash equilibrium"
            ),
            (
                f"at ({r}, {c}) nobody {'wants' if stable[i, j] else 'but somebody wants'} to move"
                " away"
            ),
        )
    )


def reduced(d: Drawn) -> str:
    """Dominance among some columns only."""
    i, k, *_, r, s, _ = d.two()
    better = [j for j in range(d.a.shape[1]) if d.a[i, j] > d.a[k, j]]
    if not better:
        return f"{r} does not strictly dominate {s} for me"
    columns = d.game.actions[1]
    gone = [columns[j] for j in range(d.a.shape[1]) if j not in better]
    if not gone:
        return f"{r} strictly dominates {s} for me"
    names = " and ".join(gone)
    return d.rng.choice(
        (
            f"once {names} {'is' if len(gone) == 1 else 'are'} gone, {r} strictly dominates {s}",
            f"with {names} removed, {r} strictly dominates {s} for me",
            f"in the game without {names}, {s} is strictly dominated by {r}",
            f"if we leave out {names}, {r} is better than {s} in every case",
            f"given that the other player never uses {names}, {r} dominates {s}",
            f"after crossing out {names}, {s} is dominated by {r}",
            f"We can eliminate {names} first. {r} strictly dominates {s}",
            f"They never play {names}. Therefore {r} strictly dominates {s}",
        )
    )


def cases(d: Drawn) -> str:
    i, _, r, _ = d.cell()
    low, high = say(d.a[i].min()), say(d.a[i].max())
    return d.rng.choice(
        (
            f"{r} gives me {high} in the best case and {low} in the worst",
            f"the worst I can get with {r} is {low}",
            f"{r} guarantees me at least {low}",
            f"with {r} I never end up below {low}",
            f"{r} would only give me {low} in the worst case, but {high} in the best",
            f"I can get up to {high} with {r}",
            f"{r} caps me at {high}",
            f"the most that {r} can bring me is {high}",
            f"If I choose {r}, a lot can happen. The worst I can get is {low}",
            f"Consider {r}. The highest payoff I can get is {high}",
        )
    )


def sums(d: Drawn) -> str:
    i, j, r, c = d.cell()
    both = d.a[i, j] + d.b[i, j]
    return d.rng.choice(
        (
            f"at ({r}, {c}) we get {say(both)} together",
            f"if I choose {r} and they choose {c}, we get {say(both)} in total",
            f"the sum of payoffs at ({r}, {c}) is {say(both)}",
            f"({r}, {c}) is worth {say(both)} to the two of us combined",
            f"if I choose {r} and they choose {c}, we get {say(both)}",
        )
    )


def supposed(d: Drawn) -> str:
    """Say something that is not asserted of this game."""
    i, j, r, c = d.cell()
    other = say(d.a[i, j] + 7)
    return d.rng.choice(
        (
            f"Suppose ({r}, {c}) paid me {other}. Then {r} gives me {other} against {c}",
            f"If the rules were changed, I would get {other} if I choose {r} and they choose {c}",
            (
                f"Imagine that the payoffs are doubled. I get {other} if I choose {r} and they"
                f" choose {c}"
            ),
            f"Do I get {other} if I choose {r} and they choose {c}?",
            f"Some would say that I get {other} if I choose {r} and they choose {c}",
            f"I do not get {other} if I choose {r} and they choose {c}",
            f"It is wrong that I get {other} if I choose {r} and they choose {c}",
            f"My friend says I get {other} if I choose {r} and they choose {c}, but he is wrong",
            f"I wish I got {other} if I choose {r} and they choose {c}",
            f"In the repeated game of last year: I get {other} if I choose {r} and they choose {c}",
        )
    )


TEMPLATES: tuple[Callable[[Drawn], str], ...] = (
    outcome,
    difference,
    frequency,
    best_reply,
    equilibria,
    reduced,
    cases,
    sums,
    supposed,
)


def draw_game(rng: random.Random) -> NormalForm:
    names = rng.choice(NAMES)
    shape = tuple(map(len, names))
    values = [
        rng.choice((-4, -2, -1, 0, 1, 2, 3, 5, 8, 2.5)) for _ in range(2 * shape[0] * shape[1])
    ]
    return NormalForm(np.array(values, dtype=float).reshape(2, *shape), ("Ann", "Bob"), names)


def lower_payoffs(game: NormalForm) -> NormalForm:
    """Return the game with one point less for everybody everywhere: every amount said of the first
    one is false."""
    return NormalForm(game.payoffs - 1, game.players, game.actions)


def draw_sentences(
    count: int, seed: int, templates: tuple[Callable[[Drawn], str], ...] = TEMPLATES
) -> Iterator[tuple[NormalForm, str]]:
    """Yield true sentences, each about a drawn game; the same game serves a few of them."""
    rng = random.Random(seed)
    game = draw_game(rng)
    for number in range(count):
        if number % 12 == 0:
            game = draw_game(rng)
        said = rng.choice(templates)(Drawn(game, rng))
        alone = "?" in said or ". " in said
        text = said if alone else f"{rng.choice(BEFORE)}{said}{rng.choice(BEHIND)}"
        yield game, text[:1].upper() + text[1:] + ("" if text.endswith("?") else ".")
