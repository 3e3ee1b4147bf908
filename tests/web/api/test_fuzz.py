"""The API by its own description: no call makes the server stumble, and no call without a key
changes anything."""

import pytest
from examples import USUAL
from hypothesis import HealthCheck, Phase, given, settings
from sample_runs import bench_run
from web_server import Server

from bestresponse.runs.store.folder import RunFolder

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from bestresponse.web.security import RateLimit  # noqa: E402

EXAMPLES = 2
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("fuzzed"), lambda request: "cooperate")
    server.state.strangers = server.state.seats = RateLimit(1e9, 1e9)
    server.state.hosts = frozenset({*server.state.hosts, "testserver"})  # as schemathesis asks
    yield server
    server.stop()


@pytest.fixture(scope="module")
def table(fuzzed):
    wanted = {"game": {"name": "chicken"}, "seats": ["person", "person"], "quiz": False, "seed": 1}
    return fuzzed.api().post("/api/lobbies", json=wanted).json()["sessions"][0]


@pytest.fixture(scope="module")
def described(fuzzed):
    return schemathesis.openapi.from_asgi("/api/openapi.json", fuzzed.app)


def kept(server):
    """Everything on disk that a call could change."""
    folder = server.folder / "sessions"
    files = sorted(
        path for path in server.folder.rglob("*") if path.is_file() and path.name != ".lock"
    )
    return [(path.relative_to(folder.parent), path.read_bytes()) for path in files]


def real_names(server, table):
    """Something that is there for every name in a path, so that calls get further than to a
    refusal."""
    run = bench_run(server.folder).path.name
    spec = next(iter(RunFolder.read(server.folder / run).plays())).spec
    return {
        "session": table["session"],
        "seat": 0,
        "run": run,
        "spec": spec,
    }


def read_calls(described):
    return [result.ok() for result in described.get_all_operations()]


def bounded(strategy, check):
    """Try `check` on a few cases of `strategy`: always the same ones, or many more where the
    profile explores."""
    found = given(case=strategy)(check)
    settings(
        max_examples=EXAMPLES * settings().max_examples // USUAL,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(found)()


def test_no_call_makes_the_server_stumble_and_none_without_a_key_changes_anything(
    fuzzed, table, described
):
    operations = read_calls(described)
    assert len(operations) >= 25
    admin = {"Authorization": f"Bearer {fuzzed.state.keys.admin}"}
    seat = {"Authorization": f"Bearer {table['seats'][0]['token']}"}
    real = real_names(fuzzed, table)

    before = kept(fuzzed)
    for operation in operations:

        def stranger(case):
            answer = case.call(headers={"Authorization": "Bearer nobody"})
            assert answer.status_code in (400, 403, 404, 405, 413, 422), (
                case.path,
                answer.status_code,
            )

        bounded(operation.as_strategy(), stranger)
        assert kept(fuzzed) == before, operation.path

    for (
        operation
    ) in operations:  # only now: what a key may do goes on at the table after its call has ended

        def friend(case):
            for headers in (admin, seat):
                case.path_parameters |= {
                    name: real[name] for name in case.path_parameters if name in real
                }
                answer = case.call(headers=headers)
                assert answer.status_code < 500, (case.path, answer.text)

        bounded(operation.as_strategy(), friend)
