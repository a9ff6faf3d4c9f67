"""A plugin of pytest that writes down how long each test took, for `tests.mutants.plan`."""

import json
import os
from collections import defaultdict

import pytest

from tests.mutants.plan import SECONDS

_took: defaultdict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _took[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        SECONDS.write_text(json.dumps(_took))
