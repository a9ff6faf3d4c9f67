"""The list of protections against the source as it is."""

import pytest

from tests.faults.protections import PROTECTIONS, unprotected_source


@pytest.mark.parametrize("name", PROTECTIONS)
def test_protection_can_be_taken_out(name: str) -> None:
    compile(unprotected_source(PROTECTIONS[name]), PROTECTIONS[name].module, "exec")
