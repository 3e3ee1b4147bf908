"""The published tables of LELMA beside what the recorded runs give, each cell with pass or fail.

What the recorded runs decide (attempts, choices, ratings) is counted; what a solver decided (failed queries, predicted
correctness) is decided anew by both checkers. As in the paper, a reasoning without queries counts as predicted
correct here; how many there are is told beside it, since nothing was checked in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.translators.rules import RulesTranslator
from bestresponse.logic.engine import Verdict, open_engine
from bestresponse.report.document import Column, Table
from bestresponse.studies.reproduce.reproduction import Check, Reproduction
from bestresponse.studies.verify.checking import Recheck, false_corrections
from bestresponse.studies.verify.evaluation import Confusion, aggregate, agreement
from bestresponse.studies.verify.published import CITATION, GAMES, RUNS, Published, published_for
from bestresponse.studies.verify.recorded import Sample, games_of, read_samples, recorded_verdicts
from bestresponse.studies.verify.translator_score import measure_translator

__all__ = ["reproduce"]

_ANSWERS = {Verdict.PROVED: "true", Verdict.REFUTED: "false", Verdict.UNKNOWN: "error"}
"""Our verdicts in the words of the records."""
_UNRATED = "these runs carry no ratings"
_PART = "not all the runs of the paper; its cells apply only to games of which all are there"
_TRANSPOSED = "the paper's total and its tables by game swap the two off-diagonal cells; one of them is transposed"


def reproduce(folder: Path) -> Reproduction:
    """Check every recorded query again and work out every table."""
    samples = read_samples(folder)
    games = games_of(folder)
    if missing := sorted({sample.game for sample in samples} - set(games)):
        raise UsageError(f"{folder}: the payoffs of {', '.join(missing)} are not in matrices.json")
    engine = open_engine("embedded", confined=False)
    try:
        recorded = recorded_verdicts(folder)
        recheck = Recheck(games, engine, recorded)
        verdicts = _compare_verdicts(recorded, recheck)
        yardstick = measure_translator(samples, RulesTranslator(), recheck)
        checks = [*_verdict_checks(verdicts), *_failed_checks(samples, recheck), *_tables(samples, recheck)]
        counts = false_corrections(samples, recheck)
    finally:
        engine.close()
    detail: JsonObject = {
        "samples": len(samples),
        "models": sorted({sample.model for sample in samples}),
        "attempts": sum(len(sample.attempts) for sample in samples),
        "unchecked_attempts": sum(not attempt.queries for sample in samples for attempt in sample.attempts),
        "verdicts": verdicts,
        "mistakes_of_the_original": [
            {"game": game, "sentence": sentence, "times": times} for (game, sentence), times in sorted(counts.items())
        ],
        "rules_translator": yardstick,
    }
    tables = (_mistakes_table(counts), _yardstick_table(yardstick))
    return Reproduction("lelma", CITATION, tuple(checks), tables, detail)


def _compare_verdicts(recorded: dict[str, dict[str, str]], recheck: Recheck) -> JsonObject:
    same, different, ill_formed = 0, [], []
    for game, queries in recorded.items():
        for query, answer in queries.items():
            row = {"game": game, "query": query, "recorded": answer}
            if game not in recheck.checkers:
                ill_formed.append(row | {"why": "its payoffs are not known"})
                continue
            ours = _ANSWERS[recheck.verdict(game, query)]
            if ours == answer:
                same += 1
            elif ours == "error":
                why = next(c.proof.why for c in recheck.query(game, query) if c.verdict is Verdict.UNKNOWN)
                ill_formed.append(row | {"why": why})
            else:
                different.append(row | {"ours": ours})
    return {"same": same, "different": different, "ill_formed": ill_formed}


def _verdict_checks(verdicts: JsonObject) -> Iterator[Check]:
    total = verdicts["same"] + len(verdicts["different"])
    if total:
        remark = f"{len(verdicts['ill_formed'])} ill-formed queries apart" if verdicts["ill_formed"] else ""
        yield Check("verdicts on recorded queries", total, verdicts["same"], verdicts["same"] == total, remark)


def _failed_checks(samples: Sequence[Sample], recheck: Recheck) -> Iterator[Check]:
    reached = [(s.game, a) for s in samples for a in s.attempts if a.failed is not None]
    if not reached:
        yield Check("failed queries of all attempts", None, None, None, "these runs do not tell which queries failed")
        return
    same = sum(set(recheck.failed(game, attempt)) == set(attempt.failed or ()) for game, attempt in reached)
    yield Check(
        "failed queries of all attempts", len(reached), same, same == len(reached), "attempts with the same set"
    )


def _tables(samples: Sequence[Sample], recheck: Recheck) -> Iterator[Check]:
    for model in sorted({sample.model for sample in samples}):
        own = [sample for sample in samples if sample.model == model]
        published = published_for(model)
        if published is not None and len(own) != RUNS:
            yield Check(f"runs of {model}", RUNS, len(own), None, _PART)
            published = published.for_games(game for game, runs in _by_game(own) if 3 * len(runs) == RUNS)
        yield from _attempts(own, published)
        yield from _choices(own, published)
        yield from _costs(own, published)
        rated = [sample for sample in own if sample.ratings]
        if rated:
            yield from _correctness(rated, published)
            yield from _confusions(rated, published, recheck)
            yield from _kappa(rated, published)
        else:
            yield Check("correctness, confusion and agreement", None, None, None, _UNRATED)


def _cell(what: str, published: Any, found: Any, digits: int | None = None, remark: str = "") -> Check:
    """One cell: equal at the precision in print."""
    if published is None or found is None:
        return Check(what, published, found, None, remark)
    shown = round(found, digits) if digits is not None else found
    return Check(what, published, shown, shown == published, remark)


def _attempts(samples: Sequence[Sample], published: Published | None) -> Iterator[Check]:
    counts = Counter(len(sample.attempts) for sample in samples)
    for number in range(0 if counts[0] else 1, max(5, *counts) + 1):
        printed = published.attempts[number - 1] if published and number <= len(published.attempts) else None
        yield _cell(f"samples with {number} attempts", printed, counts[number])


def _by_game(samples: Sequence[Sample]) -> Iterator[tuple[str, list[Sample]]]:
    for game in sorted({sample.game for sample in samples}):
        yield game, [sample for sample in samples if sample.game == game]


def _choices(samples: Sequence[Sample], published: Published | None) -> Iterator[Check]:
    for game, own in _by_game(samples):
        printed = published.choice.get(game, (None, None)) if published else (None, None)
        for place, when in enumerate(("first", "last")):
            made = [choice for s in own if (choice := s.first_choice if place == 0 else s.last_choice)]
            share = 100 * made.count("B") / len(made) if made else None
            yield _cell(f"{GAMES.get(game, game)}: choice B {when}, %", printed[place], share, 2)


def _costs(samples: Sequence[Sample], published: Published | None) -> Iterator[Check]:
    """Means over samples of a sample's mean per attempt, as the paper takes them."""
    tokens = published.tokens if published and published.tokens else (None, None)
    kinds = (
        ("instr_tokens", "prompt tokens per attempt", tokens[0]),
        ("gen_tokens", "generated tokens per attempt", tokens[1]),
        ("seconds", "seconds per attempt", published.seconds if published else None),
    )
    for name, what, printed in kinds:
        means = [s.cost[name] / len(s.attempts) for s in samples if s.attempts and s.cost.get(name) is not None]
        if means:
            yield _cell(what, printed, sum(means) / len(means), 2)


def _correctness(samples: Sequence[Sample], published: Published | None) -> Iterator[Check]:
    for game, own in _by_game(samples):
        printed = published.correct.get(game, (None, None)) if published else (None, None)
        for place, when in enumerate(("first", "last")):
            correct = sum(aggregate(sample.ratings)[place] for sample in own)
            what = f"{GAMES.get(game, game)}: correct {when}, %"
            yield _cell(what, printed[place], 100 * correct / len(own), 2)


def _confusions(samples: Sequence[Sample], published: Published | None, recheck: Recheck) -> Iterator[Check]:
    groups = [("all", list(samples)), *_by_game(samples)]
    for game, own in groups:
        found = Confusion.of(
            (aggregate(sample.ratings)[0], not recheck.failed(sample.game, sample.attempts[0]))
            for sample in own
            if sample.attempts
        )
        printed = published.confusion.get(game) if published else None
        name = "all games" if game == "all" else GAMES.get(game, game)
        swapped = printed is not None and (found.false_alarm, found.missed) == (printed.missed, printed.false_alarm)
        for cell in ("passed", "false_alarm", "missed", "caught"):
            value = getattr(found, cell)
            wanted = getattr(printed, cell) if printed else None
            remark = _TRANSPOSED if swapped and value != wanted else ""
            yield _cell(f"{name}: {cell.replace('_', ' ')}", wanted, value, remark=remark)
        accuracy = None if found.accuracy is None else round(100 * found.accuracy)
        yield _cell(f"{name}: accuracy, %", published.accuracy.get(game) if published else None, accuracy)


def _kappa(samples: Sequence[Sample], published: Published | None) -> Iterator[Check]:
    kappa = agreement([sample.ratings for sample in samples])
    exact = "" if kappa is None else f"{kappa:.3f}"
    yield _cell("Fleiss' kappa of the raters", published.kappa if published else None, kappa, 2, exact)


def _mistakes_table(counts: Counter[tuple[str, str]]) -> Table:
    columns = (Column("game"), Column("correction that is false"), Column("times", "right"))
    rows = tuple((GAMES.get(game, game), sentence, times) for (game, sentence), times in sorted(counts.items()))
    return Table(columns, rows, "What the original told the reasoner although its game says otherwise")


def _yardstick_table(measured: JsonObject) -> Table:
    """List the figures of the offline translator: counts as they are, shares in percent."""
    columns = (Column("the offline translator"), Column("", "right"))
    told = {
        name: value if isinstance(value, int | None) else f"{100 * value:.1f} %" for name, value in measured.items()
    }
    rows = tuple((name.replace("_", " "), value) for name, value in told.items())
    return Table(
        columns, rows, "Rules for plain English against the recorded translator, and what they refused to read"
    )
