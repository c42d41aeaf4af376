"""Tells a transaction that lost to another one from one that failed: it may be begun anew."""

from typing import Final

from sqlalchemy.exc import OperationalError

# SQLSTATEs: serialization_failure, deadlock_detected.
_GAVE_WAY: Final = frozenset({"40001", "40P01"})
# The primary code of SQLite stands in the lower byte of the extended one.
_BUSY: Final = 5
_PRIMARY: Final = 0xFF


def gave_way(error: Exception) -> bool:
    """Return whether the database undid a transaction only because of another one.

    That is a deadlock, a serialization failure or a busy SQLite file.
    """
    if not isinstance(error, OperationalError):
        return False
    code = getattr(error.orig, "sqlite_errorcode", None)
    busy = code is not None and code & _PRIMARY == _BUSY
    return busy or getattr(error.orig, "sqlstate", None) in _GAVE_WAY
