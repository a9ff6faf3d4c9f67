"""Saving a form and showing its page."""

from collections.abc import Mapping

from django import forms

from common.errors import ServiceError


def add_service_errors(
    form: forms.Form,
    error: ServiceError,
    *,
    names: Mapping[str, str] | None = None,
    conflict: str | None = None,
) -> None:
    """Show a service's errors at their fields, and those of no field of the form at its top. `names` maps names of the API to
    those of the form; `conflict` is the field of an error without details."""
    if not error.details:
        form.add_error(conflict, error.message)
    for detail in error.details:
        name = detail["field"].partition("[")[0]
        field = (names or {}).get(name, name)
        form.add_error(field if field in form.fields else None, detail["message"])
