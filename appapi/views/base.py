"""The base class of the endpoints for apps: authentication, rate limit and reading requests."""

from copy import copy
from functools import lru_cache
from typing import Any, cast

from rest_framework.request import Request
from rest_framework.serializers import Serializer

from accounts.models import Business
from appapi import middleware
from appapi.middleware import call_of
from common.db.outages import is_outage
from common.errors import NotAllowed
from common.rest.idempotency import owner_of
from common.rest.query import Query
from common.rest.views import KeyedView, UnknownEndpoint
from common.web.pagination import PageRequest
from installations.authentication import RequiresScope, TokenAuthentication, refusal, scope_needed
from installations.models import Installation


@lru_cache(maxsize=200)
def _with_fields(serializer: type[Serializer], partial: bool, **context: str) -> Serializer:
    """A serializer without a body, whose copies share its fields: to make them for each order costs more than to check it."""
    made = serializer(partial=partial, context=context)
    made.fields  # noqa: B018  else each copy makes its own
    return made


class AppApiView(KeyedView):
    """An endpoint that needs an installation's access token.

    A view lists the scopes of its methods in `required_scope`. Errors come in this order (contract, section 9): 429,
    401, 403, then 415, 413 and 400 from `self.read`, then errors of the service. So a method reads its body or query
    before it reads from the database.
    """

    requests_a_minute = middleware.REQUESTS_A_MINUTE
    authentication_classes = [TokenAuthentication]
    permission_classes = [RequiresScope]
    required_scope: str | dict[str, str | None] | None
    _scopes_used: tuple[str, ...] = ()

    @property
    def installation(self) -> Installation:
        return cast(Installation, self.request.auth)

    @property
    def business(self) -> Business:
        return self.installation.business

    def perform_authentication(self, request: Request) -> None:
        """Authenticate, then count the request even if that failed: 429 comes before 401. An outage of ours is a 503, however often."""
        try:
            super().perform_authentication(request)
        except Exception as error:
            if not is_outage(error):
                self._count(request, None)
            raise
        call_of(self.request).installation = self.installation
        self._count(request, self.installation)

    def check_permissions(self, request: Request) -> None:
        """Also note for the log which scope the call needs, and whether it has it."""
        call = call_of(request)
        scope = call.scope = scope_needed(request.method or "GET", self) or ""
        super().check_permissions(request)
        call.has_scope = True
        if scope:
            call.scopes_used = (scope,)

    def uses(self, *scopes: str) -> None:
        """Note the scopes of what the call read, where the endpoint itself needs none."""
        self._scopes_used = call_of(self.request).scopes_used = scopes

    def key_owner(self) -> str:
        return owner_of("installation", self.installation.pk)

    def needs(self) -> str:
        """The scopes that the call used beyond the endpoint's own."""
        return " ".join(self._scopes_used)

    def still_may(self, needs: str) -> None:
        for scope in needs.split():
            if scope not in self.installation.effective_scopes:
                raise NotAllowed(refusal(self.installation, scope))

    def read(self, serializer: type[Serializer], *, partial: bool = False, **context: str) -> dict[str, Any]:
        """The validated body; with `partial` only the fields it has. Raises for 415, 413 or 400 with all problems."""
        body = copy(_with_fields(serializer, partial, **context))
        body.initial_data = self.request.data
        body.is_valid(raise_exception=True)
        return body.validated_data

    def query(self) -> Query:
        return Query(self.request.query_params)

    def page(self, query: Query) -> PageRequest:
        return query.page(default=self.page_default, maximum=self.page_maximum)

    def _count(self, request: Request, caller: Installation | None) -> None:
        middleware.RATE.check(request, f"installation:{caller.pk}" if caller else "")


class UnknownPath(UnknownEndpoint, AppApiView):
    """Any other path below `/app-api` and `/webhooks`."""

    permission_classes = []
    required_scope = None
