"""A model server that holds its replies, so that a command can be killed inside its requests.

What is on its way at a kill is known exactly: the command has got nothing of the reply, half of it
or the whole, and is killed at once.
"""

import json
import os
import signal
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PATIENCE = 300.0

PORTIONS = (0.0, 0.5, 1.0)
"""How much of a reply a command may have got when it is killed."""


class HeldCall:
    """A request that waits for its reply."""

    def __init__(self, body):
        self.body = body
        self.portion = 0.0
        self.decided = threading.Event()
        self.sent = threading.Event()
        self.over = threading.Event()

    def send(self, portion):
        """Send that much of the reply, and return when it is sent."""
        self.portion = portion
        self.decided.set()
        assert self.sent.wait(PATIENCE), "a held reply was not sent"

    def drop(self):
        """Close the connection of a command that is dead."""
        self.decided.set()
        self.over.set()


class HoldingServer:
    """Speaks the OpenAI protocol, answers by a function, and counts every request by its body.

    After `hold_after(n)` it answers n more requests and holds all others until `drop_held`.
    """

    def __init__(self, answer):
        self.asked = Counter()
        self.held = []
        self.lock = threading.Lock()
        self.left = float("inf")
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                reply = write_reply(answer(json.loads(body)))
                held = server.receive(body)
                if held is None:
                    self.send(reply, 1.0)
                    return
                held.decided.wait(PATIENCE)
                try:
                    self.send(reply, held.portion)
                finally:
                    held.sent.set()
                    self.close_connection = True
                held.over.wait(PATIENCE)

            def send(self, reply, portion):
                if portion == 0.0:
                    return
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply[: int(len(reply) * portion)])
                self.wfile.flush()

            def log_message(self, *args):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                """A command that was killed leaves broken connections behind."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def model(self):
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1#fake"

    def receive(self, body):
        """Count a request, and return it where it has to wait."""
        with self.lock:
            self.asked[body] += 1
            if self.left > 0:
                self.left -= 1
                return None
            self.held.append(HeldCall(body))
            return self.held[-1]

    def hold_after(self, replies):
        """Answer that many requests from now on, and hold all others."""
        with self.lock:
            self.left = replies

    def drop_held(self):
        """Drop what is held, after a kill, and answer everything from now on."""
        with self.lock:
            for call in self.held:
                call.drop()
            self.held = []
            self.left = float("inf")

    def close(self):
        self.drop_held()
        self._http.shutdown()
        self._http.server_close()


def write_reply(text):
    """Return a completion as it is sent."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return json.dumps({"id": "x", "choices": [choice], "usage": usage}).encode()


class Killer:
    """Kills commands inside their requests and says what may be asked again: `unanswered` calls
    must be, `answered` ones may be, since nobody saw whether their reply was read."""

    def __init__(self, server):
        self.server = server
        self.unanswered = Counter()
        self.answered = Counter()

    def kill(self, process, after, portion):
        """Kill the process once it has that many replies and waits for more; False where it ended
        before. All replies but the last ones have then been stored: the process sleeps."""
        self.server.hold_after(after)
        if not wait_until_it_waits(self.server, process):
            self.server.drop_held()
            return False
        # One call gets its portion, the others nothing: so both happen at every kill.
        calls = list(self.server.held)
        calls[0].send(portion)
        children = list_below(process.pid)
        process.kill()
        process.wait(PATIENCE)
        wait_until_gone(children)
        self.server.drop_held()
        for call in calls:
            if call.portion == 1.0:
                self.answered[call.body] += 1
            else:
                self.unanswered[call.body] += 1
        return True

    def count_wrongly_asked(self, before, expected):
        """Return how many calls were asked too often and too seldom, given what was asked before
        and what an unbroken run asks."""
        asked = self.server.asked - before
        least = expected + self.unanswered
        most = least + self.answered
        return (asked - most).total(), (least - asked).total()


def wait_until_it_waits(server, process):
    """Return whether the process came to wait for a held reply and nothing else: requests are held
    and all its threads, and those of its children, sleep."""
    end = time.monotonic() + PATIENCE
    quiet = 0
    while quiet < 8:
        assert time.monotonic() < end, f"the command asked nothing for {PATIENCE:g} seconds"
        if process.poll() is not None:
            return False
        quiet = quiet + 1 if server.held and is_asleep(process.pid) else 0
        time.sleep(0.01)
    return True


def is_asleep(pid):
    """Return whether every thread of a process and of those below it sleeps. A thread that waits
    for a processor does not, however busy the machine is."""
    for one in (pid, *list_below(pid)):
        for stat in Path(f"/proc/{one}/task").glob("*/stat"):
            state, _ = read_stat(stat)
            if state not in "SI":
                return False
    return True


def list_below(pid):
    """Return the processes that a process started, and those that they started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        state, parent = read_stat(path / "stat")
        if state != "Z":
            parents[int(path.name)] = parent
    below = []
    newest = [pid]
    while newest:
        newest = [one for one, parent in parents.items() if parent in newest]
        below += newest
    return below


def read_stat(path):
    """Return the state of a process or thread and its parent; a zombie where it is gone."""
    try:
        state, parent = path.read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return "Z", 0
    return state, int(parent)


def wait_until_gone(pids):
    """Return when these processes have ended by themselves. One that stays is ended, and that is an
    error: it would go on asking."""
    end = time.monotonic() + PATIENCE
    left = pids
    while left and time.monotonic() < end:
        left = [pid for pid in left if read_stat(Path(f"/proc/{pid}/stat"))[0] != "Z"]
        time.sleep(0.01)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"{len(left)} processes of a killed command went on for {PATIENCE:g} seconds"
