"""What a passkey's device does."""

import json
from typing import Any
from urllib.parse import urlsplit

from allauth.mfa.adapter import get_adapter
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from django.conf import settings
from django.test import Client
from fido2.cose import ES256
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from accounts.models import User

SEEN_AND_CHECKED = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV
ID = b"the passkey of a test"


class Passkey:
    """A passkey of the person that signs in alone, added on the account's page. `BASE_URL` must have a domain."""

    def __init__(self, user: User, browser: Client) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        entity = get_adapter().get_public_key_credential_user_entity(user)
        self._user_handle = websafe_encode(entity["id"])
        page = browser.get("/accounts/security/passkeys/add/")
        options = page.context["js_data"]["creation_options"]["publicKey"]
        data = AttestedCredentialData.create(
            Aaguid.NONE, ID, ES256.from_cryptography_key(self._key.public_key())
        )
        signed = AuthenticatorData.create(
            self._rp, SEEN_AND_CHECKED | AuthenticatorData.FLAG.AT, 0, bytes(data)
        )
        credential = self._credential(
            clientDataJSON=_client_data("webauthn.create", options["challenge"]),
            attestationObject=bytes(AttestationObject.create("none", signed, {})),
        )
        form = {"name": "Key", "credential": json.dumps(credential), "passwordless": "on"}
        answer = browser.post("/accounts/security/passkeys/add/", form)
        assert answer.status_code == 302, answer.content

    @property
    def _rp(self) -> bytes:
        return sha256((urlsplit(settings.BASE_URL).hostname or "").encode())

    def sign_in(self, browser: Client) -> Any:
        """Answer the page that asks for a passkey instead of a password."""
        asked = browser.get("/accounts/login/passkey/", headers={"accept": "application/json"}).json()
        client_data = _client_data("webauthn.get", asked["request_options"]["publicKey"]["challenge"])
        signed = bytes(AuthenticatorData.create(self._rp, SEEN_AND_CHECKED, 1))
        credential = self._credential(
            clientDataJSON=client_data,
            authenticatorData=signed,
            signature=self._key.sign(signed + sha256(client_data), ec.ECDSA(SHA256())),
        )
        credential["response"]["userHandle"] = self._user_handle
        return browser.post("/accounts/login/passkey/", {"credential": json.dumps(credential)})

    def _credential(self, **response: bytes) -> dict[str, Any]:
        return {
            "id": websafe_encode(ID),
            "rawId": websafe_encode(ID),
            "type": "public-key",
            "clientExtensionResults": {"credProps": {"rk": True}},
            "response": {name: websafe_encode(value) for name, value in response.items()},
        }


def _client_data(kind: str, challenge: str) -> bytes:
    challenge_bytes = websafe_decode(challenge)
    return bytes(CollectedClientData.create(type=kind, challenge=challenge_bytes, origin=settings.BASE_URL))
