"""Every command and option is documented, in the words of the program itself."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITER = runpy.run_path(str(ROOT / "scripts" / "write-commands"))


def test_the_page_of_commands_is_up_to_date():
    page = ROOT / "docs" / "commands.md"
    assert page.read_text("utf-8") == WRITER["reference"](), "run scripts/write-commands"


def test_the_page_of_figures_is_up_to_date():
    page = ROOT / "docs" / "figures.md"
    assert page.read_text("utf-8") == WRITER["describe_figures"](), "run scripts/write-commands"
