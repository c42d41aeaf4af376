"""The backup file: what goes in comes out, and nothing that was changed is believed."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from tasks.backup.archive import Copied, Manifest, Reader, Waiting, Writer, key_mark
from tests.support.house import START

LETTER = "outbox/abc-DEF_1.eml"
CONTENT = {
    "database.sqlite": b"rows " * 1000,
    LETTER: b"Subject: Gr\xc3\xbc\xc3\x9fe",
    "secret.key": b"k",
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return the path of a whole archive."""
    return write(tmp_path / "archive", CONTENT)


def write(path: Path, content: Mapping[str, bytes]) -> Path:
    writer = Writer(path)
    source = path.with_name("source")
    for name, data in content.items():
        source.write_bytes(data)
        writer.add(name, source)
    copied = Copied(source, "0001", {"contacts": 3}, Waiting(mails=1, runs=2))
    writer.finish("sqlite", copied, START, key_mark("secret"))
    writer.close()
    return path


def change(path: Path, **changed: object) -> Path:
    """Write the archive anew with another manifest, as somebody with bad intentions would."""
    with zipfile.ZipFile(path) as opened:
        held = {name: opened.read(name) for name in opened.namelist()}
    manifest: dict[str, Any] = json.loads(held.pop("manifest.json"))
    with zipfile.ZipFile(path, "w") as opened:
        for name, data in held.items():
            opened.writestr(name, data)
        opened.writestr("manifest.json", json.dumps(manifest | changed))
    return path


def read_all(path: Path, folder: Path) -> dict[str, bytes]:
    reader = Reader(path)
    found = {}
    for name in reader.manifest.members:
        reader.extract(name, folder / "out")
        found[name] = (folder / "out").read_bytes()
    return found


def test_what_goes_in_comes_out(archive: Path, tmp_path: Path) -> None:
    assert read_all(archive, tmp_path) == CONTENT
    manifest: Manifest = Reader(archive).manifest
    assert manifest.created_at == START
    assert manifest.rows == {"contacts": 3}
    assert manifest.waiting == Waiting(mails=1, runs=2)


def test_only_its_owner_may_read_it(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600


def test_no_beginning_of_an_archive_is_one(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    for length in range(0, len(whole), 7):
        archive.write_bytes(whole[:length])
        with pytest.raises(click.ClickException, match="nothing was changed"):
            read_all(archive, tmp_path)


def test_a_changed_byte_is_found_or_changes_nothing(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    refused = 0
    for place in range(0, len(whole), 3):
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            assert read_all(archive, tmp_path) == CONTENT
        except click.ClickException as error:
            assert "nothing was changed" in error.message  # noqa: PT017 - most refuse, not all
            refused += 1
    assert refused > 100


def test_an_unfinished_archive_is_none(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "archive")
    (tmp_path / "source").write_bytes(b"rows")
    writer.add("database.sqlite", tmp_path / "source")
    writer.close()
    with pytest.raises(click.ClickException, match="only the beginning of one"):
        Reader(tmp_path / "archive")


def test_a_member_never_leads_out_of_home(tmp_path: Path) -> None:
    for name in ("../evil", "/etc/evil", "outbox/../../evil.eml", "outbox/a/b.eml", "queue.db"):
        path = tmp_path / "archive"
        write(path, {**CONTENT, name: b"evil"})
        with pytest.raises(click.ClickException, match="is damaged"):
            Reader(path)
        path.unlink()


@pytest.mark.parametrize(
    "changed",
    [
        {"product": "other"},
        {"format": 2},
        {"members": {}},
        {"rows": {'contacts"; DROP TABLE contacts; --': 1}},
        {"rows": {"contacts": "many"}},
        {"created_at": "yesterday"},
        {"surprise": 1},
    ],
)
def test_a_manifest_of_another_kind_is_refused(archive: Path, changed: dict[str, object]) -> None:
    with pytest.raises(click.ClickException, match="nothing was changed"):
        Reader(change(archive, **changed))


def test_a_member_that_is_larger_than_it_says_is_cut_off(archive: Path, tmp_path: Path) -> None:
    members = dict(Reader(archive).manifest.model_dump(mode="json")["members"])
    members[LETTER]["size"] = 3
    change(archive, members=members)
    with pytest.raises(click.ClickException, match="is damaged"):
        Reader(archive).extract(LETTER, tmp_path / "out")
    assert (tmp_path / "out").stat().st_size <= 3


def test_a_mark_tells_keys_apart_and_gives_none_away() -> None:
    assert key_mark("one") != key_mark("two")
    assert "one" not in key_mark("one")
