"""The sample app Order Bell in the demo: created, reviewed, listed and installed by the same services that users reach.

Safe to run at every start. Changes that people made, such as uninstalling it, are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Q

from accounts.models import Business, User
from config.demo.people import DEVELOPER, MERCHANT, REVIEWER, merchants_shop
from examples.sample_app.manifest import manifest
from extensions.enums import ExtensionType
from extensions.models import Definition, Placement
from extensions.queries import manifest_document, waits_for_version
from extensions.services.extension_states import add_block
from extensions.services.manifests import save_manifest
from extensions.submission import submit_app
from installations.models import Installation
from installations.services import Issued, Terms, approve_scopes, install, test_install
from installations.services.approval import follow_all
from marketplace.enums import AppStatus
from marketplace.models import App
from marketplace.services import reviews
from marketplace.services.apps import create_app, rotate_client_secret, update_app
from marketplace.services.pictures import Decoded, decode
from stores.models import SitePage

SLUG = "order-bell"
NEEDED = ("read_business", "read_products", "read_orders", "write_orders")
BLOCK = "recent_orders"
PAGE = "about"
ICON = Path(__file__).parent / "pictures" / "order-bell.png"
SCREENSHOT = settings.BASE_DIR / "docs" / "images" / "sample-app.png"
LONG_DESCRIPTION = """Order Bell is the sample app of this platform. It uses everything that an app can do in a store:

- its page lists each webhook as it arrives, with its signature checked
- **Recent orders** is a block for your pages, with a title and a color of your choice
- a line at the top of every page, and a bell in the corner
- at checkout, a way to pay, and answers about orders, discounts and delivery prices

## For developers

Its source is in the folder `examples/sample_app`. Start there to see how an app is installed, verifies signatures and \
answers hooks.
"""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the sample app needs to start. Every start creates a new client secret, since only its digest is stored.

    `stores` has an access token and a webhook secret for each store that it doesn't know yet.
    """

    client_id: str
    client_secret: str
    stores: tuple[tuple[str, str], ...]


def connect_sample_app(*, state_file: Path, url: str) -> Credentials:
    """List the sample app at `url` in the marketplace, give it its credentials, and install it on the developer's
    sandbox and on the merchant's business, unless it still has its tokens.

    It is the only app with a server: those of `config.demo.history` are listed, but can't be installed.
    """
    developer = User.objects.get(email=DEVELOPER)
    app = sample_app(developer=developer, url=url)
    client_secret = rotate_client_secret(app=app, by=app.developer)
    issued = _reinstalled(app, developer, knows_its_stores=state_file.exists())
    stores = tuple((each.access_token, each.installation.webhook_secret) for each in issued)
    return Credentials(app.client_id, client_secret, stores)


def sample_app(*, developer: User, url: str) -> App:
    """Order Bell, created and approved if it is missing. Except in review, its URLs follow the sample app's port."""
    addresses = {
        "redirect_url": f"{url}/callback",
        "webhook_url": f"{url}/webhooks" if settings.ALLOW_LOCAL_DESTINATIONS else "",
    }
    app = App.objects.of(developer).filter(slug=SLUG).first()
    if app is None:
        app = _create(developer, addresses)
    if app.status == AppStatus.PENDING_REVIEW:
        return app
    app = update_app(app=app, changes=addresses)
    save_manifest(app=app, developer=developer, document=_manifest(url))
    listed = app.approved_version
    moved = listed is None or any(getattr(listed, name) != address for name, address in addresses.items())
    if moved or waits_for_version(app, manifest_document(app)):
        _pass_review(app)
        app.refresh_from_db()
        follow_all()  # no worker runs yet, and people agree to what their store runs
        _agree(app)
    return app


def _manifest(url: str) -> dict[str, Any]:
    """The manifest. Without hooks if the platform may not call this machine, because there is no Webhook URL then."""
    document = manifest(url)
    if not settings.ALLOW_LOCAL_DESTINATIONS:
        del document["hooks"]
    return document


def _create(developer: User, addresses: dict[str, Any]) -> App:
    app = create_app(
        developer=developer,
        name="Order Bell",
        slug=SLUG,
        description=(
            "Rings for every order. The sample app: it shows the webhooks it receives, adds a block, a line at the top, "
            "a bell in the corner and a way to pay, and answers whatever the checkout asks."
        ),
        category="communication",
        scopes=list(NEEDED),
        version="1.0.0",
        **addresses,
    ).app
    changes = {
        "icon": _picture(ICON),
        "screenshots": [_picture(SCREENSHOT)],
        "screenshot_alts": [
            "Order Bell's page: a store that is connected, and the webhooks that arrived from it."
        ],
        "long_description": LONG_DESCRIPTION,
        "support_url": "help@bell.example.com",
        "privacy_url": "https://bell.example.com/privacy",
        "data_countries": ["DE"],
    }
    return update_app(app=app, changes=changes)


def _pass_review(app: App) -> None:
    """Submit and approve it as the developer and the reviewer would on their pages."""
    reviewer = User.objects.get(email=REVIEWER)
    submission = submit_app(
        app=app,
        developer=app.developer,
        how_to_test="Install it, place an order in the shop, and see it ring on the app's page.",
    )
    reviews.take(submission=submission, reviewer=reviewer)
    reviews.approve(submission=submission, reviewer=reviewer)


def _agree(app: App) -> None:
    """The merchants' yes to the version of this start, such as scripts at another port: the bakery's, and those of the made-up
    stores, whose owners have no password (`config.demo.history`).
    """
    silent = Q(business__owner__email=MERCHANT) | Q(
        business__owner__password__startswith=UNUSABLE_PASSWORD_PREFIX
    )
    active = Installation.objects.active().filter(silent, app=app).select_related("business__owner")
    for installation in active.exclude(business__is_sandbox=True):
        approve_scopes(installation=installation, user=installation.business.owner)


def _reinstalled(app: App, developer: User, *, knows_its_stores: bool) -> Iterator[Issued]:
    """A token for each store where the app was never installed or has lost its token."""
    shop = merchants_shop()
    sandbox = Business.objects.sandbox_of(developer)
    if _wants_token(app, sandbox, knows_its_stores):
        yield _with_block(test_install(app=app, developer=developer))
    version = app.approved_version
    if version and _wants_token(app, shop, knows_its_stores):
        yield _with_block(
            install(
                app=app,
                business=shop,
                installed_by=User.objects.get(email=MERCHANT),
                terms=Terms(is_test=False, granted_scopes=version.scopes),
            )
        )


def _wants_token(app: App, business: Business, knows_its_stores: bool) -> bool:
    of_store = Installation.objects.filter(app=app, business=business)
    return not of_store.exists() or (of_store.active().exists() and not knows_its_stores)


def _with_block(issued: Issued) -> Issued:
    """Put the app's block on the page About us of a new installation."""
    installation = issued.installation
    page = SitePage.objects.filter(business=installation.business, slug=PAGE).first()
    block = Definition.objects.filter(app=installation.app, type=ExtensionType.BLOCK, key=BLOCK).first()
    if page and block and not Placement.objects.filter(page=page, definition=block).exists():
        # Without a link: on a page with the app's script it would open no window.
        add_block(page=page, installation=installation, definition=block, settings={})
    return issued


def _picture(file: Path) -> Decoded:
    return decode(SimpleUploadedFile(file.name, file.read_bytes()))
