from typing import Any

import pytest

from tests.webhooks.erasures import clock as clock
from tests.webhooks.registered import receiver as receiver
from tests.webhooks.registered import webhook as webhook


@pytest.fixture
def delivering(transactional_db: None, settings: Any) -> Any:
    """A database whose transactions are real, and the settings."""
    return settings
