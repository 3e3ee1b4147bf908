"""A small file of recorded play with its mapping, read into a run."""

import bestresponse as br

MAPPING = """
[[files]]
match = ["pair"]
round = "round"
game = "dilemma"
table = [3, 3, 0, 5, 5, 0, 1, 1]
actions = ["cooperate", "defect"]
codes = { C = "cooperate", D = "defect" }
players = ["first", "second"]
moves = ["a", "b"]
payoffs = ["x", "y"]
treatment = { prompt = "prompt" }
"""
HEADER = "pair,round,first,second,a,b,x,y,prompt\n"


def read_plays(tmp_path, rows, mapping=MAPPING, name="plays.csv"):
    """Write the rows below the header, and import them by the mapping."""
    (tmp_path / name).write_text(HEADER + rows)
    (tmp_path / "my.toml").write_text(mapping)
    return br.import_plays(
        tmp_path / name, mapping=str(tmp_path / "my.toml"), output_dir=tmp_path / "runs"
    )
