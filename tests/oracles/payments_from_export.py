"""Payments worked out again from the exported tables alone, by other code than the server's.

Payoffs come from the answers by the published rules of two games, points from the rounds that a
person played, money from the rates of the table `parts`. Nothing of the package is imported.
"""

import csv
import io
import json
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal

_DILEMMA = {
    ("cooperate", "cooperate"): 3,
    ("cooperate", "defect"): 0,
    ("defect", "cooperate"): 5,
    ("defect", "defect"): 1,
}


def read(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"))))


def pay_round(game, parameters, own, everybody):
    """The payoff of one round by the rules of the game."""
    if game == "prisoners-dilemma":
        (other,) = [answer for role, answer in everybody.items() if role != own]
        return Decimal(_DILEMMA[everybody[own], other])
    endowment = Decimal(str(parameters.get("endowment", 20)))
    factor = Decimal(str(parameters["factor"]))
    pot = sum(Decimal(answer) for answer in everybody.values())
    return endowment - Decimal(everybody[own]) + factor * pot / len(everybody)


def recompute(files):
    """What everybody is owed, by the code of the person."""
    rounds = defaultdict(lambda: defaultdict(dict))
    stood_in = set()
    for row in read(files["decisions.csv"]):
        place = (row["session"], int(row["round"]))
        rounds[row["session"]][int(row["round"])][row["role"]] = row["action"]
        if row["answered_by"] == "stand-in":
            stood_in.add((*place, row["role"]))
    parts = defaultdict(list)
    for row in read(files["parts.csv"]):
        if row["participant"]:
            parts[row["participant"]].append(row)
    owed = {}
    for person in read(files["participants.csv"]):
        if person["confirmed"] != "True":
            owed[person["participant"]] = None
            continue
        weight = {"none": Decimal(0), "half": Decimal("0.5"), "count": Decimal(1)}[
            person["stand_ins_count"]
        ]
        mine = sorted(parts[person["participant"]], key=lambda row: int(row["part"]))
        chosen = range(len(mine))
        if person["paid"] == "random game":
            chosen = [int(float(person["game_draw"]) * len(mine))]
        total = Decimal(person["show_up"])
        for number, part in enumerate(mine):
            points = {}
            for place, answers in sorted(rounds[part["session"]].items()):
                parameters = json.loads(part["parameters"] or "{}")
                payoff = pay_round(part["game"], parameters, part["role"], answers)
                if (part["session"], place, part["role"]) in stood_in:
                    payoff *= weight
                points[place] = payoff
            counted = sum(points.values())
            if person["paid"] == "random round" and part["rounds_played"]:
                counted = list(points.values())[int(float(part["round_draw"]) * len(points))]
            money = Decimal(part["rate"]) * counted
            if part["most"]:
                money = min(money, Decimal(part["most"]))
            total += Decimal(part["bonus"])
            if number in chosen:
                total += money
        total = max(total, Decimal(person["least"]))
        if person["most"]:
            total = min(total, Decimal(person["most"]))
        owed[person["participant"]] = total.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return owed
