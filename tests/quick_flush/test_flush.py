"""The database is emptied after a test even while a request that a browser left behind still writes."""

from threading import Event, Thread
from time import sleep

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from accounts.models import Business
from stores.models import SitePage


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_rows_go_despite_a_deadlock_with_a_late_request(shop: Business) -> None:
    page = SitePage.objects.create(business=shop, title="About us", slug="about", content="")
    has_lock = Event()

    def write() -> None:
        try:
            with transaction.atomic():
                SitePage.objects.filter(pk=page.pk).update(title="Late")
                has_lock.set()
                sleep(0.5)  # meanwhile the other side deletes the business, and waits for the page
                Business.objects.filter(pk=shop.pk).update(name="Late")
        finally:
            connection.close()

    late = Thread(target=write)
    late.start()
    has_lock.wait()
    call_command("flush", verbosity=0, interactive=False)
    late.join()
    assert not SitePage.objects.exists()
    assert not Business.objects.exists()
