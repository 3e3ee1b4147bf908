"""A game in which only one player sees a card, by every command that plays it: nobody is shown what
it may not see."""

import json
import re
from pathlib import Path

from bestresponse.formal.formalize import library

HIDDEN_CARD = Path(library.__file__).parent / "hidden_card.pl"


def double_and_pay(body):
    """Answer as both players would who always raise."""
    options = re.findall(
        r'"([^"]+)"', re.findall(r"<one of ([^>]+)>", body["messages"][-1]["content"])[-1]
    )
    return json.dumps({"answer": "double" if "double" in options else "pay"})


def read_situation(body):
    """Return what the model is told beside the rules, which name both cards."""
    return tuple(re.findall(r"you saw (\w+)", body["messages"][-1]["content"]))


def test_models_that_are_simulated_are_shown_their_own_card_only(bestresponse, serve, tmp_path):
    server = serve(double_and_pay)
    done = bestresponse(
        "simulate", HIDDEN_CARD, "--model", server.model, "--repeats", 8, "--output-dir", tmp_path
    )
    assert done.returncode == 0, done.stderr
    situations = {read_situation(json.loads(body)) for body in server.delivered}
    assert situations == {("queen",), ("king",), ("double",)}


def test_a_person_who_plays_jonas_is_not_shown_the_card_before_the_end(bestresponse, tmp_path):
    done = bestresponse(
        "play",
        HIDDEN_CARD,
        "--seat",
        "jonas=me",
        "--others",
        "always:double",
        "--seed",
        3,
        "--output-dir",
        tmp_path,
        typed="pay\n",
    )
    assert done.returncode == 0, done.stderr
    before = done.stdout[done.stdout.index("So far") :].split("\n")[0]
    assert before == "So far: you saw double."


def test_a_benchmark_asks_at_each_information_set(bestresponse, serve, tmp_path):
    def mix(body):
        jonas = "you saw double" in body["messages"][-1]["content"]
        return '{"fold": 0.5, "pay": 0.5}' if jonas else '{"give_up": 0, "double": 1}'

    server = serve(mix)
    done = bestresponse("bench", HIDDEN_CARD, "--model", server.model, "--output-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    texts = [json.loads(body)["messages"][-1]["content"] for body in server.delivered]
    assert sorted(re.findall(r"you saw (\w+)", text) for text in texts) == [
        ["double"],
        ["king"],
        ["queen"],
    ]
