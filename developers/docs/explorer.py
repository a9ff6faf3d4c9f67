"""The API explorer: runs a call of the app API for a developer's own app, on the developer's sandbox store.

The request goes through all of the middleware and views, inside this process. It names the holder of the installation's
token to `installations.authentication`, so no token is needed, made or shown. Rate limit, scopes and log are those of any other call.
"""

import json
import re
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from time import perf_counter
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes, urlencode
from uuid import uuid4

from django import forms
from django.db.models import Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.models import Business, User
from common.errors import status_name
from common.rest.bodies import MAX_BODY
from common.text.nesting import indented
from common.tracing import REQUEST_ID_HEADER
from common.web.requests import Request, RequestHandler
from developers.docs.openapi.samples import PARAMETER
from developers.docs.reference import ApiOperation
from installations.authentication import act_as_holder
from installations.models import Installation
from stores.enums import ProductStatus
from stores.models import Order, Product, SitePage
from webhooks.models import Delivery, Webhook

MOST_SHOWN: Final = 64 * 1024  # characters of a response
# What the outer request knows of its client and its way here. Cookies and credentials stay outside.
PASSED_ON: Final[tuple[str, ...]] = (
    "REMOTE_ADDR", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "HTTP_HOST", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO",
    "wsgi.url_scheme", "wsgi.version", "wsgi.errors", "wsgi.multithread", "wsgi.multiprocess", "wsgi.run_once",
)  # fmt: skip
# For browsers that show a page, and of no use to an app.
HIDDEN: Final = (
    "Content-Security-Policy", "Permissions-Policy", "X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy",
    "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExplorerResponse:
    status: int
    milliseconds: int
    headers: list[tuple[str, str]]
    body: str
    is_cut: bool

    @property
    def title(self) -> str:
        return f"{self.status} {status_name(self.status)}"

    @property
    def kind(self) -> str:
        """Of the pill: ok, warn, bad."""
        if self.status < 400:
            return "ok"
        return "warn" if self.status < 500 else "bad"

    def header(self, name: str) -> str:
        return dict(self.headers).get(name, "")

    @property
    def request_id(self) -> str:
        return self.header(REQUEST_ID_HEADER)

    @property
    def limit(self) -> int:
        return int(self.header("X-RateLimit-Limit") or 0)

    @property
    def low(self) -> int:
        """From this number of remaining requests on the bar warns."""
        return self.limit // 4

    @property
    def remaining(self) -> int:
        return int(self.header("X-RateLimit-Remaining") or 0)


def sandbox_installations(developer: User) -> list[Installation]:
    """The developer's own apps on the sandbox store, newest install first, by one query."""
    found = Installation.objects.active().with_app().select_related("business").defer("webhook_secret")
    mine = found.filter(is_own=True, app__deleted_at=None, business__in=Business.objects.owned_by(developer))
    return list(mine.order_by("-installed_at"))


def sample_ids(installation: Installation | None) -> dict[str, str]:
    """IDs of the sandbox store, by the names of path parameters. Empty without an installation."""
    if installation is None:
        return {}
    business = installation.business
    products = Product.objects.filter(business=business, status=ProductStatus.ACTIVE, is_available=True)
    product = products.filter(Q(stock=None) | Q(stock__gt=1)).order_by("-id").first()
    order = Order.objects.filter(business=business).order_by("-id").first()
    page = SitePage.objects.filter(business=business, is_published=True).order_by("-id").first()
    webhook = Webhook.objects.filter(installation=installation, deleted_at=None).order_by("-id").first()
    delivery = Delivery.objects.filter(webhook=webhook).order_by("-id").first() if webhook else None
    return {
        name: str(value)
        for name, value in {
            "productId": product and product.pk,
            "productSlug": product and product.slug,
            "orderId": order and order.pk,
            "pageSlug": page and page.slug,
            "webhookId": webhook and webhook.pk,
            "deliveryId": delivery and delivery.pk,
        }.items()
        if value
    }


class CallForm(forms.Form):
    """The fields of one call: `path.<name>`, `query.<name>`, `header.<name>`, `body`."""

    def __init__(self, endpoint: ApiOperation, data: Any = None, *, ids: dict[str, str]) -> None:
        super().__init__(data)
        self.endpoint = endpoint
        parameters = {each["name"]: each for each in endpoint.operation["parameters"]}
        for place, row in endpoint.parameters:
            schema = parameters[row.path]["schema"]
            field: forms.Field = forms.CharField(
                label=row.path, required=row.required, help_text=row.about, max_length=2000
            )
            if row.values and place == "query" and schema.get("type") != "array":
                field = forms.ChoiceField(
                    label=row.path,
                    required=row.required,
                    help_text=row.about,
                    choices=[("", "Any"), *((value, value) for value in row.values)],
                )
            field.initial = _initial(place, row.path, schema, endpoint, ids)
            self.fields[f"{place}.{row.path}"] = field
        if endpoint.body:
            body = json.dumps(_with_ids(endpoint.sent, ids), indent=2, ensure_ascii=False)
            rows = min(24, body.count("\n") + 2)
            self.fields["body"] = forms.CharField(
                label="Request body",
                required=False,
                strip=False,
                max_length=MAX_BODY,
                initial=body,
                widget=forms.Textarea({"rows": rows, "class": "code-text", "spellcheck": "false"}),
            )

    @property
    def places(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields by their place in the request."""
        names = {"path": "Path", "query": "Query", "header": "Headers", "body": "Body"}
        found = [
            (title, [field for field in self if field.name.partition(".")[0] == place])
            for place, title in names.items()
        ]
        return [(title, fields) for title, fields in found if fields]

    def values(self, place: str) -> dict[str, str]:
        """What was entered at one place, without empty values."""
        return {
            name.partition(".")[2]: value
            for name, value in self.cleaned_data.items()
            if name.startswith(f"{place}.") and value
        }

    @property
    def path(self) -> str:
        given = self.values("path")
        return PARAMETER.sub(lambda found: quote(given[found[1]], safe=""), self.endpoint.path)


def _initial(
    place: str, name: str, schema: dict[str, Any], endpoint: ApiOperation, ids: dict[str, str]
) -> str:
    """A value of the sandbox store or of the samples; other optional ones stay empty."""
    if place == "path":
        known = {"slug": "pageSlug" if "/pages/" in endpoint.path else "productSlug"}.get(name, name)
        return ids.get(known, str(schema["examples"][0]))
    if name == "Idempotency-Key":
        return f"explorer-{uuid4().hex[:8]}"
    return str(schema["examples"][0]) if name in ("page", "limit", "days") else ""


def _with_ids(value: Any, ids: dict[str, str]) -> Any:
    """A sample body with the IDs of the sandbox store."""
    if isinstance(value, dict):
        return {
            key: ids.get(key, each) if isinstance(each, str) else _with_ids(each, ids)
            for key, each in value.items()
        }
    return [_with_ids(each, ids) for each in value] if isinstance(value, list) else value


def run(outer: HttpRequest, installation: Installation, form: CallForm) -> ExplorerResponse:
    """Send the call of a valid form for an installation on a sandbox store."""
    assert installation.business.is_sandbox
    body = form.cleaned_data.get("body", "").encode()
    environ: dict[str, Any] = {name: outer.META[name] for name in PASSED_ON if name in outer.META}
    environ |= {
        "REQUEST_METHOD": form.endpoint.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _as_wsgi(form.path),
        "QUERY_STRING": urlencode(form.values("query")),
        "HTTP_ACCEPT": "application/json",
        "wsgi.input": BytesIO(body),
        "CONTENT_LENGTH": str(len(body)),
    }
    if body:
        environ["CONTENT_TYPE"] = "application/json"
    for name, value in form.values("header").items():
        if not re.search(r"[\r\n\0]", value):
            environ[f"HTTP_{name.upper().replace('-', '_')}"] = value
    act_as_holder(environ, installation)
    began = perf_counter()
    # A context of its own, since the call has its own request ID and trace.
    response: HttpResponseBase = copy_context().run(_handler().get_response, Request(environ))
    took = perf_counter() - began
    text = getattr(response, "content", b"").decode("utf-8", "replace")
    return ExplorerResponse(
        status=response.status_code,
        milliseconds=round(took * 1000),
        headers=[(name, value) for name, value in response.headers.items() if name not in HIDDEN],
        body=indented(text)[:MOST_SHOWN],
        is_cut=len(text) > MOST_SHOWN,
    )


def _as_wsgi(path: str) -> str:
    """A path as servers pass it on: decoded, as Latin-1."""
    return unquote_to_bytes(path).decode("latin-1")


@cache
def _handler() -> RequestHandler:
    return RequestHandler()
