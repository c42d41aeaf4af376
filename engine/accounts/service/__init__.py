"""The room's verbs: signing in, API keys, people and workspaces. None of them commits."""

from engine.accounts.queries import KeyHolder, Person
from engine.accounts.service.keys import (
    IssuedKey,
    authenticate_key,
    create_key,
    due_for_note,
    note_key_use,
    revoke_key,
)
from engine.accounts.service.people import (
    AddedUser,
    NewUser,
    SetUp,
    SetUpDone,
    add_user,
    change_password,
    change_role,
    set_up,
)
from engine.accounts.service.sessions import (
    Origin,
    SignedIn,
    note_seen,
    resume_session,
    revoke_sessions,
    sign_in,
    sign_out,
)

__all__ = [
    "AddedUser",
    "IssuedKey",
    "KeyHolder",
    "NewUser",
    "Origin",
    "Person",
    "SetUp",
    "SetUpDone",
    "SignedIn",
    "add_user",
    "authenticate_key",
    "change_password",
    "change_role",
    "create_key",
    "due_for_note",
    "note_key_use",
    "note_seen",
    "resume_session",
    "revoke_key",
    "revoke_sessions",
    "set_up",
    "sign_in",
    "sign_out",
]
