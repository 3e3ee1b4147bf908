"""From the rows of a run to its frames: players beside baselines, suites, comparisons, readings, and the plays.

What takes long, such as comparisons, which resample games, is computed when it is asked for.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import nsmallest
from itertools import islice
from typing import Annotated, Any, TypedDict, cast

import numpy as np

from bestresponse.core.lazy import LazyMapping
from bestresponse.core.seeds import split
from bestresponse.players.llm.verified import AGAIN, SPELLING, make_label
from bestresponse.players.strategies.baselines import BASELINES
from bestresponse.report.figures.charts import compute_fences
from bestresponse.report.frames import Frame, Heads, column
from bestresponse.report.numbers import format_number
from bestresponse.report.stats.statistics import Interval, holm, paired_difference
from bestresponse.runs.reporting.answers import AnswerRow, Answers, make_answers_frame
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import Measured
from bestresponse.studies.bench.config import PADDED, BenchConfig, own_view
from bestresponse.studies.bench.measure import (
    BASELINE,
    METRICS,
    PlayRow,
    Rows,
    describe_asking,
    find_decision,
    find_values,
    identify_game,
    measure_baseline,
    measure_plays,
    select_original,
)
from bestresponse.studies.bench.plays import ANONYMOUS, BASE, NAMED, SIZE, Plan, find_theme, make_game
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.solve import solve_zero_sum

_COMPARED = {"gap_normalised": "gap / range", "exploitability_normalised": "exploitability / range"}
"""The figures by which players are compared, and what they are called."""
_MOST_LOST = {
    "gap_normalised": "worst_normalised",
    "exploitability_normalised": "worst_exploitability_normalised",
}
_COMPARED_BASELINES = ("uniform", "maximin", "equilibrium")
_VERSION_METRICS = ("asked", "answered", *_COMPARED, "success_1", "success_5")
_CORRECTION = "correction"
_MOST_LISTED = 500
_MOST_OUTLIERS = 20
_MOST_TEXTS = 20
_LONGEST_REPLY = 3500
_LONGEST_READING = 120


@dataclass(frozen=True)
class Results:
    """The measured plays of a run, the worst of them with their records, and corrections of verified reasoning."""

    plan: Plan
    rows: list[PlayRow]
    worst: list[tuple[PlayRow, StoredPlay]]
    corrections: Counter[str]

    def group(self, rows: Iterable[PlayRow]) -> dict[tuple[str, str], list[PlayRow]]:
        """Group rows by player and way of asking, in the order of the settings."""
        groups: dict[tuple[str, str], list[PlayRow]] = {}
        for data, _ in self.plan.count_by_first():
            groups[make_label(data["model"]), describe_asking(self.plan, data)] = []
        for row in rows:
            groups[row["model"], row["asked_for"]].append(row)
        return {group: played for group, played in groups.items() if played}

    @cached_property
    def players(self) -> dict[str, list[PlayRow]]:
        """All rows of every player in every way of asking, by its name."""
        return {" / ".join(group): rows for group, rows in self.group(self.rows).items()}

    @cached_property
    def base(self) -> dict[str, list[PlayRow]]:
        """The rows of every player in the games as drawn under the base settings."""
        return {player: _select(select_original(rows), BASE) for player, rows in self.players.items()}

    @cached_property
    def baselines(self) -> Mapping[str, list[PlayRow]]:
        """The rows of every baseline on the games that were put to the models."""
        games = sorted({row["game"] for rows in self.base.values() for row in rows})
        return LazyMapping({name: partial(measure_baseline, self.plan, name, games) for name in BASELINES if games})


def _select(rows: Rows, *prefixes: str) -> list[PlayRow]:
    """Select the rows of the conditions whose names begin so."""
    return [row for row in rows if row["condition"].startswith(prefixes)]


def measure(config: BenchConfig, folder: RunFolder) -> Measured:
    """Measure the finished plays."""
    plan = Plan(config)
    rows: list[PlayRow] = []
    worst: list[tuple[PlayRow, StoredPlay]] = []
    corrections: Counter[str] = Counter()
    pairs = measure_plays(plan, folder.sorted_plays())
    while chunk := list(islice(pairs, 2 * _MOST_LISTED)):
        rows += [row for row, _ in chunk]
        worst = nsmallest(_MOST_LISTED, [*worst, *chunk], key=lambda pair: _rank(pair[0]))
        for row, play in chunk:
            if row["attempts"] is not None and (decision := find_decision(play)) is not None:
                corrections.update(text for remark in decision.remarks for text in remark["corrections"])
    rows.sort(key=lambda row: (row["condition"] != BASE, row["condition"], row["game"], row["spec"]))
    results = Results(plan, rows, worst, corrections)
    groups: dict[Heads, Callable[[], Rows]] = {
        group: partial(list, played) for group, played in results.group(_select(rows, BASE)).items()
    }
    groups |= {(name, BASELINE): partial(results.baselines.__getitem__, name) for name in results.baselines}
    return Measured(
        LazyMapping({name: partial(make, results) for name, make in _FRAMES.items()}),
        sum(row["nash_gap"] is not None for row in rows),
        ("player", "asked for"),
        LazyMapping(groups),
    )


def _rank(row: PlayRow) -> tuple[bool, float, float, int]:
    """Order plays: unreadable answers first, then large losses."""
    loss = row["exploitability_normalised"] or 0.0
    return row["nash_gap"] is not None, -loss, -(row["gap_normalised"] or 0.0), row["game"]


class GameRow(TypedDict):
    """What a player or a baseline lost in one game; `hardness` is what uniform play loses in it."""

    player: str
    game: int
    seat: str
    gap_normalised: Annotated[float, column("Nash gap / payoff range", ".3f")]
    exploitability_normalised: Annotated[float | None, column("exploitability / payoff range", ".3f")]
    hardness: Annotated[float | None, column("gap of uniform play / payoff range", ".3f")]


def _list_games(results: Results) -> Iterator[GameRow]:
    uniform = find_values(results.baselines["uniform"], "gap_normalised") if results.baselines else []
    hardness = {_identify(row): gap for gap, row in uniform}
    for player, rows in {**results.base, **results.baselines}.items():
        for gap, row in find_values(rows, "gap_normalised"):
            yield GameRow(
                player=player,
                game=row["game"],
                seat=row["seat"],
                gap_normalised=gap,
                exploitability_normalised=row["exploitability_normalised"],
                hardness=None if player in results.baselines else hardness[_identify(row)],
            )


def _identify(row: PlayRow) -> tuple[Hashable, int, str]:
    """Return what two players who were asked the same have in common: the game, its number in the run, and the seat."""
    return identify_game(row), row["game"], row["seat"]


class VersionRow(TypedDict):
    """The figures of a player in one version of the games; the metrics are further columns."""

    player: str
    version: str
    actions: Annotated[int | None, column("actions of each player", help="where all games have as many")]


def _list_versions(results: Results) -> Iterator[tuple[str, str, str, Rows]]:
    """Yield plays that are measured for themselves: their frame, the player, the version of the games, and the rows."""
    for player, rows in results.players.items():
        original, base = select_original(rows), results.base[player]
        answered = {_identify(row) for _, row in find_values(base, "nash_gap")}
        if 0 < len(answered) < len(base):
            version = f"the {len(answered)} that {player} answered"
            for name, played in {player: base, **results.baselines}.items():
                yield "same_games", name, version, [row for row in played if _identify(row) in answered]
        match results.plan.config.suite:
            case "sensitivity":
                for condition in results.plan.conditions:
                    yield "settings", player, condition, [row for row in original if row["condition"] == condition]
            case "invariance":
                for variant in results.plan.variants:
                    yield "variants", player, variant, [row for row in rows if row["variant"] in ("original", variant)]
            case "generalisation":
                square = [row for row in _select(original, BASE, SIZE) if row["rows"] == row["cols"]]
                for size in sorted({row["rows"] for row in square}):
                    yield "sizes", player, f"{size} x {size}", [row for row in square if row["rows"] == size]
                yield "names", player, "named", _select(original, NAMED)
                yield "names", player, "anonymous", _select(original, ANONYMOUS)
                yield "padding", player, "padded", _tell_as_drawn(rows, PADDED)
                yield "padding", player, "as drawn", base


def _tell_as_drawn(rows: Rows, variant: str) -> list[PlayRow]:
    """Return the rows of a variant as if the games had been drawn so, to be compared with the games as drawn."""
    swapped = {"row": "col", "col": "row"} if variant == "swapped" else {"row": "row", "col": "col"}
    return [
        cast(PlayRow, {**row, "variant": "original", "seat": swapped[row["seat"]]})
        for row in rows
        if row["variant"] == variant
    ]


def _tabulate_versions(frame: str, results: Results) -> Frame[VersionRow]:
    wanted = ("invariance",) if frame == "variants" else _VERSION_METRICS
    metrics = [metric for metric in METRICS if metric.name in wanted]
    table: list[VersionRow] = []
    for name, player, version, rows in _list_versions(results):
        if name == frame and rows:
            sizes = {row["rows"] for row in rows}
            head = VersionRow(player=player, version=version, actions=sizes.pop() if len(sizes) == 1 else None)
            table.append(cast(VersionRow, {**head, **{metric.name: metric.compute(rows) for metric in metrics}}))
    return Frame(VersionRow, table, {metric.name: metric.column for metric in metrics})


class DifferenceRow(TypedDict):
    """Two players, or two versions of the same games, compared on the games that both answered."""

    comparison: str
    player: str
    against: Annotated[str, column("compared with")]
    by: Annotated[str, column(help="the figure that is compared")]
    difference: Annotated[Interval, column(format=".3f", help="mean difference; negative: the first is better")]
    games: int
    p: Annotated[float, column(format=".3g", help="sign-flip test, adjusted for the number of comparisons (Holm)")]
    effect: Annotated[float | None, column(format=".2f", help="mean difference over its deviation between games")]


def _list_pairs(results: Results) -> Iterator[tuple[str, str, Rows, str, Rows]]:
    """Yield what is compared: the kind of comparison, and twice a name with its rows."""
    others = list(results.base) + [name for name in _COMPARED_BASELINES if name in results.baselines]
    for number, (player, rows) in enumerate(results.base.items()):
        for other in others[number + 1 :]:
            yield "players", player, rows, other, results.base.get(other) or results.baselines[other]
        if player.startswith((SPELLING, AGAIN)):
            plain = player.removeprefix(SPELLING).removeprefix(AGAIN)
            for other in (AGAIN + plain, plain):
                if other in results.base and other != player:
                    yield "verified", player, rows, other, results.base[other]
        for variant in results.plan.variants if results.plan.config.suite == "invariance" else ():
            varied = _tell_as_drawn(results.players[player], variant)
            yield "variants", f"{player}, {variant}", varied, f"{player}, as drawn", rows
    versions = {(frame, player, version): rows for frame, player, version, rows in _list_versions(results)}
    for frame, version, other in (("names", "named", "anonymous"), ("padding", "padded", "as drawn")):
        for player in results.players if results.plan.config.suite == "generalisation" else ():
            sides = versions[frame, player, version], versions[frame, player, other]
            yield frame, f"{player}, {version}", sides[0], f"{player}, {other}", sides[1]


def _list_differences(results: Results) -> Iterator[DifferenceRow]:
    families: dict[str, list[DifferenceRow]] = {}
    for comparison, first, rows, second, others in _list_pairs(results):
        for figure, title in _COMPARED.items():
            a, b = ({_identify(row): value for value, row in find_values(side, figure)} for side in (rows, others))
            common = sorted(a.keys() & b.keys(), key=lambda case: (case[1], case[2], str(case[0])))
            if len({case[0] for case in common}) < 2:
                continue
            rng = np.random.default_rng(split(results.plan.config.seed, "difference", figure, first, second))
            values = [a[case] for case in common], [b[case] for case in common]
            both = [row for side in (rows, others) for row in side if _identify(row) in a.keys() & b.keys()]
            most = max(value for value, _ in find_values(both, _MOST_LOST[figure]))
            compared = paired_difference(*values, [case[0] for case in common], rng=rng, most=most)
            families.setdefault(comparison, []).append(
                DifferenceRow(
                    comparison=comparison,
                    player=first,
                    against=second,
                    by=title,
                    difference=compared.difference,
                    games=compared.difference.n,
                    p=compared.p_value,
                    effect=compared.effect,
                )
            )
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            yield cast(DifferenceRow, {**row, "p": float(p)})


class SelfPlayRow(TypedDict):
    """What a model that answered both seats of games could gain when it meets itself."""

    model: Annotated[str, column("player")]
    elicit: Annotated[str, column("asked for")]
    games: int
    regret: Annotated[float, column("mean regret / range", ".3f", "largest gain of a seat from swapping actions")]
    largest: Annotated[float, column(format=".3f")]


def _measure_self_play(results: Results) -> Iterator[SelfPlayRow]:
    answers: dict[tuple[str, str], dict[int, dict[str, list[float]]]] = {}
    for row in (row for rows in results.base.values() for row in rows):
        if row["strategy"] is not None:
            games = answers.setdefault((row["model"], row["elicit"]), {})
            games.setdefault(row["game"], {})[row["seat"]] = row["strategy"]
    payoffs = results.plan.conditions[BASE].drawn.payoffs
    for (model, elicit), games in answers.items():
        regrets = [compute_regret(payoffs[k], seats) for k, seats in games.items() if len(seats) == 2]
        if regrets:
            mean, largest = float(np.mean(regrets)), max(regrets)
            yield SelfPlayRow(model=model, elicit=elicit, games=len(regrets), regret=mean, largest=largest)


def compute_regret(payoffs: Array, mixes: Mapping[str, list[float]]) -> float:
    """Compute the largest share of the payoff range that a seat could gain by swapping actions against the other."""
    gains = []
    for own, x, y in ((payoffs[0], mixes["row"], mixes["col"]), (payoffs[1].T, mixes["col"], mixes["row"])):
        against = own @ y
        gains.append(float(x @ (against.max() - against)))
    return max(gains) / (float(np.ptp(payoffs)) or 1.0)


class TextRow(TypedDict):
    """How often something was said: a repair or a reason why answers could not be read, or a correction."""

    kind: str
    text: Annotated[str, column("what was said")]
    times: int


def _count_texts(results: Results) -> Iterator[TextRow]:
    readings = Counter((row["status"], row["how"][:_LONGEST_READING]) for row in results.rows if row["how"])
    corrections = Counter({(_CORRECTION, text): count for text, count in results.corrections.items()})
    for (kind, text), count in (*readings.most_common(_MOST_TEXTS), *corrections.most_common(_MOST_TEXTS)):
        yield TextRow(kind=kind, text=text, times=count)


def _count_answers(results: Results) -> Frame[AnswerRow]:
    answers: dict[str, Answers] = {}
    for player, rows in results.players.items():
        for row in rows:
            answers.setdefault(player, Answers()).add(row["status"], row["how"], "")
    return make_answers_frame(answers)


class ListedRow(TypedDict):
    """A play in words: the answer and what it lost, everything that was said, and the game with its solution."""

    play: Annotated[int, column(help="its number in this table, by which outliers are named", anchor="play")]
    player: Annotated[str, column(help="and the suite's version of the game, where it is not the game as drawn")]
    transcript: Annotated[str, column(help="the reply, how it was read and judged, and the prompt; open it to read")]
    answer: Annotated[str | None, column(help="probabilities of the own actions")]
    gap_normalised: Annotated[float | None, column("gap / range", ".3f")]
    exploitability_normalised: Annotated[float | None, column("exploitability / range", ".3f")]
    payoffs: Annotated[str, column(help="own payoffs by action; the other's behind a bar")]
    solution: Annotated[str | None, column(help="an optimal strategy in a zero-sum game")]
    opponent: Annotated[str, column(help="the equilibrium strategy that the opponent plays")]
    game: Annotated[int, column(help="number of the game in the run")]


def _list_worst(results: Results) -> Iterator[ListedRow]:
    for number, (row, play) in enumerate(results.worst, 1):
        data, strategy = play.data, row["strategy"]
        own, other = own_view(np.asarray(data["payoffs"], dtype=np.float64), data["seat"])
        names = find_theme(data).actions[data["seat"]], find_theme(data).actions[1 - data["seat"]]
        zero_sum = bool((own == -other).all())
        bar = np.full((len(own), 1), np.nan)
        lines = own if zero_sum else np.concatenate([own, bar, other], axis=1)
        version = " ".join(word for word in (row["condition"], row["variant"]) if word not in (BASE, "original"))
        yield ListedRow(
            play=number,
            player=" / ".join(filter(None, (row["model"], row["asked_for"], version))),
            transcript=_write_transcript(row, play),
            answer=None if strategy is None else _write_mix(names[0], np.asarray(strategy)[data["back"]]),
            gap_normalised=row["gap_normalised"],
            exploitability_normalised=row["exploitability_normalised"],
            payoffs="\n".join(f"{name}: {_write_numbers(line)}" for name, line in zip(names[0], lines, strict=False)),
            solution=_write_mix(names[0], solve_zero_sum(own).row[0]) if zero_sum else None,
            opponent=_write_mix(names[1], np.asarray(results.plan.find_opponent(data))),
            game=row["game"],
        )


def _write_transcript(row: PlayRow, play: StoredPlay) -> str:
    """Write what a model said, how that was read and what was refuted in it, and what it had been asked."""
    decision, game = find_decision(play), make_game(play.data)
    reply = decision.reasoning[:_LONGEST_REPLY] if decision is not None else ""
    judged = f"claims: {row['claims']}, refuted: {row['refuted']}" if row["claims"] is not None else ""
    asked = game.view((), game.roles[play.data["seat"]]).briefing
    read = f"read as {row['status']}{': ' if row['how'] else ''}{row['how']}"
    return "\n\n".join(filter(None, (reply or "(nothing)", read, judged, f"The prompt:\n{asked}")))


def _write_mix(names: Sequence[str], mix: Array) -> str:
    """Write the probabilities that are not 0 with the names of their actions."""
    shares = [f"{name}\N{NO-BREAK SPACE}{round(float(p), 3):g}" for name, p in zip(names, mix, strict=False) if p]
    return ", ".join(shares)


def _write_numbers(numbers: Array) -> str:
    """Write numbers in a line; what is none separates the payoffs of two players."""
    return "\N{NO-BREAK SPACE}".join("|" if np.isnan(n) else format_number(round(float(n), 3)) for n in numbers)


class OutlierRow(TypedDict):
    """A play far above the rest of its player's, beyond the whisker of the picture."""

    figure: str
    play: Annotated[int | None, column(help="its number in the table of plays, to which it links", link="play")]
    game: int
    player: str
    value: Annotated[float, column(format=".3f")]


def _list_outliers(results: Results) -> Iterator[OutlierRow]:
    numbers = {row["spec"]: number for number, (row, _) in enumerate(results.worst, 1)}
    for figure in _COMPARED:
        outliers = []
        for player, rows in results.base.items():
            known = find_values(rows, figure)
            fence = compute_fences([value for value, _ in known])[1] if known else 0.0
            # More than the rounding of equal values above it.
            outliers += [(value, player, row) for value, row in known if value > fence + 1e-9]
        for value, player, row in sorted(outliers, key=lambda outlier: -outlier[0])[:_MOST_OUTLIERS]:
            play = numbers.get(row["spec"])
            yield OutlierRow(figure=figure, play=play, game=row["game"], player=player, value=value)


def _frame(row: type, list_rows: Callable[[Results], Iterable[Any]]) -> Callable[[Results], Frame[Any]]:
    return lambda results: Frame(row, list(list_rows(results)))


_FRAMES: Mapping[str, Callable[[Results], Frame[Any]]] = {
    "plays": lambda results: Frame(PlayRow, results.rows),
    **{
        name: partial(_tabulate_versions, name)
        for name in ("same_games", "variants", "settings", "sizes", "names", "padding")
    },
    "differences": _frame(DifferenceRow, _list_differences),
    "self_play": _frame(SelfPlayRow, _measure_self_play),
    "games": _frame(GameRow, _list_games),
    "outliers": _frame(OutlierRow, _list_outliers),
    "listed": _frame(ListedRow, _list_worst),
    "texts": _frame(TextRow, _count_texts),
    "answers": _count_answers,
}
"""What makes the frames of a run, by their names."""
