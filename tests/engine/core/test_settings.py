"""Settings: every known name, wrong and unknown ones, passwords of any kind, secrets unprinted."""

import re
from pathlib import Path
from typing import Final

import pytest
from pydantic import SecretStr, ValidationError

from engine.core.settings import EXAMPLES, Settings, SettingsError, quote_password

# The table of interface.md, written down a second time.
NAMES: Final = (
    "HOME", "DATABASE_URL", "REDIS_URL", "BASE_URL", "SECRET_KEY", "SMTP_URL", "LLM_BASE_URL",
    "LLM_API_KEY", "LLM_MODEL_FAST", "LLM_MODEL_CAPABLE", "ALLOW_PRIVATE_HOSTS", "PORT", "WORKERS",
    "API_RATE", "DNS_SERVER", "POSTHOG_URL", "POSTHOG_KEY", "TESTING", "TEST_CLOCK",
    "FAULTS",
)  # fmt: skip
# Field report UPG-03.
AWKWARD: Final = "p^V&X@:/?#"
PARTS: Final = ("p^V&X", "^V&", "@:/?#", "%5EV", "p%5E")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the data folder that the environment names."""
    monkeypatch.setenv("STELLWERK_HOME", str(tmp_path))
    return tmp_path


def load(monkeypatch: pytest.MonkeyPatch, **values: str) -> Settings:
    """Read the settings with these names in the environment, without their prefix."""
    for name, value in values.items():
        monkeypatch.setenv(f"STELLWERK_{name}", value)
    return Settings.from_env()


def fault(monkeypatch: pytest.MonkeyPatch, **values: str) -> str:
    """Return what the refusal of these settings says."""
    with pytest.raises(SettingsError) as error:
        load(monkeypatch, **values)
    return str(error.value)


def test_the_defaults_are_those_of_the_table(home: Path) -> None:
    settings = Settings.from_env()
    assert settings.home == home
    assert settings.database.render_as_string() == f"sqlite:///{home}/stellwerk.db"
    assert (settings.port, settings.workers, settings.api_rate) == (8000, 4, 200)
    assert settings.base_url == "http://127.0.0.1:8000"
    assert (settings.redis_url, settings.smtp_url, settings.secret_key) == (None, None, None)
    assert not settings.testing


def test_reading_creates_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    load(monkeypatch, HOME=str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_table_is_known_and_has_an_example(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    assert set(EXAMPLES) == set(NAMES) == {field.upper() for field in Settings.model_fields}
    example = str(tmp_path) if name == "HOME" else EXAMPLES[name].partition(" (")[0]
    example = "x" * 40 if name == "SECRET_KEY" else example
    settings = load(monkeypatch, **{"TESTING": "1", name: example})
    assert getattr(settings, name.lower()) not in (None, "")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PORT", "eighty", "integer"),
        ("PORT", "0", "greater than or equal to 1"),
        ("PORT", "65536", "less than or equal to 65535"),
        ("WORKERS", "0", "greater than or equal to 1"),
        ("API_RATE", "-1", "greater than or equal to 1"),
        ("TESTING", "perhaps", "boolean"),
        ("BASE_URL", "stellwerk.example", "http:// or https://"),
        ("BASE_URL", "https://", "name a host"),
        ("SECRET_KEY", "short", "32 characters"),
        ("DATABASE_URL", "mysql://localhost/x", "postgresql+psycopg://"),
        ("DATABASE_URL", "just words", "not a database address"),
        ("REDIS_URL", "http://localhost", "redis://"),
        ("SMTP_URL", "mail.example:25", "smtp://"),
        ("SMTP_URL", "smtp://", "name a host"),
        ("SMTP_URL", "smtp://mail.example:port", "port"),
        ("SMTP_URL", "smtp://mail.example:99999", "port"),
        ("SMTP_URL", "smtp://mail.example:0", "port"),
        ("SMTP_URL", "smtp://mail.example?starttls=perhaps", "starttls"),
        ("SMTP_URL", "smtp://mail.example?tls=yes", "starttls"),
    ],
)
def test_a_wrong_value_stops_the_start_with_name_reason_and_example(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    said = fault(monkeypatch, **{name: value})
    assert said.startswith(f"STELLWERK_{name} ")
    assert reason in said
    assert said.endswith(f"Example: STELLWERK_{name}={EXAMPLES[name]}")
    assert "\n" not in said


@pytest.mark.parametrize("name", ["PROT", "DATABASE", "LLM", "port", "SMTP_URL_"])
def test_an_unknown_name_stops_the_start(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    said = fault(monkeypatch, **{name: "secret value"})
    assert said.startswith(f"STELLWERK_{name} is not a setting of Stellwerk")
    assert "STELLWERK_SMTP_URL" in said
    assert "Example: STELLWERK_PORT=8000" in said
    assert "secret value" not in said


def test_a_name_that_is_almost_right_gets_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Did you mean STELLWERK_PORT?" in fault(monkeypatch, PROT="80")


def test_names_of_others_are_none_of_our_business(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "eighty")
    monkeypatch.setenv("DATABASE_URL", "mysql://localhost/x")
    assert load(monkeypatch, REQUIRE="all").port == 8000


def test_the_file_in_home_fills_what_the_environment_leaves_open(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    (home / "stellwerk.env").write_text(
        f"STELLWERK_PORT=8100\nSTELLWERK_WORKERS=2\nSTELLWERK_SMTP_URL='smtp://a:{AWKWARD}@mail.example'\n"
    )
    settings = load(monkeypatch, PORT="8200")
    assert (settings.port, settings.workers) == (8200, 2)
    assert settings.smtp_url is not None
    assert settings.smtp_url.get_secret_value().startswith("smtp://a:p%5E")


@pytest.mark.parametrize(
    ("line", "reason"),
    [("STELLWERK_PROT=80", "STELLWERK_PROT is not a setting"), ("STELLWERK_PORT=x", "integer")],
)
def test_the_file_is_judged_like_the_environment(
    monkeypatch: pytest.MonkeyPatch, home: Path, line: str, reason: str
) -> None:
    (home / "stellwerk.env").write_text(f"{line}\n")
    assert reason in fault(monkeypatch)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in {"HOME", "ALLOW_PRIVATE_HOSTS"}]
)
def test_an_empty_value_means_unset(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert load(monkeypatch, **{name: ""}) == Settings.from_env()
    plain = Settings()
    assert getattr(Settings.from_env(), name.lower()) == getattr(plain, name.lower())


def test_faults_are_refused_outside_tests_and_at_unknown_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "STELLWERK_TESTING=1" in fault(monkeypatch, FAULTS="walk.ran:1:kill")
    assert load(monkeypatch, FAULTS="walk.ran:1:kill", TESTING="1").faults == "walk.ran:1:kill"
    said = fault(monkeypatch, FAULTS="walk.gone:1:kill")
    assert "'walk.gone' is no fault point" in said
    assert said.endswith(f"Example: STELLWERK_FAULTS={EXAMPLES['FAULTS']}")


def test_the_test_clock_is_refused_outside_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "STELLWERK_TESTING=1" in fault(monkeypatch, TEST_CLOCK="clock")
    assert load(monkeypatch, TEST_CLOCK="clock", TESTING="1").test_clock == Path("clock").resolve()


@pytest.mark.parametrize(
    ("base_url", "secure"), [("https://a.example/", True), ("http://a.example", False)]
)
def test_the_address_says_whether_cookies_are_secure(
    monkeypatch: pytest.MonkeyPatch, base_url: str, secure: bool
) -> None:
    settings = load(monkeypatch, BASE_URL=base_url)
    assert settings.secure is secure
    assert not settings.base_url.endswith("/")


@pytest.mark.parametrize(
    "password", [AWKWARD, "plain", "a@b@c", "ü", "%", "a%zz", "#", "a:b", "//", "?x=@", " "]
)
@pytest.mark.parametrize(
    "rest", ["localhost/db", "10.0.0.7:5432/db?sslmode=require", "[::1]:5432/db"]
)
def test_a_password_may_hold_any_character(
    monkeypatch: pytest.MonkeyPatch, password: str, rest: str
) -> None:
    address = load(monkeypatch, DATABASE_URL=f"postgresql+psycopg://ada:{password}@{rest}").database
    assert (address.username, address.password) == ("ada", password)
    assert address.database == "db"


def test_an_encoded_password_is_taken_as_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql+psycopg://ada:p%40ss@localhost/db"
    assert load(monkeypatch, DATABASE_URL=url).database.password == "p@ss"


@pytest.mark.parametrize(
    "url", ["smtp://mail.example:25", "sqlite:////tmp/a@b.db", "redis://localhost/0", "words"]
)
def test_an_address_without_a_password_stays_as_it_is(url: str) -> None:
    assert quote_password(url) == url


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", f"mysql://u:{AWKWARD}@localhost/x"),
        ("DATABASE_URL", f"postgresql+psycopg//u:{AWKWARD}@localhost/x"),
        ("REDIS_URL", f"http://u:{AWKWARD}@localhost"),
        ("SMTP_URL", f"http://u:{AWKWARD}@localhost"),
        ("SMTP_URL", f"smtp://u:{AWKWARD}@localhost:port"),
        ("SECRET_KEY", AWKWARD),
    ],
)
def test_a_refused_secret_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    assert not_in(fault(monkeypatch, **{name: value}).partition("Example:")[0])


def test_settings_never_print_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load(
        monkeypatch,
        DATABASE_URL=f"postgresql+psycopg://u:{AWKWARD}@localhost/x",
        SMTP_URL=f"smtp://u:{AWKWARD}@localhost",
        REDIS_URL=f"redis://u:{AWKWARD}@localhost",
        SECRET_KEY=AWKWARD * 4,
        LLM_API_KEY=AWKWARD,
        POSTHOG_KEY=AWKWARD,
    )
    printed = f"{settings!r} {settings} {settings.model_dump()} {settings.database}"
    assert not_in(printed)


def test_a_wrong_value_in_code_prints_no_secret_either() -> None:
    with pytest.raises(ValidationError) as error:
        Settings(smtp_url=SecretStr("x"), secret_key=SecretStr(AWKWARD))
    assert not_in(str(error.value))


def not_in(text: str) -> bool:
    """Return whether no part of the awkward password stands in `text`, quoted or not."""
    return not any(re.search(re.escape(part), text) for part in PARTS)


def test_a_settings_file_that_is_no_text_is_refused(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    (home / "stellwerk.env").write_bytes(b"STELLWERK_PORT=\xff\xfe\x00")
    assert "is not UTF-8 text" in fault(monkeypatch)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("STELLWERK_PORT 8000\n", 1),
        ("# ours\n\nSTELLWERK_WORKERS=4\nSTELLWERK_PORT\n", 4),
        ("STELLWERK_PORT=8000\n=8001", 2),
        ("STELLWERK_SECRET_KEY='without an end\n", 1),
    ],
)
def test_a_line_that_is_no_setting_stops_the_start_with_its_number(
    monkeypatch: pytest.MonkeyPatch,
    home: Path,
    caplog: pytest.LogCaptureFixture,
    text: str,
    line: int,
) -> None:
    (home / "stellwerk.env").write_text(text)
    said = fault(monkeypatch)
    assert f"stellwerk.env line {line}: name=value expected" in said
    assert caplog.records == []


def test_comments_quotes_and_several_lines_are_no_fault(home: Path) -> None:
    (home / "stellwerk.env").write_text(
        "# ours\r\n\nexport STELLWERK_PORT = 8123 # here\n  STELLWERK_LLM_API_KEY='a\nb' # two\n"
        'STELLWERK_SECRET_KEY="an \\" and = within, which is long enough"\nSTELLWERK_SMTP_URL='
    )
    settings = Settings.from_env()
    assert settings.port == 8123
    assert settings.llm_api_key == SecretStr("a\nb")


def test_the_console_s_address_follows_the_port_unless_it_is_said() -> None:
    assert Settings(port=8123).base_url == "http://127.0.0.1:8123"
    said = Settings(port=8123, base_url="https://mail.example/")
    assert said.base_url == "https://mail.example"
