"""`STORES_URL`: which values stop the start, and what follows from the others."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from config.apps import ConfigConfig
from config.checks.start import production_settings
from config.env.addresses import hosts, stores_url

ROOT = Path(__file__).resolve().parents[2]
PLATFORM = "https://platform.example"


def read(monkeypatch: pytest.MonkeyPatch, url: str, *, platform: str = PLATFORM, debug: bool = False) -> str:
    monkeypatch.setenv("STORES_URL", url)
    return stores_url(base_url=platform, port=8000, debug=debug)


@pytest.mark.spec(
    "Contract 8 Running it", "Without DEBUG a start is refused that would mix platform and stores"
)
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "STORES_URL is missing"),
        ("https://stores.example", "must have {slug} in its host"),
        ("https://platform.example", "must have {slug}"),
        ("https://{slug}.platform.example", "neither host may be the other's or below it"),
        ("https://{slug}.Platform.Example:8443", "neither host may be the other's or below it"),
        ("https://{slug}.example", "neither host may be the other's or below it"),
        ("http://{slug}.stores.example", "must both be https or both be http"),
        ("https://{slug}stores.example", "as the whole first part"),
        ("https://stores.example/{slug}", "nothing behind the host"),
        ("https://{slug}.{slug}.example", "as the whole first part"),
        ("https://user@{slug}.stores.example", "must be an address such as"),
        ("stores.example", "must be an address such as"),
    ],
)
def test_start_is_refused_in_words_that_say_what_to_set(
    monkeypatch: pytest.MonkeyPatch, url: str, words: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match="STORES_URL") as refused:
        read(monkeypatch, url)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("platform", "url"),
    [
        (PLATFORM, "https://{slug}.stores.example"),
        (PLATFORM, "https://{slug}.platform.example.net:8443/"),
        ("https://app.example.com", "https://{slug}.shops.example.com"),
        ("http://10.0.0.1", "http://{slug}.stores.internal"),
    ],
)
def test_hosts_apart_from_the_platforms_are_accepted(
    monkeypatch: pytest.MonkeyPatch, platform: str, url: str
) -> None:
    assert read(monkeypatch, url, platform=platform) == url.rstrip("/")


@pytest.mark.parametrize(
    ("platform", "stores"),
    [("http://127.0.0.1:8000", "http://localhost:8000"), ("http://localhost:8000", "http://127.0.0.1:8000")],
)
def test_development_has_the_other_name_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, platform: str, stores: str
) -> None:
    assert read(monkeypatch, "", platform=platform, debug=True) == stores


@pytest.mark.parametrize("url", ["http://localhost:9000", "http://{slug}.localhost:8000"])
def test_development_needs_another_host_too(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Cookies ignore ports."""
    with pytest.raises(ImproperlyConfigured, match="below it"):
        read(monkeypatch, url, platform="http://localhost:8000", debug=True)


def test_allowed_hosts_follow_from_both_addresses() -> None:
    assert hosts(PLATFORM, "https://{slug}.stores.example") == ["platform.example", ".stores.example"]
    assert hosts("http://127.0.0.1:8000", "http://localhost:8000") == ["127.0.0.1", "localhost"]


@pytest.mark.parametrize("name", ["SESSION_COOKIE_DOMAIN", "CSRF_COOKIE_DOMAIN"])
def test_cookies_for_several_hosts_stop_the_start(settings: Any, name: str) -> None:
    setattr(settings, name, ".example.com")
    with pytest.raises(ImproperlyConfigured, match=name):
        ConfigConfig.create("config").ready()


@pytest.mark.parametrize(
    ("platform", "stores", "warned"),
    [
        (PLATFORM, "https://{slug}.stores.example", False),
        ("https://app.example.com", "https://{slug}.shops.example.com", True),
        ("https://app.ibm.com", "https://{slug}.shops.ibm.com", True),
        ("https://app.example.co.uk", "https://{slug}.shops.example.co.uk", True),
        ("https://one.co.uk", "https://{slug}.other.co.uk", False),
    ],
)
def test_sibling_under_the_same_domain_is_a_warning(
    settings: Any, platform: str, stores: str, warned: bool
) -> None:
    settings.DEBUG, settings.BASE_URL, settings.STORES_URL = False, platform, stores
    assert ("config.W004" in {problem.id for problem in production_settings(None)}) is warned


@pytest.mark.parametrize(
    ("stores", "is_listed", "warned"),
    [
        ("https://{slug}.stores.example", False, True),
        ("https://{slug}.stores.example", True, False),
        ("https://stores.example", False, False),
    ],
)
def test_domain_of_many_stores_that_is_no_public_suffix_is_a_warning(
    settings: Any, stores: str, is_listed: bool, warned: bool
) -> None:
    settings.DEBUG, settings.STORES_URL = False, stores
    settings.STORES_DOMAIN_IS_PUBLIC_SUFFIX = is_listed
    assert ("config.W007" in {problem.id for problem in production_settings(None)}) is warned


@pytest.mark.long
@pytest.mark.parametrize(
    "start", [["manage.py", "check"], ["-c", "import config.wsgi"]], ids=["manage", "wsgi"]
)
def test_every_start_is_refused(tmp_path: Path, start: list[str]) -> None:
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ} | {
        "VAR_DIR": str(tmp_path),
        "BASE_URL": PLATFORM,
        "STORES_URL": "https://{slug}.platform.example",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "EMAIL_URL": "dummymail://",
        "SECRET_KEY": "a random text of enough characters, 0123456789",
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
    }
    refused = subprocess.run(
        [sys.executable, *start], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0
    assert "neither host may be the other's or below it" in refused.stderr
