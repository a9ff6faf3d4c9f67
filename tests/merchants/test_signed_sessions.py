"""Session tokens that the platform's key signs, read by PyJWT, which knows nothing but the address of the keys (contract, section 20)."""

import base64
import itertools
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import extension_platform_sdk
import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import Client

from accounts.models import Business, User
from common.db.fields import decrypt
from config.env.keys import session_token_keys
from extensions.session_tokens import storefront_tokens
from installations.models import Installation, SigningKey
from marketplace.models import App
from tests.clients import api_of
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in
from tests.sdk.node_tools import MODULES, needs_module
from tests.storefront.shopping import STORES_HOST
from tests.waiting import wait_until

SPEC = "Contract 20 One key for who is looking"
pytestmark = pytest.mark.django_db(transaction=True)


def new_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


def seed(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.private_bytes_raw()).decode()


def pem(key: Ed25519PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    app = listed_app(dana, ["read_products"], name="Loyalty Stars")
    made = installed(app, shop)
    answer = api_of(dana)("patch", f"/developer/apps/{app.pk}", {"sessionTokenAlg": "EdDSA"})
    assert (answer.status_code, answer.json()["sessionTokenAlg"]) == (200, "EdDSA")
    return made


@pytest.fixture
def browser(shop: Business) -> Client:
    return signed_in(shop.owner)


def token_of(browser: Client, stars: Installation) -> str:
    return str(browser.get(page_of(stars, "session-token/")).json()["sessionToken"])


def read(token: str, server: Any, app: App, **options: Any) -> dict[str, Any]:
    """As an app reads it, with the address of the keys alone."""
    keys = jwt.PyJWKClient(f"{server.url}/.well-known/jwks.json", cache_keys=False)
    found: dict[str, Any] = jwt.decode(
        token, keys.get_signing_key_from_jwt(token), algorithms=["EdDSA"], audience=app.client_id, **options
    )
    return found


@pytest.mark.spec(
    SPEC, "With EdDSA the token is signed with the platform's key, with kid, iss, iat and the same claims"
)
def test_token_is_read_with_the_address_of_the_keys_alone(
    live_server: Any, browser: Client, stars: Installation, shop: Business, settings: Any
) -> None:
    settings.BASE_URL = live_server.url
    before = int(time.time())
    claims = read(token_of(browser, stars), live_server, stars.app, issuer=live_server.url)
    assert claims.keys() == {"aud", "sub", "businessId", "installationId", "exp", "staffRole", "iss", "iat"}
    assert (claims["sub"], claims["businessId"]) == (str(shop.owner.pk), str(shop.pk))
    assert claims["exp"] - claims["iat"] == 60
    assert before <= claims["iat"] <= time.time()
    forged = jwt.encode(claims, stars.webhook_secret, algorithm="HS256", headers={"kid": "x"})
    with pytest.raises(jwt.PyJWTError):
        read(forged, live_server, stars.app)


@pytest.mark.spec(SPEC, "HS256 tokens stay as they are")
def test_app_without_a_choice_has_its_tokens_as_before(browser: Client, dana: User, shop: Business) -> None:
    other = installed(listed_app(dana, ["read_products"], name="Other"), shop)
    token = token_of(browser, other)
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    claims = jwt.decode(token, other.webhook_secret, algorithms=["HS256"], audience=other.app.client_id)
    assert claims.keys() == {"aud", "sub", "businessId", "installationId", "exp", "staffRole"}


@pytest.mark.spec(SPEC, "jwks.json has all public keys, for any origin, with max-age=300")
def test_keys_are_published_with_their_thumbprints(live_server: Any, settings: Any) -> None:
    first, second = new_key(), new_key()
    settings.SESSION_TOKEN_KEYS = [each.private_bytes_raw() for each in (first, second)]
    address = f"{live_server.url}/.well-known/jwks.json"
    answer = requests.get(address, timeout=10)
    assert (answer.headers["Cache-Control"], answer.headers["Access-Control-Allow-Origin"]) == (
        "max-age=300",
        "*",
    )
    keys = answer.json()["keys"]
    assert [base64.urlsafe_b64decode(each["x"] + "=") for each in keys] == [
        each.public_key().public_bytes_raw() for each in (first, second)
    ]
    assert all(each.keys() == {"kty", "crv", "x", "kid", "use", "alg"} for each in keys)
    metadata = requests.get(f"{live_server.url}/.well-known/oauth-authorization-server", timeout=10).json()
    assert metadata["jwks_uri"].endswith("/.well-known/jwks.json")


def test_thumbprint_is_that_of_the_rfc() -> None:
    """RFC 8037, appendix A.3."""
    from installations.signing_keys import thumbprint

    jwk = {"crv": "Ed25519", "kty": "OKP", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    assert thumbprint(jwk) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


@pytest.mark.spec(SPEC, "A new key is put last, moved first an hour later, the old one taken out a day later")
def test_no_token_is_refused_while_keys_change(
    live_server: Any, browser: Client, stars: Installation, settings: Any
) -> None:
    old, new = (each.private_bytes_raw() for each in (new_key(), new_key()))
    tokens = []
    for keys in ([old], [old, new], [new, old], [new]):
        settings.SESSION_TOKEN_KEYS = keys
        tokens.append(token_of(browser, stars))
        for token in tokens[-2:]:  # of a minute ago at most
            assert read(token, live_server, stars.app)["sub"]


JOSE = """
import { createInterface } from "node:readline";
import { createRemoteJWKSet, jwtVerify } from "jose";

const [address, audience, cacheMaxAge] = process.argv.slice(1);
const keys = createRemoteJWKSet(new URL(address), { cacheMaxAge: Number(cacheMaxAge), cooldownDuration: 0 });
for await (const token of createInterface({ input: process.stdin })) {
  const options = { algorithms: ["EdDSA"], audience };
  console.log(await jwtVerify(token, keys, options).then(() => "good", (error) => error.code));
}
"""
CACHE = 0.3  # seconds, for the five minutes of max-age: time runs a thousand times as fast here


@pytest.mark.long
@pytest.mark.timed
@needs_module("jose")
@pytest.mark.spec(SPEC, "PyJWT and jose verify by the address of the keys alone; 0 refused while keys change")
def test_keys_change_three_times_under_load(
    live_server: Any, stars: Installation, shop: Business, settings: Any
) -> None:
    """By the order that the guide for operators has. Whatever is verified was signed at that moment."""
    settings.AUTH_RATE_LIMITS = False
    seeds = [new_key().private_bytes_raw() for _ in range(4)]
    settings.SESSION_TOKEN_KEYS = seeds[:1]
    address = f"{live_server.url}/.well-known/jwks.json"
    audience = f"{stars.app.client_id}/storefront"
    query = f"{live_server.url}/store/{shop.slug}/session-tokens/?app={stars.app.slug}"
    client = jwt.PyJWKClient(address, lifespan=CACHE)  # type: ignore[arg-type]
    command = ["node", "--input-type=module", "-e", JOSE, address, audience, str(CACHE * 1000)]
    tokens: list[str] = []
    refused: list[object] = []
    rounds = [0, 0, 0]
    ended, one_at_a_time = threading.Event(), threading.Lock()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=MODULES.parent
    ) as jose:
        assert jose.stdin
        assert jose.stdout

        def judge(token: str) -> None:
            try:
                key = client.get_signing_key_from_jwt(token)
                jwt.decode(token, key, algorithms=["EdDSA"], audience=audience)
            except jwt.PyJWTError as error:
                refused.append(error)
            with one_at_a_time:
                print(token, file=jose.stdin)
                if (said := jose.stdout.readline().strip()) != "good":
                    refused.append(said)

        def shop_around(number: int) -> None:
            with requests.Session() as session:
                session.headers["Host"] = STORES_HOST
                while not ended.is_set():
                    token = session.get(query, timeout=10).json()["tokens"][stars.app.slug]
                    judge(token)
                    tokens.append(token)
                    rounds[number] += 1

        def settle() -> None:
            """Caches have ended, and no token from before is under way: a minute, or an hour, of the real time."""
            before = list(rounds)
            time.sleep(2 * CACHE)
            wait_until(lambda: all(now >= then + 2 for now, then in zip(rounds, before, strict=True)))

        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(shop_around, number) for number in range(3)]
            try:
                for old, new in itertools.pairwise(seeds):
                    for keys in ([old, new], [new, old], [new]):
                        settings.SESSION_TOKEN_KEYS = keys
                        settle()
            finally:
                ended.set()
            for each in running:
                each.result()
        jose.stdin.close()
    assert refused == []
    assert len({jwt.get_unverified_header(token)["kid"] for token in tokens}) == 4
    assert len(tokens) > 50


@pytest.mark.spec(SPEC, "A token made with the webhook secret is refused for an app with EdDSA")
@pytest.mark.parametrize("read_by", ["read_session_token", "read_storefront_token"])
def test_sdk_reads_with_the_address_of_the_keys_alone(
    live_server: Any, browser: Client, stars: Installation, shop: Business, settings: Any, read_by: str
) -> None:
    settings.BASE_URL = live_server.url
    extension_platform_sdk.platform_keys.keys_of.cache_clear()  # of an earlier test
    given = {"client_id": stars.app.client_id, "base_url": live_server.url}
    read_token = getattr(extension_platform_sdk, read_by)
    is_block = read_by == "read_storefront_token"
    token = (
        storefront_tokens(shop, [stars.app.slug])[stars.app.slug] if is_block else token_of(browser, stars)
    )
    session = read_token(token, **given)
    assert (session.business_id, session.installation_id) == (str(shop.pk), str(stars.pk))
    claims = jwt.decode(token, options={"verify_signature": False})
    forged = jwt.encode(claims, stars.webhook_secret, algorithm="HS256")
    with pytest.raises(extension_platform_sdk.InvalidSession, match="EdDSA"):
        read_token(forged, **given)
    with pytest.raises(extension_platform_sdk.InvalidSession, match="another app"):
        read_token(token, client_id="other", base_url=live_server.url)


@pytest.mark.spec(SPEC, "Unset: one is made at the first start and kept encrypted")
def test_own_key_is_made_once_and_kept_encrypted(
    live_server: Any, browser: Client, stars: Installation
) -> None:
    assert read(token_of(browser, stars), live_server, stars.app)
    kept = SigningKey.objects.get()
    with connection.cursor() as cursor:
        cursor.execute("SELECT seed FROM installations_signingkey")
        assert decrypt(cursor.fetchone()[0]) == kept.seed
    assert read(token_of(browser, stars), live_server, stars.app)
    assert SigningKey.objects.get().seed == kept.seed


@pytest.mark.spec(SPEC, "PKCS#8 PEM or base64 of 32 bytes, comma-separated; a bad one stops the start")
def test_keys_of_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = new_key(), new_key()
    monkeypatch.setenv("SESSION_TOKEN_KEYS", f"{pem(first)},{seed(second)}")
    assert session_token_keys() == tuple(each.private_bytes_raw() for each in (first, second))
    monkeypatch.setenv("SESSION_TOKEN_KEYS", "")
    assert session_token_keys() == ()
    for bad in ("x", seed(first)[:20], "A" * 43 + "=", pem(first)[:60], f"{seed(first)},{seed(first)}"):
        monkeypatch.setenv("SESSION_TOKEN_KEYS", bad)
        with pytest.raises(ImproperlyConfigured, match="SESSION_TOKEN_KEYS"):
            session_token_keys()
