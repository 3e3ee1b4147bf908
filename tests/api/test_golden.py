"""Every registered game is played as its golden file says, which is how a game is reviewed."""

from collections import defaultdict
from importlib.resources import files

import pytest

from bestresponse.api.prompts import write_prompts
from bestresponse.core.registry import games

FOLDERS = defaultdict(list)
for _name in games.built_in:
    FOLDERS[games.find_package(_name)].append(_name)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_game_is_played_as_its_golden_file_says(folder: str) -> None:
    kept = (files(folder) / "golden.txt").read_text("utf-8")
    assert "\n".join(write_prompts(name) for name in sorted(FOLDERS[folder])) == kept
