"""`/developer/apps/:appId/submit`, `/submissions`, `/withdraw`: an app on its way through review."""

from rest_framework.request import Request
from rest_framework.response import Response

from common.pages import page_body, page_request
from developers.api.serializers import NewSubmission
from developers.api.views.base import DeveloperView, validated
from developers.api.wire import submission_record
from developers.submission import submit_app
from marketplace.queries import submissions_of
from marketplace.services import reviews


class SubmitView(DeveloperView):
    def post(self, request: Request, app_id: str) -> Response:
        remarks = validated(NewSubmission, request)
        made = submit_app(app=self.own_app(app_id), developer=self.developer, **remarks)
        return Response(submission_record(made), status=201)


class SubmissionsView(DeveloperView):
    def get(self, request: Request, app_id: str) -> Response:
        wanted = page_request(request.query_params)
        submissions = submissions_of(self.own_app(app_id))
        records = [submission_record(each) for each in submissions[wanted.window]]
        return Response(page_body(records, total=submissions.count(), request=wanted))


class WithdrawView(DeveloperView):
    def post(self, request: Request, app_id: str) -> Response:
        return Response(submission_record(reviews.withdraw(app=self.own_app(app_id))))
