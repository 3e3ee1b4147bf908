"""Pictures of the experimenter stand in the texts and at the top of the pages; a bar tells how far
the study is."""

import re

import pytest
from web_server import hidden, join, take

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment

FILE = """title = "A study"
logo = "lab.svg"
[[games]]
game = "guessing"
seats = ["person", "strategy:random"]
parameters = {roles = ["A", "B"], rounds = 2}
quiz = false
instructions = "Look: ![a table](pictures/table.png)"
[[games]]
game = "chicken"
seats = ["person", "strategy:random"]
quiz = false
"""


@pytest.fixture
def seat(server):
    """A person's browser and the link of the seat."""
    client = server.client()
    page = join(server, server.state.sessions.create_experiment(FILE), client)
    return client, str(page.url).partition("localhost")[2]


def test_pictures_are_shown_from_their_folder_and_from_nowhere_else(server, seat):
    client, link = seat
    page = client.get(link).text
    assert '<img src="/pictures/table.png" alt="a table" />' in page
    assert '<img src="/pictures/lab.svg" alt="">' in page
    assert client.get("/pictures/table.png").status_code == 404
    (server.folder / "pictures").mkdir()
    (server.folder / "pictures" / "table.png").write_bytes(b"\x89PNG")
    (server.folder / "pictures" / "notes.txt").write_text("secret")
    sent = client.get("/pictures/table.png")
    assert (sent.content, sent.headers["content-type"]) == (b"\x89PNG", "image/png")
    for name in ("notes.txt", "..%2Fsecret", "%2e%2e/secret"):
        assert client.get(f"/pictures/{name}").status_code == 404


def test_a_picture_of_another_site_is_refused_with_its_line():
    with pytest.raises(
        UsageError, match=r"line 8: the picture 'https://example\.org/x\.png' is not shown"
    ):
        check_experiment(FILE.replace("pictures/table.png", "https://example.org/x.png"))


def test_a_bar_tells_how_far_the_study_is(server, seat):
    client, link = seat

    def read_bar(address):
        return re.search(
            r'<progress class="study" max="1" value="([\d.]+)"', client.get(address).text
        )[1]

    client.post(f"{link}/ready", data={"csrf": hidden(client.get(link), "csrf")})
    assert read_bar(link) == "0.000"
    take(client, link, answer="5")
    server.wait_for(
        lambda: read_bar(link) == "0.250"
    )  # one of two rounds of the first of two games
    take(client, link, answer="5")
    server.wait_for(lambda: read_bar(link) == "0.500")
