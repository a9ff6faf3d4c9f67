"""How these tests speak to `/auth`."""

from typing import Any

from django.test import Client

from tests.factories import PASSWORD


def post(client: Client, path: str, body: object, **kwargs: Any) -> Any:
    return client.post(path, body, content_type="application/json", **kwargs)


def sign_in(client: Client, email: str, password: str = PASSWORD, **kwargs: Any) -> Any:
    return post(client, "/auth/login", {"email": email, "password": password}, **kwargs)


def refresh(client: Client, token: str) -> Any:
    return post(client, "/auth/refresh", {"refreshToken": token})


def assert_error(response: Any, status: int, error: str) -> dict[str, Any]:
    """The error shape, and nothing else; answers the body."""
    body = response.json()
    assert response.status_code == status, body
    assert body["statusCode"] == status
    assert body["error"] == error
    assert body["message"]
    assert body.keys() <= {"statusCode", "message", "error", "details"}
    return body
