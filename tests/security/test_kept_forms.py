"""What is kept of a form that came in vain: for whom, for how long, and what never."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business, Session, User
from common.web.forms import kept
from marketplace.models import App
from stores.models import StoreSettings
from tests import factories
from tests.forms import HTML, filled, form_at, send
from tests.pages import signed_in
from tests.pictures import upload

STORE = "/merchant/store/"


def sign_in(browser: Client, person: User) -> Any:
    credentials = {"email": person.email, "password": factories.PASSWORD, "next": STORE}
    return browser.post("/accounts/login/", credentials, follow=True, headers=HTML)


def sent_in_vain(browser: Client, person: User, **typed: Any) -> Any:
    form = form_at(browser, STORE)
    Session.objects.all().delete()
    return browser.post(STORE, filled(form, **typed), headers=HTML)


@pytest.fixture
def browser(mira: User, shop: Business) -> Client:
    return signed_in(mira)


@pytest.mark.long
@pytest.mark.parametrize("where", ["another browser", "an hour later", "a second time"])
def test_form_is_shown_once_in_its_own_browser_within_an_hour(
    browser: Client, mira: User, where: str
) -> None:
    sent_in_vain(browser, mira, tagline="Typed")
    later = timezone.now() + timedelta(seconds=kept.LIFETIME + 1 if where == "an hour later" else 0)
    if where == "another browser":
        browser = Client(headers=HTML)
    with time_machine.travel(later):
        page = sign_in(browser, mira)
    if where == "a second time":
        assert 'value="Typed"' in page.text
        page = browser.get(STORE)
    assert page.status_code == 200
    assert 'value="Typed"' not in page.text
    assert not StoreSettings.objects.filter(tagline="Typed").exists()


@pytest.mark.long
def test_form_waits_for_its_own_page(browser: Client, mira: User) -> None:
    sent_in_vain(browser, mira, tagline="Typed")
    sign_in(browser, mira)  # shows it
    sent_in_vain(browser, mira, tagline="Typed again")
    credentials = {"email": mira.email, "password": factories.PASSWORD}
    browser.post("/accounts/login/", credentials, headers=HTML)
    assert "Typed again" not in browser.get("/merchant/products/add/").text
    assert 'value="Typed again"' in browser.get(STORE).text


@pytest.mark.long
def test_files_are_asked_for_again(browser: Client, mira: User) -> None:
    answer = sent_in_vain(browser, mira, tagline="Typed", logo=upload())
    assert answer.status_code == 302
    page = sign_in(browser, mira).text
    assert "Choose your files again." in page
    assert 'value="Typed"' in page


def test_what_waits_is_encrypted_and_has_no_password_or_secret(
    browser: Client, mira: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent_in_vain(browser, mira, tagline="A plan", new_password="correct horse", client_secret="fbcs_x")
    session = browser.session
    assert "A plan" not in str(dict(session))
    found = kept._read(session[kept.KEY])  # noqa: SLF001
    assert found is not None
    assert "A+plan" in found["form"]
    for left_out in ("correct", "fbcs_x", "csrfmiddlewaretoken", "stamp"):
        assert left_out not in found["form"]


def test_nothing_is_kept_for_strangers_or_of_pages_that_promise_that(
    mira: User, dana: User, app: App, shop: Business
) -> None:
    stranger = Client(headers=HTML)
    answer = stranger.post(STORE, {"tagline": "Typed"})
    assert answer["Location"] == f"/accounts/login/?next={STORE}"
    assert "Your browser’s Back button leads to what you typed." in stranger.get(answer["Location"]).text
    assert kept.KEY not in stranger.session
    checker = f"/portal/apps/{app.slug}/signatures/"
    developer = signed_in(dana)
    form = form_at(developer, checker)
    Session.objects.all().delete()
    send(developer, form, headers="X: 1", body="of a shopper")
    assert kept.KEY not in developer.session


def test_form_that_is_too_long_is_not_kept_which_is_said(browser: Client, mira: User) -> None:
    sent_in_vain(browser, mira, hero_text="x" * kept.LONGEST)
    assert kept.KEY not in browser.session


@pytest.mark.long
def test_one_person_fills_no_table(browser: Client, mira: User, stopped_clock: None) -> None:
    form = form_at(browser, STORE)
    Session.objects.all().delete()
    for _ in range(kept.KEPT_A_MINUTE):
        send(browser, form, tagline="Typed")
    other = Client(headers=HTML)
    send(other, form, tagline="Typed")
    assert kept.KEY not in other.session


@pytest.mark.long
def test_form_of_another_site_fills_nothing_in(browser: Client, mira: User) -> None:
    """It has no stamp of the person, and can have none."""
    strict = Client(enforce_csrf_checks=True, headers=HTML)
    strict.force_login(mira)
    for stamp in ("", "x", f"{mira.pk} ", f"{mira.pk} :{'x' * 43}"):
        answer = strict.post(STORE, {"tagline": "Planted", ":stamp": stamp})
        assert answer.status_code == 403
        assert "This form has expired, and nothing was saved." in answer.text
    assert "Planted" not in strict.get(STORE).text
