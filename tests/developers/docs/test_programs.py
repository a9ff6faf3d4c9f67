"""What programs read: the guides as text, and the way from a 401 to the authorization server."""

import re

import pytest
from django.conf import settings
from django.test import Client

from developers.docs import guides

SPEC = "Contract 14 For programs"


@pytest.mark.django_db
@pytest.mark.spec(
    SPEC,
    "/llms.txt (a title, lists of links) and /llms-full.txt hold the guides, on the platform's host only",
)
def test_lists_of_guides_for_programs(client: Client) -> None:
    listed = client.get("/llms.txt")
    text = listed.content.decode()
    assert listed["Content-Type"].startswith("text/plain")
    assert text.startswith("# Extension Platform\n\n> ")
    links = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert {f"{settings.BASE_URL}/docs/guides/{slug}.md" for slug in guides.GUIDES} < set(links)
    for link in links:
        assert link.startswith(settings.BASE_URL)
        assert client.get(link.removeprefix(settings.BASE_URL)).status_code == 200, link
    whole = client.get("/llms-full.txt").content.decode()
    for slug in guides.GUIDES:
        assert client.get(f"/docs/guides/{slug}.md").content.decode().strip() in whole
    for path in ("/llms.txt", "/llms-full.txt", "/sdk/python/", "/sdk/node/"):
        assert client.get(path, headers={"host": "stores.test"}).status_code == 404


@pytest.mark.django_db
@pytest.mark.spec(
    SPEC, "The 401s of /app-api and /webhooks have resource_metadata in WWW-Authenticate (RFC 9728)"
)
@pytest.mark.parametrize("path", ["/app-api/products", "/webhooks"])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer fbat_nobody"}])
def test_401_leads_to_the_authorization_server(client: Client, path: str, headers: dict[str, str]) -> None:
    refused = client.get(path, headers=headers)
    assert refused.status_code == 401
    address = re.fullmatch(r'Bearer resource_metadata="([^"]+)"', refused["WWW-Authenticate"])
    assert address
    assert address[1] == f"{settings.BASE_URL}/.well-known/oauth-protected-resource"
    document = client.get(address[1].removeprefix(settings.BASE_URL)).json()
    assert document["resource"] == settings.BASE_URL
    (issuer,) = document["authorization_servers"]
    metadata = client.get("/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == issuer
