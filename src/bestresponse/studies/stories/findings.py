"""What a run found, as a document: rates on every level, by game and by kind of story, and why programs failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from bestresponse.report.document import Block, Cell, Column, Document, KeyValues, Note, Paragraph, Section, Table
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
from bestresponse.studies.stories.measure import StoriesResults, StoryRow as Row

__all__ = ["findings"]


def findings(results: StoriesResults, run: Run[Any]) -> Document:
    """Build the report of a run."""
    rows = results.rows
    models = list(dict.fromkeys(row["model"] for row in rows))
    stories = len({row["story"] for row in rows})
    sections = (
        Section("How many programs are right", (run.figures.to_table("Shares with 95 % intervals."),)),
        _by(rows, models, "By game", lambda row: row["game"]),
        _by(rows, models, "By kind of story", _kind),
        _failures(rows),
        costs_section(run.costs),
        method_section(run.manifest),
    )
    return Document(
        "From stories to games",
        f"{', '.join(models)} on {stories} stories",
        tuple(section for section in sections if section is not None),
        tuple(_opening(rows, results.unfinished)),
        run.manifest.footer,
    )


def _opening(rows: Sequence[Row], unfinished: int) -> Iterable[Block]:
    if unfinished:
        yield Note(f"{unfinished} planned plays are not finished; run the same command to play them.", "warning")
    right = sum(row["meaning"] for row in rows)
    yield KeyValues(
        (("plays", len(rows)), ("mean what the story says", f"{right / len(rows):.0%}" if rows else None)), True
    )


def _by(rows: Sequence[Row], models: Sequence[str], title: str, kind: Callable[[Row], str]) -> Section:
    columns = (Column("stories"), *(Column(model, "right", "means what the story says") for model in models))
    kinds = sorted({kind(row) for row in rows})
    cells: list[tuple[Cell, ...]] = []
    for one in kinds:
        line: list[Cell] = [one]
        for model in models:
            own = [row["meaning"] for row in rows if kind(row) == one and row["model"] == model]
            line.append(f"{sum(own)} of {len(own)}" if own else None)
        cells.append(tuple(line))
    return Section(title, (Table(columns, tuple(cells), "Programs that mean what the story says."),))


def _kind(row: Row) -> str:
    language = "" if row["language"] == "en" else f", {row['language']}"
    told = "numeric" if row["numeric"] else "in words"
    return f"{'canonical' if row['canonical'] else 'disguised'}, {told}{language}"


def _failures(rows: Sequence[Row]) -> Section:
    counts = Counter(row["status"] for row in rows)
    lines = tuple((status, count) for status, count in counts.most_common())
    columns = (Column("answer"), Column("plays", "right"))
    wrong = tuple((row["model"], row["story"], row["why"]) for row in rows if not row["meaning"])
    told = Table((Column("model"), Column("story"), Column("why not")), wrong[:200])
    text = "An answer is valid if its program is a game at all; whether it is the right one is another matter."
    return Section("What went wrong", (Paragraph(text), Table(columns, lines), told))
