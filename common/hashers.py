"""A password hasher for random secrets."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class RandomSecretHasher(PBKDF2PasswordHasher):
    """PBKDF2 with one round, for client secrets only.

    The many rounds of a password hash slow down guessing. A client secret has 256 random bits and can't be guessed,
    and those rounds would cost each token exchange a quarter of a second.
    """

    algorithm = "pbkdf2_random_secret"
    iterations = 1
