"""Fault tests, and the proof of their worth.

A fault test carries `@pytest.mark.fault(scenario, "protection", ...)`. With `--unprotected` it runs once without
each of its protections (`tests.faults.protections`), and has to fail each time.
"""

import pytest

from tests.faults.protections import PROTECTIONS, unprotected_source


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--unprotected",
        action="store_true",
        help="run fault tests with the protection taken out, and demand that they fail",
    )


@pytest.fixture
def without(request: pytest.FixtureRequest) -> str | None:
    """The protection that this run does without."""
    name: str | None = getattr(request, "param", None)
    if name is not None:
        unprotected_source(PROTECTIONS[name])  # a protection that is not found fails nothing
    return name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("fault")
    if mark and metafunc.config.getoption("--unprotected"):
        metafunc.parametrize("without", mark.args[1:], indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--unprotected"):
        return
    fails = pytest.mark.xfail(raises=AssertionError, strict=True, reason="unprotected")
    for item in items:
        if item.get_closest_marker("fault"):
            item.add_marker(fails)
