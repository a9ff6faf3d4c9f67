"""`/developer/apps/:appId/test-…`: an app on the developer's own sandbox."""

from rest_framework.request import Request
from rest_framework.response import Response

from developers.api import wire
from developers.api.views.base import NO_STORE, DeveloperView
from installations import services
from installations.queries import sandbox_installation


class TestInstallView(DeveloperView):
    def post(self, request: Request, app_id: str) -> Response:
        issued = services.test_install(app=self.own_app(app_id), developer=self.developer)
        return Response(wire.test_install_record(issued), status=201, headers=NO_STORE)


class TestStatusView(DeveloperView):
    def get(self, request: Request, app_id: str) -> Response:
        installation = sandbox_installation(app=self.own_app(app_id), developer=self.developer)
        return Response(wire.test_status_record(installation))


class TestUninstallView(DeveloperView):
    def post(self, request: Request, app_id: str) -> Response:
        ended = services.test_uninstall(app=self.own_app(app_id), developer=self.developer)
        return Response(wire.test_uninstall_record(ended))
