"""What every endpoint for apps does before and after its own work."""

from contextlib import suppress
from typing import Any, cast

from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from accounts.models import Business
from appapi import limits
from common.errors import NotFound, TooManyRequests
from common.rest.query import Query
from common.rest.views import JsonView
from installations.authentication import RequiresScope, TokenAuthentication
from installations.models import Installation


class AppApiView(JsonView):
    """An endpoint that an installation's access token opens.

    A view names the scope of its methods in `required_scope`. The order of errors (contract section 9) is
    429, 401, 403, then 415, 413 and 400 as `self.read` meets them, then what the service raises. So a
    method reads its body or query before it looks anything up.
    """

    authentication_classes = [TokenAuthentication]
    permission_classes = [RequiresScope]
    required_scope: str | dict[str, str | None] | None

    @property
    def installation(self) -> Installation:
        return cast(Installation, self.request.auth)

    @property
    def business(self) -> Business:
        return self.installation.business

    def perform_authentication(self, request: Request) -> None:
        """Authenticate, and count the request whatever came of it: 429 stands before 401."""
        caller: Installation | None = None
        try:
            super().perform_authentication(request)
            caller = self.installation
        finally:
            self._count(request, caller)

    def read(
        self, serializer: type[BaseSerializer], *, partial: bool = False, **context: Any
    ) -> dict[str, Any]:
        """The valid body, with `partial` only what it names. Raises what leads to 415, 413 or 400, with every
        problem at once."""
        given = serializer(data=self.request.data, partial=partial, context=context)
        given.is_valid(raise_exception=True)
        return given.validated_data

    def query(self) -> Query:
        return Query(self.request.query_params)

    def _count(self, request: Request, caller: Installation | None) -> None:
        state = limits.count(request, caller)
        if not state.allowed:
            message = (
                f"More than {state.limit} requests in a minute. Try again in {state.retry_after} seconds."
            )
            raise TooManyRequests(message, retry_after=state.retry_after)


class UnknownPath(AppApiView):
    """Anything else below `/app-api` and `/webhooks`: absent, with a token and without, but counted."""

    schema = None  # no part of the OpenAPI document
    required_scope = None

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Without the framework's `Allow`: what is absent has no methods."""
        return {}

    def perform_authentication(self, request: Request) -> None:
        with suppress(AuthenticationFailed):
            super().perform_authentication(request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(f"There is nothing at {request.path}.")
