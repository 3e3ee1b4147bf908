"""The links of the server: each opens one door, survives a restart, and cannot be guessed from
another."""

import pytest

from bestresponse.core.errors import BestResponseError
from bestresponse.web.security import Keys, load_secret


def test_a_token_opens_its_own_door_and_no_other():
    keys = Keys("secret")
    token = keys.token("seat", "table", 0)
    assert keys.opens(token, "seat", "table", 0)
    for door in (
        ("seat", "table", 1),
        ("seat", "other", 0),
        ("judge", "table", 0),
        ("seat", "table"),
        ("admin",),
    ):
        assert not keys.opens(token, *door)


def test_tokens_follow_from_the_secret_alone():
    assert (
        Keys("secret").token("seat", 1)
        == Keys("secret").token("seat", 1)
        == "dDsjR3uJOaKL-_Ka3cVmgVIjC3wgzJcE"
    )
    assert Keys("another").token("seat", 1) != Keys("secret").token("seat", 1)


def test_only_the_admins_token_is_the_admins():
    keys = Keys("secret")
    assert keys.is_admin(keys.admin)
    assert not keys.is_admin(keys.token("seat", 1))
    assert not keys.is_admin("")


def test_an_admin_may_choose_the_token():
    keys = Keys("secret", admin="open sesame")
    assert keys.is_admin("open sesame")
    assert not keys.is_admin(Keys("secret").admin)


def test_a_token_that_is_no_text_at_all_opens_nothing():
    assert not Keys("secret").opens("\ud800", "seat", 1)


def test_a_secret_is_made_once_and_is_for_its_owner_only(tmp_path):
    path = tmp_path / "very" / "deep" / "secret"
    made = load_secret(path)
    assert len(made) == 43
    assert load_secret(path) == made
    assert path.read_text("ascii") == made + "\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_secret_that_cannot_be_kept_is_told_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BestResponseError, match="keeping a secret in"):
        load_secret(tmp_path / "file" / "secret")
