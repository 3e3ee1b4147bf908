"""A page that waits says how many have answered, as answers come in."""

from web_server import sit_down, take

from bestresponse.web.sessions.setup import GameChoice, Setup

FOUR = Setup(GameChoice("public-goods-punishment"), ("person",) * 4, quiz=False)


def test_a_waiting_page_counts_the_answers_as_they_come(server):
    people = sit_down(server, FOUR)
    (ann, ann_link), (bob, bob_link), *_ = people
    assert "1 of 4 have answered." in take(ann, ann_link, answer="5").text
    session = server.state.sessions.get_session(ann_link.split("/")[2])
    version = session.version(0)
    assert "have answered" not in bob.get(bob_link).text
    take(bob, bob_link, answer="7")
    known = {"after": version, "answered": "1 of 4 have answered."}
    news = ann.get(f"{ann_link}/changes", params=known).json()
    # What was answered is told when everybody has.
    assert news == {
        "version": version,
        "notes": [],
        "advance": False,
        "chat": [],
        "answered": "2 of 4 have answered.",
    }
    # Whoever shows no count is not told of it, and so not woken by it again and again.
    assert ann.get(f"{ann_link}/changes").json()["answered"] == ""


def test_of_two_people_nothing_is_counted(server):
    (ann, ann_link), _ = sit_down(
        server, Setup(GameChoice("chicken"), ("person", "person"), quiz=False)
    )
    page = take(ann, ann_link, answer="swerve")
    assert 'data-phase="waiting"' in page.text
    assert "have answered" not in page.text
