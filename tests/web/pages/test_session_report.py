"""The report of a lobby: what people have answered so far, without stand-ins."""

from web_server import make_ready, seat, take

STUDY = """
title = "Reported"
groups = 2
[[games]]
game = "prisoners-dilemma"
rounds = 2
quiz = false
seats = ["person", "person"]
"""


def test_the_report_has_shares_and_payoffs_of_people_alone(server):
    lobby = server.state.sessions.create_experiment(STUDY)
    assert "Nobody has answered yet." in server.admin.get(f"/lobby/{lobby.id}/report").text
    people = [seat(server, lobby) for _ in range(4)]
    for person in people:
        make_ready(*person)
    moves = ("cooperate", "defect", "defect", "defect")
    for (client, link), move in zip(people, moves, strict=True):
        take(client, link, answer=move)
    # A stand-in answers for the last person in round 2.
    take(*people[2], answer="cooperate")
    session = server.state.sessions.get_session(lobby.tables[1].id)
    server.state.sessions.replace_person(session, 1)
    server.wait_for(lambda: session.over)
    rows = server.api().get(f"/api/lobbies/{lobby.id}/report").json()
    first, second = rows
    # (0 + 5 + 1 + 1) / 4
    assert first == {
        "part": 1,
        "game": "prisoners-dilemma",
        "treatment": "",
        "round": 1,
        "stage": 1,
        "answers": 4,
        "summary": "defect 75 %, cooperate 25 %",
        "payoff": 1.75,
    }
    assert (second["round"], second["answers"]) == (2, 1)
    assert second["summary"] == "cooperate 100 %"
    page = server.admin.get(f"/lobby/{lobby.id}/report").text
    assert "defect 75 %, cooperate 25 %" in page
    assert server.client().get(f"/lobby/{lobby.id}/report").status_code == 403
