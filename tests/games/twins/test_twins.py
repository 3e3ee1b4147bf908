"""Twins go on as the games that they are told after, at every position, and tell all of it."""

import re
from itertools import combinations

import numpy as np
import pytest

from bestresponse.core.registry import games
from bestresponse.games.lookup import find_game
from bestresponse.games.tic_tac_toe.rules import LINES
from bestresponse.games.twins.tic_tac_toe import make_barrels, make_fifteen
from bestresponse.games.twins.twin import TWINS, Twin
from bestresponse.telling.language import load_language
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import solve_positions

NAMES = [(base, name) for base, names in TWINS.items() for name in names]
GERMAN = load_language("de").within("bestresponse.games.twins")
SMALL = {
    "connect-four": "columns=4,rows=3",
    "breakthrough": "rows=4,columns=3",
    "nim": "piles=1-3-5,last_wins=false",
}


def make(name: str, base: str) -> Twin:
    settings = SMALL.get(base)
    twin = find_game(f"{name}({settings})" if settings else name).game
    assert isinstance(twin, Twin)
    return twin


@pytest.mark.parametrize(("base", "name"), NAMES)
def test_a_twin_goes_on_like_its_base_at_every_position(base: str, name: str) -> None:
    twin = make(name, base)
    behind = twin.base
    theirs = solve_positions(explore(behind))
    ours = solve_positions(explore(twin))
    assert type(behind) is type(games.make(base))
    assert set(theirs.graph.known) == set(ours.graph.known)
    waiting = [behind.begin()]
    seen = {behind.find_key(waiting[0])}
    while waiting:
        position = waiting.pop()
        key = behind.find_key(position)
        worth = theirs.values[theirs.graph.known[key]]
        assert np.array_equal(worth, ours.values[ours.graph.known[key]])
        turn = behind.find_turn(position)
        told = twin.find_turn(position)
        if not turn.role:
            assert not told.role
            assert twin.find_result(position) == behind.find_result(position)
            continue
        assert twin.roles.index(told.role) == behind.roles.index(turn.role)
        assert sorted(told.moves) == sorted(map(twin.rename, turn.moves))
        for move in turn.moves:
            after = behind.advance(position, move)
            assert twin.advance(position, twin.rename(move)) == after
            if behind.find_key(after) not in seen:
                seen.add(behind.find_key(after))
                waiting.append(after)
    assert seen == set(theirs.graph.known)


@pytest.mark.parametrize(("base", "name"), NAMES)
def test_a_twin_tells_every_position_as_another_one(base: str, name: str) -> None:
    twin = make(name, base)
    told: dict[str, object] = {}
    waiting = [twin.start()]
    seen = {twin.find_key(twin.begin())}
    while waiting and len(seen) < 3000:
        state = waiting.pop()
        for role, ask in twin.asks(state).items():
            moves = ask.options
            assert len(set(moves)) == len(moves)
            text = f"{role} {write_history(twin.view(state, role))} {sorted(moves)}"
            key = twin.find_key(state.position)
            assert told.setdefault(text, key) == key
            for move in moves:
                after = twin.apply(state, {role: move})
                key = twin.find_key(after.position)
                if key not in seen:
                    seen.add(key)
                    waiting.append(after)
    assert len(told) > 50


@pytest.mark.parametrize(("base", "name"), NAMES)
def test_a_twin_does_not_say_which_game_it_is(base: str, name: str) -> None:
    twin = games.make(name)
    view = twin.view(twin.start(), twin.roles[0])
    told = f"{write_rules(view)} {write_history(view)}".casefold()
    for word in (base, base.replace("-", " "), "pile", "disc", "pawn", "tic"):
        assert word not in told


def test_the_lines_are_the_triples_that_add_up_to_fifteen() -> None:
    twin = make_fifteen()
    lines = {frozenset(int(twin.rename(twin.base.cells[cell])) for cell in line) for line in LINES}
    triples = {frozenset(three) for three in combinations(range(1, 10), 3) if sum(three) == 15}
    assert lines == triples


def test_settings_are_those_of_the_game_behind_it() -> None:
    twin = find_game("boxes(piles=2-4)").game
    told = write_rules(twin.view(twin.start(), "player 1"))
    assert "2 boxes with room for 5 balls each" in told
    assert "they hold 3 and 1 balls" in told


def test_barrels_are_loaded_in_german() -> None:
    twin = make_barrels()
    state = twin.start()
    for load in ("barrel 3", "barrel 5"):
        ((role, _),) = twin.asks(state).items()
        state = twin.apply(state, {role: load})
    told = write_history(twin.view(state, "player 1"), GERMAN)
    assert "An Bord Ihres Schiffes: 3. An Bord des anderen Schiffes: 5. Im Hafen: 1, 2, 4," in told
    assert GERMAN.translate("barrel 9") == "Fass 9"
    assert GERMAN.translate("serve 2 at counter 4") == "2 an Schalter 4 bedienen"


def test_cells_with_a_decimal_comma_are_told_apart() -> None:
    twin = games.make("runners")
    view = twin.view(twin.start(), "player 1")
    assert "Your runners: 1.1, 2.1 and 3.1." in write_history(view)
    assert "Ihre Läufer: 1,1; 2,1; 3,1." in write_history(view, GERMAN)


@pytest.mark.parametrize(("base", "name"), NAMES)
def test_a_twin_has_german_for_all_that_it_says(base: str, name: str) -> None:
    twin = make(name, base)
    state = twin.start()
    assert GERMAN.find_word(twin.rules) is not None
    assert GERMAN.find_word(twin.story) is not None
    while asks := twin.asks(state):
        ((role, ask),) = asks.items()
        for move in ask.options:
            assert GERMAN.find_word(move) is not None or re.fullmatch("[1-9]|C[1-3]R[1-3]", move)
        state = twin.apply(state, {role: ask.options[-1]})
