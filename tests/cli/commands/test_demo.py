"""`bestresponse demo`: every step is computed, nothing is fetched."""

from pathlib import Path


def test_the_demo_goes_the_whole_way_from_a_story_to_a_report(bestresponse, tmp_path):
    done = bestresponse("demo", "--output-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert [line[0] for line in text.splitlines() if line[:2] in {f"{n}." for n in range(1, 7)}] == list("123456")
    assert "pure  Betray  Betray  1, 1" in text
    assert "\n4      reasoner              2.100" in text
    assert "Verdict: 1 refuted; 2 claims read, 0 of 2 sentences unread" in text
    assert "In fact, if you choose Betray and the other player chooses Betray, you get 1." in " ".join(text.split())
    page = Path(text.strip().splitlines()[-1])
    assert page.read_text("utf-8").startswith("<!doctype html>")
