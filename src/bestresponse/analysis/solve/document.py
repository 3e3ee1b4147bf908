"""A solved game as one document, for the terminal and for a page."""

from __future__ import annotations

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
from bestresponse.analysis.solve.table_document import table_sections
from bestresponse.analysis.solve.tree_document import tree_sections
from bestresponse.games.lookup import Found
from bestresponse.report.document import Document, Section

__all__ = ["as_document"]


def as_document(found: Found, solved: SolvedTable | SolvedTree, pictures: tuple[Section, ...] = ()) -> Document:
    """The title says which game it is, the sections what is known of it; `pictures` come first."""
    sections = tree_sections(solved) if isinstance(solved, SolvedTree) else table_sections(solved)
    subtitle = ". ".join(part.rstrip(".") for part in (found.description, found.citation) if part)
    return Document(found.name, f"{subtitle}." if subtitle else "", (*pictures, *sections))
