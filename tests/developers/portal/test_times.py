"""The zone of the portal's times."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from installations.models import Installation
from marketplace.models import App
from tests.deliveries import OK, UNAVAILABLE, delivery
from tests.pages import text_of
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus

pytestmark = pytest.mark.django_db
OUT_OF_RANGE = "Enter a time in the years 1 to 9999."
NOON = datetime(2026, 11, 27, 12, 0, 30, tzinfo=UTC)


@pytest.mark.long
def test_times_are_the_persons_own_and_utc_is_one_press_away(
    browser: Client, app: App, installation: Installation
) -> None:
    """In lists, filters, plots and links; a moment that is typed is in the same zone."""
    page, rows = f"/portal/apps/{app.slug}/", f"/portal/apps/{app.slug}/deliveries/"
    with time_machine.travel(NOON, tick=False):
        webhook = helpers.webhook(installation, "https://127.0.0.1:9/in", ["order.created"])
        delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE)
        assert ">12:00:30</time>" in browser.get(rows).content.decode()

        browser.cookies["zone"] = "Asia/Kolkata"
        shown = browser.get(rows).content.decode()
        assert ">17:30:30</time>" in shown
        assert re.search(r"Created today\s+<button[^>]* form=\"times\"[^>]*>IST</button>", shown)
        assert "From (IST)" in shown
        overview = browser.get(f"{page}?in=sandbox").content.decode()
        assert "27 Nov 2026, 17:30" in overview
        (bar,) = {
            each
            for each in re.findall(r'href="([^"]*/deliveries/[^"]*since[^"]*)"', overview)
            if "T12%3A00Z" in each.split("until")[0]
        }
        found = browser.get(bar.replace("&amp;", "&")).content.decode()
        assert ">17:30:30</time>" in found
        assert 'value="2026-11-27T17:30"' in found
        assert ">17:30:30</time>" in browser.get(rows, {"since": "2026-11-27T17:30"}).content.decode()
        assert ">17:30:30</time>" not in browser.get(rows, {"since": "2026-11-27T17:31"}).content.decode()

        response = browser.post("/accounts/times/", {"times": "UTC", "next": rows})
        assert response.headers["Location"] == rows
        shown = browser.get(rows).content.decode()
        assert ">12:00:30</time>" in shown
        assert "Show Asia/Kolkata" in shown
        browser.post("/accounts/times/", {"times": "own", "next": "https://elsewhere.example/"})
        assert ">17:30:30</time>" in browser.get(rows).content.decode()


def test_lists_have_a_head_for_each_day_of_the_persons_zone(
    browser: Client, app: App, installation: Installation
) -> None:
    """The first one is in the head of the column, too, where there is room for one."""
    webhook = helpers.webhook(installation, "https://127.0.0.1:9/in", ["order.created"])
    with time_machine.travel(NOON, tick=False):
        for hours in (1, 13, 20, 80):  # 11:00 and 23:00 UTC of the day before, then earlier days
            delivery(webhook, DeliveryStatus.SUCCEEDED, OK, created_at=NOON - timedelta(hours=hours))
        days = {
            "UTC": ["Today", "Yesterday", "24 Nov 2026"],
            "Asia/Kolkata": ["Today", "Yesterday", "24 Nov 2026"],
        }
        rows = {"UTC": [1, 2, 1], "Asia/Kolkata": [2, 1, 1]}
        for zone, heads in days.items():
            browser.cookies["zone"] = zone
            for path in ("deliveries", "logs"):
                page = browser.get(f"/portal/apps/{app.slug}/{path}/").content.decode()
                table = page.partition("<tbody")[2].partition("</tbody>")[0]
                found = re.split(
                    r'<tr class="day"><th scope="rowgroup" colspan="\d">([^<]+)</th></tr>', table
                )
                assert found[1::2] == heads, (zone, path)
                assert [part.count("<tr>") for part in found[2::2]] == rows[zone], (zone, path)
                assert re.search(r"(Created today|Today)\s+<(span|button)", page)
                columns = page.partition("<thead>")[2].partition("</thead>")[0]
                assert f'colspan="{len(re.findall("<t[hd]", columns))}"' in table


@pytest.mark.parametrize("zone", ["Mars/Base", "../../etc/passwd", ""])
def test_unknown_zone_is_utc(browser: Client, app: App, zone: str) -> None:
    browser.cookies["zone"] = zone
    assert "Times are in UTC" in browser.get(f"/portal/apps/{app.slug}/deliveries/").content.decode()


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "A well-formed date of any year is no failure")
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_time_outside_the_years_that_there_are_is_named(
    browser: Client, app: App, installation: Installation, zone: str
) -> None:
    """The field shows the zone of the page, and the search is in UTC: either may leave the years 1 to 9999."""
    webhook = helpers.webhook(installation, "https://127.0.0.1:9/in", ["order.created"])
    row = delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE)
    browser.cookies["zone"], base = zone, f"/portal/apps/{app.slug}"
    pages = ("deliveries/", "requests/", "logs/", "deliveries/recover/", "deliveries/new/", "logs/new/")
    for beyond in ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"):
        for path in pages:
            for name in ("since", "until"):
                answer = browser.get(f"{base}/{path}", {name: beyond})
                assert answer.status_code in (200, 400, 422), (path, name)
        assert OUT_OF_RANGE in text_of(browser.get(f"{base}/deliveries/", {"since": beyond}))
        why = {"event": "order.created", "at": beyond, "delivery": str(row.pk)}
        assert OUT_OF_RANGE in text_of(browser.get(f"{base}/deliveries/why/", why))
    for edge in ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59", "0001-01-01T00:00"):
        for path in (*pages, "deliveries/why/"):
            for name in ("since", "until", "at"):
                answer = browser.get(f"{base}/{path}", {name: edge, "event": "order.created"})
                assert answer.status_code < 500, (path, name, edge)
