"""What a confined process can do to the machine: nothing, and each layer says so alone."""

import json
import os
import platform
import select
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import wait_until

from bestresponse.core.errors import LogicError
from bestresponse.logic.settings import Layer
from bestresponse.logic.swi import worker
from bestresponse.logic.swi.sandbox import LAYERS, Confined, SandboxPolicy, start_confined
from bestresponse.logic.swi.sandbox_filter import MACHINES
from bestresponse.logic.swi.worker import Installation, find_swipl

pytestmark = [
    pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"),
    pytest.mark.skipif(sys.platform != "linux", reason="the layers tested here are those of Linux"),
]


@pytest.fixture(scope="module")
def swipl() -> Installation:
    return find_swipl()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder everybody may write to, with a secret in it: only the layers stand in the way."""
    tmp_path.chmod(0o777)
    (tmp_path / "secret.txt").write_text("the_secret.\n")
    (tmp_path / "secret.txt").chmod(0o666)
    (tmp_path / "breach").mkdir()
    (tmp_path / "breach").chmod(0o777)
    return tmp_path


def launch(
    swipl: Installation, layers: tuple[str, ...], memory: int = 512 << 20, processor: int = 10
) -> Confined:
    """A plain SWI-Prolog behind these layers only: no gate, no server, every library at hand."""
    policy = SandboxPolicy(
        readable=swipl.readable,
        executable=(swipl.executable, *swipl.loaders),
        memory=memory,
        processor=processor,
        layers=layers,
    )
    loop = (
        "repeat, read(G), (catch(G, E, true) -> (var(E) -> R = yes ; R = error(E)) ; R = no), "
        "print(R), nl, flush_output, fail"
    )
    options = ("-f", "none", "-q", "--no-tty", "--no-packs", f"--home={swipl.home}", "-g", loop)
    confined = start_confined((swipl.executable, *options), policy)
    assert ask(confined, "true") == "yes"
    if "descriptors" in layers:
        confined.seal()
    return confined


# seconds after which an attack has come to nothing: some leave the process waiting for ever
SILENCE = 2.0


def ask(confined: Confined, goal: str, seconds: float = 60.0) -> str:
    """What the process says to a goal: yes, no, an error, or that it is gone."""
    try:
        os.write(confined.input, f"{goal}.\n".encode())
    except BrokenPipeError:
        return "gone"
    text, end = b"", time.monotonic() + seconds
    while not text.endswith(b"\n"):
        if not select.select([confined.output], [], [], max(0.0, end - time.monotonic()))[0]:
            return "silent"
        chunk = os.read(confined.output, 4096)
        if not chunk:
            return "gone"
        text += chunk
    return text.decode().strip().splitlines()[-1]


def members(session: int) -> list[int]:
    """The processes of a session that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, owner = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:4]
            except (OSError, ValueError):
                continue
            if int(owner) == session and state != "Z":
                found.append(int(entry.name))
    return found


def active(confined: Confined) -> set[str]:
    return {layer.name for layer in confined.layers if layer.active}


ATTEMPTS = {
    "open": "open('{p}/breach/a', write, S), write(S, x), close(S)",
    "append": "open('{p}/secret.txt', append, S), write(S, x), close(S)",
    "tell": "tell('{p}/breach/b'), write(x), told",
    "shell": "shell('touch {p}/breach/c')",
    "pipe": "open(pipe('touch {p}/breach/d'), write, S), close(S)",
    "process": (
        "use_module(library(process)), process_create('/bin/sh', ['-c', 'touch {p}/breach/e'], [])"
    ),
    "mkdir": "make_directory('{p}/breach/f')",
    "delete": "delete_file('{p}/secret.txt')",
    "rename": "rename_file('{p}/secret.txt', '{p}/breach/g')",
    "save": "qsave_program('{p}/breach/h', [])",
    "compile": "use_module(library(qsave)), qcompile('{p}/breach/i')",
    "log": "protocol('{p}/breach/j')",
    "temporary": "tmp_file_stream(text, F, S), close(S), rename_file(F, '{p}/breach/k')",
    "exec": "use_module(library(unix)), exec(touch('{p}/breach/l'))",
    "fork": (
        "use_module(library(unix)), fork(P), (P == child -> shell('touch {p}/breach/m') ; true)"
    ),
    "chmod": "use_module(library(filesex)), chmod('{p}/secret.txt', 0)",
    "link": "use_module(library(filesex)), link_file('{p}/secret.txt', '{p}/breach/n', symbolic)",
}


@pytest.mark.parametrize("layers", [("files",), ("calls",), LAYERS], ids=["files", "calls", "all"])
def test_each_of_landlock_and_seccomp_alone_keeps_the_disk_as_it_was(
    swipl: Installation, place: Path, layers: tuple[str, ...]
) -> None:
    confined = launch(swipl, layers)
    if active(confined) != set(layers):
        confined.end()
        pytest.skip(f"this kernel lacks a layer: {', '.join(map(str, confined.layers))}")
    for name, goal in ATTEMPTS.items():
        said = ask(confined, goal.format(p=place), SILENCE)
        if said == "gone":
            confined.end()
            confined = launch(swipl, layers)
        assert sorted(p.name for p in (place / "breach").iterdir()) == [], f"{name}: {said}"
        assert (place / "secret.txt").read_text() == "the_secret.\n", name
        assert (place / "secret.txt").stat().st_mode & 0o777 == 0o666, name
    session = confined.pid
    confined.end()
    assert members(session) == []


@pytest.mark.parametrize(
    "layers", [("files",), ("descriptors",), LAYERS], ids=["files", "descriptors", "all"]
)
@pytest.mark.parametrize(
    "goal",
    [
        "open('{p}/secret.txt', read, S), read(S, the_secret)",
        "see('{p}/secret.txt'), read(the_secret), seen",
        "read_file_to_terms('{p}/secret.txt', [the_secret], [])",
        "read_file_to_string('{p}/secret.txt', T, []), T == \"the_secret.\\n\"",
        "consult('{p}/secret.txt'), the_secret",
        "open('/etc/passwd', read, S), read_string(S, _, T), T \\== \"\"",
        "directory_files('{p}', L), memberchk('secret.txt', L)",
        "open('/proc/self/environ', read, _)",
    ],
    ids=["open", "see", "terms", "string", "consult", "passwd", "listing", "environment"],
)
def test_nothing_can_be_read(
    swipl: Installation, place: Path, layers: tuple[str, ...], goal: str
) -> None:
    confined = launch(swipl, layers)
    if active(confined) != set(layers):
        confined.end()
        pytest.skip(f"this kernel lacks a layer: {', '.join(map(str, confined.layers))}")
    assert ask(confined, goal.format(p=place)) != "yes"
    confined.end()


@pytest.mark.parametrize(
    "layers", [("files",), ("calls",), ("descriptors",)], ids=["files", "calls", "descriptors"]
)
def test_no_connection_leaves_the_process(swipl: Installation, layers: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        port = server.getsockname()[1]
        confined = launch(swipl, layers)
        said = ask(
            confined,
            f"use_module(library(socket)), tcp_connect('127.0.0.1':{port}, S, []), close(S)",
            SILENCE,
        )
        confined.end()
        assert said != "yes"
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "goal",
    [
        "use_module(library(unix)), fork(_)",
        "shell('exit 3', 3)",
        "thread_create(true, _)",
        "use_module(library(process)), process_create('/bin/true', [], [])",
        "use_module(library(process)), process_kill({parent}, 0)",
        "use_module(library(unix)), exec('/bin/true'(x))",
        "use_module(library(rlimit)), rlimit(cpu, _, 1000)",
    ],
    ids=["fork", "shell", "thread", "process", "kill", "exec", "rlimit"],
)
def test_seccomp_alone_starts_and_signals_nobody(swipl: Installation, goal: str) -> None:
    confined = launch(swipl, ("calls",))
    session = confined.pid
    assert ask(confined, goal.format(parent=os.getpid())) != "yes"
    assert members(session) in ([session], [])
    confined.end()


def test_memory_is_bounded_by_the_limits_alone(swipl: Installation) -> None:
    confined = launch(swipl, ("limits",), memory=256 << 20)
    said = ask(confined, "set_prolog_flag(stack_limit, 8000000000), length(_, 50000000)")
    assert said == "gone" or peak_kilobytes(confined.pid) <= 256 << 10
    confined.end()
    assert said != "yes"


def peak_kilobytes(pid: int) -> int:
    return int(next(line for line in status(pid) if line.startswith("VmPeak")).split()[1])


def status(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/status").read_text().splitlines()


def test_processor_time_is_bounded_by_the_limits_alone(swipl: Installation) -> None:
    confined = launch(swipl, ("limits",), processor=1)
    assert ask(confined, "repeat, fail") == "gone"
    assert confined.end() != 0


def test_a_superuser_becomes_nobody(swipl: Installation) -> None:
    if os.geteuid() != 0:
        pytest.skip("only a superuser has rights to give up")
    confined = launch(swipl, ("privileges",))
    lines = status(confined.pid)
    confined.end()
    assert "Uid:\t65534\t65534\t65534\t65534" in lines
    assert "CapEff:\t0000000000000000" in lines
    assert "NoNewPrivs:\t1" in lines


def test_the_environment_is_empty_and_the_place_is_the_root(
    swipl: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BESTRESPONSE_TEST_KEY", "s3cret")
    confined = launch(swipl, ())
    assert ask(confined, "getenv('BESTRESPONSE_TEST_KEY', _)") == "no"
    assert str(Path(f"/proc/{confined.pid}/cwd").readlink()) == "/"
    assert Path(f"/proc/{confined.pid}/environ").read_bytes() == b""
    assert os.getsid(confined.pid) == confined.pid
    confined.end()


def test_what_it_starts_ends_with_it(swipl: Installation) -> None:
    confined = launch(swipl, ())
    ask(confined, "shell('sleep 60 &')")
    session = confined.pid
    assert len(members(session)) == 2
    confined.end()
    wait_until(lambda: members(session) == [])


def test_every_layer_reports_itself(swipl: Installation) -> None:
    confined = launch(swipl, LAYERS)
    names = tuple(layer.name for layer in confined.layers)
    confined.end()
    assert names == LAYERS
    assert all(layer.active or layer.why_not for layer in confined.layers)


def test_a_missing_layer_says_why() -> None:
    assert (
        str(Layer("calls", False, "seccomp needs Linux")) == "calls: missing (seccomp needs Linux)"
    )
    assert str(Layer("calls", True)) == "calls: active"


def test_a_command_that_is_not_there_is_an_error() -> None:
    confined = start_confined(("/nonexistent/program",), SandboxPolicy((), (), layers=()))
    assert ask(confined, "true") == "gone"
    confined.end()


def test_a_missing_swipl_is_a_hint_of_one_line() -> None:
    with pytest.raises(LogicError, match="apt-get install swi-prolog-nox") as caught:
        find_swipl("no-such-swipl")
    assert "\n" not in str(caught.value)


def test_something_else_called_swipl_is_not_taken_for_it(tmp_path: Path) -> None:
    impostor = tmp_path / "swipl"
    impostor.write_text("#!/bin/sh\necho hello\n")
    impostor.chmod(0o755)
    with pytest.raises(LogicError, match="does not answer like SWI-Prolog"):
        worker.find_swipl(str(impostor))


def test_an_old_swipl_is_told_apart(tmp_path: Path) -> None:
    old = tmp_path / "swipl"
    old.write_text(
        "#!/bin/sh\necho 'PLBASE=\"/usr/lib/swi-prolog\";'\necho 'PLVERSION=\"80402\";'\n"
    )
    old.chmod(0o755)
    with pytest.raises(LogicError, match=r"is SWI-Prolog 8\.4\.2; version 9\.0 or newer is needed"):
        worker.find_swipl(str(old))


OLD_KERNEL = """
import platform
from bestresponse.logic.swi import sandbox_child
from bestresponse.logic.swi.sandbox_filter import ALLOW, Instruction, pack_filter, refuse
from bestresponse.logic.settings import Limits
from bestresponse.logic.swi.engine import SwiEngine

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
prctl = {"x86_64": 157, "aarch64": 167}[platform.machine()]
program = (
    Instruction(LOAD, 0),
    Instruction(EQUAL, 444, when_false=1),  # landlock_create_ruleset: not implemented
    Instruction(RETURN, refuse(38)),
    Instruction(EQUAL, prctl, when_false=3),
    Instruction(LOAD, 16),
    Instruction(EQUAL, 22, when_false=1),  # prctl(PR_SET_SECCOMP): invalid
    Instruction(RETURN, refuse(22)),
    Instruction(RETURN, ALLOW),
)
sandbox_child._filter_calls({"filter": pack_filter(program).hex()})
engine = SwiEngine(Limits())
print(*engine.layers, sep="\\n")
print(engine.solutions(engine.load("a(1)."), "a(X)"))
engine.close()
"""


@pytest.mark.skipif(
    platform.machine() not in MACHINES,
    reason="the old kernel is played by a filter for known processors",
)
def test_on_an_old_kernel_the_missing_layers_are_named_and_the_rest_holds() -> None:
    command = [sys.executable, "-c", OLD_KERNEL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines() == [
        "privileges: active",
        "limits: active",
        "files: missing ([Errno 38] Function not implemented)",
        "calls: missing ([Errno 22] Invalid argument)",
        "descriptors: active",
        "({'X': 1},)",
    ]


def start_elsewhere(system: str, **changes: object) -> list[str]:
    """What the first step of a confined process prints on that system, and then the program
    itself."""
    plan: dict[str, object] = {
        "layers": ["privileges", "limits", "files", "calls"],
        "account": None,
        "limits": {},
    }
    plan |= {"readable": [], "executable": [], "filter": None, "exec_address": 0, "environment": {}}
    plan |= {"command": [shutil.which("echo"), "the program runs"], **changes}
    script = (
        "import sys; from bestresponse.logic.swi import sandbox_child; "
        f"sys.platform = {system!r}; sandbox_child.run_confined(sys.argv[1])"
    )
    command = [sys.executable, "-c", script, json.dumps(plan)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout.splitlines()


def test_elsewhere_than_on_linux_the_missing_layers_are_named_and_the_program_runs() -> None:
    report, *rest = start_elsewhere("darwin")
    assert json.loads(report) == {
        "privileges": "no_new_privs needs Linux",
        "limits": None,
        "files": "Landlock needs Linux",
        "calls": "seccomp needs Linux",
    }
    assert rest == ["the program runs"]


def test_a_processor_without_a_filter_is_named() -> None:
    report, *rest = start_elsewhere("linux", layers=["calls"])
    assert json.loads(report) == {
        "calls": f"no filter is written for the processor {platform.machine()}"
    }
    assert rest == ["the program runs"]


def test_a_limit_that_the_system_does_not_know_is_named_and_the_others_are_set() -> None:
    limits = {"RLIMIT_OF_NOTHING": 1, "RLIMIT_NOFILE": 20}
    command = [shutil.which("sh"), "-c", "ulimit -n"]
    report, *rest = start_elsewhere("linux", layers=["limits"], limits=limits, command=command)
    assert json.loads(report) == {"limits": "this system refuses RLIMIT_OF_NOTHING"}
    assert rest == ["20"]
