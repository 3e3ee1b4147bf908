"""Every command and option is documented, in the words of the program itself."""

from pathlib import Path

from bestresponse.cli.reference import describe_figures, reference


def test_the_page_of_commands_is_up_to_date():
    page = Path(__file__).parents[2] / "docs" / "commands.md"
    assert page.read_text("utf-8") == reference(), "run scripts/write-commands"


def test_the_page_of_figures_is_up_to_date():
    page = Path(__file__).parents[2] / "docs" / "figures.md"
    assert page.read_text("utf-8") == describe_figures(), "run scripts/write-commands"
