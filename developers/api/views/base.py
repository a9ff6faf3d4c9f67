"""What every call of the developer API shares."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.enums import TokenRight
from accounts.models import User
from accounts.sign_in.authentication import DeveloperAuthentication, HasTokenRight, IsDeveloper
from common.errors import ServiceError
from common.rest.schema import problem
from common.rest.views import JsonView
from developers import limits
from developers.api.serializers.responses import AppId, renamed
from marketplace.models import App
from marketplace.queries import own_app

NO_STORE = {"Cache-Control": "no-store"}
NOT_INSTALLED = problem("The app is not installed on your sandbox.")


class DeveloperView(JsonView):
    """A call with a developer's JWT or token. Problems that a service finds go out under the API's names."""

    authentication_classes = [DeveloperAuthentication]
    permission_classes = [IsDeveloper, HasTokenRight]
    path_fields = {"app_id": AppId()}
    is_limited = True
    token_rights: ClassVar[Mapping[str, TokenRight]] = {}  # by method, what a developer token needs

    @property
    def developer(self) -> User:
        return cast(User, self.request.user)

    def perform_authentication(self, request: Request) -> None:
        super().perform_authentication(request)
        self.count(self.developer)

    def count(self, caller: User) -> None:
        """Count the request. Raises `TooManyRequests`."""
        limits.count_request(caller)

    def own_app(self, app_id: str) -> App:
        return own_app(self.developer, app_id)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ServiceError):
            exc.details = renamed(exc.details)
        return super().handle_exception(exc)


def validated(body: type[Serializer], request: Request, **options: Any) -> dict[str, Any]:
    """The body by its serializer. Raises DRF's `ValidationError` with every problem."""
    serializer = body(data=request.data, **options)
    serializer.is_valid(raise_exception=True)
    return cast(dict[str, Any], serializer.validated_data)
