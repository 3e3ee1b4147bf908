"""A model server on loopback: speaks the OpenAI protocol, answers by a function, counts what it
delivered."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def stated_mix(body):
    """A mix that depends on the question, so that a mixed-up answer would change a number."""
    text = json.dumps(body["messages"])
    weights = [1 + (hash_of(text) >> shift) % 7 for shift in (0, 8, 16)]
    mix = [w / sum(weights) for w in weights]
    return json.dumps(dict(zip("ABC", mix, strict=True)))


def hash_of(text):
    import zlib

    return zlib.crc32(text.encode())


class ModelServer:
    """Answers chat completions with the text, or the whole message, that `answer` gives for a body.

    `delivered` holds the bodies of all calls whose reply was written in full.

    The calls whose numbers are in `lies` (from 1) get half a JSON object under a header that
    promises a whole one. After `answer_only(n)` it delivers n more replies and lets other calls
    wait, until it is told again.
    """

    def __init__(self, answer=stated_mix, latency=0.0, lies=()):
        self.delivered = []
        self.names = ["fake"]
        self.calls = 0
        self.lock = threading.Condition()
        self.left = float("inf")
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                data = json.dumps({"data": [{"id": name} for name in server.names]}).encode()
                found = self.path == "/v1/models"
                self.send_response(200 if found else 404)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said = answer(body)
                message = said if isinstance(said, dict) else {"role": "assistant", "content": said}
                reply = {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 0,
                    "model": body["model"],
                    "choices": [
                        {
                            "index": 0,
                            "message": message,
                            "finish_reason": "stop",
                        }
                    ],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
                }
                data = json.dumps(reply).encode()
                time.sleep(latency)
                with server.lock:
                    server.lock.wait_for(lambda: server.left > 0)
                    server.left -= 1
                    server.calls += 1
                    data = data[: len(data) // 2] if server.calls in lies else data
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                    self.wfile.flush()
                except OSError:
                    with server.lock:
                        server.answer_only(server.left + 1)
                    return
                with server.lock:
                    server.delivered.append(json.dumps(body, sort_keys=True))
                    server.lock.notify_all()

            def log_message(self, *args):
                pass

        class Patient(ThreadingHTTPServer):
            request_queue_size = 256  # callers that ask all at once are not turned away

        self._http = Patient(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def model(self):
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1#fake"

    def answer_only(self, number=float("inf")):
        """Deliver that many replies from now on; without a number, all."""
        with self.lock:
            self.left = number
            self.lock.notify_all()

    def close(self):
        self.answer_only()
        self._http.shutdown()
        self._http.server_close()
