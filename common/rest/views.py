"""The base classes of all JSON endpoints."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, cast

from django.http import HttpRequest, HttpResponseBase
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.fields import Field
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from common.errors import NotFound, Unauthenticated
from common.rest import idempotency
from common.rest.deprecation import Deprecation


class JsonView(APIView):
    """The class attributes are for the OpenAPI document (`common.rest.schema`), and the page sizes for views too."""

    tag: ClassVar[str]  # the heading of the view's operations
    path_fields: ClassVar[dict[str, Field]] = {}  # by their names in the URL conf
    page_default: ClassVar[int] = 50
    page_maximum: ClassVar[int] = 100
    requests_a_minute: ClassVar[int | None] = None
    is_limited: ClassVar[bool] = False  # whether there is a 429 without rate headers, too
    error_serializer: ClassVar[type[BaseSerializer] | None] = (
        None  # where errors have another shape than usual
    )

    deprecations: ClassVar[Mapping[str, Deprecation]] = {}  # by method; their answers have its headers

    # Whether unsafe calls may be repeated under an `Idempotency-Key` (`KeyedView`).
    takes_keys: ClassVar[bool] = False

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if deprecation := self.deprecations.get(request.method or ""):
            for name, value in deprecation.headers.items():
                response[name] = value
        return response


class KeyedView(JsonView, ABC):
    """A view whose unsafe calls may be repeated under an `Idempotency-Key`, unless a subclass accepts none."""

    takes_keys = True
    waits_for_strangers: bool = False  # set by `may_wait_for_strangers`
    # Whether a call with a key runs in one, unless it waits for servers of others.
    is_one_transaction: ClassVar[bool] = True
    claim: idempotency.ClaimedKey | None = None

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        return idempotency.ApiRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
            parser_context=self.get_parser_context(request),
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        method = (request.method or "").lower()
        handler = getattr(self, method, None) if method in self.http_method_names else None
        if self.takes_keys and handler and request.method not in SAFE_METHODS:
            # Called in the method's place, once the `initial` of subclasses is done, too.
            setattr(self, method, partial(idempotency.answer_once, self, handler))

    @abstractmethod
    def key_owner(self) -> str:
        """Whose the keys are: an installation's, a person's."""

    def has_foreign_path(self) -> bool:
        """Whether the path names a thing of others. Such a call looks at no key."""
        return False

    def needs(self) -> str:
        """What the call needed besides its credential, kept with its answer for `still_may`."""
        return ""

    def still_may(self, needs: str) -> None:
        """Raises what the call would raise if the caller may not make it any more."""

    def keep(self, response: HttpResponseBase) -> None:
        """Keep the answer of a call with a key, in the transaction of what it changed. For calls that wait for servers of others."""
        if self.claim:
            request = cast(idempotency.ApiRequest, self.request)
            idempotency.keep(self.claim, response, request, needs=self.needs())


class UnknownEndpoint(KeyedView, ABC):
    """A path that leads nowhere: a 404 with or without a credential, which counts for the rate limit. First of the bases."""

    takes_keys = False
    schema = None  # not in the OpenAPI document

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Without the framework's `Allow` header: an unknown path has no methods."""
        return {}

    def perform_authentication(self, request: Request) -> None:
        with suppress(AuthenticationFailed, Unauthenticated):
            super().perform_authentication(request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(f"No such endpoint: {request.method} {request.path}.", code="unknown_path")
