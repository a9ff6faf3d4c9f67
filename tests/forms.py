"""The forms of a page as a browser has them, hidden fields and all."""

from typing import Any

from django.core.files.base import File
from django.test import Client

from tests.by_hand import Form, Page

HTML = {"accept": "text/html"}


def form_at(browser: Client, path: str, action: str = "", *, having: str = "") -> Form:
    """The form that a page sends to `action`, or to its own address; `having` is a field that it has."""
    return form_on(browser.get(path, headers=HTML), path, action, having=having)


def form_on(response: Any, path: str, action: str = "", *, having: str = "") -> Form:
    page = Page(path, response.status_code, response.content.decode())
    forms = [form for form in page.forms if form.method == "post" and form.action == (action or path)]
    forms = [form for form in forms if not having or having in dict(form.fields)]
    assert forms, f"{path} ({page.status}) has no form for {action or path}: {page.words[:500]}"
    return forms[0]


def filled(form: Form, **typed: Any) -> dict[str, list[Any]]:
    """What a browser sends: the fields as the page shows them, with what was typed. None leaves a box empty."""
    sent: dict[str, list[Any]] = {}
    for name, value in form.fields:
        sent.setdefault(name, []).append(value)
    for name, value in typed.items():
        values = value if isinstance(value, list | tuple) else [] if value is None else [value]
        sent[name] = [each if isinstance(each, File) else str(each) for each in values]
    return sent


def send(browser: Client, form: Form, *, follow: bool = False, **typed: Any) -> Any:
    return browser.post(form.action, filled(form, **typed), follow=follow, headers=HTML)
