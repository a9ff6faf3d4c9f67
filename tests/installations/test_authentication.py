"""The bearer token of the app API, as an app meets it.

The views here stand in for the app API's, which live on a higher floor.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ImproperlyConfigured
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from accounts.models import Business
from installations.authentication import RequiresScope, TokenAuthentication, record_use
from installations.models import Installation
from installations.services import issue_token, uninstall
from marketplace.models import App, AppVersion
from tests import factories

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Orders(APIView):
    authentication_classes = [TokenAuthentication]
    permission_classes = [RequiresScope]
    required_scope = {"GET": "read_orders", "POST": "write_orders"}

    def get(self, request: Request) -> Response:
        return Response({"businessId": str(request.auth.business_id)})

    def post(self, request: Request) -> Response:
        return Response({}, status=201)


class Open(Orders):
    required_scope = None


class Careless(Orders):
    required_scope = {"GET": "read_orders"}


def call(token: str | None, view: type[APIView] = Orders, method: str = "get", path: str = "/x") -> Response:
    headers = {} if token is None else {"authorization": token}
    request = getattr(APIRequestFactory(), method)(path, headers=headers)
    response = view.as_view()(request)
    response.render()
    return response


def bearer(installation: Any) -> str:
    return f"Bearer {installation.raw_token}"


@pytest.mark.spec("Authentication", "App API: Authorization: Bearer <ACCESS_TOKEN>, scoped to one business")
def test_token_names_its_business(installation: Installation, sandbox: Business) -> None:
    response = call(bearer(installation))
    assert (response.status_code, response.data) == (200, {"businessId": str(sandbox.id)})


def test_token_scheme_is_read_in_any_case(installation: Installation) -> None:
    assert call(bearer(installation).replace("Bearer", "bEARER")).status_code == 200


@pytest.mark.spec("Errors", "401 no, bad or revoked credential, with WWW-Authenticate: Bearer")
@pytest.mark.parametrize(
    ("header", "told"),
    [
        *((header, "Send the access token in the header") for header in (None, "")),
        *(
            (header, "must read: Bearer <token>")
            for header in ("Bearer", "Bearer ", "Bearer a b", "Basic eDp5", "fbat_x")
        ),
        *((header, "is unknown or has been revoked") for header in ("Bearer fbat_nobody", "Bearer é")),
    ],
)
def test_token_missing_malformed_or_unknown_is_401(
    installation: Installation, header: str | None, told: str
) -> None:
    response = call(header)
    assert response.status_code == 401
    assert told in response.data["message"]
    assert response["WWW-Authenticate"].startswith("Bearer ")
    assert set(response.data) == {"statusCode", "message", "error"}
    assert response.data["error"] == "Unauthorized"


def test_token_in_the_query_string_is_ignored(installation: Installation) -> None:
    token = installation.raw_token  # type: ignore[attr-defined]
    assert call(None, path=f"/x?access_token={token}").status_code == 401


@pytest.mark.spec("Authentication", "After uninstall the token is revoked and calls return 401")
def test_token_after_uninstall_is_401(installation: Installation) -> None:
    uninstall(installation=installation)
    assert call(bearer(installation)).status_code == 401


def test_token_replaced_by_another_is_401(installation: Installation) -> None:
    token = issue_token(installation=installation, now=NOW).access_token
    assert call(bearer(installation)).status_code == 401
    assert call(f"Bearer {token}").status_code == 200


@pytest.mark.parametrize("end", ["suspended_at", "deleted_at"])
def test_token_of_a_suspended_or_deleted_app_is_401(installation: Installation, end: str) -> None:
    App.objects.update(**{end: NOW})
    assert call(bearer(installation)).status_code == 401


@pytest.mark.spec("Authentication", "A call needing a scope the token lacks returns 403")
def test_scope_missing_is_403_and_named(installation: Installation) -> None:
    App.objects.update(scopes=["read_orders"])
    assert call(bearer(installation)).status_code == 200
    response = call(bearer(installation), method="post")
    assert response.status_code == 403
    assert (
        response.data["message"] == "This call needs the scope write_orders, which the token does not have."
    )


def test_scope_approved_but_not_agreed_to_says_who_can_help(app: App, shop: Business) -> None:
    version = AppVersion.objects.create(app=app, number=1, scopes=["read_orders", "write_orders"])
    App.objects.update(approved_version=version)
    installed = factories.installation(
        app, shop, granted_scopes=["read_orders"], needs_reconsent=True, runs=version
    )
    response = call(bearer(installed), method="post")
    assert response.status_code == 403
    assert response.data["message"].endswith("Mira's shop has not agreed to it yet.")
    Installation.objects.update(granted_scopes=["read_orders", "write_orders"])
    assert call(bearer(installed), method="post").status_code == 201


@pytest.mark.parametrize("asks_for_it", ["the working copy", "the approved version"])
def test_scope_that_no_store_could_agree_to_is_only_missing(
    asks_for_it: str, app: App, shop: Business, sandbox: Business
) -> None:
    """A store's version doesn't ask for it, or the store is its developer's and runs the working copy."""
    in_working_copy = asks_for_it == "the working copy"
    version = AppVersion.objects.create(
        app=app, number=1, scopes=["read_orders"] if in_working_copy else ["read_orders", "write_orders"]
    )
    App.objects.update(
        approved_version=version,
        scopes=["read_orders", "write_orders"] if in_working_copy else ["read_orders"],
    )
    app.refresh_from_db()
    installed = factories.installation(app, shop if in_working_copy else sandbox)
    response = call(bearer(installed), method="post")
    assert response.status_code == 403
    assert response.data["message"].endswith("which the token does not have.")


def test_scope_of_a_method_the_view_does_not_have_is_405(installation: Installation) -> None:
    assert call(bearer(installation), method="delete").status_code == 405
    assert call(bearer(installation), method="options").status_code == 200


def test_scope_none_asks_for_nothing_but_a_token(installation: Installation) -> None:
    App.objects.update(scopes=[])
    assert call(bearer(installation), view=Open).status_code == 200
    assert call(None, view=Open).status_code == 401


def test_scope_of_head_is_that_of_get(installation: Installation) -> None:
    assert call(bearer(installation), method="head").status_code == 200
    App.objects.update(scopes=["write_orders"])
    assert call(bearer(installation), method="head").status_code == 403


def test_scope_forgotten_by_a_view_fails_closed(installation: Installation) -> None:
    response = call(bearer(installation), view=Careless, method="post")
    assert response.status_code == 500
    with pytest.raises(ImproperlyConfigured, match="POST"):
        RequiresScope().has_permission(_as_request(installation), Careless())


def _as_request(installation: Installation) -> Request:
    return Request(APIRequestFactory().post("/x"), authenticators=[_Fixed(installation)])


class _Fixed(TokenAuthentication):
    def __init__(self, installation: Installation) -> None:
        self.installation = installation

    def authenticate(self, request: Request) -> tuple[None, Installation]:
        return None, self.installation


def test_use_is_written_at_most_once_a_minute(
    installation: Installation, shop: Business, django_assert_num_queries: Any
) -> None:
    other = factories.installation(installation.app, shop)
    with time_machine.travel(NOW, tick=False) as traveller:
        with django_assert_num_queries(2):
            call(bearer(installation))
        traveller.shift(timedelta(seconds=59))
        with django_assert_num_queries(1):
            call(bearer(installation))
        assert Installation.objects.get(pk=installation.pk).last_used_at == NOW
        traveller.shift(timedelta(seconds=1))
        with django_assert_num_queries(2):
            call(bearer(installation))
        assert Installation.objects.get(pk=installation.pk).last_used_at == NOW + timedelta(minutes=1)
    other.refresh_from_db()
    assert other.last_used_at is None


def test_use_that_another_call_has_just_written_is_left(installation: Installation) -> None:
    both = [Installation.objects.get(pk=installation.pk) for _ in range(2)]
    for seconds, seen in enumerate(both):
        record_use(seen, NOW + timedelta(seconds=seconds))
    installation.refresh_from_db()
    assert installation.last_used_at == NOW
