"""Reads all that a page or a mail says, and finds plain English in it.

With the language `en-XA` every text of ours has accents on all of its letters. The words of the merchant and of apps in
these tests are Greek, so that a word of plain letters is one that can't be translated.
"""

import re
from html.parser import HTMLParser
from typing import Final

SAID: Final = ("alt", "title", "placeholder", "aria-label", "aria-description", "content", "label")
FOR_SCRIPTS: Final = re.compile(r"data-(words|left|working|sending|not-known|now|app|store)$")
UNREAD: Final = ("script", "style", "code")
KEPT: Final = re.compile(
    r"https?://\S+|\S+@\S+|/store/\S*|\{\w+\}"  # addresses, and what scripts replace
    r"|Extension Platform|\bUTC\b|\bGET\b"
)
PLAIN: Final = re.compile(r"[A-Za-z]{2,}")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNREAD:
            self._within.append(tag)
        known = dict(attrs)
        if tag == "meta" and known.get("name") in (
            "viewport",
            "color-scheme",
            "supported-color-schemes",
            "robots",
        ):
            return
        if tag == "meta" and known.get("property") == "og:type":
            return
        if tag == "script" or tag == "iframe":  # `data-app` is the app's
            attrs = [each for each in attrs if not each[0].startswith("data-")]
        for name, value in attrs:
            is_date = name == "data-now" and (value or "").isdigit()
            if value and (name in SAID or (FOR_SCRIPTS.match(name) and not is_date)):
                self.said.append(value)

    def handle_endtag(self, tag: str) -> None:
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within and data.strip():
            self.said.append(" ".join(data.split()))


def said_on(html: str) -> list[str]:
    """Texts and the attributes that people read or hear."""
    reader = _Reader()
    reader.feed(html)
    return reader.said


def plain_words(texts: list[str]) -> set[str]:
    """Words of plain letters, with the text in which they are."""
    return {f"{word}: {text}" for text in texts for word in PLAIN.findall(KEPT.sub(" ", text))}
