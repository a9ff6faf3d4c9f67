"""An app with two versions, in twenty stores."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from extensions.releases.watch import look
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from tests.clients import Api
from tests.developers.api.releases.rolling import (
    BEFORE,
    NEW,
    OLD,
    approve,
    change,
    save,
    stores,
)


@pytest.fixture
def first(api: Api, stars: App) -> App:
    """Version 1, approved."""
    App.objects.filter(pk=stars.pk).update(webhook_url=OLD)
    save(api, stars, BEFORE)
    return approve(stars)


@pytest.fixture
def twenty(first: App) -> list[Installation]:
    return stores(first, 20)


@pytest.fixture
def rolling(first: App, twenty: list[Installation]) -> App:
    """Version 2 with another Webhook URL, in 1 % of twenty stores."""
    return approve(change(first, webhook_url=NEW, version="2.0.0"))


@pytest.fixture
def later() -> Callable[..., None]:
    """Look at the releases after so much time."""

    def move(**time: float) -> None:
        look(now=timezone.now() + timedelta(**time))
        follow_all()

    return move
