"""The two ways to measure commits that are not shared, beside the product's own set-wise way.

`step`: each visit's effect is one row in a commit of its own, as the peers' steps write it; a step
kind of the benchmark does that in its run, and the product claims, settles and advances as ever.
`one`: the product's real effects, but every visit is settled in a transaction of its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Engine, text

from engine.automations.claiming import StepItem
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import Completed, Outcome, StepConfig, StepKind, Visit
from engine.automations.walker import StepWalker
from engine.core.walking import walk
from engine.house import House
from tasks import worker
from tests.bench.children import pause, wait_for_go
from tests.bench.installation import STEPS_A_RUN, Installation
from tests.factories import automations as make

SET: Final = "set"
STEP: Final = "step"
ONE: Final = "one"
_KIND: Final = "effect"
_TABLE: Final = text("CREATE TABLE effect (run_id integer NOT NULL, place integer NOT NULL)")
_LOOK_S: Final = 0.01


class EffectStep(StepKind[StepConfig, None]):
    """Writes one row a visit, each in a commit of its own, by the driver as the peers do."""

    Config = StepConfig

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        mark = "?" if engine.dialect.name == "sqlite" else "%s"
        self._statement = f"INSERT INTO effect VALUES ({mark}, {mark})"

    def run(
        self, visits: Sequence[Visit[StepConfig]], facts: Mapping[int, None]
    ) -> Mapping[int, Outcome]:
        """Write the rows, one commit after the other."""
        lent = self._engine.raw_connection()
        connection: Any = lent.driver_connection
        # On SQLite the product's connections commit each statement unless a BEGIN was sent.
        if self._engine.dialect.name == "postgresql":
            connection.autocommit = True
        try:
            for visit in visits:
                connection.execute(self._statement, (visit.contact_id, 0))
        finally:
            if self._engine.dialect.name == "postgresql":
                connection.autocommit = False
            lent.close()
        return {visit.id: Completed() for visit in visits}


class OneByOne:
    """The product's walker, except that each visit is settled in a transaction of its own."""

    def __init__(self, inner: StepWalker) -> None:
        self._inner = inner
        self.claim, self.parts = inner.claim, inner.parts
        self.run, self.crashed = inner.run, inner.crashed

    def settle(self, items: Sequence[StepItem], outcomes: Mapping[int, Outcome]) -> Sequence[int]:
        """Settle one item a transaction: effect, completion and advance."""
        return [
            following
            for item in items
            for following in self._inner.settle([item], {item.id: outcomes[item.id]})
        ]


def steps_of(house: House, how: str) -> StepWalker | OneByOne:
    """Return the walker of one way, and make its step kind known to this process."""
    if how == STEP:
        STEPS._kinds[_KIND] = EffectStep(house.runtime.database.engine)
    return OneByOne(house.steps) if how == ONE else house.steps


def document(house: House) -> dict[str, Any]:
    """Return the document whose steps only write their effect, and make the table for them."""
    with house.runtime.uow.begin() as session:
        session.execute(_TABLE)
    steps = ({"key": f"effect{n}", "type": _KIND, "config": {}} for n in range(STEPS_A_RUN))
    return make.document(*steps, name="Effects")


def serve(how: str) -> None:
    """Walk whatever is due until stopped (a child's work)."""
    with Installation.from_env().house() as house:
        walker = steps_of(house, how)
        worker._spare_collector()
        wait_for_go()
        while True:
            if not walk(walker).claimed:
                pause(_LOOK_S)
