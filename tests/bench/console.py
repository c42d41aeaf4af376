"""How long pages take in a crowded workspace, over HTTP from a real `stellwerk web`."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from engine.core import clock
from tests.bench.crowd import Crowd, gather
from tests.bench.lateness import percentile
from tests.bench.lines import Line, note, say
from tests.bench.places import Places
from tests.bench.reader import Reader
from tests.support.stack import Stack

TIMES: Final = 40
_PART: Final = 95
# Page → its address for the n-th call, so that no two calls read the same rows.
Addresses = Mapping[str, Callable[[int], str]]


def measure(places: Places, runs: int) -> list[Line]:
    """Return a line a page, and one with the slowest page and the swap of the rail (95th, ms)."""
    home = places.new_folder()
    stack = Stack(home, places.product_url("pg", home), None)
    try:
        stack.setup()
        stack.start("web")
        stack.wait_until_ready()
        note("the crowd gathers")
        crowd = gather(stack, runs)
        reader = Reader(stack)
        pages = [say(_page(reader, *page)) for page in addresses(crowd).items()]
        swaps = [say(_page(reader, *swap)) for swap in _swaps(crowd)]
    finally:
        stack.close()
        places.forget(stack.database_url)
    slowest = max(pages, key=lambda line: float(line["p95_ms"]))
    summary = {"test": "console", "engine": "product", "db": "pg", "rows": runs}
    summary |= {"slowest": slowest["page"], "slowest_ms": slowest["p95_ms"]}
    return [*pages, *swaps, say({**summary, "rail_ms": swaps[0]["p95_ms"]})]


def _page(
    reader: Reader, name: str, address: Callable[[int], str], target: str | None = None
) -> Line:
    """Return the milliseconds of a page: half and 95 of a hundred calls take at most that long."""
    for number in range(2):
        reader.open(address(number), target)
    opened = [reader.open(address(number), target) for number in range(2, TIMES + 2)]
    times = [1_000 * one.seconds for one in opened]
    return {
        "test": "console_page",
        "page": name,
        "db": "pg",
        "p50_ms": percentile(times, 50),
        "p95_ms": percentile(times, _PART),
        "bytes": max(one.size for one in opened),
    }


def addresses(crowd: Crowd) -> Addresses:
    """Return every page that has rows to read, by name."""
    return {**_lists(crowd), **_filters(crowd), **_single(crowd), **_plans(crowd)}


def _lists(crowd: Crowd) -> Addresses:
    return {
        "home": _always("/"),
        "automations": _always("/automations"),
        "attention": _always("/attention"),
        "runs": _always("/runs"),
        "people": _always("/people"),
        "people by name": lambda n: f"/people?q=number{_spread(n, crowd.people)}",
        "people by common name": _always("/people?q=ada"),
        "outbox": _always("/sends"),
        "audit log": _always("/audit"),
        "suppressions": _always("/suppressions"),
        "templates": _always("/templates"),
        "template": _always(f"/templates/{crowd.template}"),
        "secrets": _always("/secrets"),
        "requests": _always("/approvals"),
        "settings": _always("/workspace"),
        "guide": _always("/help/pausing"),
    }


def _filters(crowd: Crowd) -> Addresses:
    today = clock.now().date()

    def days(n: int) -> str:
        since = today - timedelta(days=300 - 5 * n)
        return f"/runs?since={since}&until={since + timedelta(days=10)}"

    return {
        "runs by automation": lambda n: f"/runs?automation={_automation(crowd, n)}",
        "runs by status": _always("/runs?status=running"),
        "runs by status, ended early": _always("/runs?status=cancelled"),
        "runs by step": lambda n: f"/runs?automation={_automation(crowd, n)}&step=s4",
        "runs by rare step": _always("/runs?step=s59"),
        "runs by days": days,
        "runs by person": lambda n: f"/runs?q=number{_spread(n, crowd.people)}",
        "runs by common name": _always("/runs?q=ada"),
        "runs by error": _always("/runs?error=full"),
        "runs by error that nobody had": _always("/runs?error=nowhere"),
        "runs by all of it": lambda n: (
            f"{days(n)}&status=cancelled&automation={_automation(crowd, n)}&error=mailbox&step=s3"
        ),
    }


def _single(crowd: Crowd) -> Addresses:
    def automation_and_person(n: int) -> tuple[str, str]:
        return _automation(crowd, n), f"contact{_spread(n, crowd.people)}"

    return {
        "run": lambda n: f"/runs/run{_spread(n, crowd.runs)}",
        "person": lambda n: f"/people/contact{_spread(n, crowd.people)}",
        "send": lambda n: f"/sends/send{_spread(n, crowd.runs)}",
        "why": lambda n: "/automations/{}/why?contact={}".format(*automation_and_person(n)),
        "simulate": lambda n: "/automations/{}/simulate?contact={}".format(
            *automation_and_person(n)
        ),
    }


def _plans(crowd: Crowd) -> Addresses:
    here = f"/automations/{crowd.automations[0]}"
    return {
        "editor of 60 steps": lambda n: f"{here}?step=s{n % 60}",
        "plan in force": _always(f"{here}?view=live"),
        "check": _always(f"{here}/check"),
        "publish": _always(f"{here}/publish"),
        "dialog of pause": _always(f"{here}?ask=pause"),
        "dialog of stop": _always(f"{here}?ask=stop"),
        "revisions": _always(f"{here}/revisions"),
        "matches": _always(
            f"{here}/matches?kind=contact_property&field=plan&operator=equals&value=pro"
        ),
    }


def _swaps(crowd: Crowd) -> Sequence[tuple[str, Callable[[int], str], str]]:
    """Return what htmx fetches by itself, the rail first: name, address, the part it swaps."""
    here = f"/automations/{crowd.automations[0]}"
    return (
        ("rail", lambda n: f"{here}?step=s{n % 60}", "rail"),
        ("live figures", _always(f"{here}/live"), "live-head"),
    )


def _always(address: str) -> Callable[[int], str]:
    return lambda _number: address


def _automation(crowd: Crowd, number: int) -> str:
    return crowd.automations[number % len(crowd.automations)]


def _spread(number: int, most: int) -> int:
    """Return a row that no neighbouring number is near to."""
    return 1 + number * 7_919_113 % most
