"""A client library that knows nothing of us installs an app, by the metadata document alone."""

from typing import Any

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session

from accounts.models import Business, User
from marketplace.models import App
from tests.installations.oauth_client import SECRET, VERIFIER, browser, sent_to


@pytest.mark.long
@pytest.mark.spec("Contract 3 OAuth", "A generic OAuth client completes the flow with Basic auth and PKCE")
@pytest.mark.django_db(transaction=True)
def test_authlib_installs_by_the_metadata_alone(
    live_server: Any, settings: Any, listed: App, mira: User, shop: Business
) -> None:
    settings.BASE_URL = live_server.url
    known = requests.get(f"{live_server.url}/.well-known/oauth-authorization-server", timeout=10).json()
    assert known["issuer"] == live_server.url
    client = OAuth2Session(
        listed.client_id,
        SECRET,
        scope="read_products read_orders",
        redirect_uri=listed.redirect_url,
        code_challenge_method=known["code_challenge_methods_supported"][0],
        token_endpoint_auth_method=known["token_endpoint_auth_methods_supported"][0],
        revocation_endpoint_auth_method=known["revocation_endpoint_auth_methods_supported"][0],
    )
    with client as session:
        url, state = session.create_authorization_url(known["authorization_endpoint"], code_verifier=VERIFIER)
        person = browser(mira)
        path = url.removeprefix(live_server.url)
        page = person.get(path)
        response = person.post(path, {"scopes": " ".join(page.context["page"].scopes), "answer": "install"})
        assert sent_to(response)[1]["state"] == state

        token = session.fetch_token(
            known["token_endpoint"], authorization_response=response["Location"], code_verifier=VERIFIER
        )
        assert token["businessId"] == str(shop.id)
        assert session.get(f"{live_server.url}/app-api/products", timeout=10).json()["total"] == 0

        session.revoke_token(known["revocation_endpoint"], token["access_token"])
        assert session.get(f"{live_server.url}/app-api/products", timeout=10).status_code == 401
