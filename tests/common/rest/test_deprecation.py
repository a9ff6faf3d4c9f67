"""An operation that will go says so in each answer and in the OpenAPI document. Nothing is deprecated now."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import path
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from common.errors import NotFound
from common.rest.deprecation import Deprecation
from common.rest.views import JsonView


class Old(JsonView):
    tag = "Old"
    authentication_classes = []
    permission_classes = []
    deprecations = {
        "GET": Deprecation(
            since=datetime(2026, 12, 1, tzinfo=UTC),
            end=datetime(2027, 12, 1, tzinfo=UTC),
            instead="Use `GET /app-api/new`.",
        )
    }

    @extend_schema("getOld", responses={200: None})
    def get(self, request: Request) -> Response:
        """Get what is old."""
        if "missing" in request.query_params:
            raise NotFound("Nothing is there.")
        return Response({})

    @extend_schema("createOld", request=None, responses={201: None})
    def post(self, request: Request) -> Response:
        """Create it."""
        return Response({}, status=201)


def answer(method: str, query: str = "") -> Any:
    return Old.as_view()(getattr(APIRequestFactory(), method)(f"/old{query}"))


def test_answers_of_a_deprecated_operation_say_when_it_ends() -> None:
    for query, status in (("", 200), ("?missing=1", 404)):
        response = answer("get", query)
        assert response.status_code == status
        assert response["Deprecation"] == "@1796083200"
        assert response["Sunset"] == "Wed, 01 Dec 2027 00:00:00 GMT"
    other = answer("post")
    assert not {"Deprecation", "Sunset"} & set(other.headers)


def test_document_marks_the_operation_and_names_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectacular_settings, "POSTPROCESSING_HOOKS", [])  # they describe the whole API
    document: Any = SchemaGenerator(patterns=[path("old", Old.as_view())]).get_schema(public=True)
    old, new = document["paths"]["/old"]["get"], document["paths"]["/old"]["post"]
    assert old["deprecated"] is True
    assert old["description"].endswith(
        "Deprecated since 1 December 2026, and gone after 1 December 2027. Use `GET /app-api/new`."
    )
    assert {"Deprecation", "Sunset"} <= set(old["responses"]["200"]["headers"])
    assert "deprecated" not in new
    assert not {"Deprecation", "Sunset"} & set(new["responses"]["201"].get("headers", {}))


def test_deprecation_lasts_twelve_months() -> None:
    since = datetime(2026, 12, 1, tzinfo=UTC)
    Deprecation(since=since, end=since + timedelta(days=365), instead="Use another.")
    with pytest.raises(ValueError, match="365 days"):
        Deprecation(since=since, end=since + timedelta(days=364), instead="Use another.")
