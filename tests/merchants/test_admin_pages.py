"""The session token of an app's admin pages."""

from typing import Any

import jwt
import pytest
from django.utils import timezone

from accounts.models import Business, User
from extensions.enums import ExtensionType
from installations.models import Installation
from marketplace.models import App
from tests.extensions.cast import define
from tests.merchants.pages import installed, page_of
from tests.pages import signed_in


@pytest.fixture
def installation(app: App, shop: Business) -> Installation:
    define(app, ExtensionType.ADMIN_PAGE, "summary")
    return installed(app, shop)


def token(user: User, installation: Installation) -> Any:
    return signed_in(user).get(page_of(installation, "session-token/"))


def test_owner_gets_a_token(installation: Installation, mira: User) -> None:
    claims = jwt.decode(token(mira, installation).json()["sessionToken"], options={"verify_signature": False})
    assert claims["installationId"] == str(installation.pk)


@pytest.mark.spec("Contract 6 Extensions", "A suspended app gets no session token")
@pytest.mark.parametrize("ended", ["suspended_at", "deleted_at"])
def test_app_that_is_switched_off_gets_none(installation: Installation, mira: User, ended: str) -> None:
    App.objects.filter(pk=installation.app_id).update(**{ended: timezone.now()})
    response = token(mira, installation)
    assert response.status_code == 404
    assert "sessionToken" not in response.content.decode()
