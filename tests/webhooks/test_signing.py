"""Signatures, checked with tools that are not ours."""

import shutil
import subprocess

import pytest
import time_machine
from standardwebhooks import Webhook

from common.secrets import new_webhook_secret, standard_webhooks_secret
from webhooks.messages.message import own_signature_headers, signature_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
BODY = '{"event":"order.created","data":{"name":"Zoë"}}'.encode()


@pytest.mark.spec(
    "Events/Signature", "sha256=<hex of HMAC-SHA256 with the whole secret over timestamp.rawBody>"
)
def test_a_vector_made_with_openssl() -> None:
    # printf '1764000000.{"a":1}' | openssl dgst -sha256 -hmac "$SECRET"
    assert own_signature_headers(SECRET, 1764000000, b'{"a":1}') == {
        "X-Webhook-Timestamp": "1764000000",
        "X-Webhook-Signature": "sha256=e2608fc96b5d6869fa3b8706d25c3b6eb394bddf807aa188410d0ecf8e31627b",
    }


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
@pytest.mark.spec(
    "Events/Signature", "sha256=<hex of HMAC-SHA256 with the whole secret over timestamp.rawBody>"
)
@pytest.mark.parametrize("test", [False, True])
def test_openssl_agrees(test: bool) -> None:
    secret = new_webhook_secret(test=test)
    printed = subprocess.run(
        ["openssl", "dgst", "-sha256", "-hmac", secret],
        input=b"1764000000." + BODY,
        capture_output=True,
        check=True,
    ).stdout
    signature = signature_headers(secret, "id", 1764000000, BODY)["X-Webhook-Signature"]
    assert signature == "sha256=" + printed.decode().split()[-1]


@pytest.mark.spec("Contract 5 Webhooks", "The published Standard Webhooks libraries verify each delivery")
@pytest.mark.parametrize("test", [False, True])
def test_the_standard_webhooks_library_verifies(test: bool) -> None:
    secret = new_webhook_secret(test=test)
    headers = signature_headers(secret, "0199-delivery", 1764000000, BODY)
    verifier = Webhook(standard_webhooks_secret(secret))
    assert test or standard_webhooks_secret(secret) == secret
    with time_machine.travel(1764000060):
        assert verifier.verify(BODY, headers) == {"event": "order.created", "data": {"name": "Zoë"}}


def test_every_part_that_is_signed_counts() -> None:
    signed = signature_headers(SECRET, "id", 1764000000, BODY)
    for other in (
        signature_headers(SECRET, "id", 1764000001, BODY),
        signature_headers(SECRET, "id", 1764000000, BODY + b" "),
        signature_headers(new_webhook_secret(test=False), "id", 1764000000, BODY),
    ):
        assert other["X-Webhook-Signature"] != signed["X-Webhook-Signature"]
        assert other["webhook-signature"] != signed["webhook-signature"]
    renamed = signature_headers(SECRET, "other", 1764000000, BODY)
    assert renamed["webhook-signature"] != signed["webhook-signature"]


def test_a_secret_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"(?i)base64|padding"):
        signature_headers("whsec_not base64!", "id", 1764000000, BODY)
