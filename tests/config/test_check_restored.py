"""`manage.py check_restored`, with the test's own database in the place of a restored copy."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from accounts.models import Business
from config.management.commands import check_restored
from config.models import BackupRecord
from installations.models import Installation
from stores.models import Order
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.fixture
def check(installation: Installation, sandbox: Business) -> Iterator[Any]:
    """The command for a database with one order and one installation."""
    factories.order(sandbox)
    host, port = connection.settings_dict["HOST"], connection.settings_dict["PORT"]
    connections.databases[check_restored.RESTORED] = check_restored.copy_at(host, port)
    # A test may not open connections that weren't there when it began.
    connections[check_restored.RESTORED].connect()
    yield lambda: call_command("check_restored", host=host, port=port)
    del connections[check_restored.RESTORED], connections.databases[check_restored.RESTORED]


def is_recorded() -> bool:
    return BackupRecord.objects.filter(what=BackupRecord.What.DRILL).exists()


def test_whole_copy_is_described_and_recorded(check: Any, capsys: pytest.CaptureFixture[str]) -> None:
    check()
    printed = capsys.readouterr().out
    assert "installations.Installation: 1 secrets can be decrypted." in printed
    assert "stores.Order: 1 rows." in printed
    assert is_recorded()


def without_its_key(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = (Fernet.generate_key().decode(),)


def of_an_earlier_release(settings: Any) -> None:
    MigrationRecorder.Migration.objects.filter(app="config").delete()


def of_yesterday(settings: Any) -> None:
    Order.objects.update(created_at=timezone.now() - timedelta(days=1))


@pytest.mark.parametrize(
    ("copy", "said"),
    [
        (without_its_key, "encrypted with a key that is missing"),
        (of_an_earlier_release, "lacks 1 of this release's migrations, first config.0001"),
        (of_yesterday, "That is more than 1:00:00"),
    ],
)
def test_copy_with_something_wrong_fails_and_is_not_recorded(
    check: Any, copy: Any, said: str, settings: Any
) -> None:
    copy(settings)
    try:
        with pytest.raises(CommandError, match=said):
            check()
    finally:
        MigrationRecorder.Migration.objects.get_or_create(app="config", name="0001_backup_records")
    assert not is_recorded()
