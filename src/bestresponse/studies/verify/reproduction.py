"""The published tables of LELMA beside what the recorded runs give, each cell with pass or fail.

What the recorded runs decide (attempts, choices, ratings) is counted; what a solver decided (failed
queries, predicted correctness) is decided anew by both checkers. As in the paper, a reasoning
without queries counts as predicted correct here; how many there are is told beside it, since
nothing was checked in them.

The queries of the recorded runs are put to our checkers, and their texts are read by our
translator. A folder of recorded runs holds `samples.jsonl`, one sample a line, and perhaps
`matrices.json` (payoffs by game, keyed by the two choices) and `query_verdicts.json` (what the
original solver answered). Ratings by people may be absent.

Every claim of the offline translator is held against the recorded claims of the same text, which
may say it the other way round (5 is higher than 3, 3 is lower than 5); what is not among them is
decided by the checkers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from bestresponse.core.errors import UsageError
from bestresponse.core.files import read_text
from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.checker import Checked, Checker
from bestresponse.formal.claims.claim import Claim, Malformed, parse
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import Reading, RulesTranslator, Translator
from bestresponse.logic.engine import LogicEngine, Verdict, open_engine
from bestresponse.report.document import Column, Table
from bestresponse.studies.reproduce.reproduction import Check, Reproduction, check_equal
from bestresponse.studies.verify.ratings import Confusion, Rating, aggregate, agreement
from bestresponse.theory.games.normal_form import NormalForm

CITATION: Final = (
    "A. Mensfelt, K. Stathis, V. Trencsenyi, Logic-Enhanced Language Model Agents for Trustworthy"
    " Social Simulations, 2024 (arXiv:2408.16081)"
)
RUNS: Final = 90
"""Runs of each model in the paper: 30 a game, but for one that is labelled as another game."""
GAMES: Final = {"hd": "Hawk-Dove", "pd": "Prisoner's Dilemma", "sh": "Stag Hunt"}


_CELLS: Final = ("passed", "false alarm", "missed", "caught")
_WHEN: Final = ("first", "last")
_MOST_ATTEMPTS: Final = 5


def _print_game(
    name: str,
    choice: tuple[float, float],
    correct: tuple[float, float],
    confusion: tuple[int, ...],
    accuracy: int,
) -> dict[str, float]:
    """Return the cells of one game by their names.

    Shares of choice B and of correct reasonings are in percent.
    """
    return {
        **{f"{name}: choice B {when}, %": share for when, share in zip(_WHEN, choice, strict=True)},
        **{f"{name}: correct {when}, %": share for when, share in zip(_WHEN, correct, strict=True)},
        **{f"{name}: {cell}": count for cell, count in zip(_CELLS, confusion, strict=True)},
        f"{name}: accuracy, %": accuracy,
    }


def _print_all(
    attempts: tuple[int, ...], confusion: tuple[int, ...], accuracy: int, kappa: float
) -> dict[str, float]:
    return {
        **{f"samples with {number} attempts": count for number, count in enumerate(attempts, 1)},
        **{f"all games: {cell}": count for cell, count in zip(_CELLS, confusion, strict=True)},
        "all games: accuracy, %": accuracy,
        "Fleiss' kappa of the raters": kappa,
    }


_GPT_4O: Final = {
    **_print_all((24, 46, 10, 6, 4), (15, 5, 9, 61), 84, 0.31),
    **_print_game("Hawk-Dove", (100.0, 100.0), (46.67, 73.33), (12, 6, 2, 10), 73),
    **_print_game("Prisoner's Dilemma", (96.67, 23.33), (3.33, 70.0), (0, 1, 1, 28), 93),
    **_print_game("Stag Hunt", (100.0, 33.33), (16.67, 90.0), (3, 2, 2, 23), 87),
    "one or two attempts, %": 78,
    "incorrect after five attempts, %": 0,
    "prompt tokens per attempt": 1269.77,
    "generated tokens per attempt": 1224.38,
    "seconds per attempt": 16.53,
}
_GEMINI: Final = {
    **_print_all((26, 20, 11, 9, 24), (15, 2, 11, 62), 86, 0.59),
    **_print_game("Hawk-Dove", (66.67, 70.0), (25.81, 35.48), (8, 6, 0, 17), 81),
    **_print_game("Prisoner's Dilemma", (36.67, 30.0), (17.24, 34.48), (4, 3, 1, 21), 86),
    **_print_game("Stag Hunt", (80.0, 60.0), (13.33, 40.0), (3, 2, 1, 24), 90),
    "five attempts, %": 27,
    "incorrect after five attempts, %": 83,
    "seconds per attempt": 34.66,
}
"""Tables 5 to 9 of the paper and what its text says, each by the name under which it is worked out
here."""


def published_for(model: str) -> Mapping[str, float]:
    """The cells of a model (GPT-4o, Gemini 1.0 Pro); none for one that the paper does not have.

    >>> [len(published_for(name)) for name in ("gpt-4o-2024-05-13", "gemini-1.0-pro", "gpt-4o-mini")]
    [43, 41, 0]
    """  # noqa: E501
    name = model.casefold().rpartition("/")[2].replace(" ", "-").replace("_", "-")
    if re.fullmatch(r"gpt-4(?:o|-omni)(?:-20\d\d-\d\d-\d\d)?", name):
        return _GPT_4O
    return (
        _GEMINI if re.fullmatch(r"gemini(?:-1(?:\.0)?)?(?:-pro)?(?:-(?:latest|\d+))?", name) else {}
    )


_ANSWERS = {Verdict.PROVED: "true", Verdict.REFUTED: "false", Verdict.UNKNOWN: "error"}
"""Our verdicts in the words of the records."""
_UNRATED = "these runs carry no ratings"
_PART = "not all the runs of the paper; its cells apply only to games of which all are there"
_COUNTED = (
    "the paper counts {counted} samples of this game, {here} are recorded here: a run of another"
    " game stands under it"
)
_TRANSPOSED = (
    "the paper's total and its tables by game swap the two off-diagonal cells; one of them is"
    " transposed"
)


def reproduce_lelma(folder: Path) -> Reproduction:
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
        checks = [*_failed_checks(samples, recheck), *_tables(samples, recheck)]
        if compared := verdicts["same"] + len(verdicts["different"]):
            apart = (
                f"{len(verdicts['ill_formed'])} ill-formed queries apart"
                if verdicts["ill_formed"]
                else ""
            )
            first = check_equal("verdicts on recorded queries", compared, verdicts["same"], apart)
            checks.insert(0, first)
    finally:
        engine.close()
    detail: JsonObject = {
        "samples": len(samples),
        "models": sorted({sample.model for sample in samples}),
        "attempts": sum(len(sample.attempts) for sample in samples),
        "unchecked_attempts": sum(
            not attempt.queries for sample in samples for attempt in sample.attempts
        ),
        "verdicts": verdicts,
        "rules_translator": yardstick,
    }
    metrics = Table(
        (Column("the offline translator"), Column("", "right")),
        tuple(
            (
                name.replace("_", " "),
                value if isinstance(value, int | None) else f"{100 * value:.1f} %",
            )
            for name, value in yardstick.items()
        ),
        "Rules for plain English against the recorded translator, and what they refused to read",
    )
    return Reproduction("lelma", CITATION, tuple(checks), (metrics,), detail)


def _compare_verdicts(recorded: dict[str, dict[str, str]], recheck: Recheck) -> JsonObject:
    same = 0
    different = []
    ill_formed = []
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
                why = next(
                    c.proof.why for c in recheck.query(game, query) if c.verdict is Verdict.UNKNOWN
                )
                ill_formed.append(row | {"why": why})
            else:
                different.append(row | {"ours": ours})
    return {"same": same, "different": different, "ill_formed": ill_formed}


def _failed_checks(samples: Sequence[Sample], recheck: Recheck) -> Iterator[Check]:
    reached = [(s.game, a) for s in samples for a in s.attempts if a.failed is not None]
    if not reached:
        remark = "these runs do not tell which queries failed"
        yield check_equal("failed queries of all attempts", None, None, remark)
        return
    same = sum(
        set(recheck.failed(game, attempt)) == set(attempt.failed or ()) for game, attempt in reached
    )
    remark = "attempts with the same set"
    yield check_equal("failed queries of all attempts", len(reached), same, remark)


def _tables(samples: Sequence[Sample], recheck: Recheck) -> Iterator[Check]:
    for model in sorted({sample.model for sample in samples}):
        runs = [sample for sample in samples if sample.model == model]
        games = sorted({sample.game for sample in runs})
        by_game = {
            GAMES.get(game, game): [sample for sample in runs if sample.game == game]
            for game in games
        }
        published = published_for(model)
        if published and len(runs) != RUNS:
            yield Check(f"runs of {model}", RUNS, len(runs), agrees=None, remark=_PART)
            whole = [game for game, part in by_game.items() if 3 * len(part) == RUNS]
            published = {
                what: cell for what, cell in published.items() if what.partition(":")[0] in whole
            }
        cells = [*_count_attempts(runs), *_count_choices(by_game), *_average_costs(runs)]
        rated = _keep_rated(by_game)
        if rated:
            cells += _judge(rated, recheck, published)
        for cell in cells:
            yield _check_cell(cell, published)
        if not rated:
            yield check_equal("correctness, confusion and agreement", None, None, _UNRATED)


def _keep_rated(by_game: Mapping[str, Sequence[Sample]]) -> dict[str, list[Sample]]:
    """Return the runs that people rated, of the games that have any."""
    rated = {}
    for game, part in by_game.items():
        kept = [run for run in part if run.ratings]
        if kept:
            rated[game] = kept
    return rated


def _check_cell(cell: Cell, published: Mapping[str, float]) -> Check:
    """Compare a cell with what the paper prints, to as many digits."""
    what, figure, digits, remark = cell
    printed = published.get(what)
    shown = figure if figure is None or digits is None else round(figure, digits)
    is_same = None if printed is None or shown is None else shown == printed
    return Check(what, printed, shown, is_same, remark)


Cell = tuple[str, float | None, int | None, str]
"""What a cell is, its number, to how many digits the paper prints it, and a remark."""


def _count_attempts(samples: Sequence[Sample]) -> Iterator[Cell]:
    counts = Counter(len(sample.attempts) for sample in samples)
    for number in range(0 if counts[0] else 1, max(5, *counts) + 1):
        yield f"samples with {number} attempts", counts[number], None, ""
    yield "one or two attempts, %", 100 * (counts[1] + counts[2]) / len(samples), 0, ""
    yield "five attempts, %", 100 * counts[5] / len(samples), 0, ""


def _count_choices(by_game: Mapping[str, Sequence[Sample]]) -> Iterator[Cell]:
    for game, samples in by_game.items():
        both = (
            [sample.orig_choice for sample in samples],
            [sample.final_choice for sample in samples],
        )
        for when, choices in zip(_WHEN, both, strict=True):
            made = [choice for choice in choices if choice]
            share = 100 * made.count("B") / len(made) if made else None
            yield f"{game}: choice B {when}, %", share, 2, ""


def _average_costs(samples: Sequence[Sample]) -> Iterator[Cell]:
    """Means over samples of a sample's mean per attempt, as the paper takes them."""
    kinds = {
        "instr_tokens": "prompt tokens",
        "gen_tokens": "generated tokens",
        "seconds": "seconds",
    }
    for name, what in kinds.items():
        costs = [
            (sample.sheet.get(name), len(sample.attempts)) for sample in samples if sample.attempts
        ]
        means = [cost / attempts for cost, attempts in costs if isinstance(cost, int | float)]
        if means:
            yield f"{what} per attempt", sum(means) / len(means), 2, ""


def _judge(
    by_game: Mapping[str, Sequence[Sample]], recheck: Recheck, published: Mapping[str, float]
) -> Iterator[Cell]:
    """Work out what people said, how well the checker predicts it, and how far raters agree."""
    rated = [sample for samples in by_game.values() for sample in samples]
    for game, samples in by_game.items():
        counted = _tell_count(game, len(samples), published)
        judged = [aggregate(sample.ratings) for sample in samples]
        for attempt, when in enumerate(_WHEN):
            correct = sum(one[attempt] for one in judged)
            yield f"{game}: correct {when}, %", 100 * correct / len(samples), 2, counted
    for game, samples in {"all games": rated, **by_game}.items():
        confusion = Confusion.of(
            (aggregate(sample.ratings)[0], not recheck.failed(sample.game, sample.attempts[0]))
            for sample in samples
            if sample.attempts
        )
        counted = _tell_count(game, len(samples), published)
        yield from _count_confusion(game, confusion, counted, published)
    longest = [sample for sample in rated if len(sample.attempts) == _MOST_ATTEMPTS]
    if longest:
        wrong = len([sample for sample in longest if not aggregate(sample.ratings)[1]])
        counted = f"{wrong} of {len(longest)}"
        yield "incorrect after five attempts, %", 100 * wrong / len(longest), 0, counted
    kappa = agreement([sample.ratings for sample in rated])
    yield "Fleiss' kappa of the raters", kappa, 2, "" if kappa is None else f"{kappa:.3f}"


def _count_confusion(
    game: str, confusion: Confusion, counted: str, published: Mapping[str, float]
) -> Iterator[Cell]:
    """Yield what people and the checker said of the runs of a game, and the accuracy."""
    counts = {f"{game}: {cell}": getattr(confusion, cell.replace(" ", "_")) for cell in _CELLS}
    alarms = f"{game}: false alarm"
    missed = f"{game}: missed"
    swapped = (counts[alarms], counts[missed]) == (published.get(missed), published.get(alarms))
    for what, count in counts.items():
        transposed = swapped and not counted and what in (alarms, missed)
        remark = _TRANSPOSED if transposed else counted
        yield what, count, None, "" if count == published.get(what) else remark
    accuracy = None if confusion.accuracy is None else round(100 * confusion.accuracy)
    remark = "" if accuracy == published.get(f"{game}: accuracy, %") else counted
    yield f"{game}: accuracy, %", accuracy, None, remark


def _tell_count(game: str, here: int, published: Mapping[str, float]) -> str:
    """Say that the paper counts other samples of a game than are recorded.

    Returns an empty result where it counts as many.
    """
    cells = [published[what] for cell in _CELLS if (what := f"{game}: {cell}") in published]
    counted = round(sum(cells))
    return (
        ""
        if len(cells) < len(_CELLS) or counted == here
        else _COUNTED.format(counted=counted, here=here)
    )


_PAPER: Final = """{
    "pd": {"RR": [1, 1], "RB": [5, 0], "BR": [0, 5], "BB": [3, 3]},
    "sh": {"RR": [1, 1], "RB": [3, 0], "BR": [0, 3], "BB": [5, 5]},
    "hd": {"RR": [0, 0], "RB": [5, 1], "BR": [1, 5], "BB": [3, 3]}
}"""
"""Table 1 of the paper, for folders that bring no payoffs."""
K = TypeVar("K")


@dataclass(frozen=True)
class RecordedAttempt:
    """One reasoning, the queries made of it, and those that failed.

    The failed ones are None if they were never put to the solver.
    """

    response: str = ""
    queries: tuple[str, ...] = ()
    failed: tuple[str, ...] | None = None


@dataclass(frozen=True)
class RecordedRating:
    """What one person said about the first and the last reasoning."""

    orig_cor: bool
    fin_cor: bool


@dataclass(frozen=True)
class Sample:
    """One run of the feedback loop, by the names of its file."""

    id: str
    game: str
    attempts: tuple[RecordedAttempt, ...]
    model: str = ""
    orig_choice: str | None = None
    final_choice: str | None = None
    raters: tuple[RecordedRating, ...] = ()
    sheet: Mapping[str, object] = field(default_factory=dict)

    @property
    def ratings(self) -> tuple[Rating, ...]:
        """What people said."""
        return tuple(Rating(rater.orig_cor, rater.fin_cor) for rater in self.raters)


def read_samples(folder: Path) -> tuple[Sample, ...]:
    """Read the samples of a folder; UsageError where there are none."""
    path = folder / "samples.jsonl"
    if not path.is_file():
        raise UsageError(f"{folder}: expected recorded runs in a file samples.jsonl")
    lines = enumerate(read_text(path, errors="replace").splitlines(), 1)
    samples = tuple(
        _read_json(Sample, line, f"{path}, line {number}") for number, line in lines if line.strip()
    )
    if not samples:
        raise UsageError(f"{path} holds no samples")
    return samples


def games_of(folder: Path) -> dict[str, Subject]:
    """Return the games that were played, from the reasoner's seat."""
    path = folder / "matrices.json"
    text = read_text(path, errors="replace") if path.is_file() else _PAPER
    games = {}
    for name, cells in _read_json(
        dict[str, dict[str, tuple[float, float]]], text, str(path)
    ).items():
        own, other = (
            tuple(dict.fromkeys(key[seat : seat + 1] for key in cells)) for seat in (0, 1)
        )
        if sorted(cells) != sorted(a + b for a in own for b in other):
            raise UsageError(f"{path}: expected all outcomes of {name}, by two letters such as RB")
        row, col = ([[cells[a + b][player] for b in other] for a in own] for player in (0, 1))
        games[name] = Subject(NormalForm.bimatrix(row, col, actions=(own, other), name=name))
    return games


def recorded_verdicts(folder: Path) -> dict[str, dict[str, str]]:
    """Return what the original solver answered: game, query, and true, false or error.

    Returns an empty result where it was not kept.
    """
    path = folder / "query_verdicts.json"
    text = read_text(path, errors="replace") if path.is_file() else "{}"
    return _read_json(dict[str, dict[str, str]], text, str(path))


def _read_json(kind: type[K], text: str, where: str) -> K:
    """Read JSON of a known shape; UsageError says what is wrong with it."""
    try:
        return TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise UsageError(
            f"{where}: {wrong['msg']} {'.'.join(map(str, wrong['loc']))}".rstrip()
        ) from None


_QUOTED: Final = re.compile(r"'[^']*'")
_VARIABLE: Final = re.compile(r"(?<!\w)[A-Z_]\w*")


class Recheck:
    """Puts recorded queries to our checkers, one program per game, every query decided once.

    Recorded queries are taken as strictly as the original took them: a capital without quotes is a
    variable there, and names must be the game's own. Such a query is ill-formed here; what
    `recorded` says of it stands.
    """

    def __init__(
        self,
        games: Mapping[str, Subject],
        engine: LogicEngine,
        recorded: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self.checkers = {name: Checker(subject, engine) for name, subject in games.items()}
        self._recorded = recorded
        self._known: dict[tuple[str, str], tuple[Checked, ...]] = {}

    def query(self, game: str, query: str) -> tuple[Checked, ...]:
        """Our verdict on a recorded query; several where it states several payoffs."""
        if (game, query) not in self._known:
            checker = self.checkers[game]
            self._known[game, query] = checker.check_all(_strict(query, checker.subject))
        return self._known[game, query]

    def verdict(self, game: str, query: str) -> Verdict:
        """REFUTED if anything it states is refuted, else UNKNOWN if anything is, else PROVED."""
        verdicts = [checked.verdict for checked in self.query(game, query)] or [Verdict.UNKNOWN]
        return next(
            (v for v in (Verdict.REFUTED, Verdict.UNKNOWN) if v in verdicts), Verdict.PROVED
        )

    def failed(self, game: str, attempt: RecordedAttempt) -> tuple[str, ...]:
        """The queries that a closed-world solver does not prove, in order, each once."""
        answers = self._recorded.get(game, {})
        verdicts = {query: self.verdict(game, query) for query in attempt.queries}
        unproved = (query for query, verdict in verdicts.items() if verdict is not Verdict.PROVED)
        return tuple(
            q for q in unproved if verdicts[q] is Verdict.REFUTED or answers.get(q) != "true"
        )


def _strict(query: str, subject: Subject) -> Iterator[Claim | Malformed]:
    if _VARIABLE.search(_QUOTED.sub("''", query)):
        yield Malformed(query, "it has a variable: a capital letter without quotes")
        return
    names = {*subject.players, *(action for actions in subject.actions for action in actions)}
    for claim in parse(query):
        if isinstance(claim, Claim) and not _list_names(claim.args) <= names:
            yield Malformed(query, "it uses names that the game does not have")
        else:
            yield claim


def _list_names(args: object) -> set[str]:
    """Return every name in the arguments of a claim."""
    if isinstance(args, str):
        return {args}
    return (
        {name for part in args for name in _list_names(part)} if isinstance(args, tuple) else set()
    )


_TURNED: Final = {"lower": "higher", "lower_guaranteed_payoff": "higher_guaranteed_payoff"}
_TIGHT: Final = {
    "guaranteed_payoff_for_choice": "lowest_individual_payoff_for_choice",
    "limited_payoff_for_choice": "highest_individual_payoff_for_choice",
}


def turn_claim(claim: Claim) -> Claim:
    """Return a claim as it was recorded then.

    Comparisons go one way round, and "at least 3" is the least that is possible.

    >>> from fractions import Fraction
    >>> print(turn_claim(Claim("lower", (Fraction(3), Fraction(5)))))
    higher(5, 3).
    """
    if claim.form in _TIGHT:
        return Claim(_TIGHT[claim.form], claim.args, claim.negated)
    if claim.form not in _TURNED:
        return claim
    first, second, *rest = claim.args
    return Claim(_TURNED[claim.form], (second, first, *rest), claim.negated)


def measure_translator(
    samples: Iterable[Sample], translator: Translator, recheck: Recheck
) -> dict[str, float | None]:
    """Translate every recorded reasoning and compare with what was recorded."""
    counts: Counter[str] = Counter()
    judged: list[tuple[bool, bool]] = []
    for sample in samples:
        checker = recheck.checkers[sample.game]
        for number, attempt in enumerate(sample.attempts):
            translation = translator.translate(attempt.response, checker.subject)
            claims = _ground_all(translation.claims, checker.subject)
            for passage in translation.passages or ():
                counts[passage.reading] += 1
            if attempt.queries:
                queries = [claim for query in attempt.queries for claim in parse(query)]
                recorded = frozenset(map(turn_claim, _ground_all(queries, checker.subject)))
                counts["recorded"] += len(recorded)
                counts["found"] += len(recorded & set(map(turn_claim, claims)))
                counts["claims"] += len(claims)
                others = [claim for claim in claims if turn_claim(claim) not in recorded]
                counts["others"] += len(others)
                proved = [one for one in others if checker.check(one).verdict is Verdict.PROVED]
                counts["true"] += len(proved)
            if number == 0 and not claims:
                counts["unchecked"] += 1
            elif number == 0 and sample.ratings:
                verdicts = (checker.check(claim).verdict for claim in claims)
                refuted = Verdict.REFUTED in verdicts
                judged.append((aggregate(sample.ratings)[0], not refuted))
    spoken = counts[Reading.READ] + counts[Reading.PARTLY_READ] + counts[Reading.UNREAD]
    return {
        "sentences_with_amounts_or_solutions": spoken,
        "partly_read": counts[Reading.PARTLY_READ],
        "refused_to_read": counts[Reading.UNREAD],
        "share_refused": counts[Reading.UNREAD] / spoken if spoken else None,
        "claims": counts["claims"],
        "same_as_recorded": counts["claims"] - counts["others"],
        "not_recorded_but_true": counts["true"],
        "recorded_claims": counts["recorded"],
        "found_of_recorded": counts["found"],
        "recall": counts["found"] / counts["recorded"] if counts["recorded"] else None,
        "detection_accuracy": Confusion.of(judged).accuracy,
        "unchecked_first_attempts": counts["unchecked"],
    }


def _ground_all(claims: Iterable[Claim | Malformed], subject: Subject) -> set[Claim]:
    grounded = set()
    for claim in claims:
        if isinstance(claim, Claim):
            try:
                grounded.add(ground(claim, subject).claim)
            except Ungrounded:
                continue
    return grounded
