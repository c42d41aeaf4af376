"""What HOME holds beside the database and cannot be made again: key, settings, kept letters.

The queue file stays out: it only holds hints, and the rows know what is due.
"""

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from engine.core.boot import KEY_FILE
from engine.core.settings import ENV_FILE, Settings
from engine.delivery.kinds.outbox import FOLDER as OUTBOX
from tasks.backup.archive import Reader, Writer, key_mark
from tasks.backup.workplace import settle

# A settings file that is there is never overwritten: it says which database was meant.
BESIDE: Final = f"{ENV_FILE}.restored"


def pack(home: Path, writer: Writer) -> int:
    """Add the files of HOME to an archive; return how many letters of the outbox went in.

    A letter may be taken away meanwhile; what is there whole is kept.
    """
    for name in (KEY_FILE, ENV_FILE):
        if (home / name).is_file():
            writer.add(name, home / name)
    letters = 0
    for letter in sorted((home / OUTBOX).glob("[!.]*.eml")):
        try:
            writer.add(f"{OUTBOX}/{letter.name}", letter)
        except FileNotFoundError:
            continue
        letters += 1
    return letters


def unpack(reader: Reader, settings: Settings, folder: Path) -> list[str]:
    """Put the files of an archive into HOME; return what a person should know about it.

    folder: where a file is whole before it gets its name. Letters that are there stay.
    """
    said = []
    home = settings.home
    for name in reader.names(f"{OUTBOX}/"):
        (home / OUTBOX).mkdir(mode=0o700, exist_ok=True)
        if not (home / name).exists():
            _place(reader, name, folder, home / name)
    if reader.names(ENV_FILE):
        said += _settings_file(reader, settings, folder)
    if reader.names(KEY_FILE):
        _place(reader, KEY_FILE, folder, home / KEY_FILE)
    return [*said, *_about_the_key(reader, settings)]


def _about_the_key(reader: Reader, settings: Settings) -> list[str]:
    """Warn where links and secrets of the backup were made with another key than the one here."""
    kept = settings.home / KEY_FILE
    if settings.secret_key is not None:
        here = settings.secret_key.get_secret_value()
    else:
        here = kept.read_text().strip() if kept.exists() else ""
    if key_mark(here) == reader.manifest.key_mark:
        return []
    return [
        "The secret key here is not the one of the backup: links in mails that were sent before, "
        "and sign-ins, are void. Set STELLWERK_SECRET_KEY to the old one."
    ]


def _settings_file(reader: Reader, settings: Settings, folder: Path) -> list[str]:
    draft = folder / ENV_FILE
    reader.extract(ENV_FILE, draft)
    target = settings.home / ENV_FILE
    if target.exists() and target.read_bytes() == draft.read_bytes():
        return []
    if target.exists() or not _means_the_same_database(draft, settings):
        settle(draft, settings.home / BESIDE)
        return [f"The settings of the backup stand in {settings.home / BESIDE}; compare them."]
    settle(draft, target)
    return [f"The settings of the backup are in force: {target}."]


def _means_the_same_database(draft: Path, settings: Settings) -> bool:
    try:
        meant = Settings(_env_file=draft)
    except ValidationError:
        return False
    return (meant.home, meant.database) == (settings.home, settings.database)


def _place(reader: Reader, name: str, folder: Path, target: Path) -> None:
    draft = folder / "file"
    reader.extract(name, draft)
    settle(draft, target)
