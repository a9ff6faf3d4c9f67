"""Installing an app for test, and ending that."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from accounts.models import Business, User
from common.errors import Conflict, NotFound
from common.secrets import digest
from installations import services
from installations.models import Installation
from installations.services.sandbox import review_install, review_uninstall
from installations.signals import installation_changed, installation_created, installation_removed
from marketplace.models import App, AppTotals, AppVersion
from marketplace.scopes import SCOPES
from marketplace.services import reviews
from tests import factories
from tests.waiting import wait_for_locks

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def heard() -> list[tuple[str, Installation]]:
    """What was said through the signals, in order."""
    said: list[tuple[str, Installation]] = []

    def listen(name: str) -> object:
        def receive(sender: object, *, installation: Installation, **kwargs: object) -> None:
            said.append((name, installation))

        return receive

    listeners = {
        installation_created: listen("created"),
        installation_changed: listen("changed"),
        installation_removed: listen("removed"),
    }
    for signal, listener in listeners.items():
        signal.connect(listener, weak=False)
    yield said
    for signal, listener in listeners.items():
        signal.disconnect(listener)


@pytest.mark.spec("States/Installation", "A test install is on the developer's sandbox, isTestInstall=true")
def test_install_creates_a_test_install(app: App, dana: User, sandbox: Business, heard: list) -> None:
    issued = services.test_install(app=app, developer=dana, now=NOW)
    stored = Installation.objects.get()
    assert (stored.app, stored.business, stored.is_test, stored.installed_at) == (app, sandbox, True, NOW)
    assert stored.effective_scopes == list(SCOPES)
    assert heard == [("created", stored)]
    assert issued.installation == stored


@pytest.mark.spec("Credentials", "Test installs use the prefixes fbat_test_ and whsec_test_")
def test_install_gives_test_credentials_and_keeps_no_token(app: App, dana: User) -> None:
    issued = services.test_install(app=app, developer=dana)
    assert issued.access_token.startswith("fbat_test_")
    assert issued.webhook_secret.startswith("whsec_test_")
    stored = Installation.objects.values().get()
    assert stored["token_digest"] == digest(issued.access_token)
    assert issued.access_token not in str(stored)
    assert stored["token_hint"] == issued.access_token[-4:]


@pytest.mark.spec(
    "Contract 2 Developer API",
    "Installed for test again: same installation and webhook secret, a new token, the old one dies",
)
def test_install_again_renews_the_token_only(app: App, dana: User, heard: list) -> None:
    first = services.test_install(app=app, developer=dana)
    second = services.test_install(app=app, developer=dana)
    assert second.installation.id == first.installation.id
    assert second.webhook_secret == first.webhook_secret
    assert second.access_token != first.access_token
    assert Installation.objects.get().token_digest == digest(second.access_token)
    assert [name for name, _ in heard] == ["created", "changed"]


def test_install_of_a_converted_installation_makes_it_a_test_again(app: App, dana: User) -> None:
    factories.approve(app)
    first = services.test_install(app=app, developer=dana)
    Installation.objects.update(is_test=False, granted_scopes=["read_pages"], needs_reconsent=True)
    second = services.test_install(app=app, developer=dana)
    stored = Installation.objects.get()
    assert second.installation.id == first.installation.id
    assert (stored.is_test, stored.needs_reconsent, stored.agreed_version) == (True, False, None)
    assert stored.granted_scopes == list(SCOPES)
    assert second.access_token.startswith("fbat_test_")


def test_install_after_uninstall_is_a_new_installation(app: App, dana: User) -> None:
    first = services.test_install(app=app, developer=dana)
    services.test_uninstall(app=app, developer=dana)
    second = services.test_install(app=app, developer=dana)
    assert second.installation.id != first.installation.id
    assert second.webhook_secret != first.webhook_secret
    assert Installation.objects.count() == 2


@pytest.mark.parametrize("status", ["DRAFT", "PENDING_REVIEW", "APPROVED"])
def test_install_works_in_every_status(app: App, dana: User, status: str) -> None:
    App.objects.update(status=status)
    assert services.test_install(app=app, developer=dana).installation.is_active


def test_install_of_anothers_app_is_not_found(app: App, sam: User) -> None:
    with pytest.raises(NotFound):
        services.test_install(app=app, developer=sam)
    assert not Installation.objects.exists()


def test_install_of_a_deleted_app_is_not_found(app: App, dana: User) -> None:
    App.objects.update(deleted_at=NOW)
    with pytest.raises(NotFound):
        services.test_install(app=app, developer=dana)


def test_install_of_a_suspended_app_is_a_conflict(app: App, dana: User) -> None:
    App.objects.update(suspended_at=NOW)
    with pytest.raises(Conflict):
        services.test_install(app=app, developer=dana)


@pytest.mark.spec("States/Installation", "Uninstalled: the token is revoked")
def test_uninstall_ends_token_and_tells(app: App, dana: User, heard: list) -> None:
    issued = services.test_install(app=app, developer=dana)
    heard.clear()
    ended = services.test_uninstall(app=app, developer=dana, now=NOW)
    stored = Installation.objects.get()
    assert (stored.token_digest, stored.uninstalled_at) == (None, NOW)
    assert stored.webhook_secret == issued.webhook_secret
    assert heard == [("removed", ended)]
    assert heard[0][1].uninstalled_at == NOW


def test_uninstall_rolls_back_with_a_failing_receiver(app: App, dana: User) -> None:
    services.test_install(app=app, developer=dana)

    def fail(sender: object, **kwargs: object) -> None:
        raise RuntimeError("a receiver's row could not be written")

    installation_removed.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            services.test_uninstall(app=app, developer=dana)
    finally:
        installation_removed.disconnect(fail)
    assert Installation.objects.get().is_active


def test_uninstall_when_not_installed_is_a_conflict(app: App, dana: User) -> None:
    with pytest.raises(Conflict):
        services.test_uninstall(app=app, developer=dana)


def test_uninstall_ends_a_sandbox_install_made_otherwise(app: App, dana: User, sandbox: Business) -> None:
    made = factories.installation(app, sandbox, is_test=False)
    assert services.test_uninstall(app=app, developer=dana) == made


def test_uninstall_leaves_the_installs_of_shops_alone(app: App, dana: User, shop: Business) -> None:
    factories.installation(app, shop)
    with pytest.raises(Conflict):
        services.test_uninstall(app=app, developer=dana)
    assert Installation.objects.get().is_active


def test_uninstall_twice_is_a_conflict(installation: Installation) -> None:
    services.uninstall(installation=installation)
    with pytest.raises(Conflict):
        services.uninstall(installation=installation)


def test_issue_token_replaces_the_one_before(installation: Installation) -> None:
    token = services.issue_token(installation=installation, now=NOW).access_token
    assert Installation.objects.get().token_digest == digest(token)


def test_issue_token_of_an_ended_installation_is_a_conflict(installation: Installation) -> None:
    services.uninstall(installation=installation)
    with pytest.raises(Conflict):
        services.issue_token(installation=installation, now=NOW)
    assert Installation.objects.get().token_digest is None


def test_install_on_a_shop_gives_production_credentials(
    app: App, dana: User, mira: User, shop: Business
) -> None:
    factories.installation(factories.app(dana), shop)
    issued = services.install(
        app=app,
        business=shop,
        installed_by=mira,
        terms=services.Terms(is_test=False, granted_scopes=["read_orders"]),
    )
    assert issued.access_token.startswith("fbat_")
    assert not issued.access_token.startswith("fbat_test_")
    assert not issued.webhook_secret.startswith("whsec_test_")
    assert (issued.installation.app, issued.installation.granted_scopes) == (app, ["read_orders"])


def test_scopes_follow_the_working_copy_at_once(installation: Installation) -> None:
    App.objects.update(scopes=["read_pages"])
    assert Installation.objects.with_app().get().effective_scopes == ["read_pages"]


def test_scopes_of_a_shop_are_the_granted_ones_that_are_approved(app: App, shop: Business) -> None:
    version = AppVersion.objects.create(app=app, number=1, name="A", scopes=["read_orders", "read_pages"])
    App.objects.update(approved_version=version)
    factories.installation(app, shop, granted_scopes=["read_pages", "read_products"])
    assert Installation.objects.with_app().get().effective_scopes == ["read_pages"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_parallel_test_installs_make_one_installation(app: App, dana: User) -> None:
    together = threading.Barrier(6)

    def press() -> str:
        try:
            together.wait()
            return services.test_install(app=app, developer=dana).access_token
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        tokens = {call.result() for call in [pool.submit(press) for _ in range(6)]}
    assert len(tokens) == 6
    assert Installation.objects.get().token_digest in {digest(token) for token in tokens}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_install_waits_for_another_one_in_the_store(app: App, mira: User, shop: Business) -> None:
    """Whatever their callers have locked."""

    def install() -> Installation:
        terms = services.Terms(is_test=False, granted_scopes=[])
        return services.install(app=app, business=shop, installed_by=mira, terms=terms).installation

    def press() -> Installation:
        try:
            return install()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first = install()
            second = pool.submit(press)
            wait_for_locks(1)
        assert second.result(30) == first


def test_installs_count_in_stores_and_not_on_sandboxes(
    app: App, dana: User, mira: User, shop: Business
) -> None:
    factories.approve(app)
    terms = services.Terms(is_test=False, granted_scopes=[])
    stores = (shop, factories.business(mira), factories.business(mira))
    installs = [
        services.install(app=app, business=each, installed_by=mira, terms=terms).installation
        for each in stores
    ]
    services.test_install(app=app, developer=dana)
    assert AppTotals.objects.get(app=app).installs == 3
    services.uninstall(installation=installs[0])
    services.test_uninstall(app=app, developer=dana)
    assert AppTotals.objects.get(app=app).installs == 2


def test_reviewer_ends_only_the_own_test_install_of_that_app(app: App, dana: User) -> None:
    other = factories.app(dana)
    stores = [
        factories.business(factories.reviewer(f"{name}@example.com"), is_sandbox=True)
        for name in ("rita", "otto")
    ]
    rita, otto = (
        {each: factories.installation(each, store, is_review=True) for each in (app, other)}
        for store in stores
    )
    bought = factories.installation(factories.app(dana), stores[1], is_review=False)
    for each in (app, bought.app):
        review_uninstall(app=each, reviewer=stores[1].owner)
    assert set(Installation.objects.active()) == {*rita.values(), otto[other], bought}


@pytest.mark.parametrize("fields", [{"status": "DRAFT"}, {"suspended_at": NOW}])
def test_reviewer_installs_only_what_is_in_review(app: App, fields: dict[str, object]) -> None:
    factories.submit(app)
    App.objects.update(**fields)
    with pytest.raises(Conflict):
        review_install(app=app, reviewer=factories.reviewer())
    assert not Installation.objects.exists()


def test_decision_ends_the_test_installs_of_its_app(app: App, dana: User, mira: User) -> None:
    """Not those of other apps, nor that of a check, which still runs."""
    rita = factories.reviewer(name="R" * 120)
    submission, other = factories.submit(app), factories.submit(factories.app(dana)).app
    ended, left = (review_install(app=each, reviewer=rita).installation for each in (app, other))
    assert ended.business == left.business
    assert ended.business.name == f"{'R' * 90}'s test store"
    store = factories.business(mira, is_sandbox=True, expires_at=NOW)
    checks = factories.installation(app, store, is_test=True, is_review=True)
    reviews.approve(submission=submission, reviewer=rita)
    assert set(Installation.objects.active()) == {left, checks}


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_reviewer_who_installs_two_apps_at_once_has_one_store(app: App, dana: User) -> None:
    rita, other = factories.reviewer(), factories.app(dana)
    for each in (app, other):
        factories.submit(each)

    def press(each: App) -> Business:
        try:
            return review_install(app=each, reviewer=rita).installation.business
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            User.objects.select_for_update().get(pk=rita.pk)
            pressed = [pool.submit(press, each) for each in (app, other)]
            wait_for_locks(2)
        assert len({each.result(timeout=30) for each in pressed}) == 1


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_parallel_uninstalls_tell_once(installation: Installation, heard: list) -> None:
    together = threading.Barrier(4)

    def press() -> bool:
        try:
            together.wait()
            services.uninstall(installation=installation)
        except Conflict:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        outcomes = [call.result() for call in [pool.submit(press) for _ in range(4)]]
    assert sorted(outcomes) == [False, False, False, True]
    assert [name for name, _ in heard] == ["removed"]
