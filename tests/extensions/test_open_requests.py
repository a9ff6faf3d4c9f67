"""Whether a merchant has an open request of an installed app, and whether pages bring it up now."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from accounts.models import Business, User
from extensions.in_store.capabilities import open_requests, requested
from extensions.manifest.content import definitions_in
from extensions.models import ReachRequest
from extensions.services.manifests import save_manifest
from installations.models import RECONSENT_REST, Installation
from marketplace.models import AppVersion
from tests import factories
from tests.extensions.manifests import script, widget

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
RECENTLY, LONG_AGO = NOW - RECONSENT_REST + timedelta(seconds=1), NOW - RECONSENT_REST

pytestmark = pytest.mark.django_db


@pytest.fixture
def versions(dana: User) -> tuple[AppVersion, AppVersion]:
    """The one that stores agreed to, and the current one, which has another script."""
    app = factories.app(dana)
    agreed, current = factories.approve(app), factories.approve(app)
    app.refresh_from_db()
    (counter,) = definitions_in({"embeds": [script()]})
    added = factories.definition(app, counter.type, counter.key, counter.content)
    ReachRequest.objects.create(definition=added, version=agreed, content=counter.content)
    return agreed, current


def installed(versions: tuple[AppVersion, AppVersion], shop: Business, **fields: object) -> Installation:
    agreed, current = versions
    return factories.installation(current.app, shop, **{"agreed_version": agreed, **fields})


def test_request_is_open_for_scopes_or_reach_and_rests_after_a_no(
    versions: tuple[AppVersion, AppVersion], mira: User
) -> None:
    """Scopes rest for 14 days. So does reach, but a later version than the declined one asks again."""
    agreed, current = versions
    expected = {}
    for scopes, reach, declined, version in product(
        (True, False), (True, False), (None, RECENTLY, LONG_AGO), (None, agreed, current)
    ):
        row = installed(
            versions,
            factories.business(mira),
            needs_reconsent=scopes,
            agreed_version=agreed if reach else current,
            reconsent_declined_at=declined,
            declined_version=version,
        )
        if scopes or reach:
            expected[row.pk] = declined != RECENTLY or (reach and version != current)
    assert open_requests(Installation.objects.all(), NOW) == expected


@pytest.mark.parametrize("why", ["uninstalled", "suspended", "deleted", "out of the manifest"])
def test_request_is_closed_where_nothing_would_run(
    versions: tuple[AppVersion, AppVersion], shop: Business, why: str
) -> None:
    row = installed(versions, shop)
    app = row.app
    assert open_requests([row], NOW) == {row.pk: True}
    if why == "uninstalled":
        Installation.objects.update(uninstalled_at=NOW)
    elif why == "out of the manifest":
        save_manifest(app=app, developer=app.developer, document={})
    else:
        type(app).objects.update(**{f"{why}_at": NOW})
    assert open_requests([row], NOW) == {}


def test_only_the_installations_in_question_are_named(
    versions: tuple[AppVersion, AppVersion], shop: Business, mira: User
) -> None:
    row = installed(versions, shop)
    installed(versions, factories.business(mira))
    assert open_requests([row], NOW) == {row.pk: True}


def test_store_outside_a_release_is_not_asked_for_its_parts(
    versions: tuple[AppVersion, AppVersion], shop: Business
) -> None:
    agreed, current = versions
    (chat,) = definitions_in({"embeds": [widget()]})
    added = factories.definition(current.app, chat.type, chat.key, chat.content)
    ReachRequest.objects.create(definition=added, version=agreed, content=chat.content, in_release=True)
    asked = ReachRequest.objects.get(in_release=False).definition_id
    row = installed(versions, shop)
    assert [each.definitions for each in requested(row).capabilities] == [(asked,)]
    assert open_requests([row], NOW) == {row.pk: True}
    ReachRequest.objects.filter(in_release=False).delete()
    assert open_requests([row], NOW) == {}


def test_pause_closes_no_request(versions: tuple[AppVersion, AppVersion], shop: Business) -> None:
    row = installed(versions, shop, paused_at=NOW)
    assert open_requests([row], NOW) == {row.pk: True}
