"""Hashes of passwords: what verifies, what is renewed, what an unknown account costs."""

import pytest
from argon2 import PasswordHasher

from engine.accounts import passwords

pytestmark = pytest.mark.real_passwords


@pytest.mark.parametrize(
    "password", ["correct horse battery staple", "p^V&X@:/?#", "ü", " ", "x" * 1024, "\U0001f600"]
)
def test_a_hash_verifies_its_password_and_no_other(password: str) -> None:
    stored = passwords.hash_password(password)
    assert stored.startswith("$argon2id$")
    assert passwords.verify(stored, password)
    assert not passwords.verify(stored, password + "x")


def test_both_spellings_of_an_umlaut_are_one_password() -> None:
    assert passwords.verify(passwords.hash_password("gr\u00fcn"), "gru\u0308n")


@pytest.mark.parametrize("stored", ["", "plain text", "$argon2id$v=19$broken"])
def test_a_stored_value_that_is_no_hash_fits_nothing(stored: str) -> None:
    assert not passwords.verify(stored, "plain text")


def test_an_unknown_account_is_refused_at_the_cost_of_a_known_one() -> None:
    assert not passwords.verify(None, "anything")
    # The same parameters, so the same work: renewing them renews this constant too.
    assert not passwords.needs_rehash(passwords._NOBODY)


def test_only_a_hash_with_other_parameters_is_renewed() -> None:
    assert passwords.needs_rehash(PasswordHasher(1, 8, 1).hash("secret"))
    assert not passwords.needs_rehash(passwords.hash_password("secret"))
