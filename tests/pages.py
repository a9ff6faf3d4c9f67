"""Pages as a signed-in person's browser gets them, without JavaScript."""

import re
from html import unescape
from typing import Any

from django.test import Client

from accounts.models import User

HTML = {"accept": "text/html"}


def signed_in(user: User) -> Client:
    client = Client(headers=HTML)
    client.force_login(user)
    return client


def text_of(response: Any, status: int | None = None) -> str:
    """The page's source, with single spaces."""
    assert status in (None, response.status_code), response.content
    return " ".join(response.content.decode().split())


def unescaped(response: Any, status: int | None = None) -> str:
    """The same, with entities as characters, and straight apostrophes."""
    return unescape(text_of(response, status)).replace("’", "'")


def words_of(response: Any, status: int | None = None) -> str:
    """The page as it is read: without tags, with single spaces."""
    return _words(text_of(response, status))


def main_words_of(response: Any) -> str:
    main = re.search(r"<main.*</main>", text_of(response))
    assert main
    return _words(main[0])


def _words(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())
