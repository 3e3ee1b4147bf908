"""A search whose models are asked by worker processes."""

from model_server import ModelServer
from running import NOW

from bestresponse.models.base import Message, Request
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.runs.execution import Execution, Threads
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import run_study
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.study import steer


def speak(body):
    """Answer as the simulated speaker does."""
    messages = tuple(Message(one["role"], one["content"]) for one in body["messages"])
    return SimulatedSpeaker(0).complete(Request(messages)).text


def search(server, output, executor):
    """The answers of a search and what it found, without its costs, which hold measured seconds."""
    config = SteerConfig(
        "meeting",
        server.model,
        solver="psro",
        iterations=1,
        plays=2,
        candidates=1,
        held_out=0,
        fresh=0,
    )
    with open_models(config.models, output, ModelLimits(4)) as opened:
        run = run_study(
            steer,
            config,
            opened.models,
            output,
            Execution(4, executor=executor, shared=opened.shared),
            NOW,
        )
    assert run.outcome.complete
    (answers,) = output.glob("dialogues-*/answers.jsonl")
    found = {name: value for name, value in run.summary().items() if name != "costs"}
    return sorted(answers.read_text("utf-8").splitlines()), found


def test_processes_find_what_threads_find_with_the_same_answers(tmp_path):
    server = ModelServer(speak)
    try:
        one = search(server, tmp_path / "one", Threads())
        asked = server.calls
        two = search(server, tmp_path / "two", Processes(2))
    finally:
        server.close()
    assert one == two
    assert [row["manner"] for row in one[1]["solution"][:2]] == ["calm", "assertive"]
    assert server.calls == 2 * asked
