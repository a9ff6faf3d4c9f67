"""Every endpoint against every scope (the table is in `endpoints`)."""

from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import Business, User
from installations.models import Installation
from marketplace.scopes import SCOPES
from tests import documented, factories
from tests.appapi.endpoints import ENDPOINTS, JSON, WITH_SCOPE, call, served, world
from tests.clients import client_of

Install = Callable[..., Installation]


@pytest.fixture
def install(dana: User, sandbox: Business) -> Install:
    """Another app of Dana's on her sandbox, with these scopes."""
    return lambda *scopes: factories.installation(factories.app(dana, scopes=list(scopes)), sandbox)


def test_every_endpoint_has_a_row() -> None:
    assert sorted(served()) == sorted(ENDPOINTS)


@pytest.mark.spec("Scopes", "The table of scopes names the endpoints that need them, each under one scope")
def test_table_of_scopes_names_what_needs_a_scope() -> None:
    said = {name: scope.name for scope in SCOPES.values() for name in scope.endpoints}
    needed = {name: ENDPOINTS[name].scope for name in WITH_SCOPE}
    assert said == {
        name.replace("<product_id>", ":id").replace("<order_id>", ":id").replace("<slug>", ":slug"): scope
        for name, scope in needed.items()
    }
    assert len(said) == sum(len(scope.endpoints) for scope in SCOPES.values())


@pytest.mark.spec("Scopes", "With its own scope alone an endpoint answers; one without a scope needs none")
@pytest.mark.parametrize("name", ENDPOINTS)
def test_call_succeeds_with_its_own_scope_alone(name: str, install: Install) -> None:
    endpoint = ENDPOINTS[name]
    installation = install(*filter(None, [endpoint.scope, endpoint.needs]))
    answer = call(client_of(installation), name, world(installation))
    assert answer.status_code == endpoint.status, answer.content
    documented.validate(answer.request["REQUEST_METHOD"], answer.request["PATH_INFO"], answer)


@pytest.mark.spec("Authentication", "A call needing a scope that the token lacks is a 403 naming the scope")
@pytest.mark.parametrize("name", WITH_SCOPE)
def test_call_with_every_scope_but_its_own_is_403_and_names_it(name: str, install: Install) -> None:
    scope = ENDPOINTS[name].scope
    assert scope is not None
    installation = install(*(other for other in SCOPES if other != scope))
    answer = call(client_of(installation), name, world(installation))
    assert (answer.status_code, answer.json()["error"]) == (403, "Forbidden")
    named = {each for each in SCOPES if each in answer.json()["message"]}
    assert named == {scope}


@pytest.mark.spec("Errors", "403 comes before 415, 400 and 404")
@pytest.mark.parametrize("name", WITH_SCOPE)
def test_missing_scope_is_told_before_anything_else(name: str, install: Install) -> None:
    api = client_of(install())
    method, path = name.split()
    assert api.generic(method, path, "not json", content_type="text/plain").status_code == 403


@pytest.mark.spec("Authentication", "No endpoint is open without a token; the 401 comes before all else")
@pytest.mark.parametrize("name", ENDPOINTS)
def test_call_without_a_token_is_401(name: str, installation: Installation, anonymous: Client) -> None:
    answer = call(anonymous, name, world(installation))
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    method, path = name.split()
    assert anonymous.generic(method, path, "not json", content_type="text/plain").status_code == 401


@pytest.mark.spec("Scopes", "What the merchant has not agreed to is a 403 on the same token")
@pytest.mark.parametrize("name", WITH_SCOPE)
def test_scope_that_was_not_granted_is_403(name: str, app: object, shop: Business, dana: User) -> None:
    approved = factories.app(dana)
    factories.approve(approved)
    granted = [scope for scope in SCOPES if scope != ENDPOINTS[name].scope]
    installation = factories.installation(approved, shop, granted_scopes=granted, needs_reconsent=True)
    answer = call(client_of(installation), name, world(installation))
    assert answer.status_code == 403
    assert "has not agreed to it yet" in answer.json()["message"]


@pytest.mark.parametrize("name", [name for name in ENDPOINTS if name.startswith("GET ")])
def test_closing_slash_changes_nothing(name: str, api: Client, installation: Installation) -> None:
    ids = world(installation)
    path = name.split()[1]
    for parameter, value in ids.items():
        path = path.replace(f"<{parameter}>", value)
    plain, slashed = api.get(path), api.get(path + "/")
    if plain.streaming:
        assert (plain.status_code, plain.getvalue()) == (200, slashed.getvalue())
        return
    bodies = [answer.json() for answer in (plain, slashed)]
    for body in bodies:
        body.pop("nextCursor", None)  # the feed's goes on with the time
    assert plain.status_code == slashed.status_code == 200
    assert bodies[0] == bodies[1]
    assert slashed.headers["Content-Type"] == JSON
