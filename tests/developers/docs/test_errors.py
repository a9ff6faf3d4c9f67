"""The index of errors is complete: for every endpoint of the document, and for every message in the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from common import errors as raised
from developers.docs import errors, openapi
from developers.docs.fields import resolved
from extensions.enums import CallOutcome
from installations.authentication import PAUSED
from webhooks.diagnosis import diagnose

# Modules whose services the APIs call. Errors of pages for merchants, reviewers and shoppers don't reach developers' apps.
REACHED = (
    "appapi", "developers/api", "accounts/api", "accounts/tokens.py", "accounts/authentication.py", "installations/authentication.py",
    "accounts/services/developer_tokens.py", "installations/services/sandbox.py", "webhooks/services/registration.py",
    "webhooks/services/deliveries.py", "webhooks/services/samples.py", "webhooks/services/testing.py", "webhooks/queries.py",
    "webhooks/feed.py", "stores/queries.py", "stores/services/basket.py", "stores/services/checkout.py", "stores/services/orders.py",
    "stores/services/payments.py", "marketplace/queries.py", "marketplace/services/apps.py", "marketplace/services/reviews.py",
    "marketplace/services/versions.py", "extensions/services/manifests.py", "extensions/services/versions.py", "common/rest", "conformance/services/runs.py",
    "common/web/auth_limits.py",
)  # fmt: skip
# Raised there for pages only.
PAGES = (
    "The app is already suspended.", "The app is not suspended.", "This app is your own.", "is reviewing this submission.",
    "This code", "You have", "Your password has changed.", "This token was revoked already.", "This submission", "The developer has withdrawn", "There is no such token.",
)  # fmt: skip
STATUS = {
    name: kind.status
    for name, kind in vars(raised).items()
    if isinstance(kind, type) and issubclass(kind, raised.ServiceError)
} | {"ParseError": 400, "AuthenticationFailed": 401, "PermissionDenied": 403}
FINDERS = ("get_or_not_found", "first_or_not_found")


def text_of(node: ast.expr, constants: dict[str, str]) -> str | None:
    """The text of a literal or constant, `x` in place of other values of an f-string; None if it isn't known here."""
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, constants) or "x"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, constants) or "" for part in node.values)
    return None


def constants_of(tree: ast.Module) -> dict[str, str]:
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                found[target.id] = node.value.value
    return found


def messages() -> Iterator[tuple[int, str, str]]:
    for root in REACHED:
        path = Path(settings.BASE_DIR) / root
        for file in [path] if path.is_file() else path.rglob("*.py"):
            tree = ast.parse(file.read_text())
            constants = constants_of(tree)
            for node in ast.walk(tree):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                    continue
                name = node.func.id
                if name in FINDERS and (text := text_of(node.args[-1], constants)):
                    yield 404, text, file.name
                elif name in STATUS and (text := text_of(node.args[0], constants)):
                    yield STATUS[name], text, file.name


def test_every_message_that_an_api_raises_is_explained() -> None:
    found = [each for each in messages() if not any(part in each[1] for part in PAGES)]
    assert len(found) > 40  # the walk finds them
    missing = [
        each
        for each in found
        if not any(problem.status == each[0] and problem.matches(each[1]) for problem in errors.PROBLEMS)
    ]
    assert missing == []


def test_every_status_that_an_endpoint_answers_is_described_with_what_the_endpoint_adds(
    client: Client,
) -> None:
    html = client.get("/docs/errors/").content.decode()
    statuses = {each.code: each for each in errors.statuses()}
    for item in openapi.document()["paths"].values():
        for operation in item.values():
            for code, response in operation["responses"].items():
                if code >= "400":
                    status = statuses[int(code)]
                    assert status.problems, code
                    assert f'id="status-{code}"' in html
                    described = {ident for place in status.places for _, ident, _ in place.endpoints}
                    common = response["description"] == errors.schema.PROBLEMS.get(int(code))
                    assert common or operation["operationId"] in described
    assert {problem.status for problem in errors.PROBLEMS} <= statuses.keys()


@pytest.mark.parametrize(("status", "message", "ident"), [
    (403, PAUSED, "paused"),
    (403, "This call needs the scope write_orders, which the token does not have.", "scope"),
    (401, "The access token is unknown or has been revoked.", "revoked"),
    (429, "More than 60 requests in a minute. Try again in 12 seconds.", "rate"),
    (404, "Product not found", "not-found"),
])  # fmt: skip
def test_message_leads_to_its_row(status: int, message: str, ident: str) -> None:
    assert (
        next(each.ident for each in errors.PROBLEMS if each.status == status and each.matches(message))
        == ident
    )


def test_codes_and_outcomes_are_all_there() -> None:
    names = openapi.document()["components"]["schemas"]["OAuthError"]
    described = {code.name for code in errors.OAUTH}
    allowed = resolved(names, openapi.document())["properties"]["error"].get("enum", [])
    assert set(allowed) <= described
    assert {*errors.HOOK_OUTCOMES} == {*CallOutcome}
    assert all(diagnose(None, name) for name in errors.DELIVERY_CLASSES)
    idents = [problem.ident for problem in errors.PROBLEMS] + list(described)
    assert len(idents) == len(set(idents))


def test_portal_links_to_rows_that_exist(client: Client) -> None:
    html = client.get("/docs/errors/").content.decode()
    for ident in ("revoked", "paused", "scope", "rate", *(f"status-{code}" for code in errors.ABOUT)):
        assert f'id="{ident}"' in html
