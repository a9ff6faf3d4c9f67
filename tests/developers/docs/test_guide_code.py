"""The code in the guides works as it is copied."""

import json
import shutil
import subprocess
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from extension_platform_sdk import InvalidSession, platform_keys

from developers.docs import guides
from extensions.manifest.problems import problems_of_manifest
from installations.signing_keys import session_keys
from tests.developers.docs.guide_code import code
from tests.sdk.node_tools import MODULES
from webhooks.messages.message import own_signature_headers

SECRET, BODY = (
    "whsec_test_c2VjcmV0IG9mIDMyIGJ5dGVzIGZvciB0ZXN0cw==",
    '{"event":"order.created","data":{"name":"Käse"}}'.encode(),
)


def sign(secret: str, timestamp: int, body: bytes) -> str:
    return own_signature_headers(secret, timestamp, body)["X-Webhook-Signature"]


def cases() -> list[tuple[str, str, bytes, bool]]:
    """Timestamp, signature, body, and whether they are right."""
    now, old = int(time.time()), int(time.time()) - 301
    return [
        (str(now), sign(SECRET, now, BODY), BODY, True),
        (str(now), sign(SECRET, now, BODY), BODY + b" ", False),
        (str(now), sign("whsec_other", now, BODY), BODY, False),
        (str(old), sign(SECRET, old, BODY), BODY, False),
        ("yesterday", sign(SECRET, now, BODY), BODY, False),
        (str(now), "", BODY, False),
    ]


def test_python_checks_signatures() -> None:
    module: dict[str, Any] = {}
    exec(code("signatures", "python")[0], module)  # noqa: S102
    for timestamp, signature, body, expected in cases():
        assert module["is_signed"](SECRET, timestamp, signature, body) is expected


def test_javascript_checks_signatures() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not here")
    given = json.dumps([[timestamp, signature, body.decode()] for timestamp, signature, body, _ in cases()])
    program = code("signatures", "js")[0] + (
        f"for (const [t, s, b] of {given}) console.log(isSigned({json.dumps(SECRET)}, t, s, Buffer.from(b)));\n"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-"],
        input=program,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == [json.dumps(expected) for *_, expected in cases()]


def test_python_reads_session_tokens() -> None:
    module: dict[str, Any] = {}
    exec(code("admin-pages", "python")[0], module)  # noqa: S102
    claims = {
        "aud": "client",
        "sub": "1",
        "installationId": "i",
        "exp": datetime.now(UTC) + timedelta(seconds=60),
    }
    token = jwt.encode(claims, SECRET, algorithm="HS256")
    assert module["session_of"](token, "client", {"i": SECRET})["sub"] == "1"
    forged = jwt.encode(claims, "another secret, which is long enough for HMAC", algorithm="HS256")
    for bad, client, secrets in (
        (forged, "client", {"i": SECRET}),
        (token, "other", {"i": SECRET}),
        (token, "client", {}),
    ):
        with pytest.raises(jwt.InvalidTokenError):
            module["session_of"](bad, client, secrets)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("by", ["PyJWT", "jose", "the SDK"])
def test_guide_reads_tokens_of_the_platforms_key(live_server: Any, settings: Any, by: str) -> None:
    """With nothing but its address."""
    settings.BASE_URL = live_server.url
    platform_keys.keys_of.cache_clear()  # of an earlier test
    key = session_keys()[0]
    claims = {"aud": "client", "sub": "1", "businessId": "b", "installationId": "i", "iss": live_server.url}
    claims |= {"exp": int(time.time()) + 60}
    token = jwt.encode(claims, key.private, algorithm="EdDSA", headers={"kid": key.kid})
    by_secret = jwt.encode(claims, SECRET, algorithm="HS256", headers={"kid": key.kid})
    read = {"PyJWT": by_pyjwt, "jose": by_jose, "the SDK": by_the_sdk}[by]
    assert read(live_server.url, token) == "1"
    assert read(live_server.url, by_secret) is None


def code_at(base_url: str, language: str, number: int) -> str:
    return code("admin-pages", language)[number].replace("{base_url}", base_url)


def by_pyjwt(base_url: str, token: str) -> str | None:
    module: dict[str, Any] = {}
    exec(code_at(base_url, "python", 1), module)  # noqa: S102
    try:
        return str(module["signed_session_of"](token, "client")["sub"])
    except jwt.InvalidTokenError:
        return None


def by_the_sdk(base_url: str, token: str) -> str | None:
    module: dict[str, Any] = {"token": token, "CLIENT_ID": "client"}
    try:
        exec(code_at(base_url, "python", 2), module)  # noqa: S102
    except InvalidSession:
        return None
    return str(module["session"].user_id)


def by_jose(base_url: str, token: str) -> str | None:
    if not (MODULES / "jose").exists():
        pytest.skip("needs jose in build/node")
    [program] = [each for each in code("admin-pages", "js") if "jose" in each]
    program = program.replace("{base_url}", base_url)
    program += f"""
const found = await signedSessionOf({json.dumps(token)}, "client").catch((error) => error);
console.log(found.sub ?? found.code);
"""
    done = subprocess.run(
        ["node", "--input-type=module", "-"],
        input=program,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=MODULES.parent,
    )
    said = done.stdout.strip()
    return None if said.startswith("ERR_") else said


@pytest.mark.parametrize("slug", ["manifest", "blocks", "embeds", "admin-pages", "hooks"])
def test_manifests_are_accepted(slug: str) -> None:
    document = json.loads(code(slug, "json")[0].replace('"sha384-…"', '"sha384-' + "A" * 64 + '"'))
    assert list(problems_of_manifest(document)) == []


@pytest.mark.parametrize("slug", guides.GUIDES)
def test_shell_commands_parse(slug: str) -> None:
    for text in code(slug, "sh"):
        subprocess.run(["sh", "-n"], input=text, text=True, check=True, timeout=10)
