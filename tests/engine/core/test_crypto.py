"""Secrets at rest open only with the installation's key, for their purpose, and unchanged."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core import crypto

KEY = "the secret key of an installation"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setattr(crypto, "_secret_key", KEY)
        yield


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(codec="ascii")))
def test_what_was_sealed_for_a_purpose_opens_for_it_alone(text: str, purpose: str) -> None:
    sealed = crypto.seal(text, purpose)
    assert crypto.unseal(sealed, purpose) == text
    assert crypto.unseal(sealed, f"{purpose}!") is None
    assert sealed.isascii()


def test_the_same_text_is_sealed_differently_each_time() -> None:
    sealed = {crypto.seal("hook", "webhook") for _ in range(20)}
    assert len(sealed) == 20
    assert not any("hook" in each for each in sealed)


def test_every_changed_byte_is_noticed() -> None:
    sealed = crypto.seal("hook", "webhook")
    raw = urlsafe_b64decode(sealed.removeprefix("v1."))
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        text = "v1." + urlsafe_b64encode(bytes(changed)).decode()
        assert crypto.unseal(text, "webhook") is None
    assert crypto.unseal(sealed, "webhook") == "hook"


@pytest.mark.parametrize("foreign", ["", "v1.", "v1.YWJj", "v2.YWJj", "hook", "v1.ä", "v1.a"])
def test_what_was_never_sealed_is_nothing(foreign: str) -> None:
    assert crypto.unseal(foreign, "webhook") is None


def test_another_installation_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = crypto.seal("hook", "webhook")
    monkeypatch.setattr(crypto, "_secret_key", KEY[::-1])
    assert crypto.unseal(sealed, "webhook") is None


def test_a_text_of_an_earlier_release_still_opens() -> None:
    kept = "v1.vpsk3LwwID69rCCQ4JKlflGLdSy-Xfdf9sNDmVUeEkX_JAmFLr_SQfQSXntdwobEZnxkBbTpSoc="
    assert crypto.unseal(kept, "webhook") == "kept since the first release"


def test_without_a_key_nothing_is_sealed_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crypto, "_secret_key", None)
    with pytest.raises(LookupError, match="no secret key"):
        crypto.seal("hook", "webhook")
    with pytest.raises(LookupError, match="no secret key"):
        crypto.unseal("v1.", "webhook")
