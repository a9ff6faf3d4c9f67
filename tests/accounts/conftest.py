import pytest


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
