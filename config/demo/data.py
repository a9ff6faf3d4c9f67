"""The demo's people, shops and app, made by the services that users reach. Safe to run at every start."""

from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import Group, Permission

from accounts.enums import Role
from accounts.models import User
from accounts.services import register
from installations.services.sandbox import test_install
from marketplace.models import App
from marketplace.scopes import SCOPES
from marketplace.services.apps import create_app
from stores.sandbox import fill_store

PASSWORD = "extension-demo"  # noqa: S105  printed at every start of the demo
DEVELOPER = "developer@example.com"
MERCHANT = "merchant@example.com"
REVIEWER = "reviewer@example.com"
SAMPLE_APP_SLUG = "order-bell"


@dataclass(frozen=True)
class SampleAppCredentials:
    """What the sample app is started with; the token is None where it has been connected before."""

    access_token: str | None


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
        reviewer = User.objects.create_user(
            REVIEWER, PASSWORD, name="Rae Reviewer", role=Role.REVIEWER, is_staff=True
        )
        reviewer.groups.add(_reviewers())


def connect_sample_app(*, state_file: Path, redirect_url: str) -> SampleAppCredentials:
    """Install the sample app on the developer's sandbox, unless it still holds what it was given."""
    developer = User.objects.get(email=DEVELOPER)
    app = App.objects.of_developer(developer).filter(slug=SAMPLE_APP_SLUG).first()
    if app is None:
        app = create_app(
            developer=developer,
            name="Order Bell",
            slug=SAMPLE_APP_SLUG,
            description="Rings for every order: a small sample app that shows the webhooks it receives.",
            category="communication",
            scopes=list(SCOPES),
            redirect_url=redirect_url,
        ).app
    elif state_file.exists():
        return SampleAppCredentials(access_token=None)
    return SampleAppCredentials(access_token=test_install(app=app, developer=developer).access_token)


def _reviewers() -> Group:
    """Who reviews sees apps; an administrator gives more."""
    group, _ = Group.objects.get_or_create(name="Reviewers")
    group.permissions.add(Permission.objects.get(content_type__app_label="marketplace", codename="view_app"))
    return group
