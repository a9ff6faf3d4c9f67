"""The merchant's answer to an app that asks for more."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts.models import Business, User
from common.errors import Conflict, Invalid, NotAllowed
from installations import services
from installations.enums import HistoryKind
from installations.models import Installation
from installations.signals import installation_changed
from marketplace.models import App
from tests import factories
from tests.signals import heard

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def asked_for_more(app: App, shop: Business) -> Installation:
    """On Mira's shop with read_products alone, while the approved app wants read_orders too."""
    factories.approve(app, scopes=["read_products", "read_orders"])
    return factories.installation(app, shop, granted_scopes=["read_products"], needs_reconsent=True)


def history_of(installation: Installation) -> list[tuple[str, str]]:
    return list(installation.history.order_by("at", "id").values_list("kind", "note"))


@pytest.mark.spec(
    "States/Installation", "Merchant approves added scopes: needsReConsent cleared, token grants the full set"
)
def test_approval_takes_effect_on_the_same_token(
    client: Client, asked_for_more: Installation, mira: User
) -> None:
    bearer = {"Authorization": f"Bearer {asked_for_more.raw_token}"}
    assert client.get("/app-api/orders", headers=bearer).status_code == 403
    agreed = services.approve_scopes(installation=asked_for_more, user=mira, now=NOW)
    assert (agreed.granted_scopes, agreed.needs_reconsent) == (["read_products", "read_orders"], False)
    assert client.get("/app-api/orders", headers=bearer).status_code == 200
    assert history_of(agreed) == [(HistoryKind.AGREED, "read_orders")]


def test_approval_is_told_once(asked_for_more: Installation, mira: User) -> None:
    with heard(installation_changed) as calls:
        for _ in range(2):
            services.approve_scopes(installation=asked_for_more, user=mira)
    assert [call["installation"] for call in calls] == [asked_for_more]
    assert len(history_of(asked_for_more)) == 1


def test_consent_to_fewer_scopes_narrows(client: Client, asked_for_more: Installation, mira: User) -> None:
    agreed = services.approve_scopes(installation=asked_for_more, user=mira, scopes=["read_orders"])
    assert agreed.effective_scopes == ["read_orders"]
    assert not agreed.needs_reconsent


def test_consent_to_what_the_app_does_not_ask_for_refused(asked_for_more: Installation, mira: User) -> None:
    with pytest.raises(Invalid):
        services.approve_scopes(installation=asked_for_more, user=mira, scopes=["write_orders"])
    asked_for_more.refresh_from_db()
    assert asked_for_more.granted_scopes == ["read_products"]


def test_consent_to_a_version_that_another_has_replaced_refused(
    asked_for_more: Installation, mira: User
) -> None:
    """Else what the newest one adds would count as left out by choice, and never be asked for."""
    shown = asked_for_more.app.approved_version
    factories.approve(
        App.objects.get(pk=asked_for_more.app_id), scopes=["read_products", "read_orders", "read_pages"]
    )
    with pytest.raises(Conflict, match="newer version"):
        services.approve_scopes(
            installation=asked_for_more,
            user=mira,
            scopes=["read_products", "read_orders"],
            version=shown,
        )
    asked_for_more.refresh_from_db()
    assert (asked_for_more.needs_reconsent, asked_for_more.granted_scopes) == (True, ["read_products"])


def test_consent_of_a_stranger_refused(asked_for_more: Installation, dana: User) -> None:
    for verb in (services.approve_scopes, services.decline_scopes):
        with pytest.raises(NotAllowed):
            verb(installation=asked_for_more, user=dana)
    asked_for_more.refresh_from_db()
    assert asked_for_more.needs_reconsent
    assert asked_for_more.reconsent_declined_at is None


def test_consent_after_the_uninstall_refused(asked_for_more: Installation, mira: User) -> None:
    services.uninstall(installation=asked_for_more)
    for verb in (services.approve_scopes, services.decline_scopes):
        with pytest.raises(Conflict):
            verb(installation=asked_for_more, user=mira)


def test_declining_is_remembered_and_changes_nothing_else(
    client: Client, asked_for_more: Installation, mira: User
) -> None:
    services.decline_scopes(installation=asked_for_more, user=mira, now=NOW)
    declined = services.decline_scopes(installation=asked_for_more, user=mira)
    assert (declined.needs_reconsent, declined.reconsent_declined_at) == (True, NOW)
    assert history_of(declined) == [(HistoryKind.DECLINED, "")]
    bearer = {"Authorization": f"Bearer {asked_for_more.raw_token}"}
    assert client.get("/app-api/products", headers=bearer).status_code == 200
    agreed = services.approve_scopes(installation=declined, user=mira)
    assert (agreed.needs_reconsent, agreed.reconsent_declined_at) == (False, None)
    services.decline_scopes(installation=agreed, user=mira)
    assert [kind for kind, _ in history_of(agreed)].count(HistoryKind.DECLINED) == 1, "Nothing is asked."


def test_no_is_recorded_for_each_version_and_again_once_it_has_rested(
    app: App, shop: Business, mira: User
) -> None:
    """Of versions that may bring scripts, widgets and hooks. The last one is agreed to then."""
    factories.approve(app)
    store = factories.installation(app, shop)
    recorded = []
    for version, days in ((2, 0), (2, 1), (3, 2), (3, 3), (3, 16)):
        if app.versions.count() < version:
            newest = factories.approve(app)
        services.decline_scopes(installation=store, user=mira, now=NOW + timedelta(days=days))
        recorded.append(store.history.filter(kind=HistoryKind.DECLINED).count())
    assert recorded == [1, 1, 2, 2, 3]
    agreed = services.approve_scopes(installation=store, user=mira, now=NOW + timedelta(days=17))
    assert agreed.agreed_version == newest
    assert history_of(agreed)[-1] == (HistoryKind.AGREED, "")


def test_converted_install_stays_a_production_install_where_its_developer_agrees(
    app: App, dana: User, sandbox: Business
) -> None:
    factories.approve(app)
    converted = factories.installation(
        app, sandbox, is_test=False, granted_scopes=["read_pages"], needs_reconsent=True
    )
    agreed = services.approve_scopes(installation=converted, user=dana)
    assert (agreed.is_test, agreed.granted_scopes) == (False, app.approved_scopes)
