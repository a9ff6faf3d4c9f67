"""Two processes that move one release at once (contract, section 10)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import Business, User
from common.errors import Conflict
from installations.models import Installation
from installations.services.approval import follow, follow_all
from marketplace.enums import ReleaseState
from marketplace.models import App, AppVersion, Release
from marketplace.services import releases, reviews
from marketplace.services.locks import lock_app
from tests import factories
from tests.merchants.pages import installed
from tests.waiting import wait_for_locks

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def app(dana: User, shop: Business) -> App:
    """Its second version is in its first step."""
    app = factories.app(dana)
    factories.approve(app)
    installed(app, shop)
    reviews.approve(submission=factories.submit(app, release="STEPS"), reviewer=factories.reviewer())
    follow_all()
    return App.objects.get(pk=app.pk)


def at_once(app: App, *acts: Callable[[], Any]) -> list[Any]:
    """All begin while the app is locked, and each waits for it. Returns what they return or raise."""

    def run(act: Callable[[], Any]) -> Any:
        try:
            return act()
        except Conflict as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        with transaction.atomic():
            lock_app(app)
            futures = [pool.submit(run, act) for act in acts]
            wait_for_locks(len(acts))
        return [each.result(timeout=60) for each in futures]


def test_a_step_ends_once(app: App) -> None:
    at_once(app, *[lambda: releases.advance(app=app, step=1)] * 2)
    assert Release.objects.get().percent == 5


def test_one_of_two_halts_it(app: App) -> None:
    found = at_once(app, *[lambda: releases.halt(app=app, reason="Slow.")] * 2)
    assert sorted(type(each).__name__ for each in found) == ["Conflict", "Release"]
    assert Release.objects.get().state == ReleaseState.HALTED


def test_halting_and_advancing(app: App) -> None:
    """Whichever comes first, it is halted then, and its app has the version before."""
    at_once(app, lambda: releases.halt(app=app, reason="Slow."), lambda: releases.advance(app=app, step=1))
    release, now = Release.objects.get(), App.objects.get(pk=app.pk)
    assert (release.state, release.percent in (1, 5)) == (ReleaseState.HALTED, True)
    assert (now.approved_version, now.rolling_version) == (release.earlier, release.version)


@pytest.mark.parametrize(
    "move", [lambda app, by: releases.advance(app=app), lambda app, by: releases.take_back(app=app, by=by)]
)
def test_a_move_while_a_worker_waits_for_the_app(
    app: App, dana: User, move: Callable[[App, User], Any]
) -> None:
    """Both lock the app before the version. In two orders, each would wait for the other."""
    AppVersion.objects.update(followed_at=None)

    def work() -> None:
        try:
            follow(version=AppVersion.objects.get(number=2))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_app(app)
            worker = pool.submit(work)
            wait_for_locks(1)
            move(app, dana)
        worker.result(timeout=60)


@pytest.mark.long
def test_a_version_that_runs_again_is_not_passed_over(app: App, dana: User) -> None:
    """A worker that found the first version overtaken waits while it becomes the one that runs."""
    for _ in range(3):
        releases.advance(app=app)
    follow_all()
    AppVersion.objects.filter(number=1).update(followed_at=None)

    def work() -> None:
        try:
            follow_all()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_app(app)
            worker = pool.submit(work)
            wait_for_locks(1)
            releases.take_back(app=app, by=dana)
        worker.result(timeout=60)
    follow_all()
    assert Installation.objects.get().runs == AppVersion.objects.get(number=1)


def test_figures_are_read_before_the_app_is_locked(app: App, dana: User) -> None:
    """They may take seconds, for which each store's consent and order would wait."""
    with CaptureQueriesContext(connection) as captured:
        releases.take_back(app=app, by=dana)
    asked = [each["sql"] for each in captured]
    figures = next(at for at, sql in enumerate(asked) if "extensions_hookcall" in sql)
    assert figures < next(at for at, sql in enumerate(asked) if "FOR NO KEY UPDATE" in sql)
