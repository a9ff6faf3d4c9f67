"""`/developer/apps/:appId/checks`: whether an app's server behaves, tried from the developer's machine."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.rest.schema import problem
from conformance.services.runs import advance, find_run, start_for_developer
from developers.api.serializers.checks import (
    CheckId,
    CheckResponses,
    CheckSerializer,
    NewCheck,
    answers_in,
    check_record,
)
from developers.api.views.base import NO_STORE, DeveloperView, validated

TAG = "Testing"
CHECK = DeveloperView.path_fields | {"check_id": CheckId()}


class ChecksView(DeveloperView):
    tag = TAG

    @extend_schema(
        "startCheck",
        request=NewCheck,
        responses={
            201: CheckSerializer,
            409: problem("The app is suspended, or too many checks are running."),
            429: problem("Too many checks in a minute."),
        },
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Start a check of your app's server.

        The platform makes a throwaway store and returns the requests of the first step. Send them to your server, and
        return the responses. The command `extension-platform check` does that.
        """
        body = validated(NewCheck, request)
        run = start_for_developer(app=self.own_app(app_id), origin=body.get("url", ""))
        return Response(check_record(run), status=201, headers=NO_STORE)


class CheckView(DeveloperView):
    tag, path_fields = TAG, CHECK

    @extend_schema("getCheck", responses=CheckSerializer)
    def get(self, request: Request, app_id: str, check_id: str) -> Response:
        """Get a check.

        Its results are kept for 30 days.
        """
        run = find_run(app=self.own_app(app_id), run_id=check_id)
        return Response(check_record(run), headers=NO_STORE)


class CheckResponsesView(DeveloperView):
    tag, path_fields = TAG, CHECK

    @extend_schema(
        "sendCheckResponses",
        request=CheckResponses,
        responses={200: CheckSerializer, 409: problem("The check has ended, or is at another step.")},
    )
    def post(self, request: Request, app_id: str, check_id: str) -> Response:
        """Return the responses of a step.

        The response has the requests of the next step, or the results.
        """
        run = find_run(app=self.own_app(app_id), run_id=check_id)
        body = validated(CheckResponses, request)
        run = advance(run=run, step=body["step"], answers=answers_in(body))
        return Response(check_record(run), headers=NO_STORE)
