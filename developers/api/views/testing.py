"""`/developer/…/test-changes`, `activity` and `manifest/check`: what the command line and CI need to try an app out. And `/test-…`: an app on
the developer's own sandbox.
"""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Business, User
from accounts.services.confirmation import require_confirmed
from activity import feed
from common.errors import Conflict
from common.rest.query import Query
from common.rest.schema import problem
from common.strangers import may_wait_for_strangers
from common.times import iso
from developers import limits
from developers.api.serializers import responses, testing
from developers.api.views.base import NO_STORE, NOT_INSTALLED, DeveloperView, validated
from extensions.enums import CallOutcome
from extensions.manifest.changes import in_words, manifest_differences
from extensions.manifest.text import read
from extensions.queries import manifest_document
from installations import services
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.enums import AppRole
from marketplace.models import App
from webhooks.catalogue import DATA_ERASURE
from webhooks.insight.diagnosis import headline
from webhooks.models import Delivery, Erasure
from webhooks.queries import DeliveryRow
from webhooks.services.sandbox import changes as sandbox_changes
from webhooks.services.sandbox.changes import CHANGES, SCENARIOS, StepResult

ERASURE_TITLE = "Uninstall the app, and erase its data now instead of in 48 hours"


class TestChangesView(DeveloperView):
    tag = "Testing"
    path_fields = {}

    @extend_schema("listTestChanges", responses=testing.TestChangesSerializer)
    def get(self, request: Request) -> Response:
        """List test changes.

        The changes on your sandbox store that cause each event.
        """
        changes = [{"event": event, "title": _title(event)} for event in testing.EVENTS]
        scenarios = [
            {"scenario": each.key, "title": each.title, "description": each.about}
            for each in SCENARIOS.values()
        ]
        return Response({"changes": changes, "scenarios": scenarios})


@may_wait_for_strangers
class MakeTestChangeView(DeveloperView):
    tag = "Testing"

    @extend_schema(
        "makeTestChange",
        request=testing.EITHER_TEST_CHANGE,
        examples=[OpenApiExample("Event", {"event": "order.created"}, request_only=True)],
        responses={
            200: testing.TestStepsSerializer,
            409: NOT_INSTALLED,
            503: problem("Too many requests are waiting for apps' servers."),
        },
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Make a test change.

        A real change on your sandbox store that causes the event, or all changes of a scenario. For `order.created` you can say who orders
        and what, for `customer.data_erasure` who is erased. Their open orders are delivered first.
        `business.data_erasure` uninstalls the app.
        """
        wanted, app = validated(testing.TestChangeBody, request), self.own_app(app_id)
        installation = sandbox_installation(app=app, developer=self.developer)
        store = Business.objects.sandbox_of(self.developer)
        absent = Conflict("The app is not installed on your sandbox.", code="not_on_sandbox")
        return Response(steps_of_change(wanted, app, store, installation, by=self.developer, absent=absent))


def steps_of_change(
    wanted: dict[str, Any],
    app: App,
    store: Business,
    installation: Installation | None,
    *,
    by: User,
    absent: Conflict,
) -> dict[str, Any]:
    """Make what a `TestChangeBody` asks for, on a sandbox or test store, and return the body of the response.

    Raises `absent` where the app isn't installed, `TooManyRequests`, and `strangers.NoPlace`.
    """
    scenario = SCENARIOS.get(wanted.get("scenario", ""))
    limits.count_changes(by, len(scenario.acts) if scenario else 1)
    if wanted.get("event") == DATA_ERASURE:
        erasure = sandbox_changes.uninstall_and_erase(app, store, by=by)
        return {"steps": [_erasure_step(app, erasure)]}
    if installation is None:
        raise absent
    acts = scenario.acts if scenario else [_act_of(wanted["event"])]
    run = sandbox_changes.play(installation, acts, "", testing.details_of(wanted))
    return {"steps": [_step(each) for each in sandbox_changes.results(run, installation)]}


def _erasure_step(app: App, erasure: Erasure) -> dict[str, Any]:
    deliveries = list(Delivery.objects.filter(event=erasure.event_id, app_id=app.pk))
    return {
        "title": ERASURE_TITLE,
        "result": "The app was uninstalled, and business.data_erasure is being sent.",
        "problem": None,
        "events": [_event(DATA_ERASURE, erasure.event_id, deliveries, "")],
    }


class ActivityView(DeveloperView):
    tag = "Testing"

    @extend_schema("listActivity", parameters=[testing.ActivityFilters], responses=testing.ActivitySerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """List what happened.

        Calls of the app API, hook calls and webhook deliveries of the last seven days, newest first. Calls appear after about
        a second.
        """
        query = Query(request.query_params)
        kind, status = query.choice("kind", feed.KINDS), query.choice("status", [feed.FAILED])
        before = query.text("before")
        position = feed.parse_position(before)
        if before and position is None:
            query.wrong("before", "Send the `next` of the page before.")
        query.check()
        page = feed.page(
            self.own_app(app_id), feed.ActivityQuery(kind=kind or "", status=status or ""), before=position
        )
        last = str(page.entries[-1].position) if page.has_older else None
        sent = [each.id for each in page.entries if each.kind == feed.WEBHOOK]
        around = Delivery.objects.select_related("event", "webhook__installation__app").defer("event__data")
        deliveries = around.in_bulk(sent) if sent else {}
        kept = [each for each in page.entries if each.kind != feed.WEBHOOK or each.id in deliveries]
        return Response({"data": [_entry(each, deliveries) for each in kept], "next": last})


class CheckManifestView(DeveloperView):
    tag = "Extensions"
    app_roles = {"POST": AppRole.VIEWER}  # only computes

    @extend_schema(
        "checkManifest",
        request=testing.ManifestTextBody,
        responses={200: testing.CheckedManifestSerializer, 413: problem("The body is larger than 1 MiB.")},
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Check a manifest.

        Nothing is saved. Every problem has its line and column in the text.
        """
        text = validated(testing.ManifestTextBody, request)["text"]
        app = self.own_app(app_id)
        reading = read(text)
        problems = [
            {
                "path": each.problem.path,
                "message": each.problem.message,
                "line": each.line,
                "column": each.column,
                "suggestion": each.fix,
            }
            for each in reading.problems
        ]
        body: dict[str, Any] = {"problems": problems, "problemCount": reading.total}
        return Response(body | _plan(app, None if problems else reading.document))


def _plan(app: App, document: dict[str, Any] | None) -> dict[str, Any]:
    if document is None:
        return {"changes": [], "differences": []}
    lines = in_words(app, document).lines
    differences = manifest_differences(manifest_document(app), document)
    return {
        "changes": [
            {"change": line.word, "type": line.what, "key": line.key, "reach": line.reach} for line in lines
        ],
        "differences": [
            {"field": each.label, "before": list(each.before), "after": list(each.after)}
            for each in differences
        ],
    }


def _act_of(event: str) -> str:
    return next(act.key for act in CHANGES.values() if event in act.events)


def _title(event: str) -> str:
    return ERASURE_TITLE if event == DATA_ERASURE else CHANGES[_act_of(event)].title


def _step(step: StepResult) -> dict[str, Any]:
    return {
        "title": step.title,
        "result": step.said or None,
        "problem": step.refused or None,
        "events": [
            _event(each.event, each.event_id, each.deliveries, each.reason, each.data)
            for each in step.outcomes
        ],
    }


def _event(name: str, event_id: Any, deliveries: Any, reason: str, data: str = "") -> dict[str, Any]:
    return {
        "event": name,
        "eventId": str(event_id) if event_id else None,
        "deliveries": [{"id": str(each.pk), "status": each.status} for each in deliveries],
        "reason": reason or None,
        "data": json.loads(data) if data else None,
    }


def _entry(entry: feed.ActivityEntry, deliveries: dict[UUID, Delivery]) -> dict[str, Any]:
    describe: dict[str, Callable[[Any], dict[str, Any]]] = {
        feed.API: _call,
        feed.HOOK: _hook_call,
        feed.WEBHOOK: lambda row: _delivery(row, deliveries[row.pk]),
    }
    return {"id": str(entry.id), "kind": entry.kind, "at": iso(entry.at), **describe[entry.kind](entry.row)}


def _call(row: feed.ApiCallRow) -> dict[str, Any]:
    return {
        "name": f"{row.method} {row.path}",
        "status": str(row.status),
        "httpStatus": row.status,
        "durationMs": row.duration_ms,
        "reason": row.message or None,
        "businessId": str(row.business_id),
        "requestId": str(row.pk),
    }


def _hook_call(row: feed.HookRow) -> dict[str, Any]:
    label = CallOutcome(row.outcome).label
    did = f"{label}: {row.problem}".removesuffix(".") if row.problem else label
    return {
        "name": row.hook_point,
        "status": row.outcome,
        "httpStatus": row.http_status,
        "durationMs": row.duration_ms,
        "reason": f"{did}. {row.fallback}".rstrip()
        if row.outcome != CallOutcome.ANSWERED or row.fallback
        else None,
        "businessId": str(row.business_id),
        "requestId": str(row.request_id) if row.request_id else None,
    }


def _delivery(row: DeliveryRow, delivery: Delivery) -> dict[str, Any]:
    return {
        "name": row.event_type,
        "status": row.status,
        "httpStatus": row.http_status,
        "durationMs": row.duration_ms,
        "reason": headline(delivery, None if row.duration_ms is None else row),
        "businessId": str(row.business_id),
        "requestId": str(delivery.event.request_id) if delivery.event.request_id else None,
    }


# --- Test installs -----------------------------------------------------------------------------------


class TestInstallView(DeveloperView):
    tag = "Testing"

    @extend_schema("testInstall", responses={201: responses.TestInstallSerializer})
    def post(self, request: Request, app_id: str) -> Response:
        """Install an app for testing.

        On your sandbox. If it is installed already: the same installation and webhook secret, and a new
        access token.
        """
        require_confirmed(self.developer)  # a 403 comes before a 404
        issued = services.test_install(app=self.own_app(app_id), developer=self.developer)
        return Response(responses.TestInstallSerializer(issued).data, status=201, headers=NO_STORE)

    def still_may(self, needs: str) -> None:
        require_confirmed(self.developer)


class TestStatusView(DeveloperView):
    tag = "Testing"

    @extend_schema("testStatus", responses=responses.TestStatusSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get the test install's status.

        Only `installed` is present if the app is not installed.
        """
        installation = sandbox_installation(app=self.own_app(app_id), developer=self.developer)
        if installation is None:
            return Response({"installed": False})
        return Response(responses.TestStatusSerializer(installation).data)


class TestUninstallView(DeveloperView):
    tag = "Testing"

    @extend_schema("testUninstall", responses={200: responses.TestUninstallSerializer, 409: NOT_INSTALLED})
    def post(self, request: Request, app_id: str) -> Response:
        """End the test install."""
        ended = services.test_uninstall(app=self.own_app(app_id), developer=self.developer)
        return Response(responses.TestUninstallSerializer(ended).data)
