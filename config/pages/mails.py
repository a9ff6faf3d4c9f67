"""`/_mails/`: each mail with made-up facts, its HTML body beside its text. For people who change mails."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace as Sample
from typing import Any, Final, cast

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin

from accounts.models import Business, User
from accounts.services.outbox import addressed
from common.mails.letters import LetterFrame, MailDraft
from common.times import iso
from common.web.methods import require_safe
from config.pages.styleguide import for_staff
from conformance.enums import Change
from conformance.queries import Broken
from conformance.rules import RULES
from conformance.services.weekly import weekly_context
from extensions.models import WatchedScript
from extensions.releases.watch import halt_context, halt_subject
from extensions.services.scripts import News, script_context
from stores.enums import Accent
from stores.samples.store import sample_order
from stores.services.order_mails import ACCENTS, WHY, merchant_frame, store_frame
from webhooks.enums import ErasureState, Stage

AT: Final = datetime(2026, 11, 25, 18, 43, tzinfo=UTC)
LONG: Final = "Check the signature before anything else.\n\nThen answer within five seconds, and do the work afterwards."
POLICY = {"style-src": [SELF, UNSAFE_INLINE], "frame-src": [SELF], "frame-ancestors": [SELF]}


@require_safe
@for_staff
@xframe_options_sameorigin
@cast(Any, csp_replace)(POLICY)
def mails(request: HttpRequest) -> HttpResponse:
    """`?mail=` chooses one. With `body=html` the response is its HTML body, for the frame of this page."""
    made = sample_mails()
    chosen = request.GET.get("mail", "")
    name = chosen if chosen in made else next(iter(made))
    if request.GET.get("body") == "html":
        html, _ = made[name].alternatives[0]
        return HttpResponse(cast(str, html))
    return render(request, "sample_mails.html", {"names": list(made), "name": name, "mail": made[name]})


# Every mail with made-up facts, for the page `/_mails/` and the tests of how mails look. Nothing of it is
# saved or sent.


def sample_mails() -> dict[str, EmailMultiAlternatives]:
    """By the template's name without its folder and suffix."""
    made = _of_accounts() | _of_apps() | _of_versions() | _of_members() | _of_stores() | _of_buyers()
    return {
        template.rpartition("/")[2]: addressed(
            MailDraft(subject, f"{template}.txt", context, frame), "sam@example.com"
        ).as_mail()
        for template, (subject, context, frame) in made.items()
    }


Made = dict[str, tuple[str, Mapping[str, Any], LetterFrame | None]]


def _page(path: str) -> str:
    return f"{settings.BASE_URL}/{path}"


def _of_accounts() -> Made:
    base: dict[str, Any] = {"link": _page("accounts/sample/")}
    origin = {"at": AT, "address": "192.0.2.0", "device": "Firefox on Linux"}
    change = "A developer token was created: continuous integration."
    said: dict[str, tuple[str, dict[str, Any]]] = {
        "account_deleted": (f"Your account at {settings.PLATFORM_NAME} is deleted", {}),
        "account_exists": (f"You already have an account at {settings.PLATFORM_NAME}", {}),
        "confirm": (f"Confirm your e-mail address for {settings.PLATFORM_NAME}", {}),
        "new_email": (f"Confirm your new e-mail address for {settings.PLATFORM_NAME}", {}),
        "connection": (f"Sign in to {settings.PLATFORM_NAME} with Atrium", {"label": "Atrium"}),
        "password_reset": (f"Choose a new password for {settings.PLATFORM_NAME}", {}),
        "security_change": (
            f"The security of your account at {settings.PLATFORM_NAME} has changed",
            origin | {"change": change},
        ),
        "invitation": (
            f"Invitation to Harbour Bakery on {settings.PLATFORM_NAME}",
            {
                "thing": "store",
                "name": "Harbour Bakery",
                "inviter": "mary@example.com",
                "role": {"comma": ",", "invited": "for its orders, reviews and customers"},
            },
        ),
        "staff_change": (
            "Harbour Bakery: staff",
            {
                "said": "sam@example.com was removed from Harbour Bakery.",
                "page": _page("merchant/businesses/"),
            },
        ),
        "wrong_codes": ("Wrong codes were entered for your account", origin | {"count": 3}),
    }
    return {f"accounts/mail/{name}": (subject, base | more, None) for name, (subject, more) in said.items()}


NAME, SLUG = "Loyalty Stars", "loyalty-stars"
APP: Final = Sample(name=NAME, developer=Sample(name="Dana Lindqvist"))
TO_DEVELOPER: Final = {"app": APP, "person": APP.developer}


def _of_apps() -> Made:
    submission = Sample(version="1.4.0", notes=LONG)
    message = Sample(from_reviewer=True, text=LONG, submission=submission)
    review_page = _page(f"portal/apps/{SLUG}/review/")
    approved = {
        "approved": True,
        "listed": True,
        "listing": _page(f"marketplace/{SLUG}/"),
        "review_page": review_page,
    }
    endpoint = Sample(
        url="https://stars.example.com/webhooks/orders",
        id="01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a03",
        failing_since=AT - timedelta(hours=72),
        disabled_reason="No event was accepted for 72 hours.",
    )
    disabled = {
        "groups": [(Stage.DISABLED, [endpoint])],
        "rest": 2,
        "disabled": True,
        "page": _page(f"portal/apps/{SLUG}/webhooks/"),
    }
    return {
        "marketplace/mail/decision": (
            f"{NAME} 1.4.0 is approved",
            TO_DEVELOPER | {"submission": submission} | approved,
            None,
        ),
        "marketplace/mail/review_message": (
            f"{NAME} 1.4.0: message about the review",
            TO_DEVELOPER | {"message": message, "page": f"{review_page}#messages"},
            None,
        ),
        "webhooks/mail/health": (f"{NAME}: webhooks have been disabled", TO_DEVELOPER | disabled, None),
        "webhooks/mail/overdue": (
            "1 data erasures are not confirmed",
            {
                "overdue": [(SLUG, STORE.slug, iso(AT), "sample")],
                "page": _page("admin/webhooks/erasure/"),
            },
            None,
        ),
    }


def _of_versions() -> Made:
    """Of what was approved, and isn't as it was."""
    script = WatchedScript(
        url="https://stars.example.com/stars.js",
        digests={"sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        pins=["sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="],
    )
    broken = [Broken(RULES["WH005"], "Sent ten minutes ago: responded 200 in 12 ms, expected 401.")]
    why = "24 of 200 calls failed with the new version, and 10 of 1,000 with the old one."
    return {
        "conformance/mail/weekly": (
            f"{NAME}: the listing says that it doesn’t pass its checks",
            TO_DEVELOPER | weekly_context(NAME, SLUG, Change.LISTED, broken, "sample"),
            None,
        ),
        "extensions/mail/script": (
            f"{NAME}: a script isn’t on stores’ pages any more",
            TO_DEVELOPER | script_context(script, NAME, SLUG, News.DOES_NOT_MATCH),
            None,
        ),
        "extensions/mail/halted": (
            halt_subject(NAME, "1.4.0"),
            TO_DEVELOPER | halt_context(NAME, "1.4.0", SLUG, 5, why),
            None,
        ),
    }


def _of_members() -> Made:
    people = {"app": "Loyalty Stars", "previous": "dana@example.com", "other": "kim@example.com"}
    people |= {"page": _page("portal/apps/loyalty-stars/")}
    return {
        "marketplace/mail/offered": ("The transfer of Loyalty Stars is offered", people, None),
        "marketplace/mail/transferred": ("Loyalty Stars has another owner", people, None),
    }


STORE: Final = Business(
    name="Harbour Bakery",
    slug="harbour-bakery",
    owner=User(name="Mary Holm"),
    address="3 Harbour Street",
    timezone="Europe/Copenhagen",
)
ORDER: Final = sample_order(STORE, now=AT)


def _of_stores() -> Made:
    about = {"app": APP, "business": STORE, "page": _page("merchant/apps/sample/")}
    capability = Sample(title="Shine", detail="A script from stars.example.com/shine.js on every page")
    to_merchant = {"business": STORE, "page": _page("merchant/orders/sample/")}
    yours = replace(merchant_frame(STORE), accent=ACCENTS[Accent.AMBER])
    return {
        "extensions/mail/question": (
            "Loyalty Stars asks for more permissions in Harbour Bakery",
            about
            | {
                "capabilities": [capability],
                "added": ["See your orders"],
                "reason": "Stars are given by order.",
            },
            yours,
        ),
        "extensions/mail/trouble": (
            "Loyalty Stars is having trouble in Harbour Bakery",
            about | {"failing_since": AT, "is_skipped": True, "skipped_since": AT},
            yours,
        ),
        "webhooks/mail/erasure": (
            "Loyalty Stars erased the data of Harbour Bakery",
            about | {"erasure": Sample(state=ErasureState.CONFIRMED, confirmed_at=AT)},
            yours,
        ),
        "stores/mail/new_orders": (
            f"New order {ORDER.number}, ${ORDER.amount / 100:.2f}",
            to_merchant | {"order": ORDER, "payment": "Cash, when the customer receives the order"},
            yours,
        ),
        "stores/mail/low_stock": (
            "2 products are running low",
            to_merchant
            | {"products": [Sample(name="Rye loaf", stock=2), Sample(name="Lemonade", stock=0)], "rest": 0},
            yours,
        ),
        "stores/mail/new_reviews": (
            "New review of Rye loaf",
            to_merchant | {"reviews": [Sample(product=Sample(name="Rye loaf"), rating=5)]},
            yours,
        ),
    }


def _of_buyers() -> Made:
    frame = replace(store_frame(STORE, str(WHY)), accent=ACCENTS[Accent.AMBER])
    about = {
        "order": ORDER,
        "store": STORE,
        "page": "https://stores.example/orders/sample/",
        "is_delivery": False,
    }
    return {
        "stores/mail/order_placed": (
            f"Order {ORDER.number} at Harbour Bakery",
            about | {"pay_before": AT},
            frame,
        ),
        "stores/mail/order_status": (
            f"Order {ORDER.number} is ready – Harbour Bakery",
            about | {"standing": "Your order is ready for pickup."},
            frame,
        ),
    }
