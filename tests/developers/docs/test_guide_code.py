"""The code in the guides works as it is copied."""

import json
import shutil
import subprocess
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from developers.docs import guides
from extensions.manifest.problems import problems_of_manifest
from tests.developers.docs.guide_code import code
from webhooks.messages.signing import own_signature_headers

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


@pytest.mark.parametrize("slug", ["manifest", "blocks", "embeds", "admin-pages", "hooks"])
def test_manifests_are_accepted(slug: str) -> None:
    document = json.loads(code(slug, "json")[0].replace('"sha384-…"', '"sha384-' + "A" * 64 + '"'))
    assert list(problems_of_manifest(document)) == []


@pytest.mark.parametrize("slug", guides.GUIDES)
def test_shell_commands_parse(slug: str) -> None:
    for text in code(slug, "sh"):
        subprocess.run(["sh", "-n"], input=text, text=True, check=True, timeout=10)
