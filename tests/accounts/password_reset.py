"""The two forms of a password reset."""

from typing import Any

from django.test import Client, TestCase

NEW = "seven quiet gardens"


def ask(client: Client, email: str, **kwargs: Any) -> Any:
    with TestCase.captureOnCommitCallbacks(execute=True):
        return client.post("/accounts/password-reset/", {"email": email}, **kwargs)


def choose(client: Client, path: str, password: str = NEW) -> Any:
    form = client.get(path, follow=True)
    return client.post(form.request["PATH_INFO"], {"password1": password, "password2": password}, follow=True)
