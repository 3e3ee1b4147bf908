"""Every command and option is documented, in the words of the program itself."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITER = runpy.run_path(str(ROOT / "scripts" / "write-commands"))


def test_the_pages_of_commands_are_up_to_date():
    written = WRITER["write_pages"]()
    docs = ROOT / "docs"
    assert {f"commands/{page.name}" for page in docs.glob("commands/*.md")} == written.keys()
    for place, text in written.items():
        assert docs.joinpath(place).read_text("utf-8") == text, "run scripts/write-commands"


def test_the_page_of_metrics_is_up_to_date():
    page = ROOT / "docs" / "reference" / "metrics.md"
    assert page.read_text("utf-8") == WRITER["describe_metrics"](), "run scripts/write-commands"


def test_there_are_no_more_options_than_140():
    shown = "".join(WRITER["write_pages"]().values())
    names = {row.split("`")[1] for row in shown.splitlines() if row.startswith("| `--")}
    assert len(names) <= 140, sorted(names)
