"""The OpenAPI 3.1 document of the service.

drf-spectacular walks the URL conf and reads `@extend_schema` beside each view, Django's views of OAuth included. A
view without it is an error. Parts of all operations are in `common.rest.schema`; requests of the platform are in
`developers.docs.openapi.calls`.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from threading import Lock
from typing import Any, Final, cast

import orjson
from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from rest_framework.views import APIView

from accounts.sign_in.tokens import DeveloperAuthentication
from common.errors import ERROR_CODE_HEADER
from common.rest.fields import Integer, Text
from common.rest.schema import OperationSchema, Schema
from common.rest.views import JsonView
from developers.docs.openapi import calls
from installations.authentication import TokenAuthentication, scope_needed
from marketplace.scopes import SCOPES

ACCESS_TOKEN, DEVELOPER_TOKEN, CLIENT, SHOP_KEY = (
    "accessToken",
    "developerToken",
    "clientCredentials",
    "shopKey",
)
KEYED = "storeapi.views.base.KeyAuthentication"  # by its name, since doors don't import each other

# The headings of the pages, in their order.
TAGS = {
    "Products": "The store's products.",
    "Orders": "The store's orders: reading them, placing them, changing their status.",
    "Reviews": "Customers' reviews of products.",
    "Business and site": "The store itself: its sales figures, details and pages.",
    "Exports": "All records of a list in one file, for an app's first sync.",
    "Installation": "The app on this business.",
    "Webhooks": "The URLs that receive events, and each delivery's result. Any token may call these; an event is "
    "delivered while the app holds its scope.",
    "Apps": "Registering and editing apps. Another developer's app returns 404.",
    "Extensions": "What an app adds to stores.",
    "Review": "Submitting an app, and the reviewers' decisions.",
    "Members": "The people who work on an app: its owner, developers and viewers.",
    "Testing": "An app on its developer's own sandbox, and checks of its server.",
    "Deliveries and analytics": "The deliveries to an app's installations, and its installs.",
    "Connected stores": "The stores of a shop with software of its own, which pushes them here.",
    "Rows": "Products, orders, reviews and pages of a connected store, under the shop's own ids.",
    "Checkout": "What the apps of a connected store answer at its checkout, and the payments that they make.",
    "Customers": "Customers of a connected store who want to be erased.",
    "People": "The people of a connected store, whom the shop signs in.",
    "OAuth": "An app's server exchanges the code from a merchant's consent for a token, and revokes the token. "
    "The client authenticates with Client ID and client secret.",
    "Accounts": "How a developer gets the token of the developer API.",
    **calls.TAGS,
}


class UndescribedEndpoint(Exception):
    """A method of an API's view has no `@extend_schema`."""


class AccessToken(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = ACCESS_TOKEN

    def get_security_requirement(self, auto_schema: AutoSchema) -> dict[str, list[str]]:
        scope = scope_needed(auto_schema.method, auto_schema.view)
        return {self.name: [scope] if scope else []}

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        scopes = "\n".join(f"- `{scope.name}`: {scope.sentence}" for scope in SCOPES.values())
        about = f"The token of an installation, from `/oauth/token`. Its scopes:\n\n{scopes}"
        return {"type": "http", "scheme": "bearer", "bearerFormat": "fbat_…", "description": about}


class DeveloperTokenScheme(OpenApiAuthenticationExtension):
    target_class = DeveloperAuthentication
    name = DEVELOPER_TOKEN

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        about = (
            "A developer's access token (a JWT), from `/auth/login`, or a developer token (`fbdt_…`), from the page "
            "Tokens of the account or `/developer/device`. Calls that name a right refuse developer tokens without it (403): "
            "the rights are selected when the token is created, and a token of `/developer/device` has none."
        )
        return {"type": "http", "scheme": "bearer", "description": about}


class ShopKeyScheme(OpenApiAuthenticationExtension):
    target_class = KEYED
    name = SHOP_KEY

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        about = "The key of a connected shop, which an operator of the platform makes."
        return {"type": "http", "scheme": "bearer", "bearerFormat": "fbsk_…", "description": about}


class Endpoints(EndpointEnumerator):
    """The methods of DRF's views, and those of Django's views that `@extend_schema` describes."""

    def should_include_endpoint(self, path: str, callback: Any) -> bool:
        return bool(described(callback)) or super().should_include_endpoint(path, callback)

    def get_allowed_methods(self, callback: Any) -> list[str]:
        return list(described(callback)) or super().get_allowed_methods(callback)


def described(callback: Any) -> dict[str, Callable[..., Any]]:
    """The described methods of a view that is not DRF's. A function answers GET, a class POST."""
    if hasattr(callback, "cls"):
        return {}
    view = getattr(callback, "view_class", None)
    handlers: dict[str, Any] = {"POST": getattr(view, "post", None)} if view else {"GET": callback}
    return {method: handler for method, handler in handlers.items() if hasattr(handler, "kwargs")}


class Generator(SchemaGenerator):
    endpoint_inspector_cls = Endpoints

    def create_view(self, callback: Any, method: str, request: Any = None) -> APIView:
        if handlers := described(callback):
            view = getattr(callback, "view_class", None)
            own = {name: getattr(view, name) for name in ("tag", "error_serializer") if hasattr(view, name)}
            methods = {name.lower(): handler for name, handler in handlers.items()}
            callback = cast(Any, type("DjangoView", (JsonView,), own | methods)).as_view()
        if not hasattr(getattr(callback.cls, method.lower()), "kwargs"):
            raise UndescribedEndpoint(f"{callback.cls.__name__}.{method.lower()} has no @extend_schema.")
        return cast(APIView, super().create_view(callback, method, request))


def complete(result: Schema, **options: Any) -> Schema:
    """drf-spectacular's post-processing hook: all that is not an endpoint."""
    components = result["components"]
    components["schemas"] |= calls.components()
    components["headers"] = headers()
    components["securitySchemes"][CLIENT] = {
        "type": "http", "scheme": "basic", "description": "Client ID and client secret of an app.",
    }  # fmt: skip
    tags = [{"name": name, "description": about} for name, about in TAGS.items()]
    return result | {"webhooks": calls.webhooks(), "tags": tags}


def headers() -> Schema:
    fields = {
        "X-Request-Id": Text(
            "Names this response, for questions and logs.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01"
        ),
        "X-RateLimit-Limit": Integer(
            "Requests a minute: of an installation over /app-api and /webhooks together, of a shop over /store-api.",
            60,
            min_value=1,
        ),
        "X-RateLimit-Remaining": Integer("Requests left in this window.", 59, min_value=0),
        "X-RateLimit-Reset": Integer("The Unix time at which the window ends.", 1795187105, min_value=0),
        ERROR_CODE_HEADER: Text(
            "The error's stable name, which `/docs/errors/` explains. More names may be added.",
            "not_found",
            schema={"pattern": "^[a-z][a-z0-9_]*$"},
        ),
        "Retry-After": Integer("Seconds to wait before the next request.", 12, min_value=0),
        "WWW-Authenticate": Text("How to authenticate.", "Bearer"),
    }
    found = {
        name: OperationSchema().parameter(name, field, "header", required=True)
        for name, field in fields.items()
    }
    return {
        name: {key: header[key] for key in ("description", "required", "schema")}
        for name, header in found.items()
    }


_MAKING: Final = (
    Lock()
)  # drf-spectacular looks for its own parts the first time, and two threads at once find half of them


@cache
def document() -> Schema:
    """The whole document. It depends on the settings alone, so it is made once."""
    with _MAKING:
        made = Generator(urlconf=settings.ROOT_URLCONF).get_schema(request=None, public=True)
    made["info"]["title"] = settings.PLATFORM_NAME
    made["servers"] = [{"url": settings.BASE_URL}]
    return cast(Schema, deepcopy(made))


@cache
def document_text() -> bytes:
    return orjson.dumps(document(), option=orjson.OPT_INDENT_2)
