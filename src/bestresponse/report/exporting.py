"""The figures and tables of a report as files for a paper: PDF and SVG, LaTeX and Markdown.

Files are numbered in the order of the report and named by their sections, so that a paper finds the
same file again after the run is reported anew: `02-how-far-from-optimal.tex`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from bestresponse.report.document import Block, Document, Figure, Table
from bestresponse.report.files import explain_os_error, write_bytes, write_text
from bestresponse.report.page import make_anchor
from bestresponse.report.tables import to_latex, to_markdown


def write_figures(document: Document, pdfs: Mapping[bytes, bytes], folder: Path) -> list[Path]:
    """Write every figure and table of a report into a folder and return the files.

    `pdfs` are the PDF files of figures by their SVG files (`charts.keep_pdfs`).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, f"making {folder}") from None
    written: list[Path] = []
    for number, (title, block) in enumerate(_list_blocks(document), 1):
        stem = f"{number:02d}-{make_anchor(title)}"
        if isinstance(block, Table):
            written.append(write_text(folder / f"{stem}.tex", to_latex(block)))
            written.append(write_text(folder / f"{stem}.md", to_markdown(block)))
        if isinstance(block, Figure):
            ending = "svg" if block.media_type == "image/svg+xml" else "png"
            written.append(write_bytes(folder / f"{stem}.{ending}", block.image))
            if block.image in pdfs:
                written.append(write_bytes(folder / f"{stem}.pdf", pdfs[block.image]))
    return written


def _list_blocks(document: Document) -> Iterator[tuple[str, Block]]:
    """Yield the figures and tables with the titles of their sections."""
    parts = [("opening", document.opening)]
    parts += [(section.title, section.blocks) for section in document.sections]
    for title, blocks in parts:
        for block in blocks:
            if isinstance(block, Table | Figure):
                yield title, block
