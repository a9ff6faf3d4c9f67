"""A test for each mutant: in a process of its own, one of the tests that run its lines has to fail.

`python -m tests.mutants` chooses them. The process is a copy of this one, so it starts with all tests collected.
"""

import os
import resource
from collections import defaultdict
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import pairwise
from typing import Final

import pytest
from _pytest.runner import runtestprotocol
from django.core.management import call_command
from django.db import connections

from tests.changed_source import functions_of
from tests.mutants.mutants import ROOT, Mutant
from tests.mutants.plan import TESTS, planned

MOST_CPU: Final = 600  # seconds: a mutant may make a loop endless
UNNOTICED, ENDED = 0, 255  # between them: which test failed, from 1; `ENDED` is a process that broke off, too
PLANNED: Final = planned()

# The tests that noticed a mutant, by its file, the last first: they are tried first, since they often notice the next one.
_noticed_by: defaultdict[str, list[str]] = defaultdict(list)

pytestmark = [pytest.mark.usefixtures("django_db_setup"), pytest.mark.timeout(0)]


@pytest.mark.django_db(transaction=True)  # pytest-django makes the databases that some test asks for
def test_nothing_is_noticed_without_a_change(request: pytest.FixtureRequest) -> None:
    names = dict.fromkeys(names[0] for _, names in PLANNED if names)
    assert _status_of_copy(request, names) == UNNOTICED


@pytest.mark.parametrize(
    ("mutant", "names"), [pytest.param(*each, id=f"{each[0].path}:{each[0].line}") for each in PLANNED]
)
def test_mutant_is_noticed(
    mutant: Mutant,
    names: list[str],
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    source = (ROOT / mutant.path).read_text()
    module = import_module(mutant.path.removesuffix(".py").replace("/", "."))
    before = _noticed_by[mutant.path]
    names = [*(name for name in before if name in names), *(name for name in names if name not in before)]
    with functions_of(mutant.changed(source), source=source, module=module):
        status = _status_of_copy(request, names)
    if UNNOTICED < status < ENDED:
        noticed_by = names[status - 1]
        before[:] = [noticed_by, *(name for name in before if name != noticed_by)]
    if status == UNNOTICED:
        record_property("unnoticed", "\t".join(mutant.key))
        pytest.fail(f"{mutant} (tests that run it: {len(names)})", pytrace=False)


def _status_of_copy(request: pytest.FixtureRequest, names: Iterable[str]) -> int:
    connections.close_all()  # or both processes would use one
    if pid := os.fork():
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):  # it may have left rows behind
            with request.getfixturevalue("django_db_blocker").unblock():
                call_command("flush", interactive=False, verbosity=0)
        return ENDED if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
    status = ENDED
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))
        tests = [request.config.stash[TESTS][name] for name in names]
        status = _first_that_fails(tests, request.node)
    finally:
        os._exit(status)


def _first_that_fails(tests: list[pytest.Item], of_mutant: pytest.Item) -> int:
    """Its number, from 1, or 0.

    `of_mutant` is the test that runs now. It ends before the others, and is named as the last, so that the session goes on.
    """
    of_mutant.session._setupstate.teardown_exact(tests[0] if tests else of_mutant)  # noqa: SLF001
    for number, (test, following) in enumerate(pairwise([*tests, of_mutant]), 1):
        if any(report.failed for report in runtestprotocol(test, log=False, nextitem=following)):
            return min(number, ENDED)
    return UNNOTICED
