"""`scripts/paper_commands.py` types every command of the pages of papers; none is left out, and
nothing is left open in what it types."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from paper_commands import PAGES, fill_in, list_commands, list_pages


@pytest.mark.parametrize("page", list_pages())
def test_every_line_of_a_page_that_is_a_command_is_typed(page):
    text = (PAGES / f"{page}.md").read_text("utf-8")
    lines = re.findall(r"^ *(bestresponse .*?)(?: +#.*)?$", text, re.MULTILINE)
    assert set(lines) <= set(list_commands(page))


@pytest.mark.parametrize("page", list_pages())
def test_nothing_is_left_open_in_what_is_typed(page):
    for command in list_commands(page):
        left = re.findall(r"(?<![\w-])(?:M|MODEL|DIR|FOLDER|GAME)\b|\.\.\.", fill_in(command, page))
        assert left == [], command


def test_five_pages_have_62_commands():
    assert sum(len(list_commands(page)) for page in list_pages()) == 62
