"""A person with a browser that runs no scripts: opens pages, follows links and presses buttons, by HTTP alone.

Each request goes to the next of the addresses at which the platform answers, as behind a proxy that knows no sessions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import requests

PATIENCE = 60  # seconds for one answer


class Platform:
    """Where it answers: `addresses`, which may change, for the hosts of `url` and of `stores`."""

    def __init__(self, url: str, stores: str, addresses: list[str]) -> None:
        self.url, self._stores, self.addresses = url, stores, addresses
        self._turn = 0

    def store(self, slug: str) -> str:
        return self._stores.format(slug=slug)

    def has(self, url: str) -> bool:
        """Whether it is a page of the platform or of one of its stores."""
        host, domain = urlsplit(url).netloc, urlsplit(self._stores).netloc.partition("}")[2]
        return host == urlsplit(self.url).netloc or host.endswith(domain)

    def request(self, method: str, url: str, *, at: str = "", **options: Any) -> requests.Response:
        """The answer of the next address, or of one. `url` may be a path, for the platform's own host."""
        if not at:
            self._turn += 1
            at = self.addresses[self._turn % len(self.addresses)]
        parts = urlsplit(urljoin(self.url, url))
        path = parts._replace(scheme="", netloc="", fragment="").geturl()
        headers = {"Host": parts.netloc, **options.pop("headers", {})}
        return requests.request(
            method, at + path, headers=headers, timeout=PATIENCE, allow_redirects=False, **options
        )


@dataclass
class Form:
    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list["Button"] = field(default_factory=list)


@dataclass
class Button:
    form: Form
    words: str
    name: str
    value: str
    action: str


class Page(HTMLParser):
    """Forms, links and words of an HTML page."""

    def __init__(self, url: str, status: int, html: str) -> None:
        super().__init__()
        self.url, self.status, self.html = url, status, html
        self.links: list[tuple[str, str]] = []
        self._forms: dict[str, Form] = {}  # by id, or by number
        self._open = Form("", "get")  # for what is outside all forms
        self._texts: list[list[str]] = []  # of the elements whose words count, outermost first
        self._ends: list[Any] = []
        self._words: list[str] = []
        self._select: tuple[str, list[tuple[str, bool]]] | None = None
        self._late: list[tuple[str, Any]] = []  # for forms that come later in the page
        self.feed(html)
        self.close()
        for ident, add in self._late:
            add(self._forms[ident])

    @property
    def words(self) -> str:
        return _plain("".join(self._words))

    @property
    def forms(self) -> list[Form]:
        return list(self._forms.values())

    @property
    def buttons(self) -> Iterator[Button]:
        for form in self._forms.values():
            yield from form.buttons

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(
                urljoin(self.url, given.get("action", self.url)), given.get("method", "get").lower()
            )
            self._forms[given.get("id", f"#{len(self._forms)}")] = self._open
        elif tag == "input":
            self._input(given)
        elif tag == "select":
            self._select = (given.get("name", ""), [])
        elif tag == "option" and self._select:
            self._select[1].append((given.get("value", ""), "selected" in given))
        elif tag == "a" and "href" in given:
            self._listen(lambda words: self.links.append((words, urljoin(self.url, given["href"]))))
        elif tag == "textarea":
            self._listen(lambda words: self._add(given, words))
        elif tag == "button" and given.get("type", "submit") == "submit":
            self._listen(lambda words: self._into_form(given, self._button(given, words)))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = Form("", "get")
        elif tag == "select" and self._select:
            name, options = self._select
            chosen = [value for value, is_selected in options if is_selected] or [
                value for value, _ in options[:1]
            ]
            self._open.fields += [(name, value) for value in chosen]
            self._select = None
        elif tag in ("a", "textarea", "button") and self._texts:
            text = "".join(self._texts.pop())
            # A line break right behind the tag isn't part of a text field.
            self._ends.pop()(text.removeprefix("\n") if tag == "textarea" else _plain(text))

    def handle_data(self, data: str) -> None:
        self._words.append(data)
        for text in self._texts:
            text.append(data)

    def _listen(self, end: Any) -> None:
        self._texts.append([])
        self._ends.append(end)

    def _input(self, given: dict[str, str]) -> None:
        kind = given.get("type", "text")
        is_off = kind in ("checkbox", "radio") and "checked" not in given
        if (
            "name" in given
            and not is_off
            and "disabled" not in given
            and kind not in ("submit", "button", "file")
        ):
            self._add(given, given.get("value", "on" if kind == "checkbox" else ""))

    def _add(self, given: dict[str, str], value: str) -> None:
        if "name" in given:
            self._into_form(given, lambda form: form.fields.append((given["name"], value)))

    def _into_form(self, given: dict[str, str], add: Any) -> None:
        if "form" in given:
            self._late.append((given["form"], add))
        else:
            add(self._open)

    def _button(self, given: dict[str, str], words: str) -> Any:
        name, value, action = (given.get(each, "") for each in ("name", "value", "formaction"))
        return lambda form: form.buttons.append(
            Button(form, words, name, value, urljoin(self.url, action) if action else form.action)
        )


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


class Browser:
    """Keeps cookies for each host, and is on one page."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.page = Page(platform.url, 0, "")
        self._cookies: dict[str, dict[str, str]] = {}

    def open(self, url: str) -> Page:
        return self._go("GET", url)

    def follow(self, words: str) -> Page:
        """Click a link. It is found by the words that it begins with."""
        urls = [url for text, url in self.page.links if text.startswith(words)]
        assert urls, f"No link {words!r} on {self.page.url}: {[text for text, _ in self.page.links]}"
        return self.open(urls[0])

    def press(self, words: str, **fields: str) -> Page:
        """Fill in the form of the first button with these words, and press that. `a__b` is the field `a-b`."""
        buttons = [button for button in self.page.buttons if button.words.startswith(words)]
        assert buttons, (
            f"No button {words!r} on {self.page.url} ({self.page.status}): {self.page.words[:2000]}"
        )
        pressed = buttons[0]
        filled = {name.replace("__", "-"): value for name, value in fields.items()}
        body = [(name, value) for name, value in pressed.form.fields if name not in filled]
        body += list(filled.items()) + ([(pressed.name, pressed.value)] if pressed.name else [])
        if pressed.form.method == "get":
            return self._go("GET", f"{pressed.action.partition('?')[0]}?{urlencode(body)}")
        return self._go("POST", pressed.action, body)

    def _go(self, method: str, url: str, body: list[tuple[str, str]] | None = None) -> Page:
        """Until there is a page, or an address elsewhere, such as an app's."""
        url = urljoin(self.platform.url, url)
        before = self.page.url
        for _ in range(8):
            if not self.platform.has(url):
                self.page = Page(url, 0, "")
                return self.page
            host = urlsplit(url).netloc
            cookies = self._cookies.setdefault(host, {})
            headers = {"Accept": "text/html"}
            if method == "POST":
                headers |= {"Origin": f"{urlsplit(url).scheme}://{host}", "Referer": before}
            answer = self.platform.request(method, url, headers=headers, cookies=cookies, data=body)
            cookies |= {each.name: each.value or "" for each in answer.cookies}
            if "Location" not in answer.headers:
                self.page = Page(url, answer.status_code, answer.text)
                assert answer.ok, (
                    f"{method} {url} was answered {answer.status_code}: {self.page.words[:2000]}"
                )
                return self.page
            method, body, before, url = "GET", None, url, urljoin(url, answer.headers["Location"])
        raise AssertionError(f"Redirects go on and on at {url}.")


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))
