"""`/developer/apps/:appId/release`: how the newest approved version reaches stores (contract, section 10)."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import NotFound
from common.rest.schema import problem
from developers.api.serializers.bodies import ReleaseReason
from developers.api.serializers.responses import ReleaseSerializer
from developers.api.views.base import DeveloperView, validated
from extensions.releases.watch import shown
from marketplace.models import App, Release
from marketplace.queries import release_of
from marketplace.services import releases

NOT_NOW = problem("The release's state doesn't allow it.")


class _ReleaseView(DeveloperView):
    tag = "Review"

    def body(self, release: Release) -> dict[str, Any]:
        app = App.objects.get(pk=release.version.app_id)
        return dict(ReleaseSerializer(shown(app, release, timezone.now())).data)


class ReleaseView(_ReleaseView):
    @extend_schema("getRelease", responses=ReleaseSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get the release.

        Of the newest approved version, also after it was taken back. 404 before the first approval.
        """
        release = release_of(self.own_app(app_id))
        if release is None:
            raise NotFound("The app has no approved version yet")
        return Response(self.body(release))


class AdvanceReleaseView(_ReleaseView):
    @extend_schema("advanceRelease", request=None, responses={200: ReleaseSerializer, 409: NOT_NOW})
    def post(self, request: Request, app_id: str) -> Response:
        """Begin the next step.

        The last step is all stores: the release is COMPLETE.
        """
        return Response(self.body(releases.advance(app=self.own_app(app_id), by=self.developer)))


class HaltReleaseView(_ReleaseView):
    @extend_schema("haltRelease", request=ReleaseReason, responses={200: ReleaseSerializer, 409: NOT_NOW})
    def post(self, request: Request, app_id: str) -> Response:
        """Halt the release.

        No store comes in and none goes back. New installs and the listing have the version before.
        """
        remarks = validated(ReleaseReason, request)
        return Response(self.body(releases.halt(app=self.own_app(app_id), by=self.developer, **remarks)))


class ResumeReleaseView(_ReleaseView):
    @extend_schema("resumeRelease", request=None, responses={200: ReleaseSerializer, 409: NOT_NOW})
    def post(self, request: Request, app_id: str) -> Response:
        """Resume a halted release.

        Its step begins again, and only calls from then on decide whether it halts and when it ends. 409 while the app is suspended.
        """
        return Response(self.body(releases.resume(app=self.own_app(app_id), by=self.developer)))


class TakeBackView(_ReleaseView):
    @extend_schema("takeBackRelease", request=ReleaseReason, responses={200: ReleaseSerializer, 409: NOT_NOW})
    def post(self, request: Request, app_id: str) -> Response:
        """Take the version back.

        Within 5 seconds every store runs the version before, without a review. The working copy stays.
        """
        remarks = validated(ReleaseReason, request)
        return Response(self.body(releases.take_back(app=self.own_app(app_id), by=self.developer, **remarks)))
