"""Five listed apps and two that are new, of two developers, and their installations in stores that don't exist. None has a server: an install
ends at a page that says so. No call of the API can use the installations, since their tokens were never issued.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from accounts.models import Business, User
from common.files.pictures import Decoded
from common.ids import id_at
from common.secrets import new_client_secret, new_webhook_secret
from config.demo.history.stores import STUDIO
from config.demo.people import REVIEWER
from extensions.services.manifests import save_manifest
from extensions.services.releases import keep_approved
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.enums import AppStatus, Category, ReviewKind, SubmissionStatus
from marketplace.models import FROZEN_FIELDS, App, AppTotals, AppVersion, ReviewEntry, Submission
from marketplace.services.pictures import store

PICTURES: Final = Path(__file__).parents[1] / "pictures"
NO_SERVER: Final = "/_demo/no-server/"  # where an install of them ends
NOTE: Final = "Demo data: the last month, and every app but Order Bell, are made up."


@dataclass(frozen=True, slots=True)
class MadeApp:
    """`releases`: versions with the days since their approval, oldest first. `installs`: how many stores have it, since `since` days
    and longer.
    """

    slug: str
    name: str
    category: Category
    scopes: str
    description: str
    more: str
    alt: str
    releases: tuple[tuple[str, int], ...]
    installs: int = 0
    since: int = 3
    by_partner: bool = False
    has_screenshot: bool = True
    manifest: tuple[tuple[str, Any], ...] = ()


def _page(title: str, icon: str, slug: str) -> tuple[str, Any]:
    page = {
        "pageId": "overview",
        "title": title,
        "iconName": icon,
        "renderUrl": f"https://{slug}.example/admin",
    }
    return "adminPages", [page]


def _block(key: str, name: str, about: str, slug: str) -> tuple[str, Any]:
    return "blocks", [
        {"blockType": key, "name": name, "description": about, "renderUrl": f"https://{slug}.example/{key}"}
    ]


LISTED: Final = (
    MadeApp(
        "parcel-quotes", "Parcel Quotes", Category.SHIPPING, "read_products read_orders",
        "Asks three carriers for the price of each parcel, and shows you which of them your customers chose.",
        "Weights come from your products. You see what each parcel would have cost with the other carriers, so you know"
        " whether to change.\n\n- three carriers, one list\n- prices of the week beside those of the week before",
        "A list of today's parcels with the carrier that was chosen and the prices of the others.",
        (("2.1.0", 190), ("2.2.0", 64)), installs=5, manifest=(_page("Parcel quotes", "package", "parcel-quotes"),),
    ),
    MadeApp(
        "shelf-watch", "Shelf Watch", Category.AUTOMATION, "read_products read_analytics",
        "Says what to bake next: what is sold out, what won't last until noon, and what there is enough of.",
        "It counts what you sell in an hour and how much is left. **It changes nothing in your store.**",
        "A list of products, each with what is left, how long that lasts, and how many to bake.",
        (("1.4.2", 83),), installs=4, manifest=(_page("What to bake", "package", "shelf-watch"),),
    ),
    MadeApp(
        "stamp-card", "Stamp Card", Category.LOYALTY, "read_orders read_reviews",
        "Ten coffees, one free. Stamps are counted by themselves, and a block on your page shows the card.",
        "Customers need no app and no account: the e-mail address of the order is the card.",
        "A list of customers with the stamps on their cards, and who gets a free coffee next.",
        (("1.0.0", 140), ("1.1.0", 47)), installs=3, since=48, by_partner=True,
        manifest=(_block("card", "Stamp card", "How many stamps until the next treat.", "stamp-card"),),
    ),
    MadeApp(
        "table-plan", "Table Plan", Category.OTHER, "read_business",
        "A floor plan for the café: which tables are taken, which are reserved, and where a party of six fits.",
        "Draw the room once. Then one tap seats somebody, and another clears the table.",
        "A plan of a café with nine tables: some are taken, some reserved, some free.",
        (("3.0.1", 29),), installs=2,
        manifest=(
            _page("Table plan", "layout-dashboard", "table-plan"),
            _block("reserve", "Reserve a table", "Free tables, and a form to reserve one.", "table-plan"),
        ),
    ),
    MadeApp(
        "till-bridge", "Till Bridge", Category.POS, "read_products read_orders write_orders",
        "Books online orders in the till on your counter, prints the receipt, and marks the order as done.",
        "Works with the tills that print by the network. A paper roll that runs out loses nothing: receipts wait.",
        "The orders of the day with what was paid, and whether the receipt is printed.",
        (("1.4.0", 55),), installs=2, by_partner=True, manifest=(_page("Till", "credit-card", "till-bridge"),),
    ),
)  # fmt: skip
IN_REVIEW: Final = (
    MadeApp(
        "thank-you-notes", "Thank You Notes", Category.MARKETING, "read_products read_reviews",
        "Thanks everybody who leaves a review, in your words, and tells you about those that you should answer yourself.",
        "Write three notes, and it picks the one that fits the stars.",
        "Reviews of the week with the note that was sent to each.",
        (), by_partner=False,
    ),
    MadeApp(
        "tax-ledger", "Tax Ledger", Category.ANALYTICS, "read_orders read_analytics",
        "Puts each order into the right column of your tax return, and exports the quarter for your accountant.",
        "", "", (), by_partner=True, has_screenshot=False, manifest=(_page("Tax ledger", "file-text", "tax-ledger"),),
    ),
)  # fmt: skip


def list_apps(*, partner: User, stores: Sequence[Business], now: datetime) -> dict[str, App]:
    """All of them, by slug, the listed ones with their versions and the stores that have them."""
    studio = User.objects.get(email=STUDIO)
    made = {
        each.slug: _app(each, partner if each.by_partner else studio, now, number)
        for number, each in enumerate((*LISTED, *IN_REVIEW))
    }
    for each in LISTED:
        _release(made[each.slug], each, now)
    write_installations(
        [
            made_installation(
                made[each.slug], stores[(number + first) % len(stores)],
                now - timedelta(days=each.since + 5 * number + first), made[each.slug].approved_version,
            )
            for first, each in enumerate(LISTED)
            for number in range(each.installs)
        ]
    )  # fmt: skip
    return made


def lead_to_no_server() -> str:
    """Have installs of the made apps end at this start's address. Returns what each page says about them, if they are there."""
    for model, named in ((App, "slug__in"), (AppVersion, "app__slug__in")):
        of_listed = model.objects.filter(**{named: [each.slug for each in LISTED]})
        found = of_listed.filter(redirect_url__endswith=NO_SERVER).update(
            redirect_url=settings.BASE_URL + NO_SERVER
        )
    return NOTE if found else ""


def _app(made: MadeApp, developer: User, now: datetime, number: int) -> App:
    first = made.releases[0][1] if made.releases else 40
    created_at = now - timedelta(days=first + 12, hours=number)
    app = App.objects.create(
        id=id_at(created_at), developer=developer, slug=made.slug, name=made.name, category=made.category,
        scopes=made.scopes.split(), description=made.description, long_description=made.more,
        redirect_url=settings.BASE_URL + NO_SERVER if made.releases else f"https://{made.slug}.example/callback",
        privacy_url=f"https://{made.slug}.example/privacy", support_url=f"mailto:help@{made.slug}.example",
        data_countries=["DE", "IE"] if made.releases else [], data_retention_days=90 if made.releases else None,
        client_secret=new_client_secret(), created_at=created_at, updated_at=created_at,
    )  # fmt: skip
    app.icon = _picture(app, made.slug, 256, 256, created_at)
    if made.has_screenshot:
        shown = _picture(app, f"{made.slug}-page", 1280, 800, created_at)
        app.screenshot_ids, app.alt_texts = [str(shown.pk)], {str(shown.pk): made.alt}
    app.save()
    if made.manifest:
        save_manifest(app=app, developer=developer, document=dict(made.manifest), now=created_at)
    return app


def _picture(app: App, name: str, width: int, height: int, at: datetime) -> Any:
    """They are the project's own, so they needn't be decoded first."""
    content = (PICTURES / f"{name}.png").read_bytes()
    return store(app, Decoded(content, "PNG", width, height), now=at)


def _release(app: App, made: MadeApp, now: datetime) -> None:
    for number, (name, days) in enumerate(made.releases, start=1):
        app.version, app.status = name, AppStatus.APPROVED
        # The newest one came with a screenshot.
        changed: dict[str, Any] = (
            {"screenshot_ids": [], "alt_texts": {}} if number < len(made.releases) else {}
        )
        app.approved_version = approve(
            app=app, number=number, at=now - timedelta(days=days, hours=days % 9), waited=timedelta(hours=14 + days % 30),
            how_to_test="Install it and open its page.", **changed,
        )  # fmt: skip
        app.save()
    if made.manifest and app.approved_version:
        keep_approved(version=app.approved_version)


def approve(
    *, app: App, number: int, at: datetime, waited: timedelta, how_to_test: str, **changed: Any
) -> AppVersion:
    """A version of what the app is now, but for what is `changed`, with the submission that led to it."""
    reviewer = User.objects.get(email=REVIEWER)
    frozen = {field: getattr(app, field) for field in FROZEN_FIELDS} | changed
    version = AppVersion.objects.create(
        app=app, number=number, approved_at=at, followed_at=at, developer_name=app.developer.name, **frozen
    )
    submission = Submission.objects.create(
        app=app, status=SubmissionStatus.APPROVED, version=version.version, developer_name=app.developer.name,
        submitted_at=at - waited, reviewer=reviewer, decided_at=at, approved_version=version,
        added_scopes=version.scopes if number == 1 else [], how_to_test=how_to_test,
    )  # fmt: skip
    ReviewEntry.objects.bulk_create(
        ReviewEntry(app=app, submission=submission, kind=kind, actor=actor, at=moment)
        for kind, actor, moment in (
            (ReviewKind.SUBMITTED, app.developer, at - waited),
            (ReviewKind.APPROVED, reviewer, at),
        )
    )
    return version


# --- Installations -----------------------------------------------------------------------------------


def made_installation(
    app: App, store: Business, at: datetime, version: AppVersion | None, until: datetime | None = None
) -> Installation:
    """An unsaved one, by the store's owner; `until` ends it."""
    return Installation(
        app=app,
        business=store,
        installed_by=store.owner,
        granted_scopes=version.scopes if version else [],
        agreed_version=version,
        runs=app.approved_version,
        webhook_secret=new_webhook_secret(test=False),
        consented_at=at,
        installed_at=at,
        uninstalled_at=until,
    )


def write_installations(made: Sequence[Installation]) -> None:
    """With their histories, and counted in the totals of their apps."""
    Installation.objects.bulk_create(made)
    HistoryEntry.objects.bulk_create(
        HistoryEntry(installation=each, kind=kind, at=at, actor=each.installed_by, scopes=each.granted_scopes)
        for each in made
        for kind, at in (
            (HistoryKind.INSTALLED, each.installed_at),
            (HistoryKind.UNINSTALLED, each.uninstalled_at),
        )
        if at
    )
    for app in {each.app_id for each in made}:
        counted = (
            Installation.objects.active().filter(app=app, is_test=False, business__is_sandbox=False).count()
        )
        AppTotals.objects.update_or_create(app_id=app, defaults={"installs": counted})
