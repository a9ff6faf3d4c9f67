"""Redirect URLs: what can be saved can be used, and is used as it was written."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from accounts.sign_in import tokens
from marketplace.models import App
from tests import factories
from tests.installations.oauth_client import address, answer, browser, exchange

CALLBACK = "https://app.example.com/cb"
ODD_QUERIES = ["shop=1", "flag", "a=b%20c", "a;b", "(1)*", "v=%E9", "x=%2f&x=+", "a&", "&&", "", "/?@:"]


def save(app: App, user: User, url: str) -> Any:
    """The answer to a save by the developer API."""
    headers = {"Authorization": f"Bearer {tokens.issue(user).access}"}
    return Client(headers=headers).patch(
        f"/developer/apps/{app.pk}", {"redirectUrl": url}, content_type="application/json"
    )


@pytest.mark.spec("Contract 15 Doors", "A Redirect URL's own query is kept byte for byte")
@pytest.mark.parametrize("query", ODD_QUERIES)
def test_query_stays_as_it_was_written(app: App, mira: User, query: str) -> None:
    url = f"{CALLBACK}?{query}"
    factories.approve(app, redirect_url=url)
    joint = "" if url.endswith(("?", "&")) else "&"
    for response, first in (
        (answer(mira, app, redirect_uri=url), "code="),
        (answer(mira, app, answer="cancel", redirect_uri=url), "error=access_denied"),
        (answer(mira, app, redirect_uri=url, scope="x"), "error=invalid_scope"),
    ):
        assert response["Location"].startswith(f"{url}{joint}{first}")
        assert response["Location"].count("&iss=") == response["Location"].count("&state=xyz") == 1


@pytest.mark.spec("Contract 15 Doors", "A Redirect URL that can be saved can be used")
@pytest.mark.parametrize(
    "url",
    [
        *(f"{CALLBACK}?{query}" for query in ODD_QUERIES),
        *(
            "https://app.example.com",
            "https://app.example.com:8443/%C3%BC/~a(b)*'!$,;=:@",
            "https://xn--fa-hia.de/cb",
        ),
        *("https://10.0.0.1/", "https://[2606:4700::1111]/cb", "http://localhost:3000/callback"),
    ],
)
def test_saved_url_can_be_used(app: App, dana: User, settings: Any, url: str) -> None:
    settings.DEBUG = True
    assert save(app, dana, url).status_code == 200
    app.refresh_from_db()
    response = answer(dana, app)
    assert response["Location"].startswith(
        f"{url}{'' if url.endswith(('?', '&')) else '&' if '?' in url else '?'}code="
    )
    code = response["Location"].partition("code=")[2].partition("&")[0]
    assert exchange(app, code).status_code == 200


@pytest.mark.spec("Contract 15 Doors", "A Redirect URL is RFC 3986, checked at the save")
@pytest.mark.parametrize(
    ("rest", "character", "instead"),
    [
        *(("/ü", "ü", "%C3%BC"), ("/a?name=ß", "ß", "%C3%9F"), ("/{id}", "{", "%7B"), ("/a[0]", "[", "%5B")),
        *(
            ("/a|b", "|", "%7C"),
            ("/^", "^", "%5E"),
            ("/`", "`", "%60"),
            ('/"', '"', "%22"),
            ("/<", "<", "%3C"),
        ),
        *(("/100%", "%", "%25"), ("/%zz", "%", "%25"), ("/?a=%e", "%", "%25")),
    ],
)
def test_other_characters_are_refused_by_name(
    app: App, dana: User, rest: str, character: str, instead: str
) -> None:
    response = save(app, dana, f"https://app.example.com{rest}")
    assert response.status_code == 400
    (detail,) = response.json()["details"]
    assert detail["field"] == "redirectUrl"
    assert detail["message"].startswith(f"Write {character} in the URL as {instead}:")


@pytest.mark.parametrize("redirect_uri", [{}, {"redirect_uri": None}], ids=["named", "left out"])
def test_one_saved_before_the_rule_says_what_to_do(
    app: App, dana: User, mira: User, redirect_uri: dict[str, None]
) -> None:
    factories.approve(app, redirect_url=f"{CALLBACK}/ü")
    App.objects.filter(pk=app.pk).update(redirect_url=f"{CALLBACK}/ü")
    app.refresh_from_db()
    link = address(app, **redirect_uri)
    for user in (mira, dana):
        page = browser(user).get(link)
        assert page.status_code == 400
        assert "Redirect URL is not a valid URL" in page.content.decode()
        assert ("Write ü in the URL as %C3%BC" in page.content.decode()) == (user == dana)
