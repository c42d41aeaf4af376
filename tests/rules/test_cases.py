"""Every field report that the product answers for is a test that runs and asserts."""

import pytest

from tests.rules.checks import cases
from tests.rules.checks.source import snippet

OWNED = (
    "STK-10", "API-02", "SEC-01", "SEC-03", "SEC-06", "UPG-03",
    "DUP-03", "DUP-06", "DUP-10", "STK-13", "STK-15", "STK-16", "STK-18", "PAU-01", "PAU-03",
    "CON-01", "CON-03", "CON-06", "ENT-01", "ENT-03", "ENT-06", "TIM-11", "RAC-01", "RAC-03",
    "RAC-05", "Q-01", "Q-03", "HUE-01", "HUE-03", "HUE-05", "HUE-06", "HUE-08", "HUE-10",
    "HUE-11", "SEG-05", "UPG-01", "UPG-05", "UPG-06", "UPG-08",
    "API-05", "DUP-05", "EDT-01", "EDT-03", "EDT-05", "EDT-10", "EDT-11", "EDT-13", "PAU-05",
    "PAU-06", "PAU-08", "PAU-11", "TIM-01", "TIM-03", "TIM-05", "TIM-08", "TIM-10", "WHK-01",
    "WHK-03", "WHK-05", "WHK-08",
)  # fmt: skip


def test_every_owned_report_is_a_test() -> None:
    assert list(cases.faults(cases.table(), OWNED)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("def test_other():\n    assert x\n", "does not exist"),
        ("def test_it():\n    run()\n", "asserts nothing"),
        ("@pytest.mark.skip\ndef test_it():\n    assert x\n", "is skipped"),
        ("@pytest.mark.xfail(strict=True)\ndef test_it():\n    assert x\n", "is skipped"),
        ("def test_it():\n    pytest.skip('no')\n    assert x\n", "is skipped"),
    ],
)
def test_a_planted_fault_is_found(text: str, fault: str) -> None:
    assert fault in cases.function_faults(snippet(text), "test_it")


def test_a_missing_entry_or_file_is_found() -> None:
    assert list(cases.faults({}, ["STK-10"])) == ["STK-10: no test"]
    assert list(cases.node_faults("tests/flows/test_nowhere.py::test_it")) == ["is in no file"]


def test_a_proper_test_passes() -> None:
    proper = snippet("def test_it():\n    with pytest.raises(ValueError):\n        run()\n")
    assert list(cases.function_faults(proper, "test_it")) == []
