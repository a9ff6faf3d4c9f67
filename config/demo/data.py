"""The demo's people, shops and app, made by the services that users reach. Safe to run at every start."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.enums import Role
from accounts.models import User
from accounts.services import create_reviewer, register
from installations.services.sandbox import test_install
from marketplace.enums import AppStatus
from marketplace.models import App
from marketplace.scopes import SCOPES
from marketplace.services import reviews
from marketplace.services.apps import create_app, rotate_client_secret, update_app
from marketplace.services.pictures import Decoded, decode
from stores.sandbox import fill_store

PASSWORD = "extension-demo"  # noqa: S105  printed at every start of the demo
DEVELOPER = "developer@example.com"
MERCHANT = "merchant@example.com"
REVIEWER = "reviewer@example.com"
SAMPLE_APP_SLUG = "order-bell"
ICON = Path(__file__).parent / "pictures" / "order-bell.png"
SCREENSHOT = settings.BASE_DIR / "docs" / "images" / "sample-app.png"


@dataclass(frozen=True)
class SampleAppCredentials:
    """What the sample app is started with. The client secret is a new one at every start, since none is kept.

    Token and webhook secret are of the developer's sandbox; None where it has been connected before.
    """

    client_id: str
    client_secret: str
    access_token: str | None
    webhook_secret: str | None


def seed() -> None:
    """The three sign-ins of the demo, and a merchant's shop with something on its shelves."""
    if not User.objects.filter(email=DEVELOPER).exists():
        register(email=DEVELOPER, password=PASSWORD, name="Devi Developer", role=Role.DEVELOPER)
    if not User.objects.filter(email=MERCHANT).exists():
        made = register(
            email=MERCHANT,
            password=PASSWORD,
            name="Mary Merchant",
            role=Role.MERCHANT,
            business_name="Harbour Bakery",
            business_type="Bakery",
            address="1 Harbour Street, Portside",
        )
        fill_store(business=made.business)
    if not User.objects.filter(email=REVIEWER).exists():
        create_reviewer(email=REVIEWER, name="Rae Reviewer", password=PASSWORD)


def connect_sample_app(*, state_file: Path, url: str) -> SampleAppCredentials:
    """List the sample app at `url` in the marketplace, give it its credentials, and install it on the developer's
    sandbox, unless it still holds what it was given.

    It is the only app there: one that nobody runs could be listed, but not be installed.
    """
    developer = User.objects.get(email=DEVELOPER)
    app = sample_app(developer=developer, url=url)
    client_secret = rotate_client_secret(app=app)
    if app.installations.exists() and state_file.exists():
        return SampleAppCredentials(app.client_id, client_secret, None, None)
    installed = test_install(app=app, developer=developer)
    return SampleAppCredentials(
        app.client_id, client_secret, installed.access_token, installed.webhook_secret
    )


def sample_app(*, developer: User, url: str) -> App:
    """Order Bell, made and approved where it is missing; outside of a review it follows the sample app to another port."""
    addresses = {
        "redirect_url": f"{url}/callback",
        "webhook_url": f"{url}/webhooks" if settings.ALLOW_LOCAL_DESTINATIONS else "",
    }
    app = App.objects.of_developer(developer).filter(slug=SAMPLE_APP_SLUG).first()
    if app is None:
        app = _create_sample_app(developer, addresses)
    if app.status == AppStatus.PENDING_REVIEW:
        return app
    app = update_app(app=app, changes=addresses)
    listed = app.approved_version
    if listed is None or any(getattr(listed, name) != address for name, address in addresses.items()):
        _pass_review(app)
        app.refresh_from_db()
    return app


def _create_sample_app(developer: User, addresses: dict[str, Any]) -> App:
    app = create_app(
        developer=developer,
        name="Order Bell",
        slug=SAMPLE_APP_SLUG,
        description="Rings for every order: a small sample app that shows the webhooks it receives.",
        category="communication",
        scopes=list(SCOPES),
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


def _picture(file: Path) -> Decoded:
    return decode(SimpleUploadedFile(file.name, file.read_bytes()))
