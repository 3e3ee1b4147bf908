"""Those who take part, ready to play: strategies as automata (one for each seat), the others by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bestresponse.core.errors import BestResponseError, InvalidGame
from bestresponse.formal.strategies.agents import Agent
from bestresponse.formal.strategies.table_program import write_program
from bestresponse.players.strategies.automaton import make_automaton
from bestresponse.studies.tournament.config import Entry, Stage, TournamentConfig
from bestresponse.theory.repeated.automaton import Automaton

__all__ = ["Entrant", "as_automata", "entrants_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Entrant:
    """`automata` are what it plays in the first and in the second seat; None where it has to be asked each time."""

    entry: Entry
    automata: tuple[Automaton, Automaton] | None

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.entry.name


def entrants_of(config: TournamentConfig) -> tuple[Entrant, ...]:
    """Everybody, in the order of the configuration."""
    return tuple(Entrant(entry, as_automata(entry, config.game, config.default_move)) for entry in config.entries)


@cache
def as_automata(entry: Entry, game: Stage, default_move: str | None) -> tuple[Automaton, Automaton] | None:
    """A strategy in both seats of the game; InvalidGame says why where it cannot play it."""
    match entry.kind:
        case "classic":
            return make_automaton(entry.source, game.form, 0), make_automaton(entry.source, game.form, 1)
        case "rules":
            return _rules(entry, game, default_move)
        case _:
            return None


def _rules(entry: Entry, game: Stage, default_move: str | None) -> tuple[Automaton, Automaton]:
    """A program of its own speaks the game's language; for a table one is written, with the first player's moves."""
    own_program = game.program and set(game.actions[0]) == set(game.actions[1])
    program = game.program if own_program else write_program(game.form)
    actions = game.actions if own_program else (game.actions[0], game.actions[0])
    try:
        seats = Agent(entry.name, program, entry.rules, default_move).seats()
        return seats.automaton(0, actions), seats.automaton(1, actions)
    except BestResponseError as error:
        raise InvalidGame(f"{entry.name} cannot play {game.name}: {error}") from error
