"""Every text that comes from outside has a maximum: a form, a body or a page that is added later is found here."""

import importlib
import pkgutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.contrib import admin
from django.core.validators import MaxLengthValidator
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import User
from developers.docs.openapi import document as openapi

SPEC = ("Contract 15 Doors", "Every text that people or apps send has a maximum")
ROOT = Path(__file__).parents[1]
OWN = {each.name for each in apps.get_app_configs() if Path(each.path).parent == ROOT}
TEXTS = (forms.CharField, forms.JSONField)
OF_ITSELF = {"date-time", "date", "uuid", "binary"}  # formats of a known length, and files


def subclasses(of: Any) -> Iterator[Any]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


def is_unlimited(field: Any) -> bool:
    """The length of JSON is that of its text; a validator would get what was read from it."""
    if isinstance(field, forms.JSONField):
        most = getattr(field, "max_length", None)
        return most is None or not _is_refused(field, f'{{"id": "{"x" * most}"}}')
    limits = any(isinstance(each, MaxLengthValidator) for each in field.validators)
    return isinstance(field, TEXTS) and not limits and not isinstance(field, forms.UUIDField)


def _is_refused(field: forms.JSONField, text: str) -> bool:
    field = deepcopy(field)
    field.answer = SimpleNamespace(from_dict=bool)  # type: ignore[attr-defined]  # whatever it holds
    try:
        field.clean(text)
    except forms.ValidationError:
        return True
    return False


@pytest.fixture(scope="module", autouse=True)
def _every_module() -> None:
    for name in OWN:
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if ".migrations" not in found.name and ".settings" not in found.name:
                importlib.import_module(found.name)


@pytest.mark.spec(*SPEC)
def test_every_field_of_a_form_has_a_maximum() -> None:
    """But those of models in the administration, and of apps' settings, whose values have one together."""
    found = [
        each
        for each in set(subclasses(forms.BaseForm))
        if each.__module__.partition(".")[0] in OWN and not issubclass(each, forms.BaseModelForm)
    ]
    assert len(found) > 50
    unlimited = {
        f"{each.__module__}.{each.__qualname__}.{name}"
        for each in found
        for name, field in getattr(each, "base_fields", {}).items()
        if is_unlimited(field)
    }
    assert unlimited == set()


@pytest.mark.spec(*SPEC)
def test_page_of_a_library_has_a_form_of_ours() -> None:
    """Those of allauth have no maxima."""
    forms_of = {form for view in _views(get_resolver().url_patterns) if (form := _form_of(view))}
    assert len(forms_of) > 8
    assert [
        each for each in forms_of if any(map(is_unlimited, getattr(each, "base_fields", {}).values()))
    ] == []


def _views(patterns: list[Any]) -> Iterator[Any]:
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from _views(each.url_patterns)
        elif isinstance(each, URLPattern) and hasattr(each.callback, "view_class"):
            yield each.callback


def _form_of(view: Any) -> Any:
    made = view.view_class(**view.view_initkwargs)
    made.request = SimpleNamespace(method="GET")
    return made.get_form_class() if hasattr(made, "get_form_class") else None


@pytest.mark.spec(*SPEC)
@pytest.mark.django_db
def test_every_field_of_the_administration_has_a_maximum() -> None:
    request = RequestFactory().get("/")
    request.user = User.objects.create_superuser("root@example.com", name="Root")
    unlimited = set()
    for model, page in admin.site._registry.items():  # noqa: SLF001
        for obj in (None, model()):
            if not (page.has_change_permission(request) if obj else page.has_add_permission(request)):
                continue
            for name, field in page.get_form(request, obj, change=obj is not None).base_fields.items():
                column = {each.name: each for each in model._meta.fields}.get(name)
                if is_unlimited(field) and (column is None or is_unlimited_column(column)):
                    unlimited.add(f"{model._meta.label}.{name}")
    assert unlimited == set()


def is_unlimited_column(column: Any) -> bool:
    return not any(isinstance(each, MaxLengthValidator) for each in column.validators)


@pytest.mark.spec("Contract 15 Doors", "The maximum of a text is said in the OpenAPI document")
def test_every_text_of_a_request_has_its_maximum_in_the_document() -> None:
    document = openapi.document()
    unlimited = {
        f"{method} {path} {where}"
        for path, item in document["paths"].items()
        for method, call in item.items()
        for name, schema in _sent(call)
        for where in _unlimited(document, schema, name)
    }
    assert unlimited == set()


def _sent(call: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for body in call.get("requestBody", {}).get("content", {}).values():
        yield "", body["schema"]
    for each in call["parameters"]:
        if each.get("in") == "query":
            yield each["name"], each["schema"]


def _unlimited(document: dict[str, Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    for part in (schema, *(schema[each] for each in ("items", "additionalProperties") if each in schema)):
        if not isinstance(part, dict):
            continue
        if "$ref" in part:
            yield from _unlimited(document, _named(part["$ref"], document), where)
        kinds = part.get("type", ())
        is_text = "string" in ([kinds] if isinstance(kinds, str) else kinds)
        if (
            is_text
            and not part.keys() & {"enum", "const", "maxLength"}
            and part.get("format") not in OF_ITSELF
        ):
            yield where
        for name, inner in part.get("properties", {}).items():
            yield from _unlimited(document, inner, f"{where}.{name}")
        alternatives = (
            () if "properties" in part else ("anyOf", "oneOf", "allOf")
        )  # else they say what goes together
        for inner in (each for name in alternatives for each in part.get(name, ())):
            yield from _unlimited(document, inner, where)


def _named(reference: str, document: Any) -> dict[str, Any]:
    for step in reference.removeprefix("#/").split("/"):
        document = document[step]
    found: dict[str, Any] = document
    return found
