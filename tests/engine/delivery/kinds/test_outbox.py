"""The built-in outbox: whole files, and an answer that says nothing left."""

from pathlib import Path
from typing import Final

from engine.core.outcome import Refused
from engine.core.settings import Settings
from engine.delivery.kinds import TRANSPORTS, handshake, transport_for, transport_name
from engine.delivery.kinds.base import OUTBOX_UNWRITABLE, Accepted, Letter, NotHandedOver, Rejected
from engine.delivery.kinds.outbox import KEPT, Outbox

LETTER: Final = Letter("msg_1", "a@acme.example", "b@people.example", b"Subject: x\r\n\r\ny\r\n")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_letter_is_kept_whole_under_its_id(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox")
    assert outbox.transmit(LETTER, lambda: True) == Accepted(KEPT)
    assert (tmp_path / "outbox" / "msg_1.eml").read_bytes() == LETTER.content
    assert files(tmp_path / "outbox") == ["msg_1.eml"]


def test_the_same_letter_again_is_one_file(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    for _ in range(2):
        outbox.transmit(LETTER, lambda: True)
    assert files(tmp_path) == ["msg_1.eml"]


def test_nothing_is_kept_without_a_hand_over(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def hand_over() -> bool:
        seen.append(files(tmp_path))
        return False

    assert Outbox(tmp_path).transmit(LETTER, hand_over) == NotHandedOver()
    assert "msg_1.eml" not in seen[0]
    assert files(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_a_matter_of_time(tmp_path: Path) -> None:
    in_the_way = tmp_path / "outbox"
    in_the_way.write_text("a file where the folder should be")
    answer = Outbox(in_the_way).transmit(LETTER, lambda: True)
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.temporary) == (OUTBOX_UNWRITABLE, True)
    assert isinstance(Outbox(in_the_way).handshake(), Refused)


def test_without_a_mail_server_the_outbox_is_the_way(settings: Settings) -> None:
    assert transport_name(settings) == "outbox"
    assert isinstance(transport_for(settings), Outbox)
    answer = handshake(settings)
    assert isinstance(answer, str)
    assert str(settings.home) in answer
    assert files(settings.home / "outbox") == []


def test_every_transport_is_known_by_its_name() -> None:
    assert set(TRANSPORTS) == {"smtp", "outbox"}
