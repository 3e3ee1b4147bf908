"""Seeds that are split by name."""

from bestresponse.core.seeds import generator, split


def test_a_child_of_a_seed_is_the_same_on_every_machine():
    assert split(7, "game", 3) == 8_660_723_631_416_057_389
    assert split(0) == 4_761_921_975_702_974_394
    assert 0 <= split(7, "game", 3) < 2**63


def test_a_number_and_its_text_are_different_names():
    assert split(7, "3") != split(7, 3)
    assert split(7, "a", "b") != split(7, "ab")


def test_a_generator_follows_from_its_place():
    assert generator(7, "x").random() == generator(7, "x").random() != generator(8, "x").random()
