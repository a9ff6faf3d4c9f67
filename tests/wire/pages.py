"""Every route of both hosts, read from the URL conf, and something real for each parameter of its path."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from django.utils.regex_helper import normalize

from accounts.models import User
from conformance.enums import RunStatus, Sender
from conformance.models import Run
from extensions.models import HookCall
from marketplace.models import Picture
from stores.models import ProductPicture, SitePage

PLATFORM, STORES = "platform", "stores"
URLCONFS = {PLATFORM: settings.ROOT_URLCONF, STORES: "config.store_urls"}

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
    """Who asks for the routes below a path, and what their parameters are."""

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


def subject_of(route: Route, subjects: dict[str, Subject]) -> Subject:
    """The one with the longest beginning of the route."""
    place = route.form if route.host == PLATFORM else f"{STORES}/{route.form}"
    return subjects[max((start for start in subjects if place.startswith(start)), key=len)]


def subjects_of(cast: SimpleNamespace) -> dict[str, Subject]:
    """By the beginning of a route: the cast of `tools.screenshots`, each with what is theirs."""
    dana, sent, desk, framed = cast.dana, cast.sent, cast.desk, cast.framed
    rae = User.objects.create_superuser("root@example.com", name="Root")
    call = HookCall.objects.filter(definition__app=cast.rates).latest("id")
    now = timezone.now()
    run = Run.objects.create(
        app=cast.rates, sender=Sender.PLATFORM, status=RunStatus.PASSED, deadline_at=now, ended_at=now
    )
    order = {"order_id": desk["paid"].pk, "product_id": desk["product"].pk, "review_id": desk["review"].pk}
    of_app = {
        "slug": cast.stars.slug,
        "app_id": cast.stars.pk,
        "webhook_id": sent["good"].pk,
        "delivery_id": sent["failed"].pk,
        "call_id": sent["calls"]["order"].pk,
        "thread_id": sent["calls"]["order"].pk,
        "section": "access",
        "listener_id": "nothing",
        "export_id": "nothing",
    }
    return {
        "": Subject(None, {"key": "nothing", "slug": cast.store["shop"].slug}),
        "app-api/": Subject(None, of_app | order | {"slug": "bread"}),
        "webhooks/": Subject(None, of_app),
        "developer/": Subject(None, of_app | {"number": 1, "check_id": "nothing"}),
        "accounts/login/": Subject(None, {}),
        "accounts/register/": Subject(None, {}),
        "accounts/security/": Subject(cast.theo, {"pk": 1}),
        "oauth/authorize": Subject(
            cast.mira, {}, f"response_type=code&client_id={cast.bell.client_id}&state=xyz"
        ),
        "accounts/": Subject(dana, {"token": "x", "token_id": "x", "key": "x-x", "uidb36": "x", "pk": 1}),
        "docs/": Subject(dana, {"slug": "products", "operation": "listProducts", "name": "order.created"}),
        "docs/guides/": Subject(dana, {"slug": "quickstart"}),
        "portal/": Subject(dana, of_app),
        "portal/apps/%(slug)s/versions/": Subject(dana, {"slug": cast.till.slug, "number": 1}),
        "portal/apps/%(slug)s/manifest/history/": Subject(dana, {"slug": cast.till.slug, "save_id": cast.first_save.pk}),
        "portal/apps/%(slug)s/checks/": Subject(dana, {"slug": run.app.slug, "run_id": run.pk}),
        "portal/apps/%(slug)s/hooks/": Subject(
            dana,
            {
                "slug": cast.rates.slug,
                "point": call.definition.content["hookPoint"],
                "call_id": call.pk,
                "installation_id": call.installation_id,
            },
        ),
        "merchant/": Subject(dana, order | {"page_id": desk["page"].pk}),
        "merchant/pages/": Subject(
            cast.framed["shop"].owner, {"page_id": framed["page"].pk, "placement_id": framed["block"].pk}
        ),
        "merchant/apps/": Subject(
            cast.framed["shop"].owner,
            {
                "installation_id": framed["installation"].pk,
                "embed_id": framed["chat"].pk,
                "page_id": "summary",
                "point": "order.validate",
            },
        ),
        "merchant/apps/%(installation_id)s/checkout/": Subject(
            cast.mira, {"installation_id": cast.at_shop["working"].pk, "point": "order.validate"}
        ),
        "marketplace/": Subject(cast.mira, {"slug": cast.bell.slug}),
        "media/": Subject(None, {"picture_id": Picture.objects.latest("id").pk}),
        "media/stores/": Subject(None, {"picture_id": ProductPicture.objects.latest("id").pk}),
        "admin/": Subject(rae, {"id": dana.pk, "app_label": "accounts", "url": "x", "content_type_id": 1, "object_id": 1}),
        **_admin(rae),
        "stores/": Subject(
            None,
            {
                "product_slug": desk["product"].slug,
                "page_slug": SitePage.objects.get(pk=desk["page"].pk).slug,
                "key": cast.store["orders"]["waiting"],
            },
        ),
        "stores/media/": Subject(None, {"picture_id": Picture.objects.latest("id").pk}),
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
