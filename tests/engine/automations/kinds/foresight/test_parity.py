"""Every step kind has its foresight, and what may be chosen is a way that it knows."""

import pytest

from engine.automations.kinds.foresight import FORESIGHT
from engine.automations.kinds.steps import KINDS


def test_every_step_kind_can_be_simulated() -> None:
    assert set(FORESIGHT) == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_an_unfinished_step_offers_its_choices_without_breaking(name: str) -> None:
    choices = FORESIGHT.get(name).choices(KINDS[name].Config())
    assert len(set(choices)) == len(tuple(choices))
