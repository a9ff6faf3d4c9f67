from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    """One round of hashing: these tests sign in hundreds of times."""
    settings.PASSWORD_HASHERS = ["common.hashers.RandomSecretHasher"]


@pytest.fixture
def newcomer() -> dict[str, str]:
    """A body for POST /auth/register that is accepted."""
    return {
        "email": "nora@example.com",
        "password": "a long walk home",
        "name": "Nora",
        "role": "DEVELOPER",
    }


@pytest.fixture
def shopkeeper() -> dict[str, str]:
    return {
        "email": "shay@example.com",
        "password": "a long walk home",
        "name": "Shay",
        "role": "MERCHANT",
        "businessName": "Harbour Bakery",
    }
