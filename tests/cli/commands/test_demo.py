"""`bestresponse demo`: every step is computed, nothing is fetched."""

import re
from pathlib import Path

import pytest


def test_the_demo_goes_the_whole_way_from_a_story_to_a_report(bestresponse, tmp_path):
    done = bestresponse("demo", "--output-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert [
        line[0] for line in text.splitlines() if line[:2] in {f"{n}." for n in range(1, 7)}
    ] == list("123456")
    assert "pure  Betray  Betray  1, 1" in text
    assert re.search(r"\n4 +reasoner +2\.033", text)
    assert "Verdict: 1 refuted; 2 claims read, 0 of 2 sentences unread" in text
    assert (
        "In fact, if you choose Betray and the other player chooses Betray, you get 1."
        in " ".join(text.split())
    )
    page = Path(text.strip().splitlines()[-1])
    assert page.read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.slow
def test_the_commands_that_the_demo_shows_run_as_they_are_written(
    bestresponse, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"^  \$ bestresponse (.*)$", bestresponse("demo").stdout, re.MULTILINE)
    assert [command.split()[0] for command in shown] == [
        "formalize",
        "check",
        "solve",
        "tournament",
        "verify",
        "report",
    ]
    for command in shown[1:]:
        done = bestresponse(*command.removesuffix(" --entries MODEL").split())
        assert done.returncode == (1 if command.startswith("verify") else 0), (
            done.stderr
        )  # one of its claims is false
