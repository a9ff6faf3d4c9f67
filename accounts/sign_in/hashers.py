"""Password hashers: of people, and of random secrets."""

from typing import Any

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from common import places
from common.places import Work


class PasswordHasher(PBKDF2PasswordHasher):
    """Django's first choice, within a place, since it is slow on purpose. Raises `places.Busy`."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> Any:
        places.require(Work.PASSWORD)
        return super().encode(password, salt, iterations)


class RandomSecretHasher(PBKDF2PasswordHasher):
    """PBKDF2 with one round, for client secrets only.

    The many rounds of a password hash slow down guessing. A client secret has 256 random bits and can't be guessed,
    and those rounds would cost each token exchange a quarter of a second.
    """

    algorithm = "pbkdf2_random_secret"
    iterations = 1
