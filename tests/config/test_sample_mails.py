"""How mails look: both bodies of each say the same, and the HTML body loads nothing."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.test import Client
from django.utils.html import strip_tags

from accounts.models import User
from config.pages.mails import sample_mails
from tests import factories

NAMES = sorted(path.stem for path in Path(settings.BASE_DIR).glob("templates/*/mail/*.txt"))
URL = re.compile(r"https?://[^\s<>\"]+")


@pytest.fixture
def mails(db: Any) -> dict[str, EmailMultiAlternatives]:
    return sample_mails()


def html_of(mail: EmailMultiAlternatives) -> str:
    ((html, kind),) = mail.alternatives
    assert kind == "text/html"
    return str(html)


def words(text: str) -> list[str]:
    """Without addresses, and without the signs that stand for a list, a fact or a link in plain text."""
    return re.findall(r"[\w'’$€.,%×−]+", URL.sub(" ", text).replace(":", " "))


def links_in(text: str) -> list[str]:
    """A line that is an address, or ends with one behind the words of the link."""
    return re.findall(r"^(?:(?!- )[^\n]+: )?(https?://\S+)$", text, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_both_bodies_of_a_mail_say_the_same(name: str, mails: Any) -> None:
    mail = mails[name]
    html = html_of(mail)
    body = html.partition('role="main"')[2]
    text = unescape(strip_tags(f"<p {body}"))
    title, plain = words(mail.subject), words(mail.body)
    # In the HTML body, the subject is the heading; what follows are the same words in the same order.
    assert words(text) == title + plain
    assert [unescape(link) for link in re.findall(r'href="([^"]+)"', html)] == links_in(str(mail.body))
    assert html.count('class="button"') <= 1


@pytest.mark.parametrize("name", NAMES)
def test_mail_loads_nothing(name: str, mails: Any) -> None:
    html = html_of(mails[name])
    assert not re.search(r"<(?:link|script|img|iframe)|url\(|@import|\ssrc=", html)
    assert 'content="light dark"' in html
    assert "prefers-color-scheme: dark" in html


def test_page_of_mails_is_for_staff(client: Client, db: Any) -> None:
    assert client.get("/_mails/").status_code == 404
    rita = factories.reviewer("rita@example.com")
    User.objects.filter(pk=rita.pk).update(is_staff=True)
    client.force_login(User.objects.get(pk=rita.pk))
    page = client.get("/_mails/?mail=new_orders")
    assert "New order 1001" in page.content.decode()
    framed = client.get("/_mails/?mail=new_orders&body=html")
    assert framed.content.decode() == html_of(sample_mails()["new_orders"])
    assert framed["X-Frame-Options"] == "SAMEORIGIN"
