"""However many programs are sent to be checked, the other pages answer."""

import threading

from bestresponse.logic.programs.validate import validate
from bestresponse.web.sessions import games


def test_pages_answer_while_a_hundred_programs_are_checked(server, monkeypatch):
    go_on, inside = threading.Event(), threading.Semaphore(0)

    def hang(source, engine):
        inside.release()
        go_on.wait()
        return validate(source, engine)

    monkeypatch.setattr(games, "validate", hang)
    found, lock = [], threading.Lock()

    def send(number):
        answer = server.api().post("/api/programs/check", json={"program": f"p({number})."})
        with lock:
            found.append((answer.status_code, answer.json().get("error")))

    senders = [threading.Thread(target=send, args=(number,)) for number in range(100)]
    for sender in senders[:8]:
        sender.start()
    for _ in range(8):
        inside.acquire()
    for sender in senders[8:]:
        sender.start()
    for sender in senders[8:]:
        sender.join()
    refused = (429, "8 programs are being checked already; try again in a few seconds")
    assert found == [refused] * 92
    assert server.admin.get("/").status_code == 200
    go_on.set()
    for sender in senders[:8]:
        sender.join()
    assert [status for status, _ in found[92:]] == [200] * 8
    assert server.api().post("/api/programs/check", json={"program": "p(1)."}).status_code == 200
