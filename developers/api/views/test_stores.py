"""`/developer/…/test-stores`: stores for an author's own end-to-end tests (contract, section 13)."""

from datetime import timedelta
from typing import Any

from django.db.models import CharField, F, IntegerField, Value
from django.db.models.functions import Cast
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from activity.models import ApiCall
from common.errors import Conflict
from common.rest.query import Query
from common.rest.schema import problem
from common.strangers import may_wait_for_strangers
from common.times import iso
from common.web.pagination import page_body
from developers import limits
from developers.api.serializers import test_stores
from developers.api.serializers.responses import TestInstallSerializer, TestUninstallSerializer
from developers.api.serializers.testing import EITHER_TEST_CHANGE, TestChangeBody, TestStepsSerializer
from developers.api.views.base import NO_STORE, DeveloperView, validated
from developers.api.views.testing import steps_of_change
from extensions.models import HookCall
from installations.models import Installation
from stores.addresses import store_url
from teststores import services
from teststores.models import StoreScenario, TestStore
from teststores.serializers import AdvanceBody, AdvancedSerializer, advanced_payload
from webhooks.insight.history import deliveries_of_app
from webhooks.models import Webhook
from webhooks.serializers import delivery_with_attempts

TAG = "Testing"
NOT_INSTALLED = problem("The app is not installed on this test store.")


class TestStoresView(DeveloperView):
    tag = TAG

    @extend_schema("listTestStores", responses=test_stores.TestStoreSerializer(many=True))
    def get(self, request: Request, app_id: str) -> Response:
        """List your test stores of an app.

        Those that are neither deleted nor expired.
        """
        query = Query(request.query_params)
        page = query.page()
        query.check()
        own = TestStore.objects.open().filter(app=self.own_app(app_id), made_by=self.developer)
        stores = own.select_related("business").order_by("-id")[page.window]
        return Response(page_body(_records(list(stores)), total=own.count(), request=page))

    @extend_schema(
        "openTestStore",
        request=test_stores.NewTestStore,
        responses={
            201: test_stores.OpenedTestStoreSerializer,
            409: problem("The app is suspended, or you have eight test stores."),
            429: problem("More than 60 test events and changes in a minute, for which openings count, too."),
            503: problem("Too much is being worked on at the moment."),
        },
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Open a test store.

        A store of its own with products and orders, on which the app is installed, for one test of yours. It is deleted
        at `expiresAt`. Its own orders publish no event.
        """
        app, body = self.own_app(app_id), validated(test_stores.NewTestStore, request)
        scenario = StoreScenario(body["scenario"])
        limits.count_changes(self.developer, limits.OPENING[scenario])
        opened = services.open_test_store(
            app=app,
            developer=self.developer,
            scenario=scenario,
            lasts=timedelta(seconds=body["expiresIn"]),
        )
        (record,) = _records([opened.store])
        credentials = {
            "accessToken": opened.issued.access_token,
            "webhookSecret": opened.issued.webhook_secret,
            "isTestInstall": opened.issued.installation.is_test,
        }
        return Response(record | credentials, status=201, headers=NO_STORE)


class _View(DeveloperView):
    tag = TAG
    path_fields = {"store_id": test_stores.TestStoreId()}

    def own_store(self, store_id: str) -> TestStore:
        store = services.find_test_store(developer=self.developer, store_id=store_id)
        self.app = store.app
        return store


class TestStoreView(_View):
    @extend_schema("deleteTestStore", responses={204: None})
    def delete(self, request: Request, store_id: str) -> Response:
        """Delete a test store.

        Its token and its webhooks stop working, and everything in it is gone, within a minute. No data erasure is sent.
        """
        services.close(store=self.own_store(store_id))
        return Response(status=204)


@may_wait_for_strangers
class TestStoreChangesView(_View):
    @extend_schema(
        "makeTestStoreChange",
        request=EITHER_TEST_CHANGE,
        examples=[OpenApiExample("Event", {"event": "order.created"}, request_only=True)],
        responses={
            200: TestStepsSerializer,
            409: NOT_INSTALLED,
            503: problem("Too many requests are waiting for apps' servers."),
        },
    )
    def post(self, request: Request, store_id: str) -> Response:
        """Make a change on a test store.

        As test changes on your sandbox store.
        """
        store = self.own_store(store_id)
        wanted = validated(TestChangeBody, request)
        absent = Conflict("The app is not installed on this test store.", code="not_on_test_store")
        installation = services.installation_of(store)
        return Response(
            steps_of_change(wanted, store.app, store.business, installation, by=self.developer, absent=absent)
        )


class TestStoreInstallView(_View):
    @extend_schema(
        "installOnTestStore",
        responses={201: TestInstallSerializer, 409: problem("The app is suspended.")},
    )
    def post(self, request: Request, store_id: str) -> Response:
        """Install the app on its test store again.

        An erasure that waits is cancelled. If it is installed already: the same installation, and a new access token.
        """
        issued = services.install(store=self.own_store(store_id))
        return Response(TestInstallSerializer(issued).data, status=201, headers=NO_STORE)


class TestStoreUninstallView(_View):
    @extend_schema("uninstallFromTestStore", responses={200: TestUninstallSerializer, 409: NOT_INSTALLED})
    def post(self, request: Request, store_id: str) -> Response:
        """Uninstall the app from its test store."""
        ended = services.uninstall(store=self.own_store(store_id))
        return Response(TestUninstallSerializer(ended).data)


class AdvanceView(_View):
    is_one_transaction = False  # the clock is moved before what falls due is looked for

    @extend_schema("advanceTestStore", request=AdvanceBody, responses=AdvancedSerializer)
    def post(self, request: Request, store_id: str) -> Response:
        """Let the clock of a test store go on.

        Everything that falls due within that time is due now, in its order: retries, erasures, expiring payments, idempotency keys,
        automatic disabling, breakers. Attempts follow within seconds. Nothing outside the store moves.
        """
        store, body = self.own_store(store_id), validated(AdvanceBody, request)
        return Response(
            advanced_payload(services.advance(store=store, by=timedelta(seconds=body["seconds"])))
        )


class TestStoreDeliveriesView(_View):
    @extend_schema("listTestStoreDeliveries", responses=test_stores.TestStoreDeliverySerializer(many=True))
    def get(self, request: Request, store_id: str) -> Response:
        """List the deliveries of a test store, with their attempts."""
        query = Query(request.query_params)
        page = query.page()
        query.check()
        store = self.own_store(store_id)
        history = deliveries_of_app(store.app, business_id=store.business_id)
        rows = [
            delivery_with_attempts(delivery, ahead=store.ahead)
            for delivery in history.whole_page(page.window)
        ]
        return Response(page_body(rows, total=history.total, request=page))


class TestStoreCallsView(_View):
    @extend_schema("listTestStoreCalls", responses=test_stores.TestStoreCallSerializer(many=True))
    def get(self, request: Request, store_id: str) -> Response:
        """List what the app called, and which of its hooks were called, in a test store.

        Calls appear after about a second.
        """
        query = Query(request.query_params)
        page = query.page()
        query.check()
        rows = _calls(self.own_store(store_id))
        return Response(
            page_body([_call(*row) for row in rows[page.window]], total=rows.count(), request=page)
        )


def _records(stores: list[TestStore]) -> list[dict[str, Any]]:
    """In three statements for any number of stores."""
    businesses = [store.business_id for store in stores]
    active = Installation.objects.active().filter(business__in=businesses).values_list("business_id", "pk")
    installed = dict(active)
    webhooks = dict(
        Webhook.objects.filter(
            installation__in=installed.values(), is_app_defined=True, lacks_url=False
        ).values_list("installation_id", "pk")
    )
    return [_record(store, installed.get(store.business_id), webhooks) for store in stores]


def _record(store: TestStore, installation: Any, webhooks: dict[Any, Any]) -> dict[str, Any]:
    webhook = webhooks.get(installation)
    assert store.business.expires_at is not None
    return {
        "id": str(store.pk),
        "businessId": str(store.business_id),
        "storeUrl": store_url(store.business.slug),
        "createdAt": iso(store.created_at),
        "expiresAt": iso(store.business.expires_at),
        "installationId": str(installation) if installation else None,
        "webhookId": str(webhook) if webhook else None,
    }


def _calls(store: TestStore) -> Any:
    """API calls and hook calls, newest first, in the columns of `_call`."""
    mine = Installation.objects.filter(app=store.app_id, business=store.business_id).values_list(
        "pk", flat=True
    )
    installations = list(mine)
    nothing, no_status = Value("", CharField()), Cast(F("http_status"), IntegerField())
    called = ApiCall.objects.filter(installation__in=installations).order_by()
    hooked = HookCall.objects.filter(installation__in=installations).order_by()
    return (
        called.values_list(
            "id", Value(test_stores.API), Cast("method", CharField()), "path", nothing, Cast("status", IntegerField()),
            "duration_ms", "at",
        )
        .union(
            hooked.values_list(
                "id", Value(test_stores.HOOK), nothing, nothing, Cast("hook_point", CharField()), no_status,
                "duration_ms", "called_at",
            ),
            all=True,
        )
        .order_by("-at", "-id")
    )  # fmt: skip


def _call(
    ident: Any, kind: str, method: str, path: str, hook_point: str, status: int | None, duration: int, at: Any
) -> dict[str, Any]:
    return {
        "id": str(ident),
        "kind": kind,
        "method": method or None,
        "path": path or None,
        "hookPoint": hook_point or None,
        "status": status,
        "durationMs": duration,
        "at": iso(at),
    }
