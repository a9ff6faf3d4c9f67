"""`/developer/apps/:appId/checks`: whether an app's server behaves, tried from the developer's machine."""

from functools import partial
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.rest.fields import ApiSerializer, Choice, Integer, Moment, Object, StringList, Text
from common.rest.schema import problem
from common.times import iso
from conformance.enums import Outcome, RunStatus
from conformance.models import Run
from conformance.probes import AppResponse
from conformance.queries import results_of
from conformance.services.runs import MAX_ORIGIN, ORIGIN, advance, find_run, pending, start_for_developer
from developers.api.views.base import NO_STORE, DeveloperView, validated

TAG = "Testing"


MAX_ANSWERS = 100
MAX_STATUS, MAX_DURATION = 999, 600_000
MAX_TEXT = 1_000_000


class Whole(Integer):
    """Also reads `1.0`, which is the same number in JSON."""

    def to_internal_value(self, data: Any) -> int:
        is_whole = isinstance(data, float) and data.is_integer()
        return super().to_internal_value(int(data) if is_whole else data)


CheckId = partial(Text, "The check.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a11")
RequestName = partial(Text, "The request.", "visit", max_length=100)
Step = partial(Whole, "The step that the requests belong to.", 1, min_value=0, max_value=1000)


class NewCheck(ApiSerializer):
    url = Text(
        "Scheme, host and port of the server to check. Left out: your app's registered URLs.",
        "http://localhost:3000",
        required=False,
        allow_blank=True,
        max_length=MAX_ORIGIN,
        schema={"pattern": f"^({ORIGIN.pattern})?$"},
    )


class CheckResponseSerializer(serializers.Serializer):
    """What your server answered to one request."""

    name = RequestName()
    status = Whole(
        "null if there was no response.", 303, allow_null=True, min_value=100, max_value=MAX_STATUS
    )
    headers = Object(
        "Names in lower case. Needed: content-type, location, content-security-policy, x-frame-options, set-cookie.",
        {"location": "/welcome"},
        child=Text(allow_blank=True, trim_whitespace=False, max_length=20_000),
        required=False,
    )
    body = Text(
        "The beginning.", "", required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_TEXT
    )
    durationMs = Whole("How long it took.", 48, min_value=0, max_value=MAX_DURATION)
    error = Text("Why there was no response.", "", required=False, allow_blank=True, max_length=300)


class CheckResponses(serializers.Serializer):
    step = Step()
    responses = CheckResponseSerializer(  # type: ignore[call-arg]
        many=True, help_text="One for each request of the step, in any order.", max_length=MAX_ANSWERS
    )


def answers_in(body: dict[str, Any]) -> dict[str, AppResponse]:
    """By the names of their requests."""
    return {
        each["name"]: AppResponse(
            status=each["status"],
            headers={name.lower(): value for name, value in each.get("headers", {}).items()},
            body=each.get("body", "").replace("\x00", ""),
            duration_ms=each["durationMs"],
            error=each.get("error", "") or "no response",
        )
        for each in body["responses"]
    }


class CheckRequestSerializer(ApiSerializer):
    """Of a `Probe`."""

    name = RequestName()
    method = Choice(["GET", "POST"], "How to send it.", "GET")
    url = Text("Where to send it. Don't follow redirects.", "http://localhost:3000/callback?code=…")
    headers = Object("Send them as they are.", {"Accept": "text/html,*/*;q=0.8"})
    body = Text("Send these bytes, as UTF-8.", "")
    timeoutMs = Integer("How long to wait for the response.", 10_000)
    maxBytes = Integer("How much of the response body to return.", 16_384, source="max_body")


class CheckResultSerializer(serializers.Serializer):
    rule = Text("The rule's name.", "WH002")
    title = Text("What an app does that follows it.", "Refuses a delivery that is signed with another secret")
    outcome = Choice(Outcome.choices, "The worst of several.", "FAIL")
    details = StringList(
        "What was seen.", ["Signed with another secret: responded 200 in 12 ms, expected 401."]
    )
    documentation = Text(
        "The rule's section in the documentation.",
        "https://platform.example.com/docs/guides/check-rules/#wh002",
    )


class CheckSerializer(ApiSerializer):
    """Of `check_record`."""

    id = CheckId()
    status = Choice(RunStatus.choices, "RUNNING until the last response.", "RUNNING")
    url = Text("The server under test; empty for your app's registered URLs.", "http://localhost:3000")
    startedAt = Moment("When it began.")
    deadlineAt = Moment("Rules that aren't tried until then count as not tried.", "2026-11-20T15:05:35.123Z")
    endedAt = Moment("When it ended.", None, allow_null=True)
    step = Step()
    requests = CheckRequestSerializer(many=True, help_text="To be sent now, side by side.")
    results = CheckResultSerializer(many=True, help_text="By rule; complete when the check has ended.")


def check_record(run: Run) -> dict[str, Any]:
    """The JSON of a `CheckSerializer`."""
    return {
        "id": str(run.pk),
        "status": run.status,
        "url": run.origin,
        "startedAt": iso(run.started_at),
        "deadlineAt": iso(run.deadline_at),
        "endedAt": iso(run.ended_at) if run.ended_at else None,
        "step": run.step,
        "requests": [
            {
                "name": probe.name,
                "method": probe.method,
                "url": probe.url,
                "headers": probe.headers,
                "body": probe.body,
                "timeoutMs": round(probe.seconds * 1000),
                "maxBytes": probe.max_body,
            }
            for probe in pending(run)
        ],
        "results": [
            {
                "rule": result.rule.id,
                "title": result.rule.title,
                "outcome": result.outcome.value,
                "details": result.details,
                "documentation": result.rule.address,
            }
            for result in results_of(run)
        ],
    }


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
