"""The sample app Order Bell in the demo: made, reviewed, listed and installed by the services that users reach.

Safe to run at every start. What people did with it since, such as uninstalling it, stays as they left it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Business, User
from config.demo.people import DEVELOPER, MERCHANT, REVIEWER, merchants_shop
from examples.sample_app.manifest import manifest
from extensions.enums import ExtensionType
from extensions.models import Definition, Placement
from extensions.services.manifests import save_manifest
from extensions.services.placements import add_block
from installations.models import Installation
from installations.services import Issued, install, test_install
from marketplace.enums import AppStatus
from marketplace.models import App
from marketplace.services import reviews
from marketplace.services.apps import create_app, rotate_client_secret, update_app
from marketplace.services.pictures import Decoded, decode
from stores.models import SitePage
from stores.records import storefront_url

SLUG = "order-bell"
NEEDED = ("read_business", "read_products", "read_orders", "write_orders")
BLOCK = "recent_orders"
PAGE = "about"
ICON = Path(__file__).parent / "pictures" / "order-bell.png"
SCREENSHOT = settings.BASE_DIR / "docs" / "images" / "sample-app.png"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the sample app is started with. The client secret is a new one at every start, since none is kept.

    `stores` are those that it does not know yet: an access token and a webhook secret each.
    """

    client_id: str
    client_secret: str
    stores: tuple[tuple[str, str], ...]


def connect_sample_app(*, state_file: Path, url: str) -> Credentials:
    """List the sample app at `url` in the marketplace, give it its credentials, and install it on the developer's
    sandbox and on the merchant's business, unless it still holds what it was given.

    It is the only app there: one that nobody runs could be listed, but not be installed.
    """
    developer = User.objects.get(email=DEVELOPER)
    app = sample_app(developer=developer, url=url)
    client_secret = rotate_client_secret(app=app)
    issued = _installed_anew(app, developer, knows_its_stores=state_file.exists())
    stores = tuple((each.access_token, each.installation.webhook_secret) for each in issued)
    return Credentials(app.client_id, client_secret, stores)


def sample_app(*, developer: User, url: str) -> App:
    """Order Bell, made and approved where it is missing; outside of a review it follows the sample app to another port."""
    addresses = {
        "redirect_url": f"{url}/callback",
        "webhook_url": f"{url}/webhooks" if settings.ALLOW_LOCAL_DESTINATIONS else "",
    }
    app = App.objects.of_developer(developer).filter(slug=SLUG).first()
    if app is None:
        app = _create(developer, addresses)
    if app.status == AppStatus.PENDING_REVIEW:
        return app
    app = update_app(app=app, changes=addresses)
    save_manifest(app=app, developer=developer, document=_manifest(url))
    listed = app.approved_version
    if listed is None or any(getattr(listed, name) != address for name, address in addresses.items()):
        _pass_review(app)
        app.refresh_from_db()
    return app


def _manifest(url: str) -> dict[str, Any]:
    """Without hooks where the platform may not call this machine: there is no Webhook URL to call then."""
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
    return update_app(app=app, changes={"icon": _picture(ICON), "screenshots": [_picture(SCREENSHOT)]})


def _pass_review(app: App) -> None:
    """As the developer and the reviewer would do it by pages."""
    reviewer = User.objects.get(email=REVIEWER)
    submission = reviews.submit(
        app=app,
        developer=app.developer,
        how_to_test="Install it, place an order in the shop, and see it ring on the app's page.",
    )
    reviews.take(submission=submission, reviewer=reviewer)
    reviews.approve(submission=submission, reviewer=reviewer)


def _installed_anew(app: App, developer: User, *, knows_its_stores: bool) -> Iterator[Issued]:
    """A token for each store where the app was never installed, or where it has lost the one that it had."""
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
                is_test=False,
                granted_scopes=version.scopes,
            )
        )


def _wants_token(app: App, business: Business, knows_its_stores: bool) -> bool:
    of_store = Installation.objects.filter(app=app, business=business)
    return not of_store.exists() or (of_store.active().exists() and not knows_its_stores)


def _with_block(issued: Issued) -> Issued:
    """A fresh installation gets the app's block on the page About us."""
    installation = issued.installation
    page = SitePage.objects.filter(business=installation.business, slug=PAGE).first()
    block = Definition.objects.filter(app=installation.app, type=ExtensionType.BLOCK, key=BLOCK).first()
    if page and block and not Placement.objects.filter(page=page, definition=block).exists():
        link = {"link": storefront_url(installation.business), "linkText": "See what is fresh"}
        add_block(page=page, installation=installation, definition=block, settings=link)
    return issued


def _picture(file: Path) -> Decoded:
    return decode(SimpleUploadedFile(file.name, file.read_bytes()))
