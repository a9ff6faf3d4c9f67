"""Every endpoint against every scope."""

from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import Business, User
from installations.models import Installation
from marketplace.scopes import SCOPES
from tests import documented, factories
from tests.appapi.world import JSON, call, world
from tests.clients import client_of
from tests.endpoints_table import OF_APPS, PARAMETER, Endpoint

Install = Callable[..., Installation]

WITH_SCOPE = [each for each in OF_APPS if each.scope]


def each(cases: list[Endpoint]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("endpoint", cases, ids=str)


@pytest.fixture
def install(dana: User, sandbox: Business) -> Install:
    """Another app of Dana's on her sandbox, with these scopes."""
    return lambda *scopes: factories.installation(factories.app(dana, scopes=list(scopes)), sandbox)


@pytest.mark.spec("Scopes", "The table of scopes names the endpoints that need them, each under one scope")
def test_table_of_scopes_names_what_needs_a_scope() -> None:
    said = {name: scope.name for scope in SCOPES.values() for name in scope.endpoints}
    needed = {str(each).replace(" ", " /"): each.scope for each in WITH_SCOPE}
    assert said == {
        PARAMETER.sub(lambda at: ":slug" if at[1] == "slug" else ":id", name): scope
        for name, scope in needed.items()
    }
    assert len(said) == sum(len(scope.endpoints) for scope in SCOPES.values())


@pytest.mark.spec("Scopes", "With its own scope alone an endpoint answers; one without a scope needs none")
@pytest.mark.spec("Scopes", "GET /app-api/installation and the webhook calls need no scope")
@each(OF_APPS)
def test_call_succeeds_with_its_own_scope_alone(endpoint: Endpoint, install: Install) -> None:
    installation = install(*filter(None, [endpoint.scope, endpoint.needs]))
    answer = call(client_of(installation), endpoint, world(installation))
    assert answer.status_code == endpoint.status, answer.content
    documented.validate(answer.request["REQUEST_METHOD"], answer.request["PATH_INFO"], answer)


@pytest.mark.spec("Authentication", "A call needing a scope that the token lacks is a 403 naming the scope")
@each(WITH_SCOPE)
def test_call_with_every_scope_but_its_own_is_403_and_names_it(endpoint: Endpoint, install: Install) -> None:
    installation = install(*(other for other in SCOPES if other != endpoint.scope))
    answer = call(client_of(installation), endpoint, world(installation))
    assert (answer.status_code, answer.json()["error"]) == (403, "Forbidden")
    named = {each for each in SCOPES if each in answer.json()["message"]}
    assert named == {endpoint.scope}


@pytest.mark.spec("Errors", "403 comes before 415, 400 and 404")
@each(WITH_SCOPE)
def test_missing_scope_is_told_before_anything_else(endpoint: Endpoint, install: Install) -> None:
    api = client_of(install())
    path = endpoint.path({})
    assert api.generic(endpoint.method, path, "not json", content_type="text/plain").status_code == 403


@pytest.mark.spec("Authentication", "No endpoint is open without a token; the 401 comes before all else")
@each(OF_APPS)
def test_call_without_a_token_is_401(
    endpoint: Endpoint, installation: Installation, anonymous: Client
) -> None:
    answer = call(anonymous, endpoint, world(installation))
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    path = endpoint.path({})
    assert anonymous.generic(endpoint.method, path, "not json", content_type="text/plain").status_code == 401


@pytest.mark.spec("Scopes", "What the merchant has not agreed to is a 403 on the same token")
@each(WITH_SCOPE)
def test_scope_that_was_not_granted_is_403(
    endpoint: Endpoint, app: object, shop: Business, dana: User
) -> None:
    approved = factories.app(dana)
    factories.approve(approved)
    granted = [scope for scope in SCOPES if scope != endpoint.scope]
    installation = factories.installation(approved, shop, granted_scopes=granted, needs_reconsent=True)
    answer = call(client_of(installation), endpoint, world(installation))
    assert answer.status_code == 403
    assert "has not agreed to it yet" in answer.json()["message"]


@each([each for each in OF_APPS if each.method == "GET"])
def test_closing_slash_changes_nothing(endpoint: Endpoint, api: Client, installation: Installation) -> None:
    path = endpoint.path(world(installation))
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
