"""Games as runs keep them: by name, or by the text of their file, each complete in itself."""

import json

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import NamedGame
from bestresponse.theory import catalogue, load_tree, write_game_file


@pytest.mark.parametrize("ending", [".nfg", ".efg", ".json", ".pl"])
def test_a_game_of_a_file_is_kept_as_its_text_and_needs_the_file_no_longer(tmp_path, ending):
    path = tmp_path / f"mine{ending}"
    if ending == ".nfg":
        write_game_file(catalogue.load("chicken"), path)
    elif ending == ".efg":
        write_game_file(load_tree("centipede"), path)
    elif ending == ".json":
        path.write_text("[[1, -1], [-1, 1]]")
    else:
        from bestresponse.formal.formalize.plan import library

        path.write_text(next(one.program for one in library() if one.name == "trust"))
    kept = NamedGame.find(str(path))
    before = kept.game().roles
    path.unlink()
    again = NamedGame.from_json(json.loads(json.dumps(kept.to_json())))
    assert (again, again.digest) == (kept, kept.digest)
    assert again.game().roles == before


def test_a_run_with_a_file_of_another_format_is_refused_in_a_sentence():
    with pytest.raises(
        UsageError, match=r"a game file ending in \.agg; known are \.nfg, \.efg, \.json or \.pl"
    ):
        NamedGame.from_json({"name": "x", "ending": ".agg", "text": "#"})


@pytest.mark.parametrize("name", ["{}/mine.json", "mine.json"])
def test_the_name_of_a_kept_game_is_never_the_path_of_a_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.json").write_text("[[1, -1], [-1, 1]]")
    kept = NamedGame.from_json({"name": name.format(tmp_path), "ending": "", "text": ""})
    with pytest.raises(UsageError, match="there is no game"):
        kept.game()
