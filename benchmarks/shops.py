"""The rows that benchmarks work on: endpoints on businesses of their own, and deliveries that are due."""

from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

import orjson
from allauth.account.models import EmailAddress
from django.db import connection, transaction
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business, User
from benchmarks.processes import wait_for
from benchmarks.targets import Target
from common.secrets import new_webhook_secret
from extensions.enums import ExtensionType
from extensions.models import Definition, LiveDefinition
from installations.models import Installation
from marketplace.enums import Category
from marketplace.models import App, AppVersion
from stores.hookpoints import HookPoint
from webhooks import catalogue
from webhooks.enums import WAITING
from webhooks.messages import message
from webhooks.models import Attempt, Delivery, Event, Webhook

EVENT_TYPE = "order.created"
DATA = catalogue.EVENTS[EVENT_TYPE].example
SCOPES = [scope] if (scope := catalogue.EVENTS[EVENT_TYPE].scope) else []


def endpoints(urls: Sequence[str]) -> list[Webhook]:
    """A webhook for each URL, every one of an app and a business of its own. Never seen before."""
    developer, merchant = user(Role.DEVELOPER), user(Role.MERCHANT)
    installations = Installation.objects.bulk_create(
        installation(app(developer), _business(merchant)) for _ in urls
    )
    return Webhook.objects.bulk_create(
        webhook(installation, url) for installation, url in zip(installations, urls, strict=True)
    )


def listeners(business: Business, urls: Sequence[str]) -> list[Webhook]:
    """Webhooks of one business, 20 for an app, as many as an app may have."""
    developer = user(Role.DEVELOPER)
    installations = Installation.objects.bulk_create(
        installation(app(developer), business) for _ in urls[::20]
    )
    return Webhook.objects.bulk_create(
        webhook(installations[number // 20], url) for number, url in enumerate(urls)
    )


def business() -> Business:
    return _business(user(Role.MERCHANT))


def hooked(url: str, point: HookPoint) -> tuple[Business, Installation, Definition]:
    """A business with one app, whose hook at the point lies directly below `url`."""
    owner, made = business(), app(user(Role.DEVELOPER))
    AppVersion.objects.filter(app=made).update(webhook_url=url)
    installed = installation(made, owner)
    installed.save()
    hook = hook_of(made, point)
    return owner, installed, hook


def hook_of(app: App, point: HookPoint) -> Definition:
    """A hook of the app, in force."""
    content = {"hookPoint": point, "url": "0", "timeout": 5000, "priority": 100}
    hook = Definition.objects.create(app=app, type=ExtensionType.HOOK, key=point, position=0, content=content)
    LiveDefinition.objects.create(definition=hook, version=app.approved_version, content=content)
    return hook


def add_due(webhooks: Sequence[Webhook], count: int) -> None:
    """`count` deliveries, each of an event of its own, to the webhooks in turn; all due from now on."""
    now = timezone.now()
    with transaction.atomic():
        for start in range(0, count, 5000):
            numbers = range(start, min(start + 5000, count))
            _add([webhooks[number % len(webhooks)] for number in numbers], now)


def _add(webhooks: Sequence[Webhook], now: datetime) -> None:
    data = message_data()
    events = Event.objects.bulk_create(
        Event(business_id=webhook.installation.business_id, type=EVENT_TYPE, data=data, occurred_at=now)
        for webhook in webhooks
    )
    Delivery.objects.bulk_create(
        Delivery(event=event, webhook=webhook, due_at=now, created_at=now)
        for event, webhook in zip(events, webhooks, strict=True)
    )


def anything_waits() -> bool:
    """Asked in two parts, each of which an index answers."""
    waiting = Delivery.objects.filter(status__in=WAITING)
    return (
        waiting.filter(lease_until=None).exists()
        or Delivery.objects.filter(lease_until__isnull=False).exists()
    )


def wait_until_sent(timeout: float) -> None:
    """Return once nothing is due or under way any more."""
    wait_for(lambda: not anything_waits(), timeout, "the deliveries to be recorded")


def forget_deliveries() -> None:
    """Empty the tables that a run fills."""
    tables = ", ".join(
        connection.ops.quote_name(model._meta.db_table) for model in (Attempt, Delivery, Event)
    )
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables} CASCADE")


def target(webhook: Webhook) -> Target:
    """What the dispatcher would send to this webhook, for the baseline to send the same."""
    event = Event(
        business_id=webhook.installation.business_id,
        type=EVENT_TYPE,
        data=message_data(),
        occurred_at=timezone.now(),
    )
    request = message.compose(
        event=event,
        delivery_id=uuid4(),
        webhook_id=webhook.id,
        url=webhook.url,
        secret=webhook.secret,
        now=timezone.now(),
    )
    return Target(url=webhook.url, secret=webhook.secret, headers=request.headers, body=request.body.decode())


def message_data() -> str:
    return orjson.dumps(DATA).decode()


def _business(owner: User) -> Business:
    return Business.objects.create(owner=owner, name="Shop", slug=f"shop-{uuid4()}")


def app(developer: User) -> App:
    fields = {
        "name": "App",
        "description": "Listens.",
        "category": Category.values[0],
        "scopes": SCOPES,
        "redirect_url": "https://app.example.com/callback",
    }
    app = App.objects.create(developer=developer, slug=f"app-{uuid4()}", **fields)
    app.approved_version = AppVersion.objects.create(
        app=app, number=1, developer_name=developer.name, **fields
    )
    app.save(update_fields=["approved_version"])
    return app


def installation(app: App, business: Business) -> Installation:
    return Installation(
        app=app,
        business=business,
        agreed_version=app.approved_version,
        runs=app.approved_version,
        webhook_secret=new_webhook_secret(test=False),
        granted_scopes=SCOPES,
        installed_by_id=business.owner_id,
    )


def webhook(installation: Installation, url: str) -> Webhook:
    secret = new_webhook_secret(test=False)
    return Webhook(installation=installation, url=url, secret=secret, events=[EVENT_TYPE])


def user(role: Role) -> User:
    """With an address that is confirmed, so that the stores of a merchant are open."""
    person = User.objects.create(email=f"{uuid4()}@example.com", name="Kim", role=role, password="!")
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    return person
