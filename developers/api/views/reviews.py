"""`/developer/apps/:appId/submit`, `/submissions`, `/withdraw`: an app on its way through review."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import NotFound
from common.rest.schema import problem
from common.web.pagination import page_body, page_request
from developers.api.serializers.bodies import NewSubmission
from developers.api.serializers.responses import (
    AppSerializer,
    SubmissionSerializer,
    VersionNumber,
    VersionSerializer,
)
from developers.api.views.apps import payload
from developers.api.views.base import DeveloperView, validated
from extensions.services.versions import restore_version
from extensions.submission import submit_app
from marketplace.queries import submissions_of, versions_of
from marketplace.services import reviews

MAX_DIGITS = 9  # of a version's number, which the column holds


class SubmitView(DeveloperView):
    tag = "Review"

    @extend_schema(
        "submitApp",
        request=NewSubmission,
        responses={
            201: SubmissionSerializer,
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
        return Response(SubmissionSerializer(made).data, status=201)


class SubmissionsView(DeveloperView):
    tag = "Review"

    @extend_schema("listSubmissions", responses=SubmissionSerializer(many=True))
    def get(self, request: Request, app_id: str) -> Response:
        """List an app's submissions."""
        wanted = page_request(request.query_params)
        submissions = submissions_of(self.own_app(app_id))
        page = SubmissionSerializer(submissions[wanted.window], many=True).data
        return Response(page_body(list(page), total=submissions.count(), request=wanted))


class VersionsView(DeveloperView):
    tag = "Review"

    @extend_schema("listVersions", responses=VersionSerializer(many=True))
    def get(self, request: Request, app_id: str) -> Response:
        """List an app's approved versions."""
        wanted = page_request(request.query_params)
        versions = versions_of(self.own_app(app_id)).select_related("app")
        page = VersionSerializer(versions[wanted.window], many=True).data
        return Response(page_body(list(page), total=versions.count(), request=wanted))


class RestoreVersionView(DeveloperView):
    tag = "Review"
    path_fields = DeveloperView.path_fields | {"number": VersionNumber()}

    @extend_schema(
        "restoreVersion",
        responses={
            200: AppSerializer,
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
            200: SubmissionSerializer,
            409: problem("The app is not in review, or a reviewer has taken it."),
        },
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Withdraw a submission.

        Only until a reviewer takes it.
        """
        withdrawn = reviews.withdraw(app=self.own_app(app_id), developer=self.developer)
        return Response(SubmissionSerializer(withdrawn).data)
