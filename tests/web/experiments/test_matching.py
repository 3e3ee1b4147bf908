"""Who meets whom in the games of an experiment."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.trial import count_people

GAME = '[[games]]\ngame = "{name}"\nseats = {seats}\nquiz = false\n'
PAIR = GAME.format(name="chicken", seats='["person", "person"]')
FOUR = GAME.format(name="public-goods-punishment", seats='["person", "person", "person", "person"]')


@pytest.fixture
def store(server):
    return server.state.sessions


def lay(store, games, groups, matching, size, **more):
    extra = "".join(f'{name} = "{value}"\n' for name, value in more.items())
    assignment = f'[assignment]\nmatching = "{matching}"\nmatching_groups = {size}\n{extra}'
    return store.create_experiment(f'title = "x"\ngroups = {groups}\n{games}{assignment}')


def list_meetings(lobby):
    """List for each part the sets of people, by their first seats, who sit at one table."""
    parts = {table.id: table.number for table in lobby.tables}
    tables = {}
    for (session, _), chain in lobby.chains.items():
        tables.setdefault(session, set()).add(chain[0])
    return [
        [people for session, people in tables.items() if parts[session] == part]
        for part in (1, 2, 3)
    ]


def test_partners_meet_in_every_game(store):
    first, second, third = list_meetings(lay(store, PAIR * 3, 2, "partners", 1))
    assert first == second == third
    assert [len(people) for people in first] == [2, 2]


@pytest.mark.parametrize("roles", ["arrival", "random"])
def test_perfect_strangers_meet_once(store, roles):
    lobby = lay(store, PAIR * 3, 6, "perfect strangers", 3, roles=roles)
    pairs = [frozenset(people) for part in list_meetings(lobby) for people in part]
    assert len(pairs) == len(set(pairs)) == 18
    assert all(len(pair) == 2 for pair in pairs)
    # Nobody leaves the matching group of the first three or the last three groups.
    assert all(len({int(session[-1]) > 3 for session, _ in pair}) == 1 for pair in pairs)
    assert all(len(chain) == 3 for chain in lobby.chains.values())


def test_a_repeated_game_is_played_with_others_each_time_and_its_rules_are_read_once(server, store):
    game = PAIR.replace("quiz = false", "quiz = true\nrepeat = 3\nbonus = 1")
    game += '[payment]\ncurrency = "EUR"\n'
    lobby = lay(store, game, 3, "perfect strangers", 3)
    pairs = [frozenset(people) for part in list_meetings(lobby) for people in part]
    assert len(pairs) == len(set(pairs)) == 9
    parts = [table.part for table in lobby.tables if table.group == 1]
    assert [(part.name, part.setup.quiz, int(part.game.bonus)) for part in parts] == [
        ("game 1", True, 1),
        ("game 1 2", False, 0),
        ("game 1 3", False, 0),
    ]
    later = next(table for table in lobby.tables if table.number == 2)
    page = server.client().get(server.state.seat_path(later.id, 0)).text
    assert "You are ready" in page
    assert "I am ready" not in page
    with pytest.raises(UsageError, match="line 9: the games seat different numbers of people"):
        lay(store, f"{PAIR.replace('quiz = false', 'repeat = 2')}{FOUR}", 1, "partners", 1)


def test_pairs_of_one_game_are_a_group_of_four_in_the_next(store):
    pairs, fours, _ = list_meetings(lay(store, PAIR + FOUR, 4, "partners", 2))
    assert [len(people) for people in fours] == [4, 4]
    assert all(sum(pair <= four for four in fours) == 1 for pair in pairs)


def test_groups_of_another_size_in_another_treatment_have_tables_of_their_own(store):
    two = FOUR.replace(
        "quiz", 'name = "project"\nparameters = { roles = ["a", "b"] }\nquiz'
    ).replace('["person", "person", "person", "person"]', '["person", "person"]')
    four = (
        'seats = ["person", "person", "person", "person"]\nparameters = { roles = ["a", "b", "c",'
        ' "d"] }\n'
    )
    treatments = (
        '[[treatments]]\nname = "two"\n[[treatments]]\nname ='
        f' "four"\n[treatments.games.project]\n{four}'
    )
    for seed in (0, 1):  # one seed for each order of the treatments
        lobby = lay(store, f"{PAIR}{two}{treatments}", f"4\nseed = {seed}", "partners", 2)
        # Eight people: four of them stay two pairs, the four others become one group.
        assert sorted(len(people) for people in list_meetings(lobby)[1]) == [2, 2, 4]
        assert [table.group for table in lobby.tables if table.number == 2] == [1, 2, 3]


def test_treatments_of_matched_groups_take_all_people_of_these():
    treatments = '[[treatments]]\nname = "a"\n[[treatments]]\nname = "b"\n'
    assignment = "[assignment]\nmatching_groups = 2\n"
    # Two pairs are matched and have one treatment: four people for each of two treatments.
    assert count_people(f'title = "x"\ngroups = 8\n{PAIR}{treatments}{assignment}') == 8
    # With two groups, which are matched, only one of the treatments is drawn.
    assert count_people(f'title = "x"\ngroups = 2\n{PAIR}{treatments}{assignment}') == 4


def test_a_treatment_with_larger_groups_takes_more_people():
    changed = (
        '[[treatments]]\nname = "b"\n[treatments.games."game 1"]\ngame ='
        ' "public-goods-punishment"\n'
    )
    seats = 'seats = ["person", "person", "person", "person"]\n'
    # A pair in one treatment and a group of four in the other.
    text = f'title = "x"\ngroups = 2\n{PAIR}[[treatments]]\nname = "a"\n{changed}{seats}'
    assert count_people(text) == 6


def test_people_of_one_matching_group_have_one_treatment(store):
    treatments = '[[treatments]]\nname = "a"\n[[treatments]]\nname = "b"\n'
    treatments += '[treatments.games."game 1"]\nrounds = 2\n'
    lobby = lay(store, PAIR * 2 + treatments, 4, "strangers", 2)
    first = [table.treatment for table in lobby.first_tables]
    assert first[:2] in (["a", "a"], ["b", "b"])
    assert sorted(first) == ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("games", "groups", "matching", "size", "why"),
    [
        (
            PAIR * 3,
            4,
            "perfect strangers",
            2,
            "line 16: in 3 games people of 2 groups of 2 would meet twice; a prime",
        ),
        (PAIR, 4, "strangers", 1, "line 8: strangers need several groups to be mixed"),
        (PAIR, 3, "strangers", 2, "line 2: groups is 3; expected a multiple of matching_groups, 2"),
        (PAIR + FOUR, 3, "partners", 1, "line 9: the games seat different numbers of people"),
    ],
)
def test_people_who_cannot_be_matched_so_are_refused_with_the_line(
    games, groups, matching, size, why
):
    assignment = f'[assignment]\nmatching = "{matching}"\nmatching_groups = {size}\n'
    with pytest.raises(UsageError, match=why):
        check_experiment(f'title = "x"\ngroups = {groups}\n{games}{assignment}')
