"""Published figures of recorded play, found again.

They cover games of models (Akata et al.; FAIRGAME) and dilemmas of people.

Akata et al. divide the points of a match by ten times the largest points that anybody got in that
seat of that game. *Corrected* divides by ten times the largest payoff of the table for that seat,
which somebody may never have reached, and leaves out the games whose tables have ties: 15 of the
144, which are called ordinal, were played so.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.report.document import Cell, Column, Table
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.studies.behave.layouts import find_layout, read_rows
from bestresponse.studies.behave.reader import Reader
from bestresponse.studies.reproduce.reproduction import (
    Check,
    Reproduction,
    check_equal,
    compare_number,
)

_FIRST_HALF = {
    "gpt4": 0.7033,
    "claude2": 0.7584,
    "claude1": 0.6939,
    "gpt35": 0.7085,
    "llama2": 0.5839,
}
_ALL_GAMES = {
    "gpt4": 0.773,
    "claude2": 0.777,
    "claude1": 0.755,
    "gpt35": 0.743,
    "llama2": 0.685,
}
_GPT4_FAMILIES = {
    "Biased": 0.6988,
    "Cyclic": 0.7289,
    "PD Family": 0.7075,
    "Second Best": 0.6853,
    "Tragic": 0.6710,
    "Unfair": 0.7217,
}
"""Shares of the maximum over games 1-72, over all 144, and those of GPT-4 by family over games
1-72."""
_PEOPLE = {
    ("PD", "action"): (0.500, 0.455),
    ("BoS", "score"): (4.34, 5.08),
    ("BoS", "coordination"): (0.543, 0.616),
}
_OPTION_A = {
    "battle-sexes": (0.654, 0.834),
    "harmony-game": (0.976, 0.383),
    "prisoner-dilemma": (0.567, 0.512),
    "snow-drift": (0.889, 0.144),
    "stag-hunt": (0.947, 0.410),
}
"""By game, how often the first agent chose OptionA as a cooperative and as a selfish persona."""
_COOPERATION = {
    "AM": (0.4275, 0.6250),
    "BR": (0.5324, 0.7258),
    "DB": (0.2668, 0.3242),
    "DF": (0.3575, 0.3328),
}
"""By study, cooperation in all periods and in the first."""
_FIRST_ROUND = {
    (0.12, 0.5): 0.0981,
    (0.168, 0.5): 0.1872,
    (0.216, 0.5): 0.3897,
    (0.12, 0.75): 0.2561,
    (0.168, 0.75): 0.6110,
    (0.216, 0.75): 0.8507,
}
"""Dal Bo & Frechette 2011: cooperation in the first round by the (scaled) payoff R and by delta."""
_HALF = 0.03
"""How far the figure of a whole record may be from that of a half of it."""
Rows = list[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Shares:
    """Shares of the maximum by model and family, of every match: as published, and corrected."""

    published: Mapping[tuple[str, str], list[float]]
    corrected: Mapping[tuple[str, str], list[float]]
    families: Sequence[str]


def reproduce_akata(folder: Path) -> Reproduction:
    """Compare shares of the maximum, two games, and the games with people.

    The two games are the dilemma and the battle of the sexes.
    """
    rows = _read(folder / "rounds.csv.gz")
    tables = {row["game_number"]: row for row in _read(folder / "games.csv.gz")}
    best = _find_best(rows)
    highest: dict[tuple[str, int], float] = {}
    tied: set[str] = set()
    for game, cells in tables.items():
        for seat in (1, 2):
            payoffs = [cells[f"r{i}_c{j}_p{seat}"] for i in (1, 2) for j in (1, 2)]
            highest[game, seat] = max(map(float, payoffs))
            if len(set(payoffs)) < 4:
                tied.add(game)

    published: dict[tuple[str, str], list[float]] = defaultdict(list)
    corrected: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["round"] != "10":
            continue
        game = row["game_number"]
        for seat in (1, 2):
            model = row[f"player{seat}"].removeprefix("act_")
            total = float(row[f"total{seat}"]) / 10
            for family in ("all", tables[game]["game_family"]):
                published[model, family].append(total / best[game, seat])
                if game not in tied:
                    corrected[model, family].append(total / highest[game, seat])
    families = sorted({family for _, family in published} - {"all"})
    shares = _Shares(published, corrected, families)

    numbers = sorted({int(row["game_number"]) for row in rows})
    checks = list(_compare_shares(shares, numbers))
    named = ", ".join(sorted(tied, key=int))
    checks.append(check_equal("payoff tables with ties", 15, len(tied), f"called ordinal: {named}"))
    unseen = sum(best[key] < highest[key] for key in best)
    checks.append(
        check_equal(
            "seats whose largest payoff nobody got",
            None,
            found=f"{unseen} of {len(best)}",
            remark="there the normalisations differ",
        )
    )
    checks += _check_matches(folder)
    checks += _check_people(folder)
    citation = (
        "E. Akata et al., Playing repeated games with large language models, Nature Human Behaviour"
        " 2025"
    )
    return Reproduction("akata", citation, tuple(checks), (_tabulate_shares(shares),))


def _find_best(rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, int], float]:
    """Return the largest points that anybody got in each seat of each game."""
    best: dict[tuple[str, int], float] = defaultdict(float)
    for row in rows:
        for seat in (1, 2):
            key = (row["game_number"], seat)
            best[key] = max(best[key], float(row[f"points{seat}"]))
    return best


def _compare_shares(shares: _Shares, numbers: list[int]) -> Iterator[Check]:
    """Compare the shares of every model, and those of GPT-4 by family."""
    known = _choose_published(numbers)
    for model in _ALL_GAMES:
        yield compare_number(
            f"share of the maximum, {model}",
            known.get(model),
            _mean(shares.published[model, "all"]),
            0.001,
            f"corrected: {_mean(shares.corrected[model, 'all']):.4f}",
        )
    is_first_half = numbers == list(range(1, 73))
    for family in shares.families:
        yield compare_number(
            f"GPT-4, {family}",
            _GPT4_FAMILIES.get(family) if is_first_half else None,
            _mean(shares.published["gpt4", family]),
            0.001,
            f"corrected: {_mean(shares.corrected['gpt4', family]):.4f}",
        )


def _tabulate_shares(shares: _Shares) -> Table:
    columns = [Column("model")]
    columns += [Column(family, "right", format=".3f") for family in shares.families]
    lines: list[tuple[Cell, ...]] = []
    for model in _ALL_GAMES:
        means = [_mean(shares.published[model, family]) for family in shares.families]
        lines.append((model, *means))
    title = "Share of the maximum by model and family, in the authors' normalisation"
    return Table(tuple(columns), tuple(lines), title)


def _choose_published(numbers: list[int]) -> Mapping[str, float]:
    """Return the published shares of these games.

    Those of the second half follow from the whole and the first.
    """
    if numbers == list(range(1, 73)):
        return _FIRST_HALF
    if numbers == list(range(73, 145)):
        return {model: 2 * whole - _FIRST_HALF[model] for model, whole in _ALL_GAMES.items()}
    return _ALL_GAMES if numbers == list(range(1, 145)) else {}


def _check_matches(folder: Path) -> Iterator[Check]:
    """Yield what GPT-4 does in the dilemma and in the battle of the sexes.

    The paper says it in words.
    """
    dilemma = _read_matches(folder / "pd.csv.gz")
    after = [own for own, _ in dilemma["act_gpt4", "act_defect_once"][1:10]]
    forgives = after[1:].count("J")
    forgiven = f"{forgives} of {len(after) - 1} rounds"
    yield Check(
        "GPT-4 cooperates again after one defection",
        "never",
        forgiven,
        forgives == 0,
    )
    moves = _read_matches(folder / "bos.csv.gz")["act_gpt4", "act_jf"]
    if moves:
        together = _mean([own == other for own, other in moves])
        what = "GPT-4 coordinates with a partner who alternates"
        yield Check(
            what,
            "fails to",
            f"{together:.3f} of rounds",
            together <= 0.5,
            tolerance="at most 0.5, as by chance",
        )


def _read_matches(path: Path) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return, by player and opponent, the answers of both in every round."""
    matches: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in _read(path):
        first = (row["player1"], row["answer1"])
        second = (row["player2"], row["answer2"])
        for own, other in ((first, second), (second, first)):
            matches[own[0], other[0]].append((own[1], other[1]))
    return matches


def _check_people(folder: Path) -> Iterator[Check]:
    rows = _read(folder / "people.csv.gz")
    for (game, what), published in _PEOPLE.items():
        for opponent, value in zip(("Base", "Prompted"), published, strict=True):
            played = [row for row in rows if (row["game"], row["opponent"]) == (game, opponent)]
            people = [row["id"] for row in played]
            values = np.array([float(row[what]) for row in played])
            interval = cluster_bootstrap(values, people, rng=np.random.default_rng(0))
            spread = f"95 % interval {interval.low:.3f} to {interval.high:.3f}"
            yield compare_number(
                f"people against {opponent} GPT-4, {game}, {what}",
                value,
                interval.estimate,
                0.006,
                f"{len(set(people))} people, {spread}",
            )

    odd = 0
    for row in rows:
        if row["game"] != "BoS":
            continue
        scored_together = row["score"] in ("7", "10")
        coordinated = row["coordination"] == "1"
        if scored_together != coordinated or (row["action"], row["score"]) == ("0", "7"):
            odd += 1
    what = "rows of the battle of the sexes in which score, action and coordination contradict"
    yield check_equal(what, None, odd)


def reproduce_fairgame(folder: Path) -> Reproduction:
    """Compare how personas choose, and say what language and payoff scale do."""
    path = folder / "games.csv.gz"
    problems: list[Any] = []
    matches = list(Reader(path, find_layout("fairgame", path), problems.append).list_matches())
    chosen: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for match in matches:
        game, scale = match["record"]["game"].rsplit(" ", 1)
        persona = match["data"]["treatment"]["persona"][0]
        language = match["data"]["treatment"]["language"]
        submissions = match["record"]["submissions"]
        first_agent = [turn["action"] for turn in submissions if turn["role"] == "row"]
        share = _mean([action == "OptionA" for action in first_agent])
        model = match["record"]["players"]["row"]
        chosen["persona", game, persona].append(share)
        chosen["language", model, language].append(share)
        if game == "prisoner-dilemma":
            chosen["scale", model, scale].append(share)

    checks = []
    for game, pair in _OPTION_A.items():
        for persona, value in zip(("cooperative", "selfish"), pair, strict=True):
            found = _mean(chosen["persona", game, persona])
            checks.append(compare_number(f"{game}, {persona}: OptionA", value, found, 0.001))
    wrong = sum(row["problem"] == "payoff mismatch" for row in problems)
    remark = (
        "battle of the sexes: agent 2 is credited with agent 1's payoff in some rounds; corrected"
        " by its moves"
    )
    what = "rounds whose recorded payoffs are not those of the moves"
    checks.append(check_equal(what, None, wrong, remark))
    tables = tuple(_table_effect(kind, chosen) for kind in ("language", "scale"))
    citation = (
        "A. Buscemi et al., FAIRGAME: a framework for AI agents bias recognition using game theory,"
        " 2025"
    )
    return Reproduction("fairgame", citation, tuple(checks), tables)


def _table_effect(kind: str, chosen: Mapping[tuple[str, ...], list[float]]) -> Table:
    cells = {key[1:]: _mean(values) for key, values in chosen.items() if key[0] == kind}
    models = sorted({model for model, _ in cells})
    values = sorted({value for _, value in cells})
    heads = [Column("model")]
    heads += [Column(value, "right", format=".3f") for value in values]
    rows: list[tuple[Cell, ...]] = []
    for model in models:
        rows.append((model, *(cells[model, value] for value in values)))
    title = f"OptionA of agent 1 by model and {kind}"
    if kind == "scale":
        title += ", prisoner's dilemma"
    return Table(tuple(heads), tuple(rows), title)


def reproduce_dilemma(folder: Path) -> Reproduction:
    """Compare cooperation by study, and say what the future and the basin of defection do to it."""
    matches: dict[str, Rows] = defaultdict(list)
    for row in _read(folder / "dilemma.csv.gz"):
        matches[row["match"]].append(row)
    checks = []
    for study, (in_all, in_first) in _COOPERATION.items():
        played = [rows for rows in matches.values() if rows[0]["study"] == study]
        moves = [row["move"] for rows in played for row in rows]
        share = _mean([move == "C" for move in moves])
        checks.append(compare_number(f"{study}, cooperation in all periods", in_all, share, _HALF))
        share = _mean([rows[0]["move"] == "C" for rows in played])
        checks.append(
            compare_number(
                f"{study}, cooperation in first period",
                in_first,
                share,
                _HALF,
            )
        )

    treatments: dict[tuple[float, ...], list[float]] = defaultdict(list)
    for rows in matches.values():
        opening = rows[0]
        if float(opening["infinite"]):
            parameters = [float(opening[name]) for name in ("R", "S", "T", "P", "delta")]
            treatment = tuple(round(number, 6) for number in parameters)
            treatments[treatment].append(float(opening["move"] == "C"))
    first = {key: _mean(moves) for key, moves in treatments.items()}
    for (reward, delta), value in _FIRST_ROUND.items():
        treatment = (reward, 0.0, 0.228, 0.078, delta)
        if treatment in first:
            what = f"DF, R {reward:g}, delta {delta:g}, first period"
            checks.append(compare_number(what, value, first[treatment], _HALF))
    checks.append(_check_future(first))
    basins = [measure_basin(*key) for key in first]
    slope = float(np.corrcoef(basins, list(first.values()))[0, 1])
    what = "cooperation falls with the basin of always defecting"
    checks.append(
        Check(
            what,
            "yes",
            f"correlation {slope:.2f}",
            slope < -0.5,
            tolerance="below -0.5",
        )
    )
    why = (
        "it fits subjects with experience; the collection has neither subjects nor the order of"
        " their matches"
    )
    what = "shares of strategies as in the paper"
    checks.append(check_equal(what, None, "cannot be estimated", why))
    formats = {
        "R": "",
        "delta": "",
        "basin": ".3f",
        "first period": ".3f",
        "matches": "",
    }
    heads = tuple(Column(name, "right", format=spec) for name, spec in formats.items())
    lines: list[tuple[Cell, ...]] = []
    for key, basin in zip(first, basins, strict=True):
        reward, *_, delta = key
        lines.append((reward, delta, basin, first[key], len(treatments[key])))
    table = Table(heads, tuple(lines), "Indefinitely repeated games")
    citation = (
        "P. Dal Bo & G. Frechette, American Economic Review 101, 2011, and others; collected by J."
        " Nay & Y. Vorobeychik, PLOS ONE 11, 2016"
    )
    return Reproduction("dilemma", citation, tuple(checks), (table,))


def _check_future(first: Mapping[tuple[float, ...], float]) -> Check:
    """Compare first-period cooperation in treatments that differ only in continuation."""
    compared = 0
    grows = 0
    for shorter, longer in permutations(first, 2):
        if shorter[:4] == longer[:4] and shorter < longer:
            compared += 1
            grows += first[shorter] < first[longer]
    return Check(
        "a longer future raises cooperation in the first period",
        "yes",
        f"in {grows} of {compared} games",
        grows == compared,
        tolerance="in all",
    )


def measure_basin(
    reward: float,
    sucker: float,
    temptation: float,
    punishment: float,
    delta: float,
) -> float:
    """Return the share of grim triggers below which always defecting is the better reply.

    The share is among the others, and at most 1.

    >>> round(measure_basin(48, 12, 50, 25, 0.75), 4)  # 13 / (13 + (48 - 0.75 * 25) / 0.25 - 50)
    0.1625
    """
    gain = inf
    if delta < 1:
        gain = (reward - delta * punishment) / (1 - delta) - temptation
    if gain <= 0:
        return 1.0
    risk = punishment - sucker
    return risk / (risk + gain)


def _read(path: Path) -> Rows:
    if not path.exists():
        raise UsageError(f"{path} is missing; the folder should hold the published files")
    return [row for _, row in read_rows(path)]


def _mean(values: Iterable[float]) -> float:
    numbers = [float(value) for value in values]
    return float(np.mean(numbers)) if numbers else float("nan")
