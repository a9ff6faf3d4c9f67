"""`/developer/apps`: a developer's apps and their client secrets."""

from rest_framework.request import Request
from rest_framework.response import Response

from common.pages import page_body, page_request
from common.rest.parsers import JsonParser
from developers.api.parsers import PictureFormParser, refuse_empty_form
from developers.api.serializers import AppChanges, NewApp
from developers.api.views.base import NO_STORE, DeveloperView, validated
from developers.api.wire import app_record
from developers.queries import own_apps
from extensions.queries import manifest_document, manifest_documents
from marketplace.services.apps import create_app, delete_app, rotate_client_secret, update_app


class AppsView(DeveloperView):
    def get(self, request: Request) -> Response:
        wanted = page_request(request.query_params, default=20, maximum=100)
        apps = own_apps(self.developer)
        page = list(apps[wanted.window])
        manifests = manifest_documents(page)
        records = [app_record(app, manifests.get(app.id, {})) for app in page]
        return Response(page_body(records, total=apps.count(), request=wanted))

    def post(self, request: Request) -> Response:
        """Create an app. The answer is the only place where its client secret is ever shown."""
        issued = create_app(developer=self.developer, **validated(NewApp, request))
        record = app_record(issued.app, {}) | {"clientSecret": issued.client_secret}
        return Response(record, status=201, headers=NO_STORE)


class AppView(DeveloperView):
    parser_classes = [JsonParser, PictureFormParser]

    def get(self, request: Request, app_id: str) -> Response:
        app = self.own_app(app_id)
        return Response(app_record(app, manifest_document(app)))

    def patch(self, request: Request, app_id: str) -> Response:
        refuse_empty_form(request)
        changes = validated(AppChanges, request, partial=True)
        app = update_app(app=self.own_app(app_id), changes=changes)
        return Response(app_record(app, manifest_document(app)))

    def delete(self, request: Request, app_id: str) -> Response:
        delete_app(app=self.own_app(app_id))
        return Response(status=204)


class ClientSecretView(DeveloperView):
    def post(self, request: Request, app_id: str) -> Response:
        secret = rotate_client_secret(app=self.own_app(app_id))
        return Response({"clientSecret": secret}, status=201, headers=NO_STORE)
