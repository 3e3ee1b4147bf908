"""A real HTTP server that misbehaves on demand."""

import json
import socket
import struct
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import strict_schema
from waiting import join_threads

GOOD = {
    "id": "chatcmpl-1",
    "choices": [{"message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}],
    "usage": {
        "prompt_tokens": 12,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    },
}


def answer(body, status=200, headers=(), kind="application/json"):
    """Send this body, whatever it is."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def act(handler):
        handler.send_response(status)
        handler.send_header("content-type", kind)
        handler.send_header("content-length", str(len(content)))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return act


def reset(handler):
    """Cut the connection before any answer."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


def break_off(handler):
    """Promise a hundred bytes, send a few, hang up."""
    handler.send_response(200)
    handler.send_header("content-length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.close_connection = True


def stall(handler):
    """Say nothing until the server is closed."""
    handler.server.closing.wait(20)
    handler.close_connection = True


def drip(handler):
    """Send one byte now and then, never finishing."""
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    send_slowly(handler, b" ")


def send_slowly(handler, piece):
    """Send the same bytes again and again, for 20 s at most, until the server closes or the client
    hangs up."""
    handler.close_connection = True
    for _ in range(1000):
        if handler.server.closing.wait(0.02):
            return
        try:
            handler.wfile.write(piece)
            handler.wfile.flush()
        except OSError:
            return


def drip_headers(handler):
    """Begin an answer and never finish its headers."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    send_slowly(handler, b"a")


def repeat_continue(handler):
    """Send one informational response after another, and no final one."""
    send_slowly(handler, b"HTTP/1.1 100 Continue\r\n\r\n")


def echo_the_key_in_a_reply(spell=str):
    """Let the model say the key it was called with, spelt by `spell`."""

    def act(handler):
        key = handler.headers["authorization"].removeprefix("Bearer ")
        body = (
            json.dumps(GOOD)
            .replace('"A"', f'"it is {spell(key)}"')
            .replace("chatcmpl-1", spell(key))
        )
        answer(body.encode())(handler)

    return act


def break_off_in_the_key(handler):
    """Answer in JSON that ends one character before the end of the key."""
    key = handler.headers["authorization"].removeprefix("Bearer ")
    answer(f'{{"echo": "{key[:-1]}'.encode())(handler)


def echo_the_key(handler):
    """Quote all headers in an error, as careless servers do."""
    answer({"error": {"message": f"bad request with {dict(handler.headers)}"}}, 400)(handler)


def keep_strict(body=GOOD):
    """Refuse what OpenAI refuses in strict mode, with its words; answer everything else."""

    def act(handler):
        form = handler.body.get("response_format", {}).get("json_schema", {})
        wrong = strict_schema.complain(form.get("schema")) if form.get("strict") else None
        if wrong is None:
            return answer(body)(handler)
        message = f"Invalid schema for response_format '{form['name']}': {wrong}"
        error = {
            "message": message,
            "type": "invalid_request_error",
            "param": "response_format",
            "code": None,
        }
        return answer({"error": error}, 400)(handler)

    return act


def say(text):
    """Return a chat completion with this text."""
    return {
        **GOOD,
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
    }


def slow(seconds, body=GOOD):
    def act(handler):
        time.sleep(seconds)
        answer(body)(handler)

    return act


class FaultyServer(ThreadingHTTPServer):
    """Performs one act per request, the last one for ever, and remembers what it was sent."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, acts):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.acts = list(acts)
        self.seen = []
        self.connections = 0
        self.closing = threading.Event()
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def process_request(self, request, client_address):
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        """Connections broken on purpose are no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.seen.append((self.path, dict(self.headers), self.body))
            act = self.server.acts.pop(0) if len(self.server.acts) > 1 else self.server.acts[0]
        act(self)

    def log_message(self, *args):
        """Say nothing on the screen."""


@contextmanager
def serving(*acts):
    server = FaultyServer(acts)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        join_threads(thread, seconds=120)
