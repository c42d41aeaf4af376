"""The installation's settings: read once from the environment and `HOME/stellwerk.env`.

Nobody else reads the environment. Secrets are `SecretStr`, so that no log and no error prints them.
"""

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pydantic import (
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from engine.core import faults
from engine.core.env_lines import first_fault

PREFIX: Final = "STELLWERK_"
DEFAULT_PORT: Final = 8000
ENV_FILE: Final = "stellwerk.env"
# Known to the test runner alone; the product must not refuse a start because of it.
RUNNER_NAMES: Final = frozenset({"STELLWERK_REQUIRE"})
# What STELLWERK_SMTP_URL may ask for; the first is the default.
STARTTLS: Final = ("opportunistic", "required", "off")
EXAMPLES: Final[Mapping[str, str]] = {
    "HOME": "./var",
    "DATABASE_URL": "postgresql+psycopg://stellwerk:secret@localhost/stellwerk",
    "REDIS_URL": "redis://localhost:6379/0",
    "BASE_URL": "https://stellwerk.example",
    "SECRET_KEY": "at least 32 random characters",
    "SMTP_URL": "smtp://user:secret@mail.example:587?starttls=required",
    "LLM_BASE_URL": "https://llm.example/v1",
    "LLM_API_KEY": "the key of the endpoint",
    "LLM_MODEL_FAST": "small-model",
    "LLM_MODEL_CAPABLE": "large-model",
    "ALLOW_PRIVATE_HOSTS": "intranet.example,10.0.0.7",
    "PORT": "8000",
    "WORKERS": "4",
    "API_RATE": "200",
    "DNS_SERVER": "127.0.0.1:53",
    "POSTHOG_URL": "https://events.example",
    "POSTHOG_KEY": "the project's key",
    "TESTING": "1",
    "TEST_CLOCK": "./var/clock (only with STELLWERK_TESTING=1)",
    "FAULTS": "walk.ran:1:kill (only with STELLWERK_TESTING=1)",
}
# user and password up to the LAST @ that is followed by a host: a password may hold @ : / ? #.
_USERINFO: Final = re.compile(
    r"^(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<user>[^:@/]*):(?P<password>.*)@"
    r"(?P<rest>[A-Za-z0-9.\-_\[\]:]*(?:/[^@]*)?(?:\?[^@]*)?)$"
)


class SettingsError(Exception):
    """A setting is wrong or unknown. The message names it, says why, and gives an example."""


def quote_password(url: str) -> str:
    """Return `url` with user and password percent-encoded, so that any password parses.

    A `%XX` in the password is taken as already encoded; every other character is literal.
    """
    found = _USERINFO.match(url)
    if found is None:
        return url
    user, password = (quote(unquote(found[name]), safe="") for name in ("user", "password"))
    return f"{found['scheme']}://{user}:{password}@{found['rest']}"


def _secret_url(value: object) -> object:
    return SecretStr(quote_password(value)) if isinstance(value, str) else value


SecretUrl = Annotated[SecretStr | None, BeforeValidator(_secret_url)]


class Settings(BaseSettings):
    """One frozen value for the whole process; see the table "Settings" of the README."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,  # an empty value means unset
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
    )

    home: Path = Path("var")
    database_url: SecretUrl = None
    redis_url: SecretUrl = None
    port: int = Field(DEFAULT_PORT, ge=1, le=65535)
    # Unset: the console on this machine, at its port.
    base_url: str = Field("", validate_default=True)
    secret_key: SecretStr | None = None
    smtp_url: SecretUrl = None
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    llm_model_fast: str | None = None
    llm_model_capable: str | None = None
    allow_private_hosts: str = ""
    workers: int = Field(4, ge=1, le=64)
    api_rate: int = Field(200, ge=1, le=100_000)
    dns_server: str | None = None
    posthog_url: str | None = None
    posthog_key: SecretStr | None = None
    testing: bool = False
    test_clock: Path | None = None
    faults: str | None = None

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().resolve()

    @field_validator("base_url")
    @classmethod
    def _http_address(cls, value: str, info: ValidationInfo) -> str:
        if not value:
            return f"http://127.0.0.1:{info.data.get('port', DEFAULT_PORT)}"
        if not re.match(r"^https?://[^\s/]+", value):
            raise ValueError("must start with http:// or https:// and name a host")
        return value.rstrip("/")

    @field_validator("posthog_url")
    @classmethod
    def _receiver(cls, value: str | None) -> str | None:
        try:
            known = value is None or (
                value.startswith(("http://", "https://")) and bool(urlsplit(value).hostname)
            )
        except ValueError:
            known = False
        if not known:
            raise ValueError("must start with http:// or https:// and name a host")
        return value

    @field_validator("secret_key")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < 32:
            raise ValueError("must have at least 32 characters")
        return value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return value
        try:
            driver = make_url(value.get_secret_value()).drivername
        except ArgumentError:
            # `from None`: SQLAlchemy's own message repeats the whole URL, password included.
            raise ValueError("is not a database address") from None
        if driver not in {"sqlite", "sqlite+pysqlite", "postgresql+psycopg"}:
            raise ValueError("must be a sqlite:/// or postgresql+psycopg:// address")
        return value

    @field_validator("redis_url")
    @classmethod
    def _known_queue(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not value.get_secret_value().startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("must be a redis:// address")
        return value

    @field_validator("smtp_url")
    @classmethod
    def _known_transport(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return value
        url = value.get_secret_value()
        if not url.startswith(("smtp://", "smtps://")):
            raise ValueError("must be an smtp:// or smtps:// address")
        try:
            parts = urlsplit(url)
            reachable = bool(parts.hostname) and parts.port != 0
        except ValueError:
            reachable = False
        if not reachable:
            raise ValueError("must name a host, and a port between 1 and 65535 if any")
        asked = parse_qsl(parts.query, keep_blank_values=True)
        if any(name != "starttls" or word not in STARTTLS for name, word in asked):
            raise ValueError(f"may only ask for starttls={', '.join(STARTTLS)}")
        return value

    @field_validator("test_clock")
    @classmethod
    def _tests_only(cls, value: Path | None) -> Path | None:
        return value.expanduser().resolve() if value else None

    @field_validator("faults")
    @classmethod
    def _known_points(cls, value: str | None) -> str | None:
        if value is not None:
            faults.read_traps(value)
        return value

    @property
    def database(self) -> URL:
        """The database address; SQLite in HOME when none is set."""
        if self.database_url is not None:
            return make_url(self.database_url.get_secret_value())
        return URL.create("sqlite", database=str(self.home / "stellwerk.db"))

    @property
    def secure(self) -> bool:
        """Whether people reach the console by https (cookies are `Secure` then)."""
        return self.base_url.startswith("https://")

    @classmethod
    def from_env(cls) -> "Settings":
        """Read the environment, then `HOME/stellwerk.env` for what the environment leaves open.

        Raises SettingsError for an unknown name or a wrong value. Creates nothing.
        """
        home = Path(os.environ.get(f"{PREFIX}HOME") or "var").expanduser()
        env_file = home / ENV_FILE
        try:
            _refuse_faulty_line(env_file)
            source = DotEnvSettingsSource(cls, env_file=env_file, env_prefix="")
        except UnicodeDecodeError:
            raise SettingsError(
                f"{env_file} is not UTF-8 text. Example of a line: STELLWERK_PORT=8000"
            ) from None
        _refuse_unknown([*os.environ, *(str(name).upper() for name in source.env_vars)])
        try:
            settings = cls(_env_file=env_file if env_file.exists() else None)
        except ValidationError as error:
            raise SettingsError(_in_words(error)) from None
        if settings.test_clock and not settings.testing:
            raise SettingsError(
                "STELLWERK_TEST_CLOCK is for tests only: it moves the time of everything here. "
                "Unset it, or set STELLWERK_TESTING=1."
            )
        if settings.faults and not settings.testing:
            raise SettingsError(
                "STELLWERK_FAULTS is for tests only: it ends the process at a chosen place. "
                "Unset it, or set STELLWERK_TESTING=1."
            )
        return settings

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - signature of the library
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - signature of the library
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Constructor, then environment, then file; no secrets folder."""
        return init_settings, env_settings, dotenv_settings


def _refuse_faulty_line(env_file: Path) -> None:
    line = first_fault(env_file.read_text("utf-8")) if env_file.is_file() else None
    if line is not None:
        raise SettingsError(
            f"{env_file} line {line}: name=value expected. Example of a line: STELLWERK_PORT=8000"
        )


def _refuse_unknown(names: list[str]) -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | RUNNER_NAMES
    for name in names:
        if name.startswith(PREFIX) and name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"Did you mean {close[0]}? " if close else ""
            raise SettingsError(
                f"{name} is not a setting of Stellwerk. {hint}"
                f"Known are: {', '.join(sorted(known))}. Example: STELLWERK_PORT=8000"
            )


def _in_words(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_context=False, include_url=False)[0]
    field = str(first["loc"][0]).removeprefix(PREFIX.lower()) if first["loc"] else "?"
    name = field.upper()
    reason = first["msg"].removeprefix("Value error, ")
    reason = reason[0].lower() + reason[1:]
    return f"{PREFIX}{name} {reason}. Example: {PREFIX}{name}={EXAMPLES.get(name, '…')}"
