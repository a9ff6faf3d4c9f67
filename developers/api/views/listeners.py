"""`/developer/apps/:appId/listener`: an app's deliveries and hook calls on its developer's sandbox, for their machine."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import cast
from uuid import UUID

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from accounts.sign_in.tokens import DeveloperAuthentication
from common.errors import Coded, Conflict, NotFound, NotInBody
from common.http.transport import usual_headers
from common.ids import parse_id
from common.rest.schema import problem
from common.web.middleware.hang_up import has_hung_up
from developers import limits
from developers.api import listening
from developers.api.serializers import listeners as bodies
from developers.api.views.base import NO_STORE, NOT_INSTALLED, DeveloperView, validated
from extensions.hooks import relaying as calls
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from teststores import services as teststores
from teststores.models import TestStore
from webhooks.engine import listeners
from webhooks.engine import relaying as deliveries
from webhooks.engine.relaying import RelayedAttempt, lease_of
from webhooks.models import Webhook
from webhooks.queries import webhooks_of
from webhooks.services.deliveries import recover

NOT_THERE = Coded("The app is not installed on your sandbox.", code="not_on_sandbox")
NOT_ON_TEST_STORE = Coded("The app is not installed on this test store.", code="not_on_test_store")
REPLACED = problem(listening.REPLACED)
ROOM = 10


class _View(DeveloperView):
    tag = "Testing"


class ListenView(_View):
    @extend_schema(
        "listen",
        request=bodies.ListenBody,
        responses={
            201: bodies.ListenerSerializer,
            409: NOT_INSTALLED,
            429: problem("You have three listeners already, or too many developers are listening."),
        },
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Listen for an app.

        Deliveries and hook calls of the app on your sandbox and test stores go to this listener from now on, and not to their
        URLs. It replaces the app's listener before it. With `testStoreId` it is for that test store alone, and replaces none but
        that store's. It ends when it has not asked for work for 2.5 seconds; what it has not answered then
        goes to the next listener or the URL.
        """
        app = self.own_app(app_id)
        body = validated(bodies.ListenBody, request)
        store = self._test_store(app, body.get("testStoreId"))
        if store:
            installation = teststores.installation_of(store)
        else:
            installation = sandbox_installation(app=app, developer=self.developer)
        if installation is None:
            raise Conflict(NOT_ON_TEST_STORE if store else NOT_THERE)
        since = body.get("since")
        slot = teststores.listen(app=app, developer=self.developer, store=store)
        answer = {
            "listenerId": f"{slot}.{store.business_id}" if store else str(slot),
            "installationId": str(installation.pk),
            "webhookUrl": installation.webhook_url or None,
            "webhookSecret": installation.webhook_secret,
            "resent": _resend(installation, since) if since else 0,
        }
        return Response(answer, status=201, headers=NO_STORE)

    def _test_store(self, app: App, store_id: str | None) -> TestStore | None:
        if store_id is None:
            return None
        store = teststores.find_test_store(developer=self.developer, store_id=store_id)
        if store.app_id != app.pk:
            raise NotInBody("Test store not found")
        return store


class _ListenerView(_View):
    path_fields = DeveloperView.path_fields | {"listener_id": bodies.ListenerId()}


class ListenerView(_ListenerView):
    @extend_schema("stopListening", responses={204: None})
    def delete(self, request: Request, app_id: str, listener_id: str) -> Response:
        """Stop listening.

        Deliveries and calls that the listener has not answered go to their URL at once.
        """
        slot, _ = _listener(listener_id)
        if not listeners.detach(slot, app=self.own_app(app_id)):
            raise NotFound(listening.ENDED)
        return Response(status=204)


class _PollView(_ListenerView):
    takes_keys = False

    def count(self, caller: User) -> None:
        limits.count_poll(caller)


class WorkView(_PollView):
    @extend_schema("takeWork", request=bodies.WorkBody, responses={200: bodies.WorkSerializer, 409: REPLACED})
    def post(self, request: Request, app_id: str, listener_id: str) -> Response:
        """Wait for deliveries and hook calls.

        Answers as soon as there is something. Ask again at once: these requests are the listener's heartbeat.
        """
        app, body = self.own_app(app_id), validated(bodies.WorkBody, request)
        work = listening.wait_for_work(
            app,
            _listener(listener_id),
            busy=set(body.get("busy", ())),
            room=body.get("room", ROOM),
            seconds=body.get("wait", 0),
            authenticate=partial(DeveloperAuthentication().authenticate, request),
            has_left=partial(has_hung_up, cast(HttpRequest, request)),
        )
        asked = {claim.webhook_id for claim, _ in work.deliveries}
        installations = dict(Webhook.objects.filter(pk__in=asked).values_list("pk", "installation_id"))
        answer = {
            "deliveries": [
                {
                    "lease": lease_of(claim),
                    "id": str(claim.delivery_id),
                    "installationId": str(installations[claim.webhook_id]),
                    "event": message.headers["X-Webhook-Event"],
                    "url": message.url,
                    "headers": _sent(message.headers),
                    "body": message.body.decode(),
                }
                for claim, message in work.deliveries
            ],
            "hookCalls": [
                {
                    "id": str(call.call_id),
                    "installationId": str(call.installation_id) if call.installation_id else None,
                    "url": call.url,
                    "headers": _sent(call.headers),
                    "body": call.body,
                    "timeoutMs": max(0, round(call.timeout * 1000)),
                }
                for call in work.calls
            ],
            "pauseMs": round(work.pause * 1000),
        }
        return Response(answer, headers=NO_STORE)


class AnswersView(_PollView):
    @extend_schema(
        "answerWork", request=bodies.AnswersBody, responses={200: bodies.RecordedSerializer, 409: REPLACED}
    )
    def post(self, request: Request, app_id: str, listener_id: str) -> Response:
        """Report your server's answers.

        Each is recorded as an attempt. An answer that comes after the end of its lease, or of its checkout's patience, doesn't
        count.
        """
        app, body = self.own_app(app_id), validated(bodies.AnswersBody, request)
        slot, _ = listener = _listener(listener_id)
        listening.beat(app, listener)
        recorded = sum(
            calls.answer(app, call_id, bodies.exchange_of(each))
            for each in body.get("hookCalls", ())
            if (call_id := parse_id(each["id"]))
        )
        outcomes = [
            RelayedAttempt(each["lease"], bodies.exchange_of(each)) for each in body.get("deliveries", ())
        ]
        if outcomes:
            recorded += deliveries.answer(slot, outcomes, app=app, person=self.developer)
        return Response({"recorded": recorded}, headers=NO_STORE)


def _listener(listener_id: str) -> tuple[int, UUID | None]:
    """Its slot, and its test store, which the ID names so that it is clear whether another listener has replaced it."""
    slot, _, store = listener_id.partition(".")
    if not (slot.isascii() and slot.isdigit() and len(slot) < 19):
        raise NotFound(listening.ENDED)
    return int(slot), parse_id(store)


def _sent(headers: Mapping[str, str]) -> dict[str, str]:
    """As the transport would send them."""
    return {**usual_headers(), **headers, "Accept": "*/*"}


def _resend(installation: Installation, since: datetime) -> int:
    """What the installation's active webhooks have not delivered since then."""
    active = [webhook for webhook in webhooks_of(installation) if webhook.is_active]
    return sum(recover(webhook=webhook, since=since) for webhook in active)
