from typing import Any, Final

from django.db import models

from common.db.fields import EncryptedTextField


class SigningKey(models.Model):
    """The key that signs session tokens, where the operator gave none (`installations.signing_keys`)."""

    ONLY: Final = 1

    id = models.SmallIntegerField(primary_key=True, default=ONLY, editable=False)
    seed: Any = EncryptedTextField(help_text="Base64 of the 32 bytes of an Ed25519 private key.")

    def __str__(self) -> str:
        return "The platform's key for session tokens"
