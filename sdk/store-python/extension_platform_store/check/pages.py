"""PL and PE: what apps show on pages, and people on their way to apps."""

from __future__ import annotations

import json
import time
from html.parser import HTMLParser
from typing import Any

import requests

from .calls import Call, Record
from .rules import rule
from .subject import Subject, word
from .verdicts import NotTried, RuleBroken

TIMES = 2  # the patience, within which an app that was paused is gone
TIMEOUT = 20.0
LOOKS = 0.5  # seconds between two looks at a page


class Tags(HTMLParser):
    """The scripts and frames of a page, by their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe"):
            self.found.append((tag, {name: value or "" for name, value in attrs}))

    def of(self, src: str) -> dict[str, str] | None:
        """The attributes of the first that has this ``src``."""
        return next((about for _, about in self.found if about.get("src", "").partition("?")[0] == src), None)


class AppOnPages:
    """An app with a script, a widget and a block, which is placed on each page as long as this is entered."""

    def __init__(self, shop: Subject) -> None:
        self.shop = shop
        self.origin = f"https://{word()}.example.com"
        about = {"id": "0197b3a2-0000-7000-8000-00000000c4ec", "slug": "check", "name": "Check"}
        frame = {"id": "0197b3a2-0000-7000-8000-00000000b10c", "settings": {}, "app": about}
        script = {"integrity": None, "position": "body", "app": about, "settings": {}}
        self.placed: Record = {
            "scripts": [script | {"src": f"{self.origin}/script.js"}],
            "widgets": [frame | {"src": f"{self.origin}/widget", "position": "bottom-right"}],
            "blocks": [frame | {"src": f"{self.origin}/block", "maxHeight": 400}],
            "hosts": {"scripts": [self.origin], "frames": [self.origin]},
        }

    def show(self) -> tuple[Tags, requests.Response]:
        """Have the platform name the app, and return a page that shows it. Raises ``RuleBroken`` if none does."""
        shop = self.shop
        page = shop.about.get("page")
        if not page:
            raise NotTried("The driver names no `page`.")
        shop.door.placements = self.placed
        shop.driver.restart_sender(compare=False)  # which asks at once
        until = time.monotonic() + shop.patience
        while True:
            answer = get(page)
            tags = Tags(answer.text)
            if self.is_on(tags) and (self.origin in policy_of(answer).get("frame-src", self.origin)):
                return tags, answer
            if time.monotonic() > until:
                return tags, answer
            time.sleep(LOOKS)

    def script(self, tags: Tags) -> dict[str, str] | None:
        """The attributes of the platform's script."""
        return tags.of(f"{self.shop.door.url}/store.js")

    def is_on(self, tags: Tags) -> bool:
        return self.script(tags) is not None or self.is_rendered(tags)

    def is_rendered(self, tags: Tags) -> bool:
        """Whether the shop itself has written the app into the page."""
        return any(about.get("src", "").startswith(self.origin) for _, about in tags.found)


def get(url: str) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        try:
            answer = session.get(url, timeout=TIMEOUT)
        except requests.RequestException as error:
            raise RuleBroken(f"Expected the page {url}. It doesn't answer: {type(error).__name__}.") from None
    if answer.status_code != 200:
        raise RuleBroken(f"Expected the page {url}. Your shop answered {answer.status_code}.")
    return answer


def policy_of(answer: requests.Response) -> dict[str, str]:
    """The directives of its Content-Security-Policy; empty without one."""
    found: dict[str, str] = {}
    for directive in answer.headers.get("Content-Security-Policy", "").split(";"):
        name, _, sources = directive.strip().partition(" ")
        if name:
            found.setdefault(name.lower(), sources)
    return found


@rule("PL001", "Has what apps show on its page")
def shows_apps(shop: Subject) -> str:
    app = AppOnPages(shop)
    tags, _ = app.show()
    script = app.script(tags)
    if script is not None:
        if script.get("data-store") != shop.business.get("id"):
            raise RuleBroken(
                f"Expected data-store={shop.business.get('id')!r}, the store's Business ID. The page has {script.get('data-store')!r}."
            )
        return "The page has the platform's script."
    missing = [src for src in sources(app.placed) if tags.of(src) is None]
    if missing:
        raise RuleBroken(
            f"Expected the platform's script, or {', '.join(missing)}, on the page. It has neither."
        )
    return "The page has the script, widget and block of the app."


@rule("PL002", "Lets the platform and apps through its Content-Security-Policy", needs=("PL001",))
def policy_lets_apps_through(shop: Subject) -> str:
    app = AppOnPages(shop)
    tags, answer = app.show()
    policy = policy_of(answer)
    if not policy:
        raise NotTried("The page has no Content-Security-Policy, so nothing is in the way.")
    script, default = app.script(tags), policy.get("default-src", "*")
    nonce = (script or tags.of(f"{app.origin}/script.js") or {}).get("nonce", "")
    needed = [("frame-src", app.origin)]
    if script is not None:
        needed.append(("connect-src", shop.door.url))
    if not (nonce and f"'nonce-{nonce}'" in policy.get("script-src", default).split()):
        needed += [("script-src", app.origin)] + (
            [("script-src", shop.door.url)] if script is not None else []
        )
    for name, origin in needed:
        sources = policy.get(
            name, policy.get("child-src", default) if name == "frame-src" else default
        ).split()
        if not {origin, "*", origin.partition("//")[0]} & set(sources):
            raise RuleBroken(f"Expected {origin} in {name}. The page has {' '.join(sources) or 'nothing'!r}.")
    return f"The policy lets {app.origin} and the platform through."


@rule("PL003", "Shows nothing more of an app that was paused", needs=("PL001",))
def hides_a_paused_app(shop: Subject) -> str:
    app = AppOnPages(shop)
    tags, _ = app.show()
    if not app.is_rendered(tags):
        raise NotTried("The page leaves it to the platform's script, which asks in each browser.")
    shop.door.placements = {
        "scripts": [],
        "widgets": [],
        "blocks": [],
        "hosts": {"scripts": [], "frames": []},
    }
    began, most = time.monotonic(), TIMES * shop.patience
    while app.is_rendered(Tags(get(shop.about["page"]).text)):
        if time.monotonic() > began + most:
            raise RuleBroken(
                f"Expected nothing of a paused app after {most:g} s. The page still has {app.origin}."
            )
        time.sleep(LOOKS)
    return f"It was gone after {time.monotonic() - began:.0f} s."


def sources(placed: Record) -> list[str]:
    return [each["src"] for kind in ("scripts", "widgets", "blocks") for each in placed[kind]]


# People


@rule("PE001", "Creates a ticket when somebody presses Apps, and redirects to it at once")
def creates_tickets(shop: Subject) -> str:
    first, _ = pressed(shop, None)
    second, _ = pressed(shop, None)
    if first == second:
        raise RuleBroken(
            "Expected a new ticket for the second press, since a ticket works once. Your shop used the first again."
        )
    return "Each press had a ticket of its own."


@rule("PE002", "Creates no ticket for somebody who isn't signed in")
def knows_its_people(shop: Subject) -> str:
    mark = len(shop.door.calls)
    location = shop.driver.open_apps(None, signed_in=False)
    if tickets(shop, mark) or leads_to_a_ticket(shop, location):
        raise RuleBroken("Expected no ticket for somebody who isn't signed in. Your shop created one.")
    return f"The shop redirected to {location!r}."


@rule("PE003", "Passes the `next` of the platform on", needs=("PE001",))
def passes_next_on(shop: Subject) -> str:
    path = f"/marketplace/?q={word()}"
    _, call = pressed(shop, path)
    if call.body.get("next") != path:
        raise RuleBroken(
            f"Expected a ticket with `next` {path!r}, as it came. Your shop sent {call.body.get('next')!r}."
        )
    return f"The ticket had `next` {path!r}."


@rule("PE004", "Redirects to tickets alone, whatever `next` says", needs=("PE001",))
def leads_nowhere_else(shop: Subject) -> str:
    mark, host = len(shop.door.calls), f"{word()}.example.com"
    for elsewhere in (f"https://{host}/", f"//{host}/"):
        location = shop.driver.open_apps(elsewhere, signed_in=True)
        is_ticket = any(
            call.reply and call.reply.record.get("url") == location for call in tickets(shop, mark)
        )
        if location and not is_ticket and host in location.partition("?")[0]:
            raise RuleBroken(
                f"Expected a redirect to a ticket, or none. With `next` {elsewhere!r} your shop redirected to {location!r}."
            )
    return f"It redirected to {'a ticket' if location else 'nothing'}."


def pressed(shop: Subject, next_page: str | None) -> tuple[str, Call]:
    """The URL of the ticket to which the shop redirects, and the call that made it."""
    mark = len(shop.door.calls)
    location = shop.driver.open_apps(next_page, signed_in=True)
    made = tickets(shop, mark)
    urls = [call.reply.record.get("url") for call in made if call.reply and call.reply.status == 201]
    if location in urls and location:
        return location, made[-1]
    if location and leads_to_a_ticket(shop, location):
        return location, made[-1] if made else Call("POST", "", "", {}, b"")
    said = [call.reply.record.get("message") for call in made if call.reply]
    raise RuleBroken(
        f"Expected a redirect to the `url` of a ticket. Your shop redirected to {location!r}"
        + (f", and the platform said: {json.dumps(said)}." if said else ", and created no ticket.")
    )


def tickets(shop: Subject, since: int) -> list[Call]:
    """The calls that created tickets."""
    return [call for call in shop.door.since(since) if (call.method, call.rest) == ("POST", "/tickets")]


def leads_to_a_ticket(shop: Subject, location: Any) -> bool:
    """Whether this is the URL of any ticket so far."""
    return any(call.reply and call.reply.record.get("url") == location for call in tickets(shop, 0)) and bool(
        location
    )
