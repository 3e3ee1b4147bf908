"""What all calls of the interface for programs share: how troubles are told, what is taken in, reports as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict

from bestresponse.core.json import JsonObject
from bestresponse.report import codec
from bestresponse.report.document import Block, Document, Section, Table
from bestresponse.report.tables import list_rows

Wait = Annotated[float, Query(ge=0, le=20, description="Seconds to wait for something else than `after`.")]


def describe_errors() -> dict[int | str, JsonObject]:
    """What a call answers where it does not work: a sentence."""
    schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    told = {"description": "A sentence that says what is wrong", "content": {"application/json": {"schema": schema}}}
    return dict.fromkeys((400, 403, 404, 409, 413, 422, 429, 503), told)


class Closed(BaseModel):
    """What is sent to us has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class BlockOut(BaseModel):
    """A piece of a report; `block` names its kind (paragraph, note, table, figure, code, quote, keyvalues)."""

    model_config = ConfigDict(extra="allow")
    block: str


class SectionOut(BaseModel):
    """A section of a report with its blocks."""

    title: str
    anchor: str
    blocks: list[BlockOut]


class ReportOut(BaseModel):
    """A whole report as data; pictures are in base64."""

    title: str
    subtitle: str
    opening: list[BlockOut]
    sections: list[SectionOut]
    footer: str


class TableOut(BaseModel):
    """Rows by the names of the columns; an interval is an object with its estimate and its ends."""

    caption: str
    columns: list[str]
    rows: list[JsonObject]


def serialize_report(document: Document) -> ReportOut:
    """Return the report as plain data."""
    return ReportOut.model_validate(json.loads(codec.to_json(document)))


def serialize_sections(sections: Iterable[Section]) -> list[SectionOut]:
    """Return sections as plain data."""
    return serialize_report(Document("", sections=tuple(sections))).sections


def serialize_blocks(blocks: Iterable[Block]) -> list[BlockOut]:
    """Return blocks as plain data."""
    return serialize_report(Document("", opening=tuple(blocks))).opening


def serialize_table(table: Table) -> TableOut:
    """Return the rows of a table by the names of its columns."""
    rows = [{name: codec.cell_json(cell) for name, cell in row.items()} for row in list_rows(table)]
    return TableOut(caption=table.caption, columns=[column.name for column in table.columns], rows=rows)
