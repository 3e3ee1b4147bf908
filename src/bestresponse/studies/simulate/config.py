"""The settings of a simulation: the game, and who sits where."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from bestresponse.analysis.theory import Theory, describe_theory
from bestresponse.core.capabilities import Wording
from bestresponse.core.errors import SettingError
from bestresponse.core.game import AnyGame
from bestresponse.core.registry import did_you_mean
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.games.dialogue.offers import OfferDialogue
from bestresponse.players.lookup import SIMULATED, find_known_strategies
from bestresponse.runs import seats as seating
from bestresponse.runs.inputs import (
    NamedModel,
    OptionalModelSetting,
    PersonasSetting,
    SeatsSetting,
    list_once,
)
from bestresponse.runs.settings import setting, settings
from bestresponse.theory.repeated.automaton import Automaton


@settings
class SimulateConfig(seating.MatchSettings, seating.ToolSettings):
    """Play any game many times and compare payoffs, moves, regret and welfare with theory.

    You can leave out the word `game`: `bestresponse simulate stag-hunt --model M`.
    """

    model: OptionalModelSetting = setting(default=None, kw_only=False, short="-m")
    """Player for all other seats; with --others only for the first of them."""
    seat: SeatsSetting = setting(default_factory=dict, metavar="ROLE=PLAYER")
    """Who sits where: a model, verified:MODEL (its reasoning is checked), random, equilibrium,
    always:MOVE, a bidder or baseline."""
    others: OptionalModelSetting = setting(default=None)
    """Player for all other seats. [default: the model, or a player that suits the game]"""
    personas: PersonasSetting = setting(default_factory=dict, metavar="FILE")
    """TOML with a persona for each seat that has one, under the seat's name."""
    referee: OptionalModelSetting = setting(default=None)
    """Who says what was agreed in a dialogue without offers: a model, or simulated. If you name
    somebody, people only write. [default: moves decide; in debates the first speaker]"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.make_game(), HasSpeakers):
            why = "it belongs to games with moves; people in a dialogue have parts"
            self.refuse_set(["personas", "about_others"], why)
            if self.referee is None:
                speaking = [player for player in self.seats.values() if player != SIMULATED]
                referee = speaking[0] if speaking else NamedModel(SIMULATED)
                object.__setattr__(self, "referee", referee)
        elif self.referee is not None:
            raise SettingError(
                "referee", f"nobody rules in {self.game.name}; it belongs to dialogues"
            )
        if not self.models:
            unused = [*seating.AGENT_SETTINGS, "about_others", "tools", "tool_calls"]
            self.refuse_set(unused, "this has no effect where no model plays")
        model_seats = seating.find_model_seats(self.make_game(), self.seats)
        for seat in self.personas:
            if seat not in self.seats:
                raise SettingError(
                    "personas", f"{seat!r} is not a seat.{did_you_mean(seat, list(self.seats))}"
                )
            if seat not in model_seats:
                raise SettingError(
                    "personas", f"there is one for {seat!r}, but no model sits there"
                )

    def make_game(self) -> AnyGame:
        """Return the game; a dialogue is without offers where somebody rules on it."""
        game = super().make_game()
        if self.referee is not None and isinstance(game, OfferDialogue):
            return game.talk
        return game

    @cached_property
    def seats(self) -> Mapping[str, NamedModel]:
        """Who sits where, in the order of the game's roles."""
        return seating.assign_seats(
            self.make_game(),
            self.seat,
            self.model,
            self.others,
        )

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models among the players and the referee, each once."""
        roles = seating.find_model_seats(self.make_game(), self.seats)
        asked = [self.seats[role] for role in roles]
        if self.referee and self.referee != SIMULATED:
            asked.append(self.referee)
        return list_once(asked)

    @property
    def theory(self) -> Theory:
        """What theory says of the game, of one round where it is repeated.

        Under noise of what is meant in it.
        """
        return describe_theory(self.make_game())

    @cached_property
    def strategies(self) -> Mapping[str, Automaton]:
        """The strategies of the seats that are known."""
        return find_known_strategies(self.make_game(), self.seats)

    @property
    def unit(self) -> str:
        """What payoffs are counted in; empty where the game does not say."""
        game = self.make_game()
        return game.unit if isinstance(game, Wording) else ""
