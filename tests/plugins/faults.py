"""Fault tests and attacks, and the proof of their worth.

A fault test carries `@pytest.mark.fault(scenario, "protection", ...)`, an attack `@pytest.mark.attack("protection", ...)`.
With `--unprotected` each runs once without each of its protections (`tests.faults.protections`), and has to fail each time.
"""

from collections.abc import Iterator

import pytest

from tests.faults.protections import PROTECTIONS, taken_out, unprotected_source


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--unprotected",
        action="store_true",
        help="run fault tests and attacks with the protection taken out, and demand that they fail",
    )


@pytest.fixture
def without(request: pytest.FixtureRequest) -> str | None:
    """The protection that this run does without."""
    name: str | None = getattr(request, "param", None)
    if name is not None:
        unprotected_source(PROTECTIONS[name])  # a protection that is not found fails nothing
    return name


@pytest.fixture(autouse=True)
def _attacked_without(request: pytest.FixtureRequest) -> Iterator[None]:
    """Takes the protection of an attack out of this very process."""
    name: str | None = getattr(request, "param", None)
    if name is None:
        yield
        return
    with taken_out(name):
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("fault")
    if mark and mark.args[1:] and metafunc.config.getoption("--unprotected"):
        metafunc.parametrize("without", mark.args[1:], indirect=True)
    attack = metafunc.definition.get_closest_marker("attack")
    if attack and metafunc.config.getoption("--unprotected"):
        metafunc.parametrize("_attacked_without", attack.args, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--unprotected"):
        return
    without_any = [item for item in items if (mark := item.get_closest_marker("fault")) and not mark.args[1:]]
    items[:] = [item for item in items if item not in without_any]
    config.hook.pytest_deselected(items=without_any)
    fails = pytest.mark.xfail(raises=AssertionError, strict=True, reason="unprotected")
    for item in items:
        if item.get_closest_marker("fault") or item.get_closest_marker("attack"):
            item.add_marker(fails)
