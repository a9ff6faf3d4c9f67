"""`OIDC_…`, `PASSWORD_SIGN_IN` and `EMBED_ORIGINS`: which values stop the start, and what follows from the others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from common.http.sites import is_same_site, site_of
from config.env.people import IdentityProvider, embed_origins, identity_provider, password_sign_in
from tests.config.commands import ROOT

ISSUER = "https://login.example.com/realms/one"
GOOD = {
    "OIDC_ISSUER": ISSUER,
    "OIDC_CLIENT_ID": "platform",
    "OIDC_CLIENT_SECRET": "a secret",
    "OIDC_LABEL": "Atrium",
    "OIDC_ROLE": "MERCHANT",
}
PLATFORM, STORES = "https://apps.example.co.uk", "https://{slug}.stores.example.co.uk"


@pytest.fixture(autouse=True)
def _none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*GOOD, "PASSWORD_SIGN_IN", "EMBED_ORIGINS"):
        monkeypatch.delenv(name, raising=False)


def given(monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    for name, value in (GOOD | changes).items():
        monkeypatch.setenv(name, value)


@pytest.mark.spec("Contract 16 People", "Without these settings everything is as before")
def test_nothing_is_set() -> None:
    assert identity_provider(debug=False) is None
    assert password_sign_in(None) is True
    assert embed_origins(base_url=PLATFORM, stores_url=STORES) == ()


def test_provider_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, PASSWORD_SIGN_IN="off")
    found = identity_provider(debug=False)
    assert found == IdentityProvider(ISSUER, "platform", "a secret", "Atrium", "MERCHANT")
    assert password_sign_in(found) is False


@pytest.mark.spec("Contract 16 People", "A bad value stops the start with a sentence that names the setting")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OIDC_ISSUER", "http://login.example.com"),
        ("OIDC_ISSUER", "http://127.0.0.1:9000"),
        ("OIDC_ISSUER", "login.example.com"),
        ("OIDC_ISSUER", "https://"),
        ("OIDC_ISSUER", "https://login.example.com/?tenant=one"),
        ("OIDC_ISSUER", "https://user@login.example.com"),
        ("OIDC_ISSUER", "https://login.example.com/#a"),
        ("OIDC_ISSUER", f"https://login.example.com/{'x' * 200}"),
        ("OIDC_CLIENT_ID", ""),
        ("OIDC_CLIENT_SECRET", ""),
        ("OIDC_LABEL", ""),
        ("OIDC_LABEL", "x" * 41),
        ("OIDC_LABEL", "Atri\u202eum"),
        ("OIDC_LABEL", "At\nrium"),
        ("OIDC_ROLE", "REVIEWER"),
    ],
)
def test_value_that_stops_the_start(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    given(monkeypatch, **{name: value})
    with pytest.raises(ImproperlyConfigured, match=f"{name} (must be|is missing)"):
        identity_provider(debug=False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000"])
def test_provider_of_a_development_machine(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    given(monkeypatch, OIDC_ISSUER=url)
    found = identity_provider(debug=True)
    assert found
    assert found.issuer == url


@pytest.mark.parametrize("name", [name for name in GOOD if name != "OIDC_ISSUER"])
def test_setting_without_an_issuer(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, GOOD[name])
    with pytest.raises(ImproperlyConfigured, match=f"{name} is set and OIDC_ISSUER isn't"):
        identity_provider(debug=False)


def test_sign_in_without_any_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD_SIGN_IN", "off")
    with pytest.raises(ImproperlyConfigured, match="PASSWORD_SIGN_IN=off needs OIDC_ISSUER"):
        password_sign_in(None)
    monkeypatch.setenv("PASSWORD_SIGN_IN", "no")
    with pytest.raises(ImproperlyConfigured, match="PASSWORD_SIGN_IN must be on or off"):
        password_sign_in(None)


@pytest.mark.spec("Contract 16 Frames", "Each origin is same-site with `BASE_URL`, else the start is refused")
@pytest.mark.parametrize(
    ("origins", "why"),
    [
        ("https://admin.example.com", "another site"),
        ("https://other.co.uk", "another site"),
        ("http://admin.example.co.uk", "another site"),
        ("https://admin.example.co.uk/", "must be origins"),
        ("https://admin.example.co.uk/page", "must be origins"),
        ("https://*.example.co.uk", "must be origins"),
        ("admin.example.co.uk", "must be origins"),
        ("https://admin.example.co.uk,https://b.example.co.uk", "must be origins"),
        ("'self'", "must be origins"),
        ("https://bakery.stores.example.co.uk", "host of STORES_URL"),
        ("https://stores.example.co.uk", "host of STORES_URL"),
    ],
)
def test_origin_that_stops_the_start(monkeypatch: pytest.MonkeyPatch, origins: str, why: str) -> None:
    monkeypatch.setenv("EMBED_ORIGINS", f"https://good.example.co.uk {origins}")
    with pytest.raises(ImproperlyConfigured, match=f"EMBED_ORIGINS .*{why}"):
        embed_origins(base_url=PLATFORM, stores_url=STORES)


def test_origins_of_one_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBED_ORIGINS", " https://Admin.example.co.uk  https://example.co.uk:8443 ")
    found = embed_origins(base_url=PLATFORM, stores_url=STORES)
    assert found == ("https://admin.example.co.uk", "https://example.co.uk:8443")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:9000", True),
        ("http://127.0.0.1:8000", "http://127.0.0.2:8000", False),
        ("http://localhost:8000", "http://localhost:9000", True),
        ("http://localhost:8000", "http://127.0.0.1:8000", False),
        ("http://[::1]:8000", "http://[::1]:9000", True),
        ("https://a.example.com", "https://b.a.example.com", True),
        ("https://one.github.io", "https://two.github.io", False),
        ("https://co.uk", "https://other.co.uk", False),
    ],
)
def test_sites_are_those_of_browsers(one: str, other: str, same: bool) -> None:
    assert is_same_site(one, other) is same


def test_site_is_a_registered_domain() -> None:
    assert site_of("Shop.Example.CO.UK") == "example.co.uk"


@pytest.mark.long
def test_start_is_refused(tmp_path: Path) -> None:
    environment = os.environ | GOOD | {"OIDC_ISSUER": "http://login.example.com", "VAR_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "OIDC_ISSUER must be an https URL" in done.stderr
