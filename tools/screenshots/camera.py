"""Visits every page in light, in dark and on a phone: `python -m tools.screenshots [--part 1/2] [name …]`.

`--front` writes the pictures of the front page instead, which are committed: `static/img/front/`.

Pictures go to build/screenshots/<name>-<light|dark|phone>.png, for eyes. Faults that a machine can see fail the run: a
status or an address other than the expected one, a finding of axe, an error in the console, a request to another host, a page wider than
a window of 320 pixels.
"""

import os
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

# Before the next import, which chooses what the settings will read: a folder and a database to throw away.
os.environ |= {"EMBEDDED": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
os.environ.pop("DATABASE_URL", None)

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.axe import violations
from tests.browser.chromium import Watch, launch, overflow
from tests.ports import free_port
from tools.screenshots import cast as everybody
from tools.screenshots.shots import SHOTS, Shot

TARGET = Path(__file__).resolve().parents[2] / "build" / "screenshots"
DESKTOP = {"width": 1440, "height": 900}
PHONE_WIDTH, NARROWEST = 390, 320  # pixels
FIRST_ROW, FIRST_ROW_ON_PHONES = 240, 300  # pixels from the top of the page, at most
FEW_PILLS, COLORED = 6, 1 / 3  # of more than so many pills, at most this part may have a color
FRONT = Path(__file__).resolve().parents[2] / "static" / "img" / "front"
ON_FRONT = ("store", "portal-thread")  # pages that the front page shows
FRONT_LOOK = {"viewport": {"width": 1120, "height": 720}, "device_scale_factor": 1.25}
FRONT_QUALITY = 82  # of WebP
ABOUT_WIDTH = ("target-size", "scrollable-region-focusable")  # rules of axe
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "phone": PHONE | {"color_scheme": "light"},
}


def session_of(cast: SimpleNamespace, name: str) -> dict[str, str]:
    """A new session of a person of the cast, as a cookie. One that waited for its turn may have ended: reviewers' do after half an
    hour."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(getattr(cast, name))
    if name == "theo":  # whose second factor no act can compute
        session = client.session
        session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
        session.save()
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value}


@contextmanager
def served() -> Iterator[tuple[str, str]]:
    """The whole site on a free port, in threads of this process; gives the addresses of platform and stores."""
    import django

    port = free_port()
    origins = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
    os.environ |= dict(zip(("BASE_URL", "STORES_URL"), origins, strict=True))
    django.setup()
    from django.core.management import call_command
    from waitress.server import create_server

    from config.wsgi import application

    call_command("migrate", verbosity=0)
    server = create_server(application, host="127.0.0.1", port=port, threads=4)
    threading.Thread(target=server.run, daemon=True).start()
    yield origins
    server.close()


@contextmanager
def sample_app() -> Iterator[Any]:
    """The demo's `SampleApp`, for the cast to start."""
    from django.conf import settings

    from config.demo.processes import SampleApp

    app = SampleApp(port=free_port(), state_file=settings.VAR_DIR / "sample-app.sqlite3")
    try:
        yield app
    finally:
        app.stop()


def _counts(shot: Shot, page: Page) -> list[str]:
    """What a page has exactly once: its heading, and at most once: a main action. The style guide shows many."""
    headings, actions = (page.locator(each).count() for each in ("h1", ".button.primary:visible"))
    return [f"{headings} headings h1"] * (headings != 1) + [f"{actions} primary buttons"] * (
        actions > 1 and not shot.name.startswith("styleguide")
    )


def _first_row(page: Page) -> float:
    """How far down the first row of the page's list begins, without what the last press said. 0 where the page has no list."""
    return float(
        page.evaluate(
            """() => {
              const row = document.querySelector("main [data-list]:not(fieldset) :is(tbody tr:not(.day), li)");
              const said = document.querySelector("main .messages, main .error-summary");
              return row && !said ? row.getBoundingClientRect().top + scrollY : 0;
            }"""
        )
    )


def _colored_pills(page: Page) -> tuple[int, int]:
    """How many pills have a color, of how many."""
    shown = page.locator("main .pill:visible")
    return page.locator(
        "main .pill:is(.kind-warn, .kind-bad, .kind-info, .kind-test):visible"
    ).count(), shown.count()


class Camera:
    """Visits pages, takes their pictures, and notes what is wrong with them."""

    def __init__(
        self,
        browser: Browser,
        origins: list[str],
        cast: SimpleNamespace,
    ) -> None:
        """`origins`: the site's, and those that its pages may ask besides."""
        self.browser = browser
        self.origin, self.origins = origins[0], origins
        self.cast = cast
        self.problems: list[str] = []

    def visit(self, shot: Shot, *, pictures: bool) -> None:
        """A page that breaks the visit is a problem, too, and the others are visited all the same."""
        try:
            (self.take if pictures else self.check)(shot)
        except Exception as error:
            self._note(shot, "all", f"the visit broke off: {error}")

    def take(self, shot: Shot) -> None:
        for look, options in LOOKS.items():
            with self._page(shot, look, options) as page:
                picture = TARGET / f"{shot.name}-{look}.png"
                page.screenshot(path=picture, full_page=True, animations="disabled")
                self._note_all(shot, look, violations(page) + _counts(shot, page))
                self._check_ink(shot, look, page)
                if look == "phone":
                    self._check_width(shot, page)

    def _check_ink(self, shot: Shot, look: str, page: Page) -> None:
        """What a list needs before its first row, and what is colored."""
        is_phone = look == "phone"
        if (top := _first_row(page)) > (FIRST_ROW_ON_PHONES if is_phone else FIRST_ROW):
            self._note(shot, look, f"the first row begins at {top:.0f} px")
        colored, pills = _colored_pills(page)
        if pills > FEW_PILLS and colored / pills > COLORED and not shot.name.startswith("styleguide"):
            self._note(shot, look, f"{colored} of {pills} pills are colored")

    def _check_width(self, shot: Shot, page: Page) -> None:
        for width in (PHONE_WIDTH, NARROWEST):
            page.set_viewport_size({"width": width, "height": 844})
            if too_wide := overflow(page):
                self._note(shot, str(width), f"{too_wide} pixels too wide")

    def check(self, shot: Shot) -> None:
        """Looks for problems without pictures: one page that changes its look, and only the rules that this concerns."""
        with self._page(shot, "light", LOOKS["light"] | {"reduced_motion": "reduce"}) as page:
            self._note_all(shot, "light", violations(page) + _counts(shot, page))
            self._check_ink(shot, "light", page)
            page.emulate_media(color_scheme="dark")
            page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
            self._note_all(shot, "dark", violations(page, "color-contrast"))
            page.emulate_media(color_scheme="light", forced_colors="active")
            self._note_all(shot, "forced colors", violations(page, "color-contrast"))
            page.emulate_media(forced_colors="none")
            self._check_width(shot, page)
            page.set_viewport_size({"width": PHONE_WIDTH, "height": 844})
            self._check_ink(shot, "phone", page)
            page.set_viewport_size({"width": NARROWEST, "height": 844})
            self._note_all(shot, str(NARROWEST), violations(page, *ABOUT_WIDTH))

    def _note_all(self, shot: Shot, look: str, problems: list[str]) -> None:
        for problem in problems:
            self._note(shot, look, problem)

    def take_front(self, shot: Shot) -> None:
        """What is in the window alone, in the looks of the front page."""
        for look in ("light", "dark"):
            with self._page(shot, look, FRONT_LOOK | {"color_scheme": look}) as page:
                png = page.screenshot(animations="disabled")
            with Image.open(BytesIO(png)) as picture:
                picture.save(FRONT / f"{shot.name}-{look}.webp", quality=FRONT_QUALITY, method=6)

    @contextmanager
    def _page(self, shot: Shot, look: str, options: dict[str, Any]) -> Iterator[Page]:
        context = self.browser.new_context(base_url=self.origin, **options)
        if shot.signed_in:
            with ThreadPoolExecutor(1) as beside:  # Django refuses to work in Playwright's thread
                cookie = beside.submit(session_of, self.cast, shot.signed_in).result()
            context.add_cookies([cookie | {"url": self.origin}])  # type: ignore[list-item]
        page = context.new_page()
        watch = Watch(page, *self.origins)
        path = shot.path.format(**vars(self.cast))
        response = page.goto(path)
        if (at := urlsplit(page.url).path) != (shot.at or urlsplit(path).path):
            self._note(shot, look, f"it is at {at}")
        if response and response.status != shot.status:
            self._note(shot, look, f"status {response.status}, not {shot.status}")
        if shot.act:
            shot.act(page)
        page.evaluate("scrollTo(0, 0); document.fonts.ready")
        yield page
        for problem in watch.problems:
            self._note(shot, look, problem)
        context.close()

    def _note(self, shot: Shot, look: str, problem: str) -> None:
        self.problems.append(f"{shot.name} ({look}): {problem}")


def main(arguments: list[str]) -> int:
    """Visit the named pages, or all, or a part of all; gives the exit status."""
    parser = ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument(
        "--no-pictures", action="store_true", help="only look for problems, which takes less time"
    )
    parser.add_argument("--part", default="1/1", help="for instance 1/2: every other page")
    parser.add_argument("--front", action="store_true", help="write the pictures of the front page")
    options = parser.parse_args(arguments)
    if options.front:
        options.names = list(ON_FRONT)
    if unknown := set(options.names) - {shot.name for shot in SHOTS}:
        parser.error(f"no such page: {', '.join(sorted(unknown))}")
    part, parts = map(int, options.part.split("/"))
    wanted = [shot for shot in SHOTS if not options.names or shot.name in options.names][part - 1 :: parts]
    target = FRONT if options.front else TARGET
    target.mkdir(parents=True, exist_ok=True)
    with served() as origins, sample_app() as app:
        cast = everybody.seed(app)
        with sync_playwright() as playwright:
            browser = launch(playwright)
            camera = Camera(browser, [*origins, app.url], cast)
            for shot in wanted:
                if options.front:
                    camera.take_front(shot)
                else:
                    camera.visit(shot, pictures=not options.no_pictures)
                print(shot.name, flush=True)
            browser.close()
    print("\n".join(camera.problems) or f"No problem on {len(wanted)} pages")
    if not options.no_pictures:
        print(f"Pictures are in {target}")
    return 1 if camera.problems else 0
