"""Games on the list have small pictures of their tables, trees and seats."""

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")

from bestresponse.web.sessions.setup import list_offers

PICTURES = {offer.name: offer.picture for offer in list_offers()}


def test_cells_are_as_dark_as_what_all_get_there():
    # 3 + 3, 0 + 5 and 1 + 1: 6, 5 and 2 between 2 and 6
    assert PICTURES["prisoners-dilemma"] == ((1.0, 0.75), (0.75, 0.0))
    # All get nothing together everywhere, so that the cells are those of the first.
    assert PICTURES["matching-pennies"] == ((1.0, 0.0), (0.0, 1.0))


def test_trees_have_their_levels_and_other_games_their_seats():
    # in or out, and after in fight or not
    assert [len(level) for level in PICTURES["entry-deterrence"]] == [1, 2, 2]
    assert PICTURES["first-price-auction"] == ((1.0, 1.0, 1.0),)
    assert PICTURES["dialogue:meeting"] == ((1.0, 1.0),)


def test_no_picture_has_more_than_eight_in_a_row():
    assert max(len(row) for picture in PICTURES.values() for row in picture) == 8
