"""What follows a new credential: a page that shows it once, in the response to the form that created it, and example API requests as curl
commands.
"""

import json
import shlex
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url

from accounts.models import Business
from installations.models import Installation
from marketplace.models import App
from marketplace.scopes import SCOPE_OF_EVENT
from stores.enums import ProductStatus
from stores.models import Product
from webhooks.catalogue import DATA_ERASURE

TO_FILL_IN: Final = "YOUR_ACCESS_TOKEN"
SECRET_TO_FILL_IN: Final = "YOUR_CLIENT_SECRET"  # noqa: S105
EXAMPLE_WEBHOOK_URL: Final = "https://your-server.example/webhooks"


def first_path(installation: Installation) -> str:
    """A GET that the token may send."""
    if "read_products" in installation.effective_scopes:
        return "/app-api/products?limit=3"
    return "/app-api/installation"


def first_calls(installation: Installation, token: str) -> list[tuple[str, str]]:
    """Pairs of title and curl command, for calls that the token's scopes allow. The first is the GET of `first_path`."""
    scopes = installation.effective_scopes
    path = first_path(installation)
    title = "Get the installation" if path.endswith("/installation") else "List products"
    calls = [(title, _curl(token, path))]
    if "write_orders" in scopes and (product := _orderable_product(installation.business)):
        calls.append(("Place an order", _curl(token, "/app-api/orders", _order(product))))
    if events := [event for event, scope in SCOPE_OF_EVENT.items() if scope in scopes]:
        body = {"url": installation.webhook_url or EXAMPLE_WEBHOOK_URL, "events": events[:1]}
        calls.append(("Register a webhook", _curl(token, "/webhooks", body)))
    return calls


def registration_call(app: App) -> str:
    """The curl command that registers a webhook for the app's first event, with a placeholder for the token."""
    events = [event for event, scope in SCOPE_OF_EVENT.items() if scope in app.scopes]
    body = {"url": EXAMPLE_WEBHOOK_URL, "events": events[:1] or [DATA_ERASURE]}
    return _curl(TO_FILL_IN, "/webhooks", body)


def exchange_call(app: App, code: str, redirect_uri: str) -> str:
    """The curl command that exchanges an authorization code, with a placeholder for the client secret."""
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
    url = shlex.quote(f"{settings.BASE_URL}/oauth/token")
    parts = [f"curl {url}", f"-u {shlex.quote(f'{app.client_id}:{SECRET_TO_FILL_IN}')}"]
    parts += [f"-d {shlex.quote(pair)}" for pair in urlencode(fields).split("&")]
    return " \\\n  ".join(parts)


def _orderable_product(business: Business) -> Product | None:
    products = Product.objects.filter(business=business, status=ProductStatus.ACTIVE, is_available=True)
    return products.filter(stock=None).first() or products.filter(stock__gt=0).first()


def _order(product: Product) -> dict[str, Any]:
    return {
        "items": [{"productId": str(product.id), "quantity": 1}],
        "customer": {"name": "Kim Test", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }


def _curl(token: str, path: str, body: dict[str, Any] | None = None) -> str:
    """A GET, or a POST if there is a body."""
    parts = [f"curl {shlex.quote(settings.BASE_URL + path)}", f"-H 'Authorization: Bearer {token}'"]
    if body is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(json.dumps(body, indent=2))}"]
    return " \\\n  ".join(parts)


CONFLICT = 409


def client_secret_page(request: HttpRequest, app: App, secret: str) -> HttpResponse:
    env = f"CLIENT_ID={app.client_id}\nCLIENT_SECRET={secret}"
    next_url = resolve_url("portal:credentials", app.slug)
    context = {"app": app, "secret": secret, "env": env, "next_url": next_url}
    return render(request, "developers/portal/apps/client_secret.html", context)


def already_shown(
    request: HttpRequest, app: App, *, what: str, at: datetime, create_url: str
) -> HttpResponse:
    """The page for a form that was sent before, by a reload or the Back button. Nothing is created again.

    `what` was shown `at` that time. A new one can be created at `create_url`.
    """
    context = {"app": app, "what": what, "at": at, "create_url": create_url}
    return render(request, "developers/portal/apps/secret_gone.html", context, status=CONFLICT)
