"""Every route of both hosts, read from the URL conf, and something real for each parameter of its path.

All else about a page is in `tests/pages_table.py`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve
from django.utils import timezone
from django.utils.regex_helper import normalize

from accounts.models import User
from conformance.enums import RunStatus, Sender
from conformance.models import Run
from developers.sdks.packages import NODE, PACKAGES, PYTHON
from extensions.models import HookCall
from marketplace.models import Picture
from stores.models import ProductPicture

PLATFORM, STORES = "platform", "stores"
URLCONFS = {PLATFORM: settings.ROOT_URLCONF, STORES: "config.store_urls"}

PLACE = re.compile(r"\{[^}]*\}+")
STORE = re.compile(r"^/store/[^/?]+")
EXAMPLES = ("x", "1", "01900000-0000-7000-8000-000000000000")  # for each type that a place of a path has

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Route:
    host: str
    form: str  # `portal/apps/%(slug)s/`
    parameters: tuple[str, ...]
    name: str
    view: Callable[..., Any]

    def __str__(self) -> str:
        return f"{self.host} /{self.form}"

    def path(self, values: Values) -> str:
        return "/" + self.form % values


@dataclass(frozen=True, slots=True)
class Subject:
    """The person who asks for the routes below a path, and what their parameters are."""

    person: User | None
    values: Values
    query: str = ""


def routes() -> list[Route]:
    return [
        route
        for host, urlconf in URLCONFS.items()
        for route in _routes(get_resolver(urlconf).url_patterns, host)
    ]


def _routes(
    patterns: list[URLPattern | URLResolver],
    host: str,
    before: str = "",
    names: tuple[str, ...] = (),
    namespace: str = "",
) -> Iterator[Route]:
    for each in patterns:
        form, parameters = normalize(each.pattern.regex.pattern)[0]
        found = (*names, *parameters)
        if isinstance(each, URLResolver):
            inner = f"{namespace}{each.namespace}:" if each.namespace else namespace
            yield from _routes(each.url_patterns, host, before + form, found, inner)
        else:
            if hasattr(each.callback, "methods"):  # what answers unknown paths
                form = "nothing/here"
            yield Route(host, before + form, found, f"{namespace}{each.name or ''}", each.callback)


def name_at(path: str) -> str:
    """The name of the route that a path leads to, whatever its `{places}` stand for; empty for none. A store's path is a shopper's."""
    plain = urlsplit(path).path
    store = STORE.match(plain)
    for example in EXAMPLES:
        filled = PLACE.sub(example, plain[store.end() :] if store else plain)
        try:
            match = resolve(filled, URLCONFS[STORES if store else PLATFORM])
        except Resolver404:
            continue
        if match.view_name:
            return match.view_name
    return ""


def subject_of(route: Route, subjects: dict[str, Subject]) -> Subject:
    """The one with the longest beginning of the route."""
    place = route.form if route.host == PLATFORM else f"{STORES}/{route.form}"
    return subjects[max((start for start in subjects if place.startswith(start)), key=len)]


def subjects_of(cast: SimpleNamespace) -> dict[str, Subject]:
    """By the beginning of a route: the cast of `tools.screenshots`, each with what is theirs."""
    devi, mary, sent, at_bakery = cast.devi, cast.mary, cast.sent, cast.at_shop["bell"]
    rae = User.objects.create_superuser("root@example.com", name="Root")
    call = HookCall.objects.filter(definition__app=cast.bell).latest("id")
    now = timezone.now()
    run = Run.objects.create(
        app=cast.bell, sender=Sender.PLATFORM, status=RunStatus.PASSED, deadline_at=now, ended_at=now
    )
    order = {"order_id": cast.orders["paid"].pk, "product_id": cast.product.pk, "review_id": cast.review.pk}
    of_store = {"page_id": cast.about.pk, "placement_id": cast.block.pk, "erasure_id": cast.erased.pk}
    of_store["customer_id"] = cast.orders["ada"].pk
    of_app = {
        "slug": cast.bell.slug,
        "app_id": cast.bell.pk,
        "webhook_id": sent["good"].pk,
        "delivery_id": sent["failed"].pk,
        "call_id": cast.calls["order"].pk,
        "thread_id": cast.calls["order"].pk,
        "section": "access",
        "listener_id": "nothing",
        "member_id": cast.membership.pk,
        "save_id": cast.first_save.pk,
        "run_id": run.pk,
        "number": 1,
        "export_id": "nothing",
    }
    return {
        "": Subject(None, {"key": "nothing", "slug": cast.shop.slug}),
        "sdk/python/": Subject(None, {"name": PYTHON, "file": PACKAGES[PYTHON].file_name}),
        "sdk/node/": Subject(None, {"file": PACKAGES[NODE].file_name}),
        "app-api/": Subject(None, of_app | order | {"slug": "bread"}),
        "webhooks/": Subject(None, of_app),
        "placements/": Subject(None, {"business_id": "nothing"}),
        "store-api/": Subject(
            None,
            {
                "store": "main",
                "id": "p-1",
                "person": "p-1",
                "erasure_id": "nothing",
                "order_id": "p-1",
                "point": "order.validate",
            },
        ),
        "developer/": Subject(None, of_app | {"check_id": "nothing", "store_id": "nothing"}),
        "accounts/login/": Subject(None, {}),
        "accounts/register/": Subject(None, {}),
        "accounts/security/": Subject(cast.theo, {"pk": 1}),
        "oauth/authorize": Subject(
            mary, {}, f"response_type=code&client_id={cast.bell.client_id}&state=xyz"
        ),
        "accounts/": Subject(devi, {"token": "x", "token_id": "x", "key": "x-x", "uidb36": "x", "pk": 1}),
        "search/": Subject(devi, {}, "q=order"),
        "docs/": Subject(devi, {"slug": "products", "operation": "listProducts", "name": "order.created"}),
        "docs/guides/": Subject(devi, {"slug": "quickstart"}),
        "portal/": Subject(devi, of_app),
        "portal/invitations/": Subject(devi, {"token": "x"}),
        "portal/apps/%(slug)s/hooks/": Subject(
            devi,
            {
                "slug": cast.bell.slug,
                "point": call.definition.content["hookPoint"],
                "call_id": call.pk,
                "installation_id": call.installation_id,
            },
        ),
        "merchant/": Subject(mary, order | of_store | {"member_id": cast.staff_row.pk}),
        "merchant/continue/": Subject(None, {"key": "nothing"}),
        "merchant/invitations/": Subject(mary, {"token": "x"}),
        "merchant/businesses/%(business_id)s/": Subject(cast.aiko, {"business_id": cast.staff_row.business_id}),
        "merchant/apps/": Subject(
            mary,
            {
                "installation_id": at_bakery.pk,
                "embed_id": cast.ring.pk,
                "page_id": "overview",
                "point": "order.validate",
            },
        ),
        "marketplace/": Subject(mary, {"slug": cast.bell.slug}),
        "marketplace/trials/": Subject(mary, {"trial_id": at_bakery.pk}),
        "media/": Subject(None, {"picture_id": Picture.objects.latest("id").pk}),
        "media/platform/": Subject(None, {"name": "logo.png"}),
        "media/stores/": Subject(None, {"picture_id": ProductPicture.objects.latest("id").pk}),
        "admin/": Subject(rae, {"id": devi.pk, "app_label": "accounts", "url": "x", "content_type_id": 1, "object_id": 1}),
        **_admin(rae),
        "stores/": Subject(
            None,
            {
                "product_slug": cast.product.slug,
                "page_slug": cast.about.slug,
                "key": cast.orders["waiting"].key,
            },
        ),
        "stores/media/": Subject(None, {"picture_id": Picture.objects.latest("id").pk}),
        "stores/media/platform/": Subject(None, {"name": "logo.png"}),
        "stores/media/stores/": Subject(None, {"picture_id": ProductPicture.objects.latest("id").pk}),
    }  # fmt: skip


def _admin(person: User) -> dict[str, Subject]:
    """Each model's pages with an object of it."""
    Group.objects.get_or_create(name="Helpers")
    return {
        f"admin/{model._meta.app_label}/{model._meta.model_name}/": Subject(
            person, {"object_id": model.objects.order_by("pk")[0].pk, "id": person.pk}
        )
        for model in admin.site._registry  # noqa: SLF001
    }
