"""The operator's name, logo, color and links: what is accepted, and where they show."""

import random
import re
import subprocess
import sys
from email.utils import parseaddr
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from PIL import Image

from accounts.models import Business, User
from accounts.services.outbox import mail_security_change
from accounts.tasks import send_mails
from common.files import brand
from common.mails.letters import LetterFrame, platform_frame
from config.env.brand import (
    LARGEST_LOGO,
    Logo,
    platform_accent,
    platform_link,
    platform_logo,
    platform_name,
    platform_support,
)
from tests.merchants.pages import listed_app
from tests.pages import signed_in
from tests.storefront.shopping import STORES_HOST, Shopper

ROOT = Path(__file__).resolve().parents[2]
SPEC = "Contract 16 In your name, with your people"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">{}</svg>'
DRAWN = SVG.format(
    '<style>.a { fill: url(#g); }</style><defs><linearGradient id="g"/></defs><use href="#g"/>'
    '<rect class="a" width="9" height="9"/><image href="data:image/png;base64,iVBORw0KGgo="/>'
)


def png(side: int = 32) -> bytes:
    drawn = BytesIO()
    Image.new("RGB", (side, side), "teal").save(drawn, "PNG")
    return drawn.getvalue()


@pytest.mark.spec(SPEC, "A bad value stops the start with a sentence that names the setting")
@pytest.mark.parametrize(
    ("setting", "value", "read"),
    [
        ("PLATFORM_NAME", "A" * 41, platform_name),
        ("PLATFORM_NAME", "Acme\nApps", platform_name),
        ("PLATFORM_NAME", "Acme\u202eApps", platform_name),
        ("PLATFORM_NAME", "Acme\u200bApps", platform_name),
        ("PLATFORM_NAME", "Acme\u2028Apps", platform_name),
        ("PLATFORM_NAME", "Acme\x07", platform_name),
        ("PLATFORM_ACCENT", "teal", platform_accent),
        ("PLATFORM_ACCENT", "#0a7", platform_accent),
        ("PLATFORM_ACCENT", "#0a7d4f;", platform_accent),
        ("PLATFORM_ACCENT", "#808080", platform_accent),
        ("PLATFORM_ACCENT", "#FFFFFF", platform_accent),
        ("PLATFORM_TERMS_URL", "http://acme.example/terms", lambda: platform_link("PLATFORM_TERMS_URL")),
        ("PLATFORM_TERMS_URL", "mailto:a@acme.example", lambda: platform_link("PLATFORM_TERMS_URL")),
        ("PLATFORM_PRIVACY_URL", "javascript:alert(1)", lambda: platform_link("PLATFORM_PRIVACY_URL")),
        ("PLATFORM_SUPPORT", "http://acme.example", platform_support),
        ("PLATFORM_SUPPORT", "nobody", platform_support),
        ("PLATFORM_LOGO", "/nowhere/logo.svg", platform_logo),
    ],
)
def test_bad_value_is_refused_with_its_setting(
    monkeypatch: pytest.MonkeyPatch, setting: str, value: str, read: Any
) -> None:
    monkeypatch.setenv(setting, value)
    with pytest.raises(ImproperlyConfigured, match=setting):
        read()


@pytest.mark.spec(
    SPEC, "PLATFORM_NAME has 1 to 40 characters; PLATFORM_SUPPORT is an address or an https URL"
)
def test_good_values_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A", "Söhne & Müller", "東京", "x" * 40):
        monkeypatch.setenv("PLATFORM_NAME", name)
        assert platform_name() == name
    monkeypatch.setenv("PLATFORM_ACCENT", "#0A7D4F")
    assert platform_accent() == "#0a7d4f"
    monkeypatch.setenv("PLATFORM_SUPPORT", "help@acme.example")
    assert platform_support() == "mailto:help@acme.example"
    monkeypatch.setenv("PLATFORM_SUPPORT", "https://acme.example/help")
    assert platform_support() == "https://acme.example/help"
    for setting in ("PLATFORM_NAME", "PLATFORM_ACCENT", "PLATFORM_SUPPORT"):
        monkeypatch.setenv(setting, "")
    assert (platform_name(), platform_accent(), platform_support()) == ("Extension Platform", "", "")
    assert platform_logo() is None


@pytest.mark.spec(SPEC, "The logo has no script, on…, foreignObject or reference to outside; at most 64 KiB")
@pytest.mark.parametrize(
    "content",
    [
        SVG.format("<script>alert(1)</script>").encode(),
        SVG.format("<SCRIPT/>").encode(),
        SVG.format('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>').encode(),
        SVG.format('<rect onclick="alert(1)"/>').encode(),
        SVG.format('<g OnLoad="alert(1)"/>').encode(),
        SVG.format("<foreignObject><p/></foreignObject>").encode(),
        SVG.format('<image href="https://evil.example/a.png"/>').encode(),
        SVG.format('<image xlink:href="//evil.example/a.png"/>').encode(),
        SVG.format('<image href="data:image/svg+xml;base64,AAAA"/>').encode(),
        SVG.format('<use href="other.svg#a"/>').encode(),
        SVG.format('<a href="javascript:alert(1)"><rect/></a>').encode(),
        SVG.format('<a href=" java&#x09;script:alert(1)"/>').encode(),
        SVG.format('<rect fill="url(https://evil.example/a.svg#b)"/>').encode(),
        SVG.format("<rect style=\"fill: URL( '//evil.example' )\"/>").encode(),
        SVG.format("<style>@import '//evil.example';</style>").encode(),
        SVG.format("<style>a { fill: \\75rl(//evil.example) }</style>").encode(),
        SVG.format("<style>a { fill: u<![CDATA[rl(//evil.example)]]> }</style>").encode(),
        SVG.format('<set attributeName="xlink:href" to="javascript:alert(1)"/>').encode(),
        SVG.format('<g xml:base="https://evil.example/"/>').encode(),
        b'<?xml-stylesheet href="//evil.example/a.css"?>' + DRAWN.encode(),
        b'<!DOCTYPE svg [<!ENTITY a "b">]>' + DRAWN.encode(),
        b'<html xmlns="http://www.w3.org/1999/xhtml"><script/></html>',
        b"<svg><rect/></svg>",
        DRAWN.encode()[:-3],
        b"GIF89a",
        b"",
        png()[:40],
        DRAWN.encode() + b" " * LARGEST_LOGO,
    ],
)
def test_logo_that_does_or_loads_something_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "logo"
    file.write_bytes(content)
    monkeypatch.setenv("PLATFORM_LOGO", str(file))
    with pytest.raises(ImproperlyConfigured, match="PLATFORM_LOGO"):
        platform_logo()


@pytest.mark.parametrize(
    ("content", "kind"), [(DRAWN.encode(), "image/svg+xml"), (png(), "image/png")], ids=["svg", "png"]
)
def test_logo_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes, kind: str) -> None:
    file = tmp_path / "logo"
    file.write_bytes(content)
    monkeypatch.setenv("PLATFORM_LOGO", str(file))
    logo = platform_logo()
    assert logo is not None
    assert (logo.content, logo.content_type) == (content, kind)


def test_start_reads_all_of_them(tmp_path: Path) -> None:
    """What is derived from the name at the start, in a process of its own."""
    program = (
        "import django; django.setup(); from django.conf import settings as s; "
        "print(s.MFA_TOTP_ISSUER, s.DEFAULT_FROM_EMAIL, dict(s.FOOTER_LINKS), s.PLATFORM_ACCENT, sep='|')"
    )
    given = {
        "PATH": "/usr/bin", "DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "1", "VAR_DIR": str(tmp_path),
        "PLATFORM_NAME": "Acme, Apps", "PLATFORM_ACCENT": "#0A7D4F", "PLATFORM_SUPPORT": "help@acme.example",
        "PLATFORM_TERMS_URL": "https://acme.example/terms", "TERMS_URL": "https://old.example", "PRIVACY_URL": "https://old.example/p",
    }  # fmt: skip

    def start(**more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program]
        return subprocess.run(
            command, env=given | more, cwd=ROOT, capture_output=True, text=True, timeout=120
        )

    issuer, sender, links, accent = start().stdout.strip().split("|")
    assert (issuer, accent, parseaddr(sender)) == (
        "Acme, Apps", "#0a7d4f", ("Acme, Apps", "no-reply@localhost"),
    )  # fmt: skip
    expected = {
        "Contact": "mailto:help@acme.example", "Terms": "https://acme.example/terms", "Privacy": "https://old.example/p",
    }  # fmt: skip
    assert links == str(expected)
    refused = start(PLATFORM_ACCENT="#808080")
    assert refused.returncode
    assert "PLATFORM_ACCENT must have a hue" in refused.stderr.splitlines()[-1]


@pytest.fixture
def acme(settings: Any) -> Any:
    settings.PLATFORM_NAME = "Acme <Apps> & Co"
    settings.PLATFORM_LOGO = Logo(DRAWN.encode(), "logo-1.svg", "image/svg+xml")
    settings.PLATFORM_ACCENT = "#0a7d4f"
    return settings


@pytest.mark.spec(SPEC, "The logo is beside the name in the head of pages and mails and on consent pages")
def test_logo_and_name_are_in_the_head_of_pages(
    client: Client, db: None, acme: Any, mira: User, shop: Business, dana: User
) -> None:
    consent = f"/oauth/authorize?response_type=code&client_id={listed_app(dana, ['read_orders']).client_id}"
    beside = '<img class="logo" src="/media/platform/logo-1.svg" alt=""> <span class="name">Acme &lt;Apps&gt; &amp; Co</span>'
    for browser, path, status in (
        (client, "/", 200),
        (client, "/accounts/login/", 200),
        (client, "/nowhere/", 404),
        (signed_in(mira), "/merchant/", 200),
        (signed_in(mira), consent, 200),
    ):
        response = browser.get(path, headers={"accept": "text/html"})
        page = " ".join(response.content.decode().split())
        assert response.status_code == status
        assert beside in page, path
        assert "<Apps>" not in page
        assert f'<link rel="stylesheet" href="{brand.sheet_path()}">' in page
    # A store looks like itself, and only its error pages like the platform.
    page = Shopper(shop).see("")
    assert "logo-1.svg" not in page
    assert "accent-" not in page
    lost = Client(SERVER_NAME=STORES_HOST).get("/store/nothing/", headers={"accept": "text/html"})
    assert "/media/platform/logo-1.svg" in lost.content.decode()


def test_parts_are_served_on_both_hosts_and_can_do_nothing(client: Client, db: None, acme: Any) -> None:
    for browser in (client, Client(SERVER_NAME=STORES_HOST)):
        logo, sheet = browser.get("/media/platform/logo-1.svg"), browser.get(brand.sheet_path())
        assert (logo.content, logo["Content-Type"]) == (DRAWN.encode(), "image/svg+xml")
        assert sheet["Content-Type"] == "text/css; charset=utf-8"
        assert "--primary:#0a7d4f" in sheet.content.decode()
        for each in (logo, sheet):
            assert "default-src 'none'" in each["Content-Security-Policy"]
            assert "sandbox" in each["Content-Security-Policy"]
            assert each["X-Content-Type-Options"] == "nosniff"
            assert "immutable" in each["Cache-Control"]
        assert browser.get("/media/platform/accent-0.css").status_code == 404
    acme.PLATFORM_LOGO = None
    assert client.get("/media/platform/logo-1.svg").status_code == 404


def test_mails_have_name_logo_and_color(db: None, acme: Any, mira: User) -> None:
    mail_security_change(user=mira, change="A passkey was added.")
    send_mails()
    [sent] = mail.outbox
    html = str(sent.alternatives[0][0])
    assert "Acme <Apps> & Co" in sent.subject
    assert sent.body.rstrip().endswith(f"Acme <Apps> & Co\n{acme.BASE_URL}")
    assert f'<img src="{acme.BASE_URL}/media/platform/logo-1.svg"' in html
    assert "Acme &lt;Apps&gt; &amp; Co" in html
    assert "background: #0a7d4f !important; color: #ffffff !important" in html


@pytest.mark.spec(SPEC, "Without these settings everything is as before")
def test_without_settings_mails_and_pages_are_as_before(client: Client, db: None, settings: Any) -> None:
    page = client.get("/").content.decode()
    assert "/media/platform/" not in page
    assert '<svg viewBox="0 0 24 24"' in page.partition('class="wordmark"')[2][:200]
    assert platform_frame() == LetterFrame("Extension Platform", settings.BASE_URL)


# Colors


def grounds() -> tuple[list[str], list[str]]:
    """Of the platform's pages, for light and for dark: what text may be on."""
    tokens = (ROOT / "static/css/tokens.css").read_text()
    pairs = re.findall(
        r"--(?:canvas|surface|sunken|hover|\w+-bg): light-dark\((#\w{6}), (#\w{6})\)",
        tokens.replace("--accent-bg", "--replaced"),
    )
    light, dark = zip(*pairs, strict=True)
    return list(light), list(dark)


@pytest.mark.spec(SPEC, "Links use a tone of the same hue that reaches 4.5:1 on each theme")
def test_links_can_be_read_on_every_ground_in_any_color() -> None:
    light, dark = grounds()
    assert len(light) >= 9
    chosen = random.Random(16)
    colors = ["#ffff00", "#000001", "#fefeff", "#ff0000", "#0000ff", "#00ff00", "#3b4cca", "#7f8081"]
    colors += [f"#{chosen.randrange(1 << 24):06x}" for _ in range(300)]
    for accent in colors:
        palette = brand.palette_of(accent)
        for number, theme in enumerate((light, dark)):
            for ground in (*theme, palette.tint[number]):
                for color in (palette.link[number], palette.link_hover[number]):
                    assert brand.contrast(color, ground) >= 4.5, (accent, color, ground)
        assert palette.ground == accent
        other = brand.INK if palette.text == brand.WHITE else brand.WHITE
        assert brand.contrast(palette.text, accent) >= brand.contrast(other, accent)
