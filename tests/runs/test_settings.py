"""A setting is declared once: bounds, conversion, identity and the sentence that refuses it come
from its field."""

from pathlib import Path
from typing import Literal

import pytest

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.games.lookup import NamedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.inputs import GameSetting, ModelsSetting, NamesSetting, SeatsSetting
from bestresponse.runs.settings import (
    RunSettings,
    describe_setting,
    list_settings,
    setting,
    settings,
)


@settings
class CardConfig(RunSettings):
    """Play cards."""

    game: GameSetting = setting(kw_only=False, help="A game.")
    model: ModelsSetting = setting(default=("smollm2",), help="Models.")
    theme: NamesSetting = setting(default=("neutral",), help="Themes.")
    seat: SeatsSetting = setting(default_factory=dict, help="Who sits where.")
    cards: int = setting(default=5, ge=1, le=52, help="Cards.")
    luck: float = setting(default=0.5, gt=0, lt=1, help="Luck.")
    suit: Literal["hearts", "spades"] = setting(default="hearts", help="Suit.")

    def __post_init__(self):
        if self.suit == "spades" and self.cards > 13:
            raise SettingError("cards", "there are 13 spades")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"cards": 0}, "cards: expected a whole number from 1 to 52, got 0"),
        ({"cards": "many"}, "cards: expected a whole number from 1 to 52, got many"),
        ({"luck": 1.0}, "luck: expected a number above 0 and below 1, got 1.0"),
        (
            {"suit": "heart"},
            "suit: expected one of hearts, spades, got 'heart'. Did you mean hearts?",
        ),
        ({"suit": "spades", "cards": 20}, "cards: there are 13 spades"),
        ({"card": 5}, "card has no setting 'card'. Did you mean cards?"),
        ({"workers": 0}, "workers: expected a whole number from 1 to 1,024, got 0"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_the_name_of_its_field(more, why):
    with pytest.raises(UsageError) as refused:
        CardConfig("chicken", **more)
    assert str(refused.value) == why


def test_a_game_that_is_missing_is_said_to_be():
    with pytest.raises(SettingError, match="game: this setting is missing"):
        CardConfig()


def test_wide_settings_keep_names_and_texts():
    def plays(prompt):
        return "A"

    config = CardConfig(
        [[1, -1], [-1, 1]],
        model=["a/b", ScriptedModel([], name="s"), plays],
        theme="market",
        seat={"row": plays},
    )
    assert isinstance(config.game, NamedGame)
    assert (config.game.ending, config.model, config.theme) == (
        ".nfg",
        ("a/b", "s", "plays"),
        ("market",),
    )
    assert [name.model is not None for name in config.model] == [False, True, True]
    assert config.seat["row"].model is not None


def test_how_a_run_is_made_is_no_part_of_what_it_is():
    config = CardConfig("chicken", workers=3, output_dir="elsewhere", budget="1 dollar")
    assert set(config.to_json()) == {"game", "model", "theme", "seat", "cards", "luck", "suit"}
    assert config.to_json() == CardConfig("chicken").to_json()
    assert CardConfig.from_json(config.to_json()).to_json() == config.to_json()


def test_the_settings_of_a_stored_run_open_no_file(tmp_path):
    path = Path(tmp_path) / "game.nfg"
    path.write_text("NFG")
    plain = CardConfig("chicken").to_json()
    with pytest.raises(UsageError, match="there is no game"):
        CardConfig.from_json(plain | {"game": str(path)})
    assert CardConfig.from_json(plain | {"game": "chicken"}).game.name == "chicken"


def test_settings_are_listed_own_ones_first_and_described():
    names = list(list_settings(CardConfig))
    assert names[:3] == ["game", "model", "theme"]
    assert names[-1] in list_settings(RunSettings)
    assert describe_setting(CardConfig, "cards") == "a whole number from 1 to 52"
    assert describe_setting(CardConfig, "suit") == "one of hearts, spades"
