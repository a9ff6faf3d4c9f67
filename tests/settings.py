"""The product's settings, with what is slow and beside the point in a test made quick."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES, INSTALLED_APPS, PASSWORD_HASHERS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.quick_flush"]

# The strength of a test's password is of no use to anybody. Passwords made elsewhere can still be checked.
PASSWORD_HASHERS = ["accounts.sign_in.hashers.RandomSecretHasher", *PASSWORD_HASHERS]

# A test's database need not outlive the machine: nothing waits for the disk.
if DATABASES["default"]["ENGINE"] == "common.db.postgresql":
    DATABASES["default"]["OPTIONS"]["options"] += " -c synchronous_commit=off"
