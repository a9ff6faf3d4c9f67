"""The portal's pages about checks of an app's server."""

from __future__ import annotations

import re
from typing import Any

import pytest
from extension_platform_sdk.cli.main import main
from flask import Flask

from accounts.models import User
from conformance.enums import RunStatus, Sender
from conformance.models import Run
from conformance.rules import RULES
from conformance.services.runs import start
from marketplace.models import App
from tests.conformance.mutants import bell_of, ignores_the_timestamp
from tests.conformance.order_bell import OrderBell, SignIn
from tests.pages import HTML, signed_in, words_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]


ELSEWHERE = "http://localhost:9/callback"


def checks_of(app: App) -> str:
    return f"/portal/apps/{app.slug}/checks/"


@pytest.mark.long
@pytest.mark.spec("Contract 7 Pages", "The developer sees each check with each rule's result, and runs one")
def test_developer_runs_a_check_and_sees_each_rule(
    order_bell: OrderBell, sign_in: SignIn, dana: User, sam: User, capsys: pytest.CaptureFixture[str]
) -> None:
    app = order_bell(ignores_the_timestamp)
    browser = signed_in(dana)
    assert "No checks yet" in words_of(browser.get(checks_of(app), **HTML))

    page = browser.post(checks_of(app), follow=True, **HTML)
    text = words_of(page)
    assert f"{len(RULES) - 2} passed, 2 failed" in text
    assert 'guides/check-rules/#wh005">WH005</a>' in page.content.decode()
    assert (
        "Failed WH005 Refuses a delivery that is ten minutes old Sent ten minutes ago: responded 200" in text
    )
    assert text.index("WH006") < text.index("IN001")  # what failed comes first

    sign_in()
    assert main(["check"]) == 1
    capsys.readouterr()
    listed = words_of(browser.get(checks_of(app), **HTML))
    assert re.search(
        r"32 passed, 2 failed Registered URLs The developer's command line Failed .* The platform", listed
    )

    own = page.redirect_chain[-1][0]
    assert signed_in(sam).get(own, **HTML).status_code == 404
    assert signed_in(sam).post(checks_of(app), **HTML).status_code == 404


def test_one_check_at_a_time_is_run_for_a_developer(order_bell: OrderBell, dana: User) -> None:
    app = order_bell()
    start(app=app, sender=Sender.PLATFORM)
    page = signed_in(dana).post(checks_of(app), follow=True, **HTML)
    assert "A check is running already. Wait until it has ended." in words_of(page)
    assert [run.status for run in Run.objects.all()] == [RunStatus.RUNNING]


def exchanges_with_another_redirect_uri(app: Flask) -> None:
    """As when the server runs on another port than its settings say."""
    oauth = bell_of(app).oauth
    assert oauth
    exchange = oauth.exchange

    def elsewhere(*args: Any, **options: Any) -> Any:
        right, oauth.redirect_uri = oauth.redirect_uri, ELSEWHERE
        try:
            return exchange(*args, **options)
        finally:
            oauth.redirect_uri = right

    oauth.exchange = elsewhere  # type: ignore[method-assign]


@pytest.mark.long
def test_another_redirect_uri_is_named_with_the_expected_one(
    order_bell: OrderBell, sign_in: SignIn, dana: User, capsys: pytest.CaptureFixture[str]
) -> None:
    app = order_bell(exchanges_with_another_redirect_uri)
    page = signed_in(dana).post(checks_of(app), follow=True, **HTML)
    cause = (
        f"The app sent the code to /oauth/token with the redirect_uri {ELSEWHERE}, which was refused. The code came to "
        f"{app.redirect_url}, and the app must send that one."
    )
    assert cause in words_of(page)
    assert words_of(page).count("Not tried: something that it needs failed.") == 1

    sign_in()
    assert main(["check"]) == 1
    out = capsys.readouterr().out
    assert cause in out
    assert out.count("Not tried: something that it needs failed.") == 1
