"""Tokens for the blocks and widgets of a store's pages, as its browsers ask for them."""

import time
from typing import Any

import jwt
import pytest
import time_machine
from django.utils import timezone

from accounts.models import Business, User
from extensions.session_tokens import BLOCKS_A_MINUTE
from installations.models import Installation
from installations.services import pause, uninstall
from installations.signing_keys import session_keys
from marketplace.models import App
from stores.services.pages import create_page
from tests import factories
from tests.merchants.pages import installed, listed_app
from tests.pages import signed_in
from tests.storefront.shopping import Shopper

SPEC = "Contract 20 One key for who is looking"


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    return installed(listed_app(dana, ["read_products"], name="Loyalty Stars", slug="stars"), shop)


@pytest.fixture
def chat(dana: User, shop: Business) -> Installation:
    """It chose the platform's key."""
    app = listed_app(dana, ["read_products"], name="Chat", slug="chat")
    App.objects.filter(pk=app.pk).update(session_token_alg="EdDSA")
    return installed(app, shop)


def ask(shopper: Shopper, *apps: str) -> Any:
    return shopper.get(shopper.at("session-tokens/"), {"app": apps}, headers={"accept": "application/json"})


def tokens(shop: Business, *apps: str) -> dict[str, str]:
    found: dict[str, str] = ask(Shopper(shop), *apps).json()["tokens"]
    return found


@pytest.mark.spec(
    SPEC, "aud of a block's token is <Client ID>/storefront, no sub; businessId, installationId, exp (60 s)"
)
def test_token_says_which_store_and_nobody(
    shop: Business, stars: Installation, chat: Installation, settings: Any
) -> None:
    before = int(time.time())
    found = tokens(shop, "stars", "chat", "stars", "unknown")
    assert found.keys() == {"stars", "chat"}
    by_secret = jwt.decode(
        found["stars"],
        stars.webhook_secret,
        algorithms=["HS256"],
        audience=f"{stars.app.client_id}/storefront",
    )
    key = session_keys()[0]
    by_key = jwt.decode(
        found["chat"],
        jwt.PyJWK(key.public),
        algorithms=["EdDSA"],
        audience=f"{chat.app.client_id}/storefront",
        issuer=settings.BASE_URL,
    )
    assert jwt.get_unverified_header(found["chat"])["kid"] == key.kid
    assert by_secret.keys() == {"aud", "businessId", "installationId", "exp"}
    assert by_key.keys() == {"aud", "businessId", "installationId", "exp", "iss", "iat"}
    for claims, installation in ((by_secret, stars), (by_key, chat)):
        assert (claims["businessId"], claims["installationId"]) == (str(shop.pk), str(installation.pk))
        assert before + 60 <= claims["exp"] <= time.time() + 60


@pytest.mark.spec(SPEC, "A check of aud refuses the one token for the other")
def test_neither_token_passes_for_the_other(shop: Business, stars: Installation) -> None:
    of_block = tokens(shop, "stars")["stars"]
    of_page = signed_in(shop.owner).get(f"/merchant/apps/{stars.pk}/session-token/").json()["sessionToken"]
    for token, audience in (
        (of_block, stars.app.client_id),
        (of_page, f"{stars.app.client_id}/storefront"),
    ):
        with pytest.raises(jwt.InvalidAudienceError):
            jwt.decode(token, stars.webhook_secret, algorithms=["HS256"], audience=audience)


def test_apps_that_do_not_run_in_the_store_have_none(
    shop: Business, sandbox: Business, dana: User, stars: Installation, chat: Installation
) -> None:
    elsewhere = factories.app(dana, slug="elsewhere")
    installed(elsewhere, sandbox)
    pause(installation=chat, user=shop.owner)
    assert tokens(shop, "stars", "chat", "elsewhere").keys() == {"stars"}
    App.objects.filter(pk=stars.app_id).update(suspended_at=timezone.now())
    assert tokens(shop, "stars") == {}
    App.objects.filter(pk=stars.app_id).update(suspended_at=None)
    uninstall(installation=stars)
    assert tokens(shop, "stars") == {}
    assert tokens(shop) == {}


@pytest.mark.spec(SPEC, "At most 60 times a minute for a session")
def test_session_gets_60_a_minute(shop: Business, stars: Installation) -> None:
    bread = factories.product(shop)
    with_cart, another, without = Shopper(shop), Shopper(shop), Shopper(shop)
    for shopper in (with_cart, another):
        shopper.take(bread)
    with time_machine.travel(timezone.now(), tick=False):  # within one minute
        for shopper in (with_cart, without):
            answers = [ask(shopper, "stars").status_code for _ in range(BLOCKS_A_MINUTE + 1)]
            assert answers == [200] * 60 + [429]
        assert ask(with_cart, "stars")["Retry-After"].isdecimal()
        assert ask(another, "stars").status_code == 200


@pytest.mark.spec(SPEC, "SERVICE_BLOCK_INIT carries a sessionToken in the page editor, too")
def test_page_editor_gets_those_of_the_pages_store(
    shop: Business, stars: Installation, mira: User, sandbox: Business, dana: User
) -> None:
    page = create_page(business=shop, title="About us")
    address = f"/merchant/pages/{page.pk}/session-tokens/?app=stars"
    answer = signed_in(mira).get(address)
    claims = jwt.decode(
        answer.json()["tokens"]["stars"],
        stars.webhook_secret,
        algorithms=["HS256"],
        audience=f"{stars.app.client_id}/storefront",
    )
    assert (claims["businessId"], "sub" in claims) == (str(shop.pk), False)
    assert "no-store" in answer["Cache-Control"]
    assert signed_in(dana).get(address).status_code == 404
