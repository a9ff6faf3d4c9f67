"""The index of errors is complete: for every endpoint of the document, and for every code in the source."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pytest
from django.conf import settings
from django.test import Client

from accounts.sign_in.tokens import IsDeveloper
from common import errors as raised
from common.http.exchanges import ErrorClass
from developers.docs import errors
from developers.docs.openapi import document as openapi
from developers.docs.reference import resolved
from extensions.enums import CallOutcome
from marketplace.services.apps import SlugTaken
from webhooks.insight.diagnosis import diagnose

# Modules whose services the APIs call. Errors of pages for merchants, reviewers and shoppers don't reach developers' apps.
REACHED = (
    "appapi", "developers/api", "accounts/api", "accounts/sign_in/tokens.py", "accounts/sign_in/tokens.py", "installations/authentication.py",
    "accounts/services/developer_tokens.py", "installations/services/sandbox.py", "webhooks/services/registration.py",
    "webhooks/services/deliveries.py", "webhooks/services/sandbox/samples.py", "webhooks/services/sandbox/testing.py", "webhooks/queries.py",
    "webhooks/feed.py", "stores/queries.py", "stores/services/pricing.py", "stores/services/checkout.py", "stores/services/orders.py",
    "stores/services/payments.py", "marketplace/queries.py", "marketplace/services/apps.py", "marketplace/services/reviews.py",
    "marketplace/services/versions.py", "marketplace/access.py", "marketplace/services/members.py", "accounts/services/roster.py", "marketplace/services/members.py", "extensions/services/manifests.py", "extensions/services/manifests.py", "common/rest", "storeapi", "stores/connected", "conformance/services/runs.py",
    "common/web/limits.py",
)  # fmt: skip
# Raised there for pages only.
PAGES = (
    "This shop system is disconnected", "Your account doesn't have permission to do this. Ask an administrator.", "The app is already suspended.", "The app is not suspended.", "You are a member of this app.", "This app isn't offered to you", "is reviewing this submission.",
    "A refund was recorded meanwhile", "This code", "You have", "Your password has changed.", "This token was revoked already.", "This submission", "The developer has withdrawn", "There is no such token.",
)  # fmt: skip
STATUS = {
    name: kind.status
    for name, kind in vars(raised).items()
    if isinstance(kind, type) and issubclass(kind, raised.ServiceError)
} | {"ParseError": 400, "AuthenticationFailed": 401, "PermissionDenied": 403}
OAUTH = {each.name for each in errors.OAUTH}
APPS = (
    "accounts", "activity", "appapi", "common", "config", "conformance", "developers", "extensions", "installations", "marketplace",
    "merchants", "storeapi", "stores", "storefront", "teststores", "webhooks",
)  # fmt: skip


# What a caller has to tell apart: an error of these kinds names its code. Others may have the one of their status.
NAMED = (
    "Unauthenticated", "NotAllowed", "Conflict", "Gone", "TooManyRequests", "ParseError", "AuthenticationFailed",
    "PermissionDenied",
)  # fmt: skip


@dataclass(frozen=True)
class Site:
    """Where an error is made: its kind, its code if it names one, and its message if that is a literal or constant."""

    kind: str
    code: str
    message: str | None
    file: str


def constants_of(tree: ast.Module) -> dict[str, str]:
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                found[target.id] = node.value.value
    return found


def message_of(node: ast.expr, constants: dict[str, str]) -> str | None:
    """None if it isn't known here, as for what a function found."""
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    return ast.unparse(node) if isinstance(node, ast.Constant | ast.JoinedStr) else None


def sites(*roots: str) -> Iterator[Site]:
    for root in roots:
        path = Path(settings.BASE_DIR) / root
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            tree = ast.parse(file.read_text())
            constants = constants_of(tree)
            for node in ast.walk(tree):
                kind = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
                if isinstance(node, ast.Call) and kind in (*STATUS, "Coded") and node.args:
                    named = [each.value for each in node.keywords if each.arg == "code"]
                    code = named[0].value if named and isinstance(named[0], ast.Constant) else ""
                    yield Site(kind, str(code), message_of(node.args[0], constants), file.name)


@pytest.mark.long
def test_error_that_a_caller_has_to_tell_apart_names_its_code() -> None:
    found = [each for each in sites(*REACHED) if each.kind in NAMED and each.message]
    assert len(found) > 40  # the walk finds them
    nameless = [
        each for each in found if not each.code and not any(part in str(each.message) for part in PAGES)
    ]
    assert nameless == []


@pytest.mark.long
def test_every_code_in_the_source_has_a_row_of_its_status() -> None:
    rows = {each.code: each.status for each in errors.PROBLEMS}
    found = [each for each in sites(*APPS) if each.code]
    assert len(found) > 60
    kinds = [
        kind
        for kind in vars(raised).values()
        if isinstance(kind, type) and issubclass(kind, raised.ServiceError)
    ]
    named = {(each.code, STATUS.get(each.kind, rows.get(each.code))) for each in found}
    named |= {(code, status) for status, code in raised.DEFAULT_CODES.items()}
    named |= {(kind.code, kind.status) for kind in kinds} | {(SlugTaken.code, 409), (IsDeveloper.code, 403)}
    assert {each for each in named if rows.get(each[0]) != each[1] and each[0] not in OAUTH} == set()


@pytest.mark.long
def test_every_row_is_of_a_code_in_the_source() -> None:
    source = (Path(settings.BASE_DIR) / "deploy" / "nginx.conf").read_text()
    for app in APPS:
        for file in (Path(settings.BASE_DIR) / app).rglob("*.py"):
            source += "" if file.name == "errors.py" and file.parent.name == "docs" else file.read_text()
    assert [each.code for each in errors.PROBLEMS if not re.search(rf"\b{each.code}\b", source)] == []


def test_every_status_that_an_endpoint_answers_is_described_with_what_the_endpoint_adds(
    client: Client,
) -> None:
    html = client.get("/docs/errors/").content.decode()
    statuses = {each.number: each for each in errors.statuses()}
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


def test_codes_and_outcomes_are_all_there() -> None:
    names = openapi.document()["components"]["schemas"]["OAuthError"]
    described = {code.name for code in errors.OAUTH}
    allowed = resolved(names, openapi.document())["properties"]["error"].get("enum", [])
    assert set(allowed) <= described
    assert {*errors.HOOK_OUTCOMES} == {*CallOutcome}
    assert all(diagnose(None, name) for name in errors.DELIVERY_CLASSES)
    idents = [problem.code for problem in errors.PROBLEMS] + list(described)
    assert len(idents) == len(set(idents))


def test_every_code_and_status_has_an_anchor(client: Client) -> None:
    """The portal's page of a request links to these."""
    html = client.get("/docs/errors/").content.decode()
    for ident in (*errors.CODES, *(f"status-{status}" for status in errors.ABOUT)):
        assert html.count(f'id="{ident}"') == 1, ident


def test_every_class_of_failed_attempts_is_explained() -> None:
    assert set(get_args(ErrorClass)) == set(errors.DELIVERY_CLASSES)
