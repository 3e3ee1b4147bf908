"""What mechanisms make of a payoff table, from their definitions alone.

It shares no code with the library. A table is a dictionary from what everybody does, as a tuple of
numbers, to what everybody gets.
"""

from itertools import product
from random import Random


def draw_table(seed):
    """Draw a table of two players with two or three moves, or of three players with two."""
    rng = Random(seed)
    sizes = [2, 2, 2] if seed % 4 == 3 else [rng.choice((2, 3)), rng.choice((2, 2, 3))]
    return {cell: tuple(rng.randrange(7) for _ in sizes) for cell in product(*map(range, sizes))}


def find_sizes(table):
    return [len({cell[seat] for cell in table}) for seat in range(len(next(iter(table))))]


def agree(table):
    """What pays all together most; of several what pays the poorest most; of several the first."""
    best = None
    for cell in sorted(table):
        value = (sum(table[cell]), min(table[cell]))
        if best is None or value > best[0]:
            best = (value, cell)
    return best[1]


def find_payment(table):
    """The smallest whole amount above everybody's gain from leaving what is agreed on, alone."""
    agreed = agree(table)
    gain = 0
    for cell, paid in table.items():
        left = [seat for seat, move in enumerate(cell) if move != agreed[seat]]
        if len(left) == 1:
            gain = max(gain, paid[left[0]] - table[agreed][left[0]])
    return gain + 1


def pay_contract(table, payment, in_force, cell):
    paid = list(table[cell])
    agreed = agree(table)
    for seat, move in enumerate(cell):
        if in_force and move != agreed[seat]:
            for other in range(len(cell)):
                paid[other] += -payment if other == seat else payment / (len(cell) - 1)
    return tuple(paid)


def play_contract(table, payment, strategies):
    """Play strategies: the first is (offers, move if not offered, if signed, if refused), every
    other (signs, move if not offered, then one for every way in which all have signed or not)."""
    first, *others = strategies
    told = tuple(one["signs"] for one in others) if first["offers"] else None
    cell = tuple(one[told] for one in strategies)
    in_force = told is not None and all(told)
    return pay_contract(table, payment, in_force, cell)


def list_contract_strategies(table):
    """List for every player all strategies of the game with a contract."""
    sizes = find_sizes(table)
    cases = [None, *product((True, False), repeat=len(sizes) - 1)]
    listed = []
    for seat, size in enumerate(sizes):
        key = "signs" if seat else "offers"
        listed.append(
            [
                {key: said, **dict(zip(cases, moves, strict=True))}
                for said in (True, False)
                for moves in product(range(size), repeat=len(cases))
            ]
        )
    return listed


def find_pure_payoffs(listed, play):
    """What the pure Nash equilibria pay, for strategies listed by player."""
    shape = [range(len(one)) for one in listed]
    paid = {
        profile: play([listed[seat][k] for seat, k in enumerate(profile)])
        for profile in product(*shape)
    }
    found = set()
    for profile, payoffs in paid.items():
        if all(
            paid[(*profile[:seat], k, *profile[seat + 1 :])][seat] <= payoffs[seat]
            for seat in range(len(shape))
            for k in shape[seat]
        ):
            found.add(payoffs)
    return found


def mediate(table):
    """The table with one more move, to delegate, numbered after the others."""
    sizes = find_sizes(table)
    made = {}
    for cell in product(*(range(size + 1) for size in sizes)):
        group = [seat for seat, move in enumerate(cell) if move == sizes[seat]]
        made[cell] = table[_fill(table, sizes, cell, group)]
    return made


def _fill(table, sizes, cell, group):
    if len(group) == len(sizes):
        return agree(table)
    if not group:
        return cell
    outside = [seat for seat in range(len(sizes)) if seat not in group]
    lowest = None
    for plan in product(*(range(sizes[seat]) for seat in group)):
        most = max(
            sum(table[_join(group, plan, outside, moves)][seat] for seat in outside)
            for moves in product(*(range(sizes[seat]) for seat in outside))
        )
        if lowest is None or most < lowest[0]:
            lowest = (most, plan)
    return _join(group, lowest[1], outside, [cell[seat] for seat in outside])


def _join(group, plan, outside, moves):
    joined = {**dict(zip(group, plan, strict=True)), **dict(zip(outside, moves, strict=True))}
    return tuple(joined[seat] for seat in range(len(joined)))


def list_talk_strategies(table):
    """List for every player all ways to announce something and then to answer what others said."""
    sizes = find_sizes(table)
    listed = []
    for seat, size in enumerate(sizes):
        heard = list(product(*(range(other) for k, other in enumerate(sizes) if k != seat)))
        listed.append(
            [
                (said, dict(zip(heard, moves, strict=True)))
                for said in range(size)
                for moves in product(range(size), repeat=len(heard))
            ]
        )
    return listed


def play_talk(table, strategies):
    said = [one[0] for one in strategies]
    heard = [tuple(said[:seat] + said[seat + 1 :]) for seat in range(len(said))]
    return table[tuple(one[1][words] for one, words in zip(strategies, heard, strict=True))]


def blame(agreed, rounds):
    """Who is labelled bad after each round."""
    bad, told = set(), []
    for cell in rounds:
        if not bad:
            bad = {seat for seat, move in enumerate(cell) if move != agreed[seat]}
        told.append(frozenset(bad))
    return told


def list_label_strategies(table):
    """List for every player all plans for two rounds: a first move, then one for every label
    profile that can follow the own first move."""
    agreed = agree(table)
    return _list_plans(table, lambda cell: tuple(sorted(blame(agreed, [cell])[0])))


def list_repeated_strategies(table):
    """List the same where everybody sees what was played."""
    return _list_plans(table, lambda cell: cell)


def play_repeated(table, strategies):
    """What two rounds pay together."""
    first = tuple(one[0] for one in strategies)
    second = tuple(one[1][first] for one in strategies)
    return tuple(a + b for a, b in zip(table[first], table[second], strict=True))


def plan_move(seed, seat, history, size):
    """What a player of a repeated game means to do after a history: any function of it will do."""
    return Random(f"{seed} {seat} {history}").randrange(size)


def expect_repeated(table, seed, rounds, continuation, discount, noise, history=()):
    """What players who do `plan_move` expect of the rounds that are left, weighed from the first."""
    sizes = find_sizes(table)
    meant = [plan_move(seed, seat, history, size) for seat, size in enumerate(sizes)]
    total = [0.0] * len(sizes)
    for cell, paid in table.items():
        chance = 1.0
        for move, wanted, size in zip(cell, meant, sizes, strict=True):
            chance *= 1 - noise if move == wanted else noise / (size - 1)
        later = [0.0] * len(sizes)
        if chance and len(history) + 1 < rounds:
            rules = (rounds, continuation, discount, noise)
            later = expect_repeated(table, seed, *rules, (*history, cell))
        weight = discount ** len(history)
        for seat, amount in enumerate(paid):
            total[seat] += chance * (weight * amount + continuation * later[seat])
    return total


def _list_plans(table, see):
    sizes = find_sizes(table)
    listed = []
    for seat, size in enumerate(sizes):
        plans = []
        for first in range(size):
            seen = sorted({see(cell) for cell in table if cell[seat] == first})
            plans += [
                (first, dict(zip(seen, moves, strict=True)))
                for moves in product(range(size), repeat=len(seen))
            ]
        listed.append(plans)
    return listed


def play_labels(table, strategies):
    """What two rounds pay together."""
    first = tuple(one[0] for one in strategies)
    bad = tuple(sorted(blame(agree(table), [first])[0]))
    second = tuple(one[1][bad] for one in strategies)
    return tuple(a + b for a, b in zip(table[first], table[second], strict=True))
