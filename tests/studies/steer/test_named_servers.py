"""A server that was given a name by `NAME=URL` is one model: in questions, records and reports."""

import pytest
from model_server import ModelServer
from steer_command import summary

from bestresponse.models.base import Message, Request
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.runs.run import load_run

GAMES = ["debate", "--games", "3", "--iterations", "20", "--workers", "2"]
OPTIONS = {
    "another kind of ruling": ["--settings", "second=score", "--fresh", "0"],
    "fresh texts": ["--fresh", "1"],
    "manners named": ["--follow", "--fresh", "0"],
    "summaries": ["--settings", "observe=summary", "--fresh", "0"],
    "scenarios written": ["--settings", "scenarios_by=MODEL", "--fresh", "0"],
    "a search of prompts": [
        *("--solver", "psro", "--plays", "2", "--iterations", "1"),
        *("--settings", "held_out=0", "--fresh", "0", "--settings", "swap_seats=true"),
    ],
}


@pytest.fixture(scope="module")
def server():
    """A server that talks, rules and names manners as the simulated speaker does."""
    speaker = SimulatedSpeaker(0)

    def answer(body):
        messages = tuple(Message(each["role"], each["content"]) for each in body["messages"])
        return speaker.complete(Request(messages)).text

    server = ModelServer(answer)
    yield server
    server.close()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_option_asks_and_finds_again_what_it_asked(server, tmp_path, options):
    models = {"plain": server.model, "named": f"mine={server.model}"}
    found = {}
    for folder, model in models.items():
        words = [word.replace("MODEL", model) for word in options]
        run = [*GAMES[: -2 if "psro" in words else None], "--model", model, *words]
        found[folder] = summary(tmp_path / folder, *run)
        (overview,) = found[folder]["overview"]
        assert overview["stopped"] is None
        assert overview["solved_games"] == (None if "psro" in words else 3)
        again = summary(tmp_path / folder, *run)
        assert again["calls"] == 0
        assert load_run(tmp_path / folder).replay().different == ()
    assert found["named"]["metrics"] == found["plain"]["metrics"]
