"""What an app may know about its own installation."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.views.base import AppApiView
from common.times import iso
from extensions.queries import settings_of


class OwnInstallation(AppApiView):
    required_scope = None

    def get(self, request: Request) -> Response:
        installation = self.installation
        return Response(
            {
                "installationId": str(installation.pk),
                "businessId": str(installation.business_id),
                "isTestInstall": installation.is_test,
                "needsReConsent": installation.needs_reconsent,
                "scopes": installation.effective_scopes,
                "settings": settings_of(installation),
                "installedAt": iso(installation.installed_at),
            }
        )
