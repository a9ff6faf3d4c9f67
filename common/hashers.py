"""A password hasher for secrets that are random already."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class RandomSecretHasher(PBKDF2PasswordHasher):
    """PBKDF2 with one round, for client secrets only.

    The many rounds of a password hash make guessing dear. A client secret has 256 random bits, which
    nobody guesses, while each token exchange would pay a quarter of a second for those rounds.
    """

    algorithm = "pbkdf2_random_secret"
    iterations = 1
