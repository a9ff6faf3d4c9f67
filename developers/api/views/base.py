"""What every call of the developer API shares."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, cast

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.enums import TokenRight
from accounts.models import User
from accounts.sign_in.tokens import DeveloperAuthentication, HasTokenRight, IsDeveloper
from common.errors import NotFound, ServiceError
from common.ids import parse_id
from common.rest.idempotency import owner_of
from common.rest.schema import problem
from common.rest.views import KeyedView
from common.web.limits import count_request
from developers.api.serializers.responses import AppId, renamed
from marketplace.access import require_role
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.queries import own_app

NO_STORE = {"Cache-Control": "no-store"}
NOT_INSTALLED = problem("The app is not installed on your sandbox.")


class DeveloperView(KeyedView):
    """A call with a developer's JWT or token. Problems that a service finds go out under the API's names."""

    authentication_classes = [DeveloperAuthentication]
    permission_classes = [IsDeveloper, HasTokenRight]
    path_fields = {"app_id": AppId()}
    is_limited = True
    token_rights: ClassVar[Mapping[str, TokenRight]] = {}  # by method, what a developer token needs
    app_roles: ClassVar[
        Mapping[str, AppRole]
    ] = {}  # by method, the least role; VIEWER reads, DEVELOPER writes

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """The role comes before the body: a member who may not write gets a 403, whatever they send."""
        super().initial(request, *args, **kwargs)
        self.app: App | None = None
        if "app_id" not in kwargs:
            return
        usual = AppRole.VIEWER if request.method in SAFE_METHODS else AppRole.DEVELOPER
        with suppress(NotFound):  # after a 400
            app = own_app(self.developer, kwargs["app_id"])
            require_role(app, self.developer, self.app_roles.get(request.method or "", usual))
            self.app = app

    @property
    def developer(self) -> User:
        return cast(User, self.request.user)

    def perform_authentication(self, request: Request) -> None:
        super().perform_authentication(request)
        self.count(self.developer)

    def count(self, caller: User) -> None:
        """Count the request. Raises `TooManyRequests`."""
        count_request(caller)

    def key_owner(self) -> str:
        return owner_of("person", self.developer.pk)

    def has_foreign_path(self) -> bool:
        """An app of which the caller isn't a member, or isn't any more. One that is gone was perhaps theirs."""
        if "app_id" not in self.kwargs or self.app:
            return False
        app_id = parse_id(self.kwargs["app_id"])
        return app_id is None or App.objects.live().filter(pk=app_id).exists()

    def needs(self) -> str:
        """The app, by its id."""
        return str(self.app.pk) if self.app else ""

    def still_may(self, needs: str) -> None:
        """The app of a path was looked up before. A test store's is known by the answer that is kept."""
        if needs and "app_id" not in self.kwargs:
            is_there = App.objects.live().filter(pk=needs).exists()
            if is_there and not App.objects.developed_by(self.developer).filter(pk=needs).exists():
                raise NotFound("Test store not found")

    def own_app(self, app_id: str) -> App:
        """Raises `NotFound` for an app of which the caller isn't a member."""
        return self.app or own_app(self.developer, app_id)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ServiceError):
            exc.details = renamed(exc.details)
        return super().handle_exception(exc)


def validated(body: type[Serializer], request: Request, **options: Any) -> dict[str, Any]:
    """The body by its serializer. Raises DRF's `ValidationError` with every problem."""
    serializer = body(data=request.data, **options)
    serializer.is_valid(raise_exception=True)
    return cast(dict[str, Any], serializer.validated_data)
