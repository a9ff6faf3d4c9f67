"""The portal says before a save what stores run now and what waits, and puts earlier versions back."""

import json

import pytest
from django.test import Client

from accounts.models import Business
from extensions.models import Definition, ManifestSave
from extensions.queries import manifest_document, running_definitions
from extensions.services.manifests import save_manifest
from marketplace.models import App
from marketplace.services import reviews
from marketplace.services.apps import update_app
from tests import factories
from tests.developers.review.reviewing import page_of as review_page
from tests.extensions.manifests import block, hook, script
from tests.pages import text_of

pytestmark = pytest.mark.long

REACH = "Contract 2 Reach"
BASE = "/portal/apps/stars/"
SETTINGS = {"type": "object", "properties": {"tint": {"type": "string"}}}


def approve(app: App) -> App:
    submission = app.submissions.filter(status="PENDING_REVIEW").first() or factories.submit(app)
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    return App.objects.get(pk=app.pk)


@pytest.fixture
def live(stars: App) -> App:
    """Approved with a block."""
    save_manifest(app=stars, developer=stars.developer, document={"blocks": [block()]})
    return approve(stars)


@pytest.mark.spec(REACH, "The portal says before the save, part by part, what is live and what waits")
def test_preview_says_what_waits(browser: Client, live: App, shop: Business) -> None:
    factories.installation(live, shop)
    changed = {"blocks": [block(name="Ratings")], "embeds": [script()]}
    for button in ("check", "save"):
        page = browser.post(f"{BASE}manifest/", {button: "", "manifest": json.dumps(changed)})
        waits = {line.key: line.waits for line in page.context["plan"].lines}
        assert waits == {"stars": False, "counter": True}
        assert "With the next version" in page.text
        assert "Live now" in page.text
    assert not Definition.objects.filter(key="counter").exists()
    saved = browser.post(f"{BASE}manifest/", {"confirm": "", "manifest": json.dumps(changed)}, follow=True)
    assert "Parts of it wait for the next version" in saved.text
    assert "1 saved part runs only on your sandbox store: embed" in text_of(saved)


@pytest.mark.spec(REACH, "The portal says that a save is live only where every store runs all of it")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "Stores run what you removed until the next version"),
        ({"blocks": [block()], "settingsSchema": SETTINGS}, "Parts of it wait for the next version"),
        ({"blocks": [block(name="Ratings")]}, "Parts of it wait for the next version"),
    ],
)
def test_save_that_waits_is_not_called_live(
    browser: Client, live: App, shop: Business, change: dict[str, object], said: str
) -> None:
    """With saves that aren't live: a removal, which no part of the new manifest shows, a settings schema, and an edit."""
    installation = factories.installation(live, shop)
    App.objects.update(live_saves=False)
    body = {"manifest": json.dumps(change)}
    page = browser.post(f"{BASE}manifest/", body | {"save": ""}, follow=True)
    if not page.redirect_chain:  # a settings schema changes no extension, and is saved without a question
        assert "apart from what waits for the next version" in text_of(page)
        assert ("Other stores run it until the next version." in page.text) is (not change)
        page = browser.post(f"{BASE}manifest/", body | {"confirm": ""}, follow=True)
    assert said in text_of(page)
    assert "live in every store" not in page.text
    (stars,) = running_definitions([installation])[live.pk]
    assert stars.content["name"] == "Star rating"

    App.objects.update(live_saves=True)
    emptied = browser.post(f"{BASE}manifest/", {"confirm": "", "manifest": '{"blocks": []}'}, follow=True)
    assert "live in every store that has the app" in emptied.text
    assert not running_definitions([installation])[live.pk]


@pytest.mark.spec(REACH, "Restoring says likewise where the earlier manifest runs")
def test_restored_manifest_that_waits_is_not_called_live(browser: Client, live: App) -> None:
    save_manifest(app=live, developer=live.developer, document={"blocks": [block()], "hooks": [hook()]})
    save_manifest(app=live, developer=live.developer, document={"blocks": [block()]})
    _, middle, first = ManifestSave.objects.filter(app=live).order_by("-id")
    waits = browser.post(f"{BASE}manifest/history/{middle.pk}/", follow=True)
    assert "The earlier manifest is saved again. Parts of it wait for the next version" in text_of(waits)
    assert "live again" not in waits.text
    runs = browser.post(f"{BASE}manifest/history/{first.pk}/", follow=True)
    assert "The earlier manifest is live again." in text_of(runs)


@pytest.mark.spec(
    REACH, "An approved app with something waiting is submitted in the portal, and reviewed for it"
)
def test_what_waits_is_submitted_and_reviewed(browser: Client, admin: Client, live: App) -> None:
    assert "Submit for review" not in browser.get(f"{BASE}review/").text
    save_manifest(app=live, developer=live.developer, document={"blocks": [block()], "embeds": [script()]})
    assert "Submit for review" in browser.get(f"{BASE}review/").text
    asks = "Each store that has the app is asked to approve what is new in the manifest:</strong> embed"
    assert asks in text_of(browser.get(f"{BASE}review/submit/"))
    browser.post(f"{BASE}review/submit/", {"version": "2.0.0", "how_to_test": "Open the store."})
    live.refresh_from_db()
    assert live.status == "PENDING_REVIEW"

    page = admin.get(review_page(live.submissions.get(status="PENDING_REVIEW")))
    assert [each.key for each in page.context["manifests"].reach] == ["counter"]
    decide = admin.get(review_page(live.submissions.get(status="PENDING_REVIEW"), "approve"))
    assert "is asked to approve: embed counter" in text_of(decide)


@pytest.mark.spec(REACH, "The portal puts an approved version back")
def test_version_is_restored_by_pages(browser: Client, live: App) -> None:
    save_manifest(app=live, developer=live.developer, document={"blocks": [block(name="Ratings")]})
    update_app(app=live, changes={"version": "2.0.0"})
    approve(App.objects.get(pk=live.pk))
    versions = text_of(browser.get(f"{BASE}versions/"))
    assert "Block stars: name" in versions
    assert f'href="{BASE}versions/1/restore/"' in versions
    asked = text_of(browser.get(f"{BASE}versions/1/restore/"))
    assert "needs no review" in asked
    assert ManifestSave.objects.count() == 2
    done = browser.post(f"{BASE}versions/1/restore/", follow=True)
    assert "Version 1.4.0 is live again." in done.text
    assert manifest_document(live) == {"blocks": [block()]}
    assert browser.get(f"{BASE}versions/3/restore/").status_code == 404


def test_version_that_adds_is_not_restored_by_pages(browser: Client, live: App) -> None:
    save_manifest(app=live, developer=live.developer, document={})
    approve(live)
    page = text_of(browser.get(f"{BASE}versions/1/restore/"))
    assert "can’t be restored now" in page
    assert "block stars" in page
    browser.post(f"{BASE}versions/1/restore/")
    assert manifest_document(live) == {}
