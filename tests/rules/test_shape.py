"""Sizes, docstrings, return types, imports, handlers, environment and clock (style 2 and 3)."""

import pytest

from tests.rules.checks import shape
from tests.rules.checks.source import CODE, EVERYTHING, Check, breaches, snippet, sources

LONG_FUNCTION = "def f() -> None:\n" + "    pass\n" * 50
EVERYWHERE: list[tuple[Check, str]] = [
    (shape.too_long, "x = 1\n" * 301),
    (shape.too_long, LONG_FUNCTION),
    (shape.without_return_type, "def f(a: int):\n    return a\n"),
    (shape.without_docstring, "import os\n"),
    (shape.without_docstring, '"""' + "line\n" * 7 + '"""\n'),
    (shape.lazy_imports, "def f() -> None:\n    import os\n"),
    (shape.lazy_imports, "def f() -> None:\n    if 1:\n        from engine import core\n"),
    (shape.blind_handlers, "try:\n    pass\nexcept Exception:\n    pass\n"),
    (shape.blind_handlers, "try:\n    pass\nexcept (ValueError, BaseException):\n    pass\n"),
    (shape.blind_handlers, "try:\n    pass\nexcept:\n    pass\n"),
]
PRODUCT: list[tuple[Check, str]] = [
    (shape.reads_environment, "import os\nx = os.environ['HOME']\n"),
    (shape.reads_environment, "import os\nx = os.getenv('HOME')\n"),
    (shape.reads_clock, "from datetime import datetime\nx = datetime.now(None)\n"),
    (shape.reads_clock, "import datetime\nx = datetime.datetime.utcnow()\n"),
    (shape.reads_clock, "import time\nx = time.time()\n"),
]
MAY = {
    "reads_environment": {"engine/core/settings.py"},
    "reads_clock": {"engine/core/clock.py"},
}


@pytest.mark.parametrize("check", sorted({check.__name__ for check, _ in EVERYWHERE}))
def test_every_file_keeps_the_shape(check: str) -> None:
    assert breaches(getattr(shape, check), sources(*EVERYTHING)) == []


@pytest.mark.parametrize("check", sorted(MAY))
def test_one_file_alone_reads_the_environment_and_one_the_clock(check: str) -> None:
    others = [source for source in sources(*CODE) if source.path not in MAY[check]]
    assert breaches(getattr(shape, check), others) == []


@pytest.mark.parametrize(("check", "planted"), [*EVERYWHERE, *PRODUCT])
def test_a_planted_breach_is_found(check: Check, planted: str) -> None:
    assert list(check(snippet(planted)))


def test_the_walker_loop_may_be_blind_once() -> None:
    handler = "try:\n    pass\nexcept Exception:\n    pass\n"
    assert not list(shape.blind_handlers(snippet(handler, "engine/core/walking.py")))
    assert list(shape.blind_handlers(snippet(handler * 2, "engine/core/walking.py")))
