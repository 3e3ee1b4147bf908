"""Make a game again from the words that a player reads, in English or German and in every layout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree

NAME = r'"(?:[^"\\]|\\.)*"|[^":,()\[\]]+?'
BRANCH = re.compile(
    rf"(?P<margin> *)- (?P<name>(?:{NAME})(?:, (?:{NAME}))*)(?: \(probability (?P<odds>[^)]+)\))?:"
    r" (?P<here>.*)"
)
TURN = re.compile(rf"(?P<player>{NAME}) chooses(?: \[(?P<letter>[a-z]+)\])?:")
PAID = re.compile(rf"(?P<player>{NAME}) gets (?P<payoff>[^,]+)(?:, |$)")


TOGETHER = re.compile(r"(?P<names>.*) choose at the same time:")
MEMBER = re.compile(rf"(?P<player>{NAME})(?: \[(?P<letter>[a-z]+)\])?(?:, | and |$)")
PART = re.compile(rf"(?P<name>{NAME})(?:, |$)")

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
Payoffs = dict[tuple[str, ...], tuple[Fraction, ...]]
"""What everybody earns, by everybody's moves, both in the order of the players."""

TRANSLATED = (
    (r"[dD]er Zufall zieht", "chance draws"),
    (r"Sie wählen", "you choose"),
    (r"Sie bekommen", "you get"),
    (r"Alle bekommen", "each player gets"),
    (r" wählen gleichzeitig:", " choose at the same time:"),
    (r" wählt(?=[ :])", " chooses"),
    (r" bekommt ", " gets "),
    (r"\(Wahrscheinlichkeit ", "(probability "),
    (r"(?m)^(- )?Verlauf: (.*)\. Ergebnis: (.*)\.$", r"\1If \2, \3."),
    (r"; danach: ", " and then "),
    (r" und ", " and "),
    (r"you können wählen: |Sie können wählen: ", "Your possible actions: "),
    (r"(?m)^(.*) kann wählen: ", r"The possible actions of \1: "),
    (r"(?<=\d),(?=\d)", "."),
    (r"(?m)^(\|.*)$", lambda found: found[1].replace(";", ",")),
    (r"Die Spalten sind Ihre", "The columns are your"),
    (r'"Sie": ', '"you": '),
    (r'"Ihre_Auszahlung": ', '"your_payoff": '),
    (r'"Auszahlung von ', '"payoff of '),
    (r"Was Sie gewinnen, verliert", "Whatever you gain"),
    (r"dem (\S+)-Fachen des .* kommt, gets (\S+);", r"nearest to \1 times the average gets \2;"),
    (r"wer weniger gewählt hat, gets (\S+) mehr", r"whoever chose less gets \1 more"),
    (r"plus das (\S+)-Fache .* minus das (\S+)-Fache", r"plus \1 times the lowest, less \2 times"),
)
"""German words and what they are in English, in the order in which they are replaced."""


def put_into_english(text: str, names: Mapping[str, str]) -> str:
    """Put a German text into the English words that are read here; `names` are German ones.

    Names in quotes are not searched for words; in JSON, the words of the language stand in quotes too.
    """
    quoted: list[str] = [] if "[{" in text else QUOTED.findall(text)
    for number, name in enumerate(quoted):
        text = text.replace(name, f"<{number}>")
    for pattern, english in TRANSLATED:
        text = re.sub(pattern, english, text)
    for german, name in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(german, name)
    for number, name in enumerate(quoted):
        own = json.loads(name)
        text = text.replace(f"<{number}>", json.dumps(names.get(own, own)))
    return text


def read_table(text: str, reader: str, players: tuple[str, ...]) -> Payoffs:
    """Read the payoffs that a player of a table is told."""
    actions = {reader: read_list(re.search(r"(?m)^Your possible actions: (.*)\.$", text)[1])}
    for who, listed in re.findall(r"(?m)^The possible actions of (.*?): (.*)\.$", text):
        actions[read_name(who)] = read_list(listed)
    shown: dict[tuple[str, ...], dict[str, Fraction]] = {}
    for moves, paid in list_cells(text, reader, players, actions):
        assert moves not in shown
        shown[moves] = paid
    assert set(shown) == set(product(*(actions[player] for player in players)))
    if "Whatever you gain" in text:
        for paid in shown.values():
            (other,) = set(players) - set(paid)
            paid[other] = -paid[reader]
    return {moves: tuple(paid[player] for player in players) for moves, paid in shown.items()}


Cells = Iterator[tuple[tuple[str, ...], dict[str, Fraction]]]


def list_cells(
    text: str, reader: str, players: tuple[str, ...], actions: Mapping[str, list[str]]
) -> Cells:
    if "\n| " in text:
        yield from list_table(text, reader, players)
    elif "[{" in text:
        rows = json.loads(text[text.index("[{") : text.index("}]") + 2], parse_float=Fraction)
        for row in rows:
            moves = tuple(row["you" if player == reader else player] for player in players)
            paid = {p: row.get("your_payoff" if p == reader else f"payoff of {p}") for p in players}
            yield moves, {p: Fraction(amount) for p, amount in paid.items() if amount is not None}
    elif "\nIf " in text:
        for steps, paid in re.findall(r"(?m)^If (.*?), (you get .*)\.$", text):
            made = dict(read_step(step, reader) for step in steps.split(" and "))
            yield tuple(made[player] for player in players), read_paid(paid, reader)
    else:
        for moves in product(*(actions[player] for player in players)):
            earned = follow_rule(text, [Fraction(move) for move in moves])
            yield moves, dict(zip(players, earned, strict=True))


def list_table(text: str, reader: str, players: tuple[str, ...]) -> Cells:
    head, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.split("\n")
        if line.startswith("|")
    )
    turned = "The columns are your" in text
    (other,) = (player for player in players if player != reader)
    for row in rows:
        for column, cell in zip(head[1:], row[1:], strict=True):
            own, theirs = (column, row[0]) if turned else (row[0], column)
            made = {reader: read_name(own), other: read_name(theirs)}
            amounts = [Fraction(amount) for amount in cell.split(", ")]
            paid = dict(zip((reader, other), amounts, strict=False))
            yield tuple(made[player] for player in players), paid


def follow_rule(text: str, chosen: list[Fraction]) -> list[Fraction]:
    """Work out what a rule in words pays."""
    if found := re.search(r"nearest to (\S+) times the average.* gets (\S+);", text):
        factor, prize = map(Fraction, found.groups())
        aim = factor * sum(chosen) / len(chosen)
        distances = [abs(number - aim) for number in chosen]
        near = distances.count(min(distances))
        return [prize / near if d == min(distances) else Fraction(0) for d in distances]
    if found := re.search(r"whoever chose less gets (\S+) more", text):
        bonus = Fraction(found[1])
        low = min(chosen)
        if len(set(chosen)) == 1:
            return chosen
        return [low + bonus if number == low else low - bonus for number in chosen]
    found = re.search(r"gets (\S+) plus (\S+) times the lowest.*, less (\S+) times", text)
    base, gain, cost = map(Fraction, found.groups())
    return [base + gain * min(chosen) - cost * number for number in chosen]


def read_list(listed: str) -> list[str]:
    return [read_name(part["name"]) for part in PART.finditer(listed)]


def read_step(step: str, reader: str) -> tuple[str, str]:
    found = re.fullmatch(r"(?:you choose|(.*) chooses|(chance) draws) (.*)", step)
    who = read_name(found[1]) if found[1] else found[2] or reader
    return who, read_name(found[3])


def read_paid(paid: str, reader: str) -> dict[str, Fraction]:
    parts = [re.fullmatch(r"(?:you get|(.*) gets) (.*)", part) for part in paid.split(", ")]
    return {read_name(p[1]) if p[1] else reader: Fraction(p[2]) for p in parts}


def list_told_plays(text: str, reader: str) -> Iterator[tuple[list[tuple[str, str]], dict]]:
    """List the plays of a course in sentences: who moved how, and what everybody earns."""
    paid_first = r"(?:you get|\S[^,]* gets) "
    for steps, paid in re.findall(rf"(?m)^- If (.*?), ({paid_first}.*)\.$", text):
        made = [step for group in steps.split(" and then ") for step in group.split(" and ")]
        yield [read_step(step, reader) for step in made], read_paid(paid, reader)


def read_name(text: str) -> str:
    return json.loads(text) if text.startswith('"') else text


def read_outline(text: str, players: tuple[str, ...]) -> Tree:
    """Rebuild the tree from the outline; what the lines below it say of knowledge is not needed."""
    lines = text.split("\n\n")[0].split("\n")
    place = 0

    def read_position(here: str, depth: int) -> Leaf | Chance | Turn:
        if here.casefold() == "chance draws:":
            return Chance(
                {name: (Fraction(odds), after) for name, odds, after in read_branches(depth)}
            )
        together = TOGETHER.fullmatch(here)
        if together:
            members = list(MEMBER.finditer(together["names"]))
            return nest(
                members,
                place,
                [(split(name), after) for name, _, after in read_branches(depth, raw=True)],
            )
        turn = TURN.fullmatch(here)
        if turn:
            # A position without a letter is an information set of its own: the line number tells it
            # apart.
            infoset = turn["letter"] or f"line {place}"
            moves = {name: after for name, _, after in read_branches(depth)}
            return Turn(read_name(turn["player"]), infoset, moves)
        paid = {
            read_name(found["player"]): Fraction(found["payoff"]) for found in PAID.finditer(here)
        }
        assert tuple(paid) == players
        return Leaf(list(paid.values()))

    def nest(members: list[re.Match[str]], line: int, rows: list[tuple[list[str], object]]) -> Turn:
        """Put choices that are made at the same time one below the other."""
        first, *others = members
        infoset = first["letter"] or f"line {line} {first['player']}"
        moves: dict[str, object] = {}
        for name in dict.fromkeys(names[0] for names, _ in rows):
            below = [(names[1:], after) for names, after in rows if names[0] == name]
            moves[name] = nest(others, line, below) if others else below[0][1]
        return Turn(read_name(first["player"]), infoset, moves)

    def split(names: str) -> list[str]:
        return [read_name(part["name"]) for part in PART.finditer(names)]

    def read_branches(depth: int, *, raw: bool = False) -> list[tuple[str, str, object]]:
        nonlocal place
        branches = []
        while place < len(lines):
            found = BRANCH.fullmatch(lines[place])
            assert found, lines[place]
            if len(found["margin"]) != 2 * depth:
                break
            place += 1
            name = found["name"] if raw else read_name(found["name"])
            branches.append((name, found["odds"], read_position(found["here"], depth + 1)))
        return branches

    place = 1
    root = read_position(lines[0], 0)
    assert place == len(lines)
    return build_tree(players, root)
