"""The store by itself, without a server: what counts, what is refused, and who sits where in which
part."""

from dataclasses import replace
from pathlib import Path

import pytest

from bestresponse.core import Decision
from bestresponse.core.errors import NotAsked, UsageError
from bestresponse.web.services.seat import list_announcements
from bestresponse.web.sessions.errors import AlreadyAnswered, NotFound
from bestresponse.web.sessions.session import Presence
from bestresponse.web.sessions.setup import GameChoice, Setup
from bestresponse.web.sessions.store import SessionStore

PAIR = Setup(GameChoice("prisoners-dilemma", rounds=2), ("person", "person"), quiz=False)
EXAMPLES = Path(__file__).parents[3] / "examples" / "experiments"
EXAMPLE = EXAMPLES / "dilemma-de.toml"


@pytest.fixture
def session(store):
    """A table of two people who are ready."""
    found = store.get_session(store.create_sessions(PAIR).tables[0].id)
    for seat in (0, 1):
        store.make_ready(found, seat)
    return found


def read_again(store):
    """Another store of the same folder, as after a restart."""
    return SessionStore(store.journal)


@pytest.mark.parametrize("groups", [0, 501])
def test_a_lobby_has_one_to_five_hundred_groups(store, groups):
    with pytest.raises(UsageError, match=f"{groups} groups: expected 1 to 500"):
        store.create_sessions(PAIR, groups)


def test_groups_are_numbered_from_one_and_the_newest_lobby_comes_first(store):
    first, second = store.create_sessions(PAIR, 3), store.create_sessions(PAIR)
    assert [(table.id, table.group) for table in first.tables] == [
        (f"{first.id}-{n}", n) for n in (1, 2, 3)
    ]
    assert store.list_lobbies() == [second, first]
    again = read_again(store).list_lobbies()
    assert [(lobby.id, lobby.setup, lobby.created) for lobby in again] == [
        (lobby.id, lobby.setup, lobby.created) for lobby in (second, first)
    ]
    assert [[(table.id, table.group) for table in lobby.tables] for lobby in again] == [
        [(table.id, table.group) for table in lobby.tables] for lobby in (second, first)
    ]
    assert store.get_lobby(first.id) == first
    with pytest.raises(NotFound, match="there is no such lobby"):
        store.get_lobby("nowhere")
    with pytest.raises(NotFound, match="there is no such session"):
        store.get_session("nowhere-1")


def test_only_a_table_without_people_is_begun_at_once(store):
    begun = []
    store.changed = begun.append
    store.create_sessions(PAIR)
    lobby = store.create_sessions(replace(PAIR, seats=("strategy:random",) * 2), 2)
    assert [session.id for session in begun] == [table.id for table in lobby.tables]


def test_an_answer_counts_once_and_for_the_question_that_was_put(store, session):
    with pytest.raises(NotAsked, match="has not been put yet"):
        store.submit(session, "row", 1, Decision("defect"))
    store.submit(session, "row", 0, Decision("defect"))
    with pytest.raises(
        AlreadyAnswered, match="You had answered this already; the first answer counts"
    ):
        store.submit(session, "row", 0, Decision("cooperate"))
    store.submit(session, "col", 0, Decision("cooperate", stand_in="random"))
    with pytest.raises(AlreadyAnswered, match="a stand-in had answered for you"):
        store.submit(session, "col", 0, Decision("defect"))
    assert [s.decision.action for s in session.episode.submissions] == ["defect", "cooperate"]


def test_nobody_answers_before_everybody_is_ready_or_after_the_table_was_closed_or_restarted(store):
    session = store.get_session(store.create_sessions(PAIR).tables[0].id)
    with pytest.raises(NotAsked, match="the game has not begun; not everybody is ready"):
        store.submit(session, "row", 0, Decision("defect"))
    for seat in (0, 1):
        store.make_ready(session, seat)
    store.close_table(session)
    with pytest.raises(NotAsked, match="closed by the experimenter"):
        store.submit(session, "row", 0, Decision("defect"))
    again = store.restart_table(session.id)
    with pytest.raises(
        NotAsked, match="the experimenter has restarted this game; load the page again"
    ):
        store.submit(session, "row", 0, Decision("defect"))
    store.submit(again, "row", 0, Decision("defect"))
    assert (again.attempt, again.turn("row")) == (2, 1)


def test_the_time_at_which_a_question_was_first_shown_is_kept_with_its_answer(store, session):
    store.note_shown(session, 0, "question")
    store.note_shown(session, 0, "question")
    (event,) = store.journal.read_events("shown")
    assert (event["seat"], event["turn"]) == (0, 0)
    store.submit(session, "row", 0, Decision("defect"), Presence(True, 2, 30))
    store.submit(session, "col", 0, Decision("defect"))
    row, col = (answer.timing for answer in session.list_answers())
    assert (row.shown, row.timed_out, row.away_times, row.away_seconds) == (
        event["at"],
        True,
        2,
        30,
    )
    assert (col.shown, col.timed_out, col.away_times, col.away_seconds) == (None, False, None, None)
    store.note_shown(session, 0, "question")
    assert [(e["seat"], e["turn"]) for e in store.journal.read_events("shown")] == [(0, 0), (0, 1)]
    assert read_again(store).get_session(session.id).list_answers() == session.list_answers()


def test_a_page_is_kept_once_however_often_it_is_loaded_also_after_a_restart(store, session):
    store.submit(session, "row", 0, Decision("defect"))
    for _ in range(2):
        store.note_shown(session, 0, "waiting")
    again = read_again(store)
    again.note_shown(again.get_session(session.id), 0, "waiting")
    told = [(e["page"], e["turn"]) for e in store.journal.read_events("shown")]
    assert told == [("waiting", None)]


def test_a_play_is_recorded_when_its_last_answer_is_given_and_once(store, session):
    for role, turn in (("row", 0), ("col", 0), ("row", 1)):
        store.submit(session, role, turn, Decision("defect"))
    assert (store.is_finished(session.id), store.list_unfinished()) == (False, [session.id])
    store.submit(session, "col", 1, Decision("cooperate"))
    assert (store.is_finished(session.id), store.is_open(session.id), store.list_unfinished()) == (
        True,
        False,
        [],
    )
    again = read_again(store)
    assert (again.is_finished(session.id), again.get_session(session.id).payoffs()) == (
        True,
        {"row": 6.0, "col": 1.0},
    )
    assert store.journal.folder.finished() == {session.id}
    with pytest.raises(UsageError, match="this game is over and its result is recorded"):
        store.begin_attempt(session.id)


def test_a_record_names_the_people_in_its_seats_but_no_strategy(store, session):
    mixed = store.get_session(
        store.create_sessions(replace(PAIR, seats=("strategy:random", "person"))).tables[0].id
    )
    store.make_ready(mixed, 1)
    for table in (session, mixed):
        for turn in range(2):
            for role in ("row", "col"):
                store.submit(table, role, turn, Decision("defect"))
    kept = {play.spec: play.data["subjects"] for play in store.journal.folder.plays()}
    assert kept == {
        session.id: {"row": f"{session.id} 0 0", "col": f"{session.id} 1 0"},
        mixed.id: {"col": f"{mixed.id} 1 0"},
    }


def test_a_person_is_called_the_same_in_every_part_of_an_experiment(store):
    lobby = store.create_experiment(EXAMPLE.read_text("utf-8"))
    first, second = (store.get_session(table.id) for table in lobby.tables if table.group == 3)
    store.make_ready(first, 0)
    names = [store._name_persons(session) for session in (first, second)]
    assert names[0][first.roles[0]] == names[1][second.roles[0]] == f"{first.id} 0 0"


def test_a_closed_table_cannot_go_on_and_is_open_again_after_a_restart(store, session):
    store.close_table(session)
    store.close_table(session)
    assert len(store.journal.read_events("closed")) == 1
    assert (store.is_open(session.id), read_again(store).is_open(session.id)) == (False, False)
    store.restart_table(session.id)
    assert (store.is_open(session.id), read_again(store).is_open(session.id)) == (True, True)


def test_answers_before_a_restart_are_those_of_an_earlier_attempt(store, session):
    store.submit(session, "row", 0, Decision("defect"))
    assert store.list_attempts(session.id) == []
    again = store.restart_table(session.id)
    store.submit(again, "row", 0, Decision("cooperate"))
    ((number, answers),) = store.list_attempts(session.id)
    assert (number, [answer.submission.decision.action for answer in answers]) == (1, ["defect"])
    assert read_again(store).get_session(session.id).answer("row", 0).decision.action == "cooperate"


def test_the_first_answers_to_a_questionnaire_count(store, session):
    store.note_questionnaire(session, 0, "questionnaire", {"age": "30"})
    store.note_questionnaire(session, 0, "questionnaire", {"age": "31"})
    store.note_questionnaire(session, 1, "questionnaire", {"age": "32"})
    assert store.questionnaires == {(session.id, 0): {"age": "30"}, (session.id, 1): {"age": "32"}}
    assert read_again(store).questionnaires == store.questionnaires


def test_tries_of_the_quiz_are_counted_and_the_last_one_is_that_which_was_right(store):
    session = store.get_session(store.create_sessions(PAIR).tables[0].id)
    assert store.register.get(session.id, 0).quiz_tries == 0
    store.note_quiz_failed(session, 0)
    store.note_quiz_failed(session, 0)
    assert store.register.get(session.id, 0).quiz_tries == 2
    store.make_ready(session, 0)
    store.make_ready(session, 0)
    assert [event["quiz_tries"] for event in store.journal.read_events("ready")] == [3]


def test_a_seat_of_a_strategy_is_never_made_ready(store):
    session = store.get_session(
        store.create_sessions(replace(PAIR, seats=("person", "strategy:random"))).tables[0].id
    )
    store.make_ready(session, 1)
    assert (session.standing.ready, session.begun) == (set(), False)


def test_seats_are_taken_group_by_group_until_there_is_none(store):
    lobby = store.create_sessions(PAIR, 2)
    taken = [store.take_seat(lobby.id) for _ in range(4)]
    assert taken == [(f"{lobby.id}-{group}", seat) for group in (1, 2) for seat in (0, 1)]
    assert store.register.taken[lobby.id] == 4
    with pytest.raises(UsageError, match="every seat is taken"):
        store.take_seat(lobby.id)


def test_a_seat_that_was_replaced_and_a_table_that_was_closed_are_not_taken(store):
    lobby = store.create_sessions(PAIR, 3)
    first, second, third = (store.get_session(table.id) for table in lobby.tables)
    store.replace_person(first, 0)
    store.close_table(second)
    assert [store.take_seat(lobby.id) for _ in range(2)] == [(first.id, 1), (third.id, 0)]


@pytest.mark.parametrize(
    ("groups", "roles", "taken"),
    [
        ("arrival", "arrival", [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0)]),
        ("random", "arrival", [(1, 0), (2, 0), (2, 1), (4, 0), (1, 1)]),
        ("arrival", "random", [(1, 0), (1, 2), (1, 1), (1, 3), (2, 1)]),
        ("random", "random", [(1, 3), (2, 3), (2, 0), (4, 2), (1, 2)]),
    ],
)
def test_people_are_put_into_groups_and_roles_as_the_experiment_says(store, groups, roles, taken):
    text = (EXAMPLES / "public-goods.toml").read_text("utf-8")
    assigned = text.replace('groups = "arrival"', f'groups = "{groups}"').replace(
        'roles = "random"', f'roles = "{roles}"'
    )
    lobby = store.create_experiment(assigned)
    numbers = {table.id: table.group for table in lobby.first_tables}
    assert [
        (numbers[table], seat) for table, seat in (store.take_seat(lobby.id) for _ in taken)
    ] == taken


def test_a_person_has_a_seat_in_every_part_of_an_experiment(store):
    lobby = store.create_experiment(EXAMPLE.read_text("utf-8"))
    assert (lobby.experiment.title, len(lobby.tables), len(lobby.first_tables)) == (
        "Entscheidungen zu zweit",
        40,
        20,
    )
    assert lobby.setup == lobby.tables[0].setup != lobby.tables[1].setup
    first, second = (table.id for table in lobby.tables if table.group == 3)
    assert [table.number for table in lobby.tables if table.group == 3] == [1, 2]
    assert lobby.tables[5].id == second
    assert store.list_seats(second, 0) == [(first, 0), (second, 0)]
    assert store.find_participant(second, 0) == store.find_participant(first, 0) == (first, 0)
    assert store.find_participant(second, 1) == (second, 1)
    assert store.list_seats(second, 1) == [(second, 1)]
    assert (store.list_later(first, 0), store.list_later(second, 0)) == ([(second, 0)], [])
    assert store.find_current(second, 0) == (first, 0)
    store._recorded.add(first)
    assert store.find_current(first, 0) == (second, 0)
    store._recorded.add(second)
    assert store.find_current(first, 0) == (second, 0)


def test_an_experiment_is_found_again_by_its_file(store):
    text = EXAMPLE.read_text("utf-8")
    assert store.find_experiment(text) is None
    lobby = store.create_experiment(text)
    assert store.find_experiment(text) == lobby
    assert store.find_experiment(text + "\n") is None


def test_closing_and_restarting_a_part_closes_and_opens_the_later_ones(store):
    lobby = store.create_experiment(EXAMPLE.read_text("utf-8"))
    first, second = (table.id for table in lobby.tables if table.group == 1)
    store.close_table(store.get_session(first))
    assert (store.is_open(first), store.is_open(second)) == (False, False)
    store.restart_table(first)
    assert (store.is_open(first), store.is_open(second)) == (True, True)
    assert [store.standings[name].attempt for name in (first, second)] == [2, 2]
    store.restart_table(first)
    assert [store.standings[name].attempt for name in (first, second)] == [3, 2]


def test_the_experimenter_begins_without_whoever_is_missing_and_moves_on_whoever_is_asked(store):
    session = store.get_session(store.create_sessions(PAIR).tables[0].id)
    store.make_ready(session, 0)
    store.advance_person(session, 0)
    assert (session.begun, session.standing.absent, session.advanced) == (False, set(), {})
    store.begin_without(session)
    store.begin_without(session)
    assert (session.begun, session.standing.absent) == (True, {1})
    assert len(store.journal.read_events("absent")) == 1
    store.advance_person(session, 0)
    assert list(session.advanced) == [("row", 0)]
    store.make_ready(session, 1)
    assert session.standing.absent == set()


def test_advancing_a_person_who_never_came_begins_without_that_person(store):
    session = store.get_session(store.create_sessions(PAIR).tables[0].id)
    store.advance_person(session, 1)
    store.advance_person(session, 1)
    assert (session.standing.absent, len(store.journal.read_events("absent"))) == ({1}, 1)


@pytest.mark.parametrize("act", [SessionStore.advance_person, SessionStore.replace_person])
def test_a_strategy_and_a_table_that_has_ended_are_left_alone(store, act):
    setup = replace(PAIR, seats=("person", "strategy:random"))
    session = store.get_session(store.create_sessions(setup).tables[0].id)
    act(store, session, 1)
    store.close_table(session)
    act(store, session, 0)
    assert store.journal.read_events("absent", "replaced") == []


def test_a_person_is_replaced_once(store, session):
    store.replace_person(session, 0)
    store.replace_person(session, 0)
    assert (session.standing.replaced, len(store.journal.read_events("replaced"))) == ({0}, 1)


def test_a_person_is_told_of_the_own_last_stand_in_and_of_all_settled_ones_of_others(
    store, session
):
    own = "Your time was up: a stand-in answered the last question for you (defect)."
    store.submit(session, "row", 0, Decision("defect", stand_in="random"))
    assert (list_announcements(session, 0), list_announcements(session, 1)) == ([own], [])
    store.submit(session, "col", 0, Decision("defect"))
    other = "A stand-in answered for row: 1 of 1 answers so far."
    assert (list_announcements(session, 0), list_announcements(session, 1)) == ([own], [other])
    store.submit(session, "row", 1, Decision("cooperate"))
    assert list_announcements(session, 0) == []


@pytest.mark.parametrize(
    ("game", "role", "action", "shown"),
    [
        (GameChoice("chicken", mixed=True), "row", (0.25, 0.75), "25 %, 75 %"),
        (GameChoice("trust"), "sender", 3.0, "3"),
        (GameChoice("colonel-blotto"), "Blotto", "0-3-3", "0-3-3"),
    ],
)
def test_what_a_stand_in_did_is_told_in_the_words_of_the_question(store, game, role, action, shown):
    session = store.get_session(
        store.create_sessions(Setup(game, ("person", "person"), quiz=False)).tables[0].id
    )
    for seat in (0, 1):
        store.make_ready(session, seat)
    store.submit(session, role, 0, Decision(action, stand_in="random"))
    (told,) = list_announcements(session, session.roles.index(role))
    assert told.startswith(
        f"Your time was up: a stand-in answered the last question for you ({shown}"
    )


def test_a_restart_is_announced_until_the_first_answer(store, session):
    assert list_announcements(session, 0) == []
    again = store.restart_table(session.id)
    said = (
        "The experimenter has restarted this game. It begins again, and earlier answers do not"
        " count."
    )
    assert list_announcements(again, 0) == [said]
    store.submit(again, "row", 0, Decision("defect"))
    assert (list_announcements(again, 0), list_announcements(again, 1)) == ([], [said])


def test_messages_are_kept(store, session):
    store.send_message(session, "Five minutes left.")
    store.send_message(session, "Please answer.")
    assert read_again(store).get_session(session.id).standing.messages == [
        "Five minutes left.",
        "Please answer.",
    ]
