"""`/developer/apps/:appId/submit`, `/submissions`, `/withdraw`: an app on its way through review; and `/release`: how the newest approved
version reaches stores (contract, section 10).
"""

from typing import Any, Final

from django.conf import settings
from django.shortcuts import resolve_url
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import NotFound
from common.rest.schema import problem
from common.web.pagination import page_body, page_request
from conformance.enums import Outcome
from developers.api.serializers import responses
from developers.api.serializers.bodies import NewSubmission, ReleaseReason
from developers.api.views.apps import payload
from developers.api.views.base import DeveloperView, validated
from developers.readiness import readiness
from extensions.releases.watch import shown
from extensions.services.manifests import restore_version
from extensions.submission import submit_app
from marketplace.models import App, Release
from marketplace.queries import release_of, submissions_of, versions_of
from marketplace.services import releases, reviews

OUTCOMES: Final = {"ok": Outcome.PASS, "warn": Outcome.WARN, "bad": Outcome.FAIL, "neutral": Outcome.SKIPPED}
MAX_DIGITS = 9  # of a version's number, which the column holds


class SubmitView(DeveloperView):
    tag = "Review"

    @extend_schema(
        "submitApp",
        request=NewSubmission,
        responses={
            201: responses.SubmissionSerializer,
            400: problem("The body is wrong, or the app is incomplete: `details` list the problems."),
            409: problem(
                "The app is in review, approved and unchanged, or its last version is still being released."
            ),
        },
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Submit an app for review.

        DRAFT becomes PENDING_REVIEW. So does APPROVED while the working copy differs from the version that runs.
        """
        remarks = validated(NewSubmission, request)
        made = submit_app(app=self.own_app(app_id), developer=self.developer, **remarks)
        return Response(responses.SubmissionSerializer(made).data, status=201)


class ReadinessView(DeveloperView):
    tag = "Review"

    @extend_schema("getReadiness", responses=responses.ReadinessSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """List what a reviewer will see.

        The items of the page **Review** before a submission: what is missing, and what a reviewer will likely question.
        """
        app = self.own_app(app_id)
        items = [
            {"criterion": criterion, "outcome": OUTCOMES[item.kind], "title": item.title, "about": item.about}
            for criterion, found in readiness(app).groups
            for item in found
        ]
        page = settings.BASE_URL + resolve_url("portal:review", app.slug)
        return Response(responses.ReadinessSerializer({"url": page, "items": items}).data)


class SubmissionsView(DeveloperView):
    tag = "Review"

    @extend_schema("listSubmissions", responses=responses.SubmissionSerializer(many=True))
    def get(self, request: Request, app_id: str) -> Response:
        """List an app's submissions."""
        wanted = page_request(request.query_params)
        submissions = submissions_of(self.own_app(app_id))
        page = responses.SubmissionSerializer(submissions[wanted.window], many=True).data
        return Response(page_body(list(page), total=submissions.count(), request=wanted))


class VersionsView(DeveloperView):
    tag = "Review"

    @extend_schema("listVersions", responses=responses.VersionSerializer(many=True))
    def get(self, request: Request, app_id: str) -> Response:
        """List an app's approved versions."""
        wanted = page_request(request.query_params)
        versions = versions_of(self.own_app(app_id)).select_related("app")
        page = responses.VersionSerializer(versions[wanted.window], many=True).data
        return Response(page_body(list(page), total=versions.count(), request=wanted))


class RestoreVersionView(DeveloperView):
    tag = "Review"
    path_fields = DeveloperView.path_fields | {"number": responses.VersionNumber()}

    @extend_schema(
        "restoreVersion",
        responses={
            200: responses.AppSerializer,
            409: problem("It would widen the app's reach, or the app is in review or suspended."),
        },
    )
    def post(self, request: Request, app_id: str, number: str) -> Response:
        """Restore an approved version.

        With its manifest, in stores and as the working copy. Needs no review.
        """
        app = self.own_app(app_id)
        if not number.isascii() or not number.isdigit() or len(number) > MAX_DIGITS:
            raise NotFound("Version not found")
        restored = restore_version(app=app, developer=self.developer, number=int(number))
        return Response(payload(restored, self.developer))


class WithdrawView(DeveloperView):
    tag = "Review"

    @extend_schema(
        "withdrawApp",
        responses={
            200: responses.SubmissionSerializer,
            409: problem("The app is not in review, or a reviewer has taken it."),
        },
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Withdraw a submission.

        Only until a reviewer takes it.
        """
        withdrawn = reviews.withdraw(app=self.own_app(app_id), developer=self.developer)
        return Response(responses.SubmissionSerializer(withdrawn).data)


# --- Releases ----------------------------------------------------------------------------------------

NOT_NOW = problem("The release's state doesn't allow it.")


class _ReleaseView(DeveloperView):
    tag = "Review"

    def body(self, release: Release) -> dict[str, Any]:
        app = App.objects.get(pk=release.version.app_id)
        return dict(responses.ReleaseSerializer(shown(app, release, timezone.now())).data)


class ReleaseView(_ReleaseView):
    @extend_schema("getRelease", responses=responses.ReleaseSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get the release.

        Of the newest approved version, also after it was taken back. 404 before the first approval.
        """
        release = release_of(self.own_app(app_id))
        if release is None:
            raise NotFound("The app has no approved version yet")
        return Response(self.body(release))


class AdvanceReleaseView(_ReleaseView):
    @extend_schema("advanceRelease", request=None, responses={200: responses.ReleaseSerializer, 409: NOT_NOW})
    def post(self, request: Request, app_id: str) -> Response:
        """Begin the next step.

        The last step is all stores: the release is COMPLETE.
        """
        return Response(self.body(releases.advance(app=self.own_app(app_id), by=self.developer)))


class HaltReleaseView(_ReleaseView):
    @extend_schema(
        "haltRelease", request=ReleaseReason, responses={200: responses.ReleaseSerializer, 409: NOT_NOW}
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Halt the release.

        No store comes in and none goes back. New installs and the listing have the version before.
        """
        remarks = validated(ReleaseReason, request)
        return Response(self.body(releases.halt(app=self.own_app(app_id), by=self.developer, **remarks)))


class ResumeReleaseView(_ReleaseView):
    @extend_schema("resumeRelease", request=None, responses={200: responses.ReleaseSerializer, 409: NOT_NOW})
    def post(self, request: Request, app_id: str) -> Response:
        """Resume a halted release.

        Its step begins again, and only calls from then on decide whether it halts and when it ends. 409 while the app is suspended.
        """
        return Response(self.body(releases.resume(app=self.own_app(app_id), by=self.developer)))


class TakeBackView(_ReleaseView):
    @extend_schema(
        "takeBackRelease", request=ReleaseReason, responses={200: responses.ReleaseSerializer, 409: NOT_NOW}
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Take the version back.

        Within 5 seconds every store runs the version before, without a review. The working copy stays.
        """
        remarks = validated(ReleaseReason, request)
        return Response(self.body(releases.take_back(app=self.own_app(app_id), by=self.developer, **remarks)))
