"""`/developer/apps`: a developer's apps and their client secrets."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import TokenRight
from accounts.models import User
from accounts.services.confirmation import require_confirmed
from common.rest.parsers import JsonParser
from common.rest.schema import problem
from common.web.pagination import page_body, page_request
from developers.api.parsers import PictureFormParser, refuse_empty_form
from developers.api.serializers.bodies import AppChanges, AppPictures, NewApp
from developers.api.serializers.responses import AppSerializer, ClientSecretSerializer, CreatedAppSerializer
from developers.api.views.base import NO_STORE, DeveloperView, validated
from extensions.queries import manifest_documents
from marketplace.access import roles_of
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.queries import own_apps
from marketplace.services.apps import create_app, delete_app, rotate_client_secret, update_app

IN_REVIEW = problem("The app is in review.")


class AppsView(DeveloperView):
    tag = "Apps"
    path_fields = {}
    page_default = 20

    @extend_schema("listApps", responses=AppSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your apps: those of which you are a member."""
        wanted = page_request(request.query_params, default=self.page_default, maximum=self.page_maximum)
        apps = own_apps(self.developer)
        page = payloads(apps[wanted.window], self.developer)
        return Response(page_body(page, total=apps.count(), request=wanted))

    @extend_schema(
        "createApp",
        request=NewApp,
        responses={
            201: OpenApiResponse(CreatedAppSerializer, "The app, a draft."),
            409: problem("The slug is taken."),
        },
    )
    def post(self, request: Request) -> Response:
        """Register an app.

        No other response shows the `clientSecret`.
        """
        require_confirmed(self.developer)  # a 403 comes before a 400
        issued = create_app(developer=self.developer, **validated(NewApp, request))
        return Response(
            payload(issued.app, self.developer) | {"clientSecret": issued.client_secret},
            status=201,
            headers=NO_STORE,
        )

    def still_may(self, needs: str) -> None:
        require_confirmed(self.developer)


class AppView(DeveloperView):
    tag = "Apps"
    token_rights = {"DELETE": TokenRight.DELETE}
    app_roles = {"DELETE": AppRole.OWNER}
    parser_classes = [JsonParser, PictureFormParser]

    @extend_schema("getApp", responses=AppSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get an app."""
        return Response(payload(self.own_app(app_id), self.developer))

    @extend_schema(
        "changeApp",
        request={"application/json": AppChanges, "multipart/form-data": AppPictures},
        examples=[
            OpenApiExample(
                "Change",
                {"description": "Stars for regulars, and a coffee for ten.", "version": "1.4.0"},
                request_only=True,
            )
        ],
        responses={
            200: AppSerializer,
            409: IN_REVIEW,
            413: problem("The body is larger than 1 MiB, with pictures 32 MiB."),
        },
    )
    def patch(self, request: Request, app_id: str) -> Response:
        """Edit an app.

        Any of the fields; send pictures as multipart/form-data. Editing an APPROVED app makes its working
        copy a DRAFT; the approved version stays listed.
        """
        refuse_empty_form(request)
        changes = validated(AppChanges, request, partial=True)
        updated = update_app(app=self.own_app(app_id), changes=changes)
        return Response(payload(updated, self.developer))

    @extend_schema(
        "deleteApp",
        responses={204: None, 409: problem("The app was approved before, and merchants may use it.")},
    )
    def delete(self, request: Request, app_id: str) -> Response:
        """Delete an app.

        Only while it was never approved.
        """
        delete_app(app=self.own_app(app_id))
        return Response(status=204)


class ClientSecretView(DeveloperView):
    tag = "Apps"
    token_rights = {"POST": TokenRight.SECRETS}

    @extend_schema("rotateClientSecret", responses={201: ClientSecretSerializer})
    def post(self, request: Request, app_id: str) -> Response:
        """Rotate the client secret.

        The old one stops working at once.
        """
        secret = rotate_client_secret(app=self.own_app(app_id), by=self.developer)
        return Response({"clientSecret": secret}, status=201, headers=NO_STORE)


def payloads(apps: Iterable[App], caller: User) -> list[Any]:
    apps = list(apps)
    context = {"manifests": manifest_documents(apps), "roles": roles_of(apps, caller)}
    return list(AppSerializer(apps, many=True, context=context).data)


def payload(app: App, caller: User) -> dict[str, Any]:
    return dict(payloads([app], caller)[0])
