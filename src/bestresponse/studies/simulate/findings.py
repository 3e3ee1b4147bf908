"""What a run of the playground found, as a document."""

from __future__ import annotations

from collections.abc import Iterable

from bestresponse.report.document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Section,
    Table,
)
from bestresponse.runs.reporting.answers import answers_section
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
from bestresponse.runs.store.manifest import Manifest
from bestresponse.studies.simulate import figures
from bestresponse.studies.simulate.measure import Measured
from bestresponse.studies.simulate.results import SimulateResults
from bestresponse.studies.simulate.summary import Share, Summary

__all__ = ["findings"]

_MOST_ROWS = 200
_MOST_EQUILIBRIA = 12


def findings(results: SimulateResults, run: Run[Any]) -> Document:
    """Build the report of a run."""
    measured = results.measured
    config = measured.config
    summary = Summary(measured)
    sections: list[Section | None] = []
    if measured.plays:
        sections += [_payoffs(summary, run), _moves(summary), _rounds(summary), _theory(summary), _welfare(summary)]
    sections += [_voids(measured), answers_section(measured.answers, "How the answers were read")]
    sections += [costs_section(run.costs), _method(measured, run.manifest)]
    return Document(
        title=f"Playing {config.game.name}",
        subtitle=f"{_who(measured)}: {measured.plays} plays of {config.repeats}, seed {config.seed}",
        opening=tuple(_opening(measured)),
        sections=tuple(section for section in sections if section is not None),
        footer=run.manifest.footer,
    )


def _who(measured: Measured) -> str:
    players = [who for _, who in measured.config.seats]
    if len(set(players)) == 1:
        return f"{players[0]} in all seats"
    return ", ".join(f"{role} = {who}" for role, who in measured.config.seats)


def _opening(measured: Measured) -> Iterable[Block]:
    void = len(measured.voids)
    missing = measured.config.repeats - measured.plays - void
    if missing:
        yield Note(f"{missing} of the planned plays are missing; run the same command to play them.", "warning")
    if void:
        plays = "1 play is void" if void == 1 else f"{void} plays are void"
        yield Note(f"{plays}: a seat gave no answer that could be used. They enter no figure.", "warning")
    abstained = sum(answers.abstained for answers in measured.answers.values())
    if abstained:
        yield Note(f"{abstained} times a seat without a usable answer abstained, as the settings say.", "warning")


def _payoffs(summary: Summary, run: Run[Any]) -> Section:
    text = "Every play a dot, the box from the first to the third quartile, the diamond the mean."
    picture = Figure(figures.payoff_strips(summary), text, "payoffs by seat")
    return Section("What they earned", (run.figures.to_table(), picture))


def _moves(summary: Summary) -> Section | None:
    blocks: list[Block] = []
    if summary.shares:
        blocks += _shares_table(summary)
        picture = figures.moves_beside_equilibrium(summary)
        if picture:
            blocks.append(Figure(picture, "How often every seat made each move.", "shares of moves by seat"))
    if summary.amounts:
        columns = (
            Column("seat"),
            *([Column("for")] if any(one.part for one in summary.amounts) else []),
            Column("answers", "right"),
            Column("mean", "right", "95 % interval over plays", ".3f"),
            Column("least", "right", format="g"),
            Column("median", "right", format="g"),
            Column("most", "right", format="g"),
        )
        named = len(columns) == 7
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (a.seat, *([a.part or "own choice"] if named else []), a.count, a.mean, a.least, a.median, a.most)
            for a in summary.amounts
        )
        blocks.append(Table(columns, rows, "Amounts"))
    return Section("What they chose", tuple(blocks)) if blocks else None


def _shares_table(summary: Summary) -> list[Block]:
    places = any(one.place for one in summary.shares)
    nearest = summary.nearest
    columns = (
        Column("seat"),
        *([Column("knowing", help="what the seat knows where it decides")] if places else []),
        Column("move"),
        Column("times", "right"),
        Column("share", "right", "of all its decisions there, 95 % interval over plays", ".3f"),
        *([Column("in equilibrium", "right", format=".3f")] if nearest else []),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.seat,
            *([one.place] if places else []),
            one.move,
            one.count,
            one.share,
            *([nearest.shares[one.seat][one.place].get(one.move, 0.0)] if nearest else []),
        )
        for one in _largest(summary.shares)
    ]
    left_out = len(summary.shares) - len(rows)
    blocks: list[Block] = [Table(columns, tuple(rows), "Moves")]
    if left_out:
        blocks.append(Note(f"{left_out} rows of rarer moves are left out here; rows.csv has every answer."))
    return blocks


def _largest(shares: tuple[Share, ...]) -> list[Share]:
    """All rows, or the most frequent ones in the order of all."""
    if len(shares) <= _MOST_ROWS:
        return list(shares)
    kept = set(sorted(range(len(shares)), key=lambda k: -shares[k].count)[:_MOST_ROWS])
    return [share for k, share in enumerate(shares) if k in kept]


def _rounds(summary: Summary) -> Section | None:
    """How moves and amounts change over rounds."""
    blocks: list[Block] = []
    picture = figures.shares_by_round(summary)
    if picture:
        blocks.append(Figure(picture, "How often every seat made each move, with 95 % intervals.", "by round"))
    for part in dict.fromkeys(one.part for one in summary.amounts_by_round):
        picture = figures.amounts_by_round(summary, part)
        if picture:
            what = f" for {part}" if part else ""
            blocks.append(Figure(picture, f"Mean amounts{what} by round, with 95 % intervals.", f"amounts{what}"))
    picture = figures.regrets_by_round(summary)
    if picture:
        text = (
            "Regret a round of the rounds so far: the best single move of the play up to then, less what was earned, "
            "mean over plays with 95 % intervals."
        )
        blocks.append(Figure(picture, text, "regret by round"))
    return Section("Round by round", tuple(blocks)) if blocks else None


def _theory(summary: Summary) -> Section | None:
    """The equilibria, and how far the play was from one."""
    theory, judged = summary.measured.theory, summary.judged
    blocks: list[Block] = []
    if theory.known is not None:
        more = f" {theory.known.better}" if theory.known.better else ""
        blocks.append(Paragraph(f"{theory.known.concept.capitalize()}: {theory.known.words}{more}"))
    if judged is not None:
        items: list[tuple[str, Cell]] = [("Nash gap of the frequencies", judged.gap)]
        blocks.append(KeyValues(tuple(items)))
        blocks.append(Paragraph(_gap_words(summary)))
    if theory.predicted:
        blocks.append(_equilibria(summary))
        if len(theory.predicted) > _MOST_EQUILIBRIA:
            blocks.append(Note(f"The first {_MOST_EQUILIBRIA} of {len(theory.predicted)} equilibria are listed."))
        if not theory.complete:
            blocks.append(Note("There may be other equilibria than those listed."))
    return Section("Beside theory", tuple(blocks)) if blocks else None


def _gap_words(summary: Summary) -> str:
    text = (
        "The Nash gap adds up what every seat could gain by leaving the frequencies alone: 0 exactly where they are an "
        "equilibrium."
    )
    judged = summary.judged
    if judged is not None and judged.unseen:
        assumed = "as in the nearest equilibrium" if summary.nearest else "with all moves equally likely"
        text += f" No play came to {judged.unseen} of the {judged.places} places where somebody could decide; there "
        text += f"the seats are taken to decide {assumed}."
    return text


def _equilibria(summary: Summary) -> Table:
    seats = summary.measured.seats
    columns = (
        Column("equilibrium"),
        *(Column(seat, "right", "payoff", ".3f") for seat in seats),
        Column("welfare", "right", "the sum of the payoffs", ".3f"),
        Column("largest regret", "right", "0 at an exact equilibrium", ".1e"),
        Column("nearest to the play"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{number}, {one.kind}",
            *(one.payoffs[seat] for seat in seats),
            one.welfare,
            one.regret,
            one is summary.nearest,
        )
        for number, one in enumerate(summary.measured.theory.predicted[:_MOST_EQUILIBRIA], 1)
    )
    return Table(columns, rows, f"Equilibria ({summary.measured.theory.method})")


def _welfare(summary: Summary) -> Section:
    theory = summary.measured.theory
    best = max((one.welfare for one in theory.predicted), default=None)
    if best is None and theory.known is not None and theory.known.payoffs:
        best = sum(theory.known.payoffs.values())
    rows: list[tuple[str, Cell]] = [("mean sum of all payoffs", summary.welfare)]
    if best is not None:
        rows.append(("at the best equilibrium that is listed", best))
    if theory.optimum is not None:
        rows.append(("the most that all could have", theory.optimum))
        rows.append(("price of anarchy observed", summary.price_of_anarchy))
    text = (
        "The price of anarchy observed is the most that all could have together, everybody knowing everything, divided "
        "by what they had; there is none where either is not positive."
    )
    about = (Paragraph(text),) if theory.optimum is not None else ()
    return Section("All together", (KeyValues(tuple(rows)), *about))


def _voids(measured: Measured) -> Section | None:
    if not measured.voids:
        return None
    columns = (Column("repeat", "right"), Column("seat"), Column("why"))
    rows = tuple((void.repeat, void.seat, void.why) for void in measured.voids[:_MOST_ROWS])
    return Section("Plays without a result", (Table(columns, rows),))


def _method(measured: Measured, manifest: Manifest) -> Section:
    source, first = measured.config.game, measured.seats[0]
    game = measured.config.make_game()
    return method_section(
        manifest,
        Paragraph(f"The rules as {first} is told them:"),
        Code(game.view(game.start(), first).briefing, "text"),
        *([Code(source.text, "text")] if source.text else []),
        without=("game",),
    )
