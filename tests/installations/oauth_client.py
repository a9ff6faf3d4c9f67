"""An app's side of the authorization, by hand: what it sends a browser to, and what its server posts."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client

from accounts.models import User
from installations.models import Grant
from marketplace.models import App

SECRET = "fbcs_of-the-test"
VERIFIER = "a-verifier-of-at-least-forty-three-characters-length"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}

BASIC = "basic"
FORM = "application/x-www-form-urlencoded"


def address(app: App, **parameters: str | None) -> str:
    """Where an app sends people; a parameter of None is left out."""
    query = {
        "response_type": "code",
        "client_id": app.client_id,
        "redirect_uri": app.redirect_url,
        "state": "xyz",
    } | parameters
    return "/oauth/authorize?" + urlencode(
        {name: value for name, value in query.items() if value is not None}
    )


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def answer(
    user: User, app: App, answer: str = "install", business: Any = None, **parameters: str | None
) -> Any:
    """Open the consent page as somebody, and press a button; the answer to that."""
    client = browser(user)
    path = address(app, **parameters)
    page = client.get(path)
    if page.status_code != 200:
        return page
    body = {"scopes": " ".join(page.context["page"].scopes), "answer": answer}
    if business is not None:
        body["business"] = str(business.pk)
    return client.post(path, body)


def sent_to(response: Any) -> tuple[str, dict[str, str]]:
    """The address without its query, and the query."""
    assert response.status_code == 302, (response.status_code, response.content)
    url = urlsplit(response["Location"])
    return url._replace(query="").geturl(), dict(parse_qsl(url.query))


def code_for(user: User, app: App, **parameters: Any) -> str:
    """A code for an app, by its consent page."""
    return sent_to(answer(user, app, **parameters))[1]["code"]


def basic(app: App, secret: str = SECRET) -> str:
    return "Basic " + base64.b64encode(f"{app.client_id}:{secret}".encode()).decode()


def post(path: str, body: Mapping[str, str | None], authorization: str | None, **options: Any) -> Any:
    given = {name: value for name, value in body.items() if value is not None}
    headers = {} if authorization is None else {"authorization": authorization}
    options = {"content_type": FORM, "headers": headers} | options
    return Client().post(path, urlencode(given), **options)


def exchange(app: App, code: str, authorization: str | None = BASIC, **body: str | None) -> Any:
    """Post a code, as the app itself where nothing else is said."""
    if authorization == BASIC:
        authorization = basic(app)
    return post(
        "/oauth/token",
        {"grant_type": "authorization_code", "code": code, "redirect_uri": app.redirect_url} | body,
        authorization,
    )


def call(token: str, path: str = "/app-api/installation") -> Any:
    return Client().get(path, headers={"authorization": f"Bearer {token}"})


def only_grant() -> Grant:
    return Grant.objects.get()
