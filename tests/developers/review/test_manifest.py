"""Manifests in the admin: on the review page, in the checks, and what a suspension does to them."""

import pytest
from django.test import Client

from accounts.models import Business
from extensions.enums import ExtensionType
from extensions.queries import extensions_on
from extensions.services.manifests import save_manifest
from marketplace.models import App
from marketplace.services import reviews
from tests import factories
from tests.developers.review.reviewing import page_of, submitted
from tests.extensions.manifests import Document, admin_page, block, full, hook, script

AFTER = "Contract 6 After approval"


def save(app: App, document: Document) -> None:
    save_manifest(app=app, developer=app.developer, document=document)


def approved(app: App) -> App:
    reviews.approve(submission=submitted(app), reviewer=factories.reviewer())
    return App.objects.get(pk=app.pk)


# --- The review page ----------------------------------------------------------------------------------


def test_review_page_shows_what_the_app_adds(admin: Client, stars: App) -> None:
    save(stars, {"blocks": [block()], "hooks": [hook()], "embeds": [script()]})
    App.objects.update(webhook_url="https://stars.example.com/hooks")
    stars.refresh_from_db()
    text = admin.get(page_of(submitted(stars))).text
    for part in ("Star rating", "order.calculate_discounts", "At checkout", "Script on every page"):
        assert part in text


@pytest.mark.long
def test_review_page_shows_what_changed_in_the_manifest(admin: Client, stars: App) -> None:
    save(stars, {"blocks": [block()]})
    stars = approved(stars)
    save(stars, {"blocks": [block(name="Ratings")]})
    App.objects.update(status="DRAFT")
    stars.refresh_from_db()
    again = submitted(stars)
    changes = admin.get(page_of(again)).context["manifests"].changes
    assert [(each.label, each.before, each.after) for each in changes] == [
        ("Block stars: name", ("Star rating",), ("Ratings",))
    ]


def test_decided_review_shows_the_reviewed_manifest(admin: Client, stars: App) -> None:
    save(stars, {"blocks": [block()]})
    submission = submitted(stars)
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    save(stars, {"adminPages": [admin_page()]})
    shown = admin.get(page_of(submission)).context["manifests"]
    assert [defined.key for defined in shown.added] == ["stars"]


@pytest.mark.spec(AFTER, "A suspension turns extensions and hooks off, and can be lifted")
def test_suspension_turns_extensions_off_until_it_is_lifted(
    admin: Client, stars: App, shop: Business, sandbox: Business
) -> None:
    save(stars, full())
    stars = approved(stars)
    for business in (shop, sandbox):
        factories.installation(stars, business)

    def working() -> int:
        return sum(
            len(extensions_on(business, kind)) for business in (shop, sandbox) for kind in ExtensionType
        )

    assert working() == 10
    admin.post(page_of(stars, "suspend"), {"reason": "A new script reads card numbers."})
    assert working() == 0
    admin.post(page_of(stars, "reinstate"))
    assert working() == 10
