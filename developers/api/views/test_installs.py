"""`/developer/apps/:appId/test-…`: an app on the developer's own sandbox."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.services.confirmation import require_confirmed
from developers.api.serializers.responses import (
    TestInstallSerializer,
    TestStatusSerializer,
    TestUninstallSerializer,
)
from developers.api.views.base import NO_STORE, NOT_INSTALLED, DeveloperView
from installations import services
from installations.queries import sandbox_installation


class TestInstallView(DeveloperView):
    tag = "Testing"

    @extend_schema("testInstall", responses={201: TestInstallSerializer})
    def post(self, request: Request, app_id: str) -> Response:
        """Install an app for testing.

        On your sandbox. If it is installed already: the same installation and webhook secret, and a new
        access token.
        """
        require_confirmed(self.developer)  # a 403 comes before a 404
        issued = services.test_install(app=self.own_app(app_id), developer=self.developer)
        return Response(TestInstallSerializer(issued).data, status=201, headers=NO_STORE)

    def still_may(self, needs: str) -> None:
        require_confirmed(self.developer)


class TestStatusView(DeveloperView):
    tag = "Testing"

    @extend_schema("testStatus", responses=TestStatusSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get the test install's status.

        Only `installed` is present if the app is not installed.
        """
        installation = sandbox_installation(app=self.own_app(app_id), developer=self.developer)
        if installation is None:
            return Response({"installed": False})
        return Response(TestStatusSerializer(installation).data)


class TestUninstallView(DeveloperView):
    tag = "Testing"

    @extend_schema("testUninstall", responses={200: TestUninstallSerializer, 409: NOT_INSTALLED})
    def post(self, request: Request, app_id: str) -> Response:
        """End the test install."""
        ended = services.test_uninstall(app=self.own_app(app_id), developer=self.developer)
        return Response(TestUninstallSerializer(ended).data)
