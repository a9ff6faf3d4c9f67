"""What a developer finds in the portal: their apps, by name or id, and by id what their apps sent, received and called."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from accounts.models import User
from activity.models import ApiCall
from common.db.folding import folded
from common.ids import parse_id
from common.web.found import MOST, Found, actions
from developers.portal.navigation import SECTIONS
from installations.models import Installation
from marketplace.access import role_of
from marketplace.enums import AppRole, AppStatus
from marketplace.models import App
from marketplace.queries import own_apps
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

_APP_PAGE: Final = re.compile(r".*?/portal/apps/([-\w]+)/")


def in_portal(person: User, text: str) -> Iterator[Found]:
    """At most `MOST` of a kind, of apps of which the person is a member."""
    if not person.is_developer:
        return
    wanted = parse_id(text.lower())
    apps = own_apps(person)
    named = Q(pk=wanted) if wanted else Q(name__finds=text) | Q(slug__finds=text) | Q(client_id=text)
    for app in apps.filter(named)[:MOST]:
        yield Found(
            "App", app.name, app.get_status_display(), reverse("portal:app", args=[app.slug]), "boxes"
        )
    if wanted:
        yield from _with_id(list(apps), wanted)
    else:
        yield from islice(_pages(apps[:MOST], folded(text)), MOST)


def actions_in_portal(person: User, at: str) -> Iterator[Found]:
    """What the person may do with the app whose page is at the path `at`, else with the newest one."""
    if not person.is_developer:
        return
    own = own_apps(person)
    here = _APP_PAGE.match(at)
    app = (own.filter(slug=here[1]).first() if here else None) or own.first()
    if app is not None and role_of(app, person) != AppRole.VIEWER:
        deliveries = f"{_page('deliveries', app)}?status={DeliveryStatus.EXHAUSTED}"
        rows = [
            ("Place a test order", _page("test_install", app), "flask-conical"),
            ("Resend failed deliveries", deliveries, "send"),
            ("Edit the manifest", _page("manifest", app), "braces"),
            ("Check the app", _page("checks", app), "list-checks"),
        ]
        if app.status == AppStatus.DRAFT:
            rows.append(("Submit for review", _page("review", app), "clipboard-list"))
        yield from actions(rows, app.name)
    yield from actions([("Create an app", reverse("portal:app_create"), "plus")], "")


def _page(name: str, app: App) -> str:
    return reverse(f"portal:{name}", args=[app.slug])


def _pages(apps: Iterable[App], text: str) -> Iterator[Found]:
    """By their heading, of the newest apps."""
    tabs = [(each, section.icon) for section in SECTIONS for each in section.tabs if not each.is_for_owner]
    for tab, icon in tabs:
        if folded(tab.name).startswith(text):
            for app in apps:
                url = reverse(f"portal:{tab.route}", args=[app.slug])
                yield Found("Page of an app", tab.name, app.name, url, icon)


def _with_id(apps: Sequence[App], wanted: UUID) -> Iterator[Found]:
    by_id = {app.pk: app for app in apps}
    own = Delivery.objects.filter(app_id__in=by_id)
    if delivery := own.filter(pk=wanted).first():
        app = by_id[delivery.app_id]
        url = reverse("portal:delivery", args=[app.slug, delivery.pk])
        yield Found("Delivery", delivery.event_type, app.name, url, "send")
    for app_id in own.filter(event=wanted).order_by().values_list("app_id", flat=True).distinct()[:MOST]:
        yield _filtered("Event", by_id[app_id], "deliveries", f"q={wanted}", "send")
    for call in ApiCall.objects.filter(pk=wanted, app__in=by_id)[:1]:
        app = by_id[call.app_id]
        url = reverse("portal:request", args=[app.slug, call.pk])
        yield Found("API call", f"{call.method} {call.path}", app.name, url, "list")
    for app_id in Webhook.objects.filter(pk=wanted, installation__app__in=by_id).values_list(
        "installation__app", flat=True
    ):
        yield _filtered("Webhook", by_id[app_id], "deliveries", f"webhook={wanted}", "webhook")
    for app_id in Installation.objects.filter(pk=wanted, app__in=by_id).values_list("app", flat=True):
        yield _filtered("Installation", by_id[app_id], "requests", f"installation={wanted}", "store")


def _filtered(kind: str, app: App, page: str, query: str, icon: str) -> Found:
    return Found(
        kind,
        f"{kind} {query.partition('=')[2]}",
        app.name,
        f"{reverse(f'portal:{page}', args=[app.slug])}?{query}",
        icon,
    )
