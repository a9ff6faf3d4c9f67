"""The site's own pages: front page, theme, licenses, style guide, and errors."""

import hashlib
import hmac
import html
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.models import User
from common.errors import Conflict
from common.web.forms.stamps import is_form_of_this_address
from config.env.addresses import public_link
from config.pages import views
from tests import factories
from tests.by_hand import Page

ROOT = Path(__file__).resolve().parents[2]
HTML = {"Accept": "text/html"}


def test_home_says_what_this_is(client: Client, db: None) -> None:
    page = client.get("/").content.decode()
    assert "<h1>Apps that extend online stores</h1>" in page
    assert page.count("<h1") == 1


def test_code_of_the_front_page_is_an_app_that_works(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", "whsec_test_front")
    shown = html.unescape(re.findall(r"<code>(import os.*?)</code>", client.get("/").text, re.DOTALL)[0])
    names: dict[str, Any] = {"__name__": __name__}
    exec(shown, names)  # noqa: S102  our own page
    body = json.dumps(
        {"id": "1", "webhookId": "w", "event": "order.created", "businessId": "b", "timestamp": "2026-11-20T15:31:08.123Z", "data": {"orderNumber": "1042"}}
    ).encode()  # fmt: skip
    now = str(int(time.time()))
    signature = hmac.new(b"whsec_test_front", f"{now}.".encode() + body, hashlib.sha256).hexdigest()
    signed = {
        "X-Webhook-Id": "w", "X-Webhook-Event": "order.created", "X-Webhook-Timestamp": now, "X-Webhook-Signature": f"sha256={signature}",
        "Content-Type": "application/json",
    }  # fmt: skip
    response = names["app"].test_client().post("/webhooks", data=body, headers=signed)
    assert response.status_code == 200, response.data
    assert "New order 1042" in capsys.readouterr().out


@pytest.mark.parametrize(("theme", "shown", "other"), [("light", "light", "dark"), ("dark", "dark", "light")])
def test_front_page_shows_the_product_in_its_look(
    client: Client, db: None, theme: str, shown: str, other: str
) -> None:
    """Without a choice, the browser takes the picture of its look."""
    client.cookies["theme"] = theme
    page = client.get("/").text
    for name in ("store", "portal-thread"):
        assert f"{name}-{shown}.webp" in page
        assert f"{name}-{other}.webp" not in page
    del client.cookies["theme"]
    assert client.get("/").text.count('<source media="(prefers-color-scheme: dark)"') == 2


def test_pictures_of_the_front_page_are_small() -> None:
    sizes = {each.name: each.stat().st_size for each in (ROOT / "static/img/front").iterdir()}
    assert len(sizes) == 4
    assert max(sizes.values()) <= 120_000, sizes


def test_footer_has_the_links_that_the_operator_has(client: Client, settings: Any, monkeypatch: Any) -> None:
    assert "Terms" not in client.get("/licenses/").content.decode()
    monkeypatch.setenv("TERMS_URL", "https://platform.example/terms")
    settings.FOOTER_LINKS = [("Terms", public_link("TERMS_URL"))]
    page = client.get("/licenses/").content.decode()
    assert '<a href="https://platform.example/terms">Terms</a>' in page
    for wrong in ("javascript:alert(1)", "http://platform.example", "mailto:nowhere"):
        monkeypatch.setenv("TERMS_URL", wrong)
        with pytest.raises(ImproperlyConfigured, match="TERMS_URL must be a link"):
            public_link("TERMS_URL")


def test_pages_send_a_policy_that_refuses_inline_code(client: Client) -> None:
    response = client.get("/licenses/")
    assert "default-src 'self'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert not re.search(r" style=| on[a-z]+=|<script>|<style", response.content.decode())


def test_no_template_has_inline_code() -> None:
    for template in (ROOT / "templates").rglob("*.html"):
        if template.parent.name == "mails":  # mail programs take styles only inline
            continue
        assert not re.search(r"\sstyle=|\son[a-z]+=\"|<script>|<style|javascript:", template.read_text()), (
            template
        )


def test_refused_and_missing_pages_keep_account_theme_and_footer(client: Client, mira: User) -> None:
    client.force_login(mira)
    client.cookies["theme"] = "dark"
    for path, status in (("/portal/", 403), ("/nowhere/", 404)):
        response = client.get(path, headers=HTML)
        page = response.content.decode()
        assert response.status_code == status
        assert 'data-theme="dark"' in page
        assert "Account of </span>" in page
        assert "Licenses" in page
        assert f'<input type="hidden" name="next" value="{path}">' in page
        assert "Sign in as another person" in page
    client.logout()
    page = client.get("/nowhere/", headers=HTML).content.decode()
    assert "Sign in</a>" in page
    assert "another person" not in page


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_theme_is_remembered(client: Client, choice: str) -> None:
    response = client.post("/theme/", {"theme": choice, "next": "/licenses/?page=2"})
    assert (response.status_code, response["Location"]) == (302, "/licenses/?page=2")
    assert f'data-theme="{choice}"' in client.get("/licenses/").content.decode()


@pytest.mark.parametrize("choice", ["system", "blue", '"><script>'])
def test_theme_of_another_name_leaves_it_to_the_device(client: Client, choice: str) -> None:
    client.post("/theme/", {"theme": "dark"})
    client.post("/theme/", {"theme": choice})
    assert "data-theme" not in client.get("/licenses/").content.decode()


def test_theme_from_a_forged_cookie_is_ignored(client: Client) -> None:
    client.cookies["theme"] = "x onload=alert(1)"
    assert "alert(1)" not in client.get("/accounts/login/").content.decode()


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_theme_never_leads_to_another_site(client: Client, target: str) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": target})["Location"] == "/"


def test_theme_needs_a_post(client: Client) -> None:
    assert client.get("/theme/").status_code == 405


def test_licences_show_every_part_with_its_text(client: Client) -> None:
    page = client.get("/licenses/").content.decode()
    for entry in views.vendored():
        assert f"{entry['package']} {entry['version']}" in page
    assert "SIL OPEN FONT LICENSE" in page


def test_styleguide_is_for_staff(client: Client, dana: User, settings: Any) -> None:
    settings.DEBUG = False
    assert client.get("/_styleguide/", headers=HTML).status_code == 404
    client.force_login(dana)
    assert client.get("/_styleguide/", headers=HTML).status_code == 404
    User.objects.filter(pk=dana.pk).update(is_staff=True)
    assert client.get("/_styleguide/", headers=HTML).status_code == 200


def test_top_bar_names_who_is_signed_in(client: Client, dana: User) -> None:
    client.force_login(dana)
    page = client.get("/").content.decode()
    assert "dana@example.com" in page
    assert "Sign in" not in page


def test_a_name_is_never_markup(client: Client, dana: User) -> None:
    User.objects.filter(pk=dana.pk).update(name="<b>Dana")
    client.force_login(dana)
    page = client.get("/").content.decode()
    assert "<b>Dana" not in page
    assert "&lt;b&gt;Dana" in page


@pytest.mark.spec("Errors", "a page's error is shown in the site's frame, an API's as JSON")
def test_unknown_page_is_shown_in_the_frame(client: Client) -> None:
    response = client.get("/nothing/here", headers=HTML)
    page = response.content.decode()
    assert response.status_code == 404
    assert "<h1>Not found</h1>" in page
    assert "There’s no page at /nothing/here. Check the address for a typo." in page
    assert 'pictures.svg#lamp"' in page
    assert 'role="search" action="/search/"' in page
    assert client.get("/nothing/here").json()["statusCode"] == 404


def test_error_page_needs_no_database(client: Client, dana: User) -> None:
    """While it's down, people see the plain page without their account."""
    client.force_login(dana)
    with connection.execute_wrapper(_refuse):
        response = client.get("/nothing/here", headers=HTML)
    assert response.status_code == 404
    assert "Account of" not in response.content.decode()


def _refuse(execute: Any, sql: str, *rest: Any) -> None:
    raise OperationalError("the server closed the connection")


def test_error_page_shows_a_service_error_in_its_words(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise Conflict("The <app> is in review.")

    monkeypatch.setattr(views, "vendored", refuse)
    response = client.get("/licenses/", headers=HTML)
    assert response.status_code == 409
    assert "The &lt;app&gt; is in review." in response.content.decode()


def test_form_without_its_token_is_answered_in_the_frame() -> None:
    response = Client(enforce_csrf_checks=True).post("/theme/", {"theme": "dark"}, headers=HTML)
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()


@pytest.mark.spec("Contract 0 Conventions", "the wrong method is a 405 in the error shape")
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "PROPFIND"])
@pytest.mark.parametrize(
    "path", ["/", "/theme/", "/licenses/", "/accounts/login/", "/portal/", "/portal/create/", "/admin/"]
)
def test_method_that_no_page_takes_is_405_before_the_csrf_check(method: str, path: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert (response.status_code, response.json()["error"]) == (405, "Method Not Allowed")
    assert (
        {"GET", "HEAD", "OPTIONS"} <= set(response["Allow"].split(", ")) <= {"GET", "HEAD", "OPTIONS", "POST"}
    )


READ_ONLY = ["/", "/marketplace/", "/portal/", "/merchant/", "/docs/", "/docs/openapi.json", "/robots.txt"]


@pytest.mark.spec("Contract 0 Conventions", "the wrong method is a 405 in the error shape")
@pytest.mark.parametrize("path", READ_ONLY)
def test_post_to_what_is_only_read_is_405_before_the_csrf_check(path: str) -> None:
    response = Client(enforce_csrf_checks=True).post(path)
    assert (response.status_code, response.json()["error"]) == (405, "Method Not Allowed")
    assert response["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.spec("Contract 0 Conventions", "OPTIONS names the methods")
@pytest.mark.parametrize(
    ("path", "allow"),
    [*((path, "GET, HEAD, OPTIONS") for path in READ_ONLY), ("/portal/create/", "GET, HEAD, POST, OPTIONS")],
)
def test_options_of_a_page_lists_the_methods(client: Client, path: str, allow: str) -> None:
    response = client.options(path)
    assert (response.status_code, response.content, response["Allow"]) == (204, b"", allow)


def test_method_on_an_unknown_path_is_404(client: Client) -> None:
    assert client.put("/nothing/here").status_code == 404


def test_post_without_its_token_is_still_refused() -> None:
    assert Client(enforce_csrf_checks=True).post("/accounts/login/").status_code == 403


@pytest.mark.spec("Contract 0 Conventions", "the wrong method is a 405 in the error shape")
@pytest.mark.parametrize(
    ("path", "allow"), [("/accounts/logout/", "POST, OPTIONS"), ("/theme/", "POST, OPTIONS")]
)
def test_get_of_what_is_posted_says_so(client: Client, path: str, allow: str) -> None:
    for accept, content_type in (("text/html", "text/html"), ("*/*", "application/json")):
        response = client.get(path, headers={"Accept": accept})
        assert (response.status_code, response["Allow"]) == (405, allow)
        assert response["Content-Type"].startswith(content_type)
        assert "method not allowed" in response.content.decode().lower()


@pytest.mark.parametrize(
    "path", ["/portal", "/portal/create", "/portal/apps/x", "/accounts/login", "/licenses", "/admin"]
)
def test_page_without_its_closing_slash_leads_to_it(client: Client, path: str) -> None:
    for call in (client.get, client.head):
        response = call(f"{path}?next=/a%20b&next=//c")
        assert (response.status_code, response["Location"]) == (301, f"{path}/?next=/a%20b&next=//c")
    assert client.post(path).status_code == 404


@pytest.mark.parametrize(
    "path", ["/nothing", "//evil.example", "//evil.example/portal", "//portal", "/\\evil.example", "/media"]
)
def test_nothing_without_a_slash_is_nothing(client: Client, path: str) -> None:
    assert client.get("/", PATH_INFO=path).status_code == 404


@pytest.mark.parametrize("path", ["/auth/nothing", "/developer", "/auth", "/.well-known/x", "/oauth/token/x"])
def test_api_path_never_redirects(client: Client, path: str) -> None:
    for each in (path, f"{path}/"):
        response = client.get(each, headers=HTML)
        assert (response.status_code, response["Content-Type"]) == (404, "application/json")


@pytest.mark.django_db
def test_form_of_djangos_pages_that_goes_elsewhere_is_good_there() -> None:
    """Signing out, which all of them have. Others go to their own address, as a form without a name for it."""
    request = RequestFactory().get("/admin/accounts/user/")
    request.user = factories.reviewer(is_superuser=True)
    page = render_to_string("admin/base_site.html", {"has_permission": True, "user": request.user}, request)
    form = next(form for form in Page(request.path, 200, page).forms if form.method == "post")
    assert form.action == reverse("admin:logout")
    sent = RequestFactory().post(form.action, dict(form.fields))
    sent.user = request.user
    assert is_form_of_this_address(sent)
