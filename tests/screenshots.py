"""Pictures of every page in light, in dark and on a phone: `python -m tests.screenshots [name …]`.

They go to build/screenshots/<name>-<light|dark|phone>.png, for eyes. What a machine can see fails the run: a
status other than the expected one, an error in the console, a request to another host, a page wider than a
window of 320 pixels. To add a page, add a row to `SHOTS`, and what it shows to `seed`.
"""

import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# Before the next import, which chooses what the settings will read: a folder and a database to throw away.
os.environ |= {"EMBEDDED": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
os.environ.pop("DATABASE_URL", None)

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import Watch, launch, overflow

TARGET = Path(__file__).resolve().parent.parent / "build" / "screenshots"
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "phone": PHONE | {"color_scheme": "light"},
}


@dataclass(frozen=True, slots=True)
class Shot:
    """A page in a state. `path` may name what `seed` made: `/portal/apps/{app.id}/`."""

    name: str
    path: str
    signed_in: str = ""  # a person of the cast
    act: Callable[[Page], None] | None = None  # what is pressed before the picture
    status: int = 200


def press(*names: str) -> Callable[[Page], None]:
    """Presses buttons, one after the other."""

    def act(page: Page) -> None:
        for name in names:
            page.get_by_role("button", name=name).first.click()
        page.wait_for_load_state()

    return act


def regenerate(page: Page) -> None:
    """Asks for a new client secret, and does what the page wants to be sure."""
    page.get_by_label("to confirm").fill("loyalty-stars")
    press("Regenerate secret")(page)


def computed_without_a_timestamp(page: Page) -> None:
    """Has a delivery checked, with a value that nobody's code computed."""
    page.get_by_label("your code computed").fill("ab" * 32)
    press("Check")(page)


SHOTS = [
    Shot("home", "/"),
    Shot("home-developer", "/", "dana"),
    Shot("home-merchant", "/", "mira"),
    Shot("account-menu", "/", "dana", press("Account of")),
    Shot("theme-menu", "/", act=press("Colours")),
    Shot("licenses", "/licenses/"),
    Shot("register", "/accounts/register/"),
    Shot("register-merchant", "/accounts/register/?role=MERCHANT"),
    Shot("register-errors", "/accounts/register/", act=press("Register")),
    Shot("sign-in", "/accounts/login/"),
    Shot("sign-in-errors", "/accounts/login/", act=press("Sign in")),
    Shot("password-reset", "/accounts/password-reset/"),
    Shot("password-reset-sent", "/accounts/password-reset/sent/"),
    Shot("styleguide", "/_styleguide/", "rae"),
    Shot("styleguide-errors", "/_styleguide/", "rae", press("Send it")),
    Shot("error-404", "/nothing/here", status=404),
    Shot("portal-apps", "/portal/", "dana"),
    Shot("portal-apps-empty", "/portal/", "sam"),
    Shot("portal-create", "/portal/create/", "dana"),
    Shot("portal-create-errors", "/portal/create/", "dana", press("Create app")),
    Shot("portal-overview", "/portal/apps/{stars.slug}/", "dana"),
    Shot("portal-overview-new", "/portal/apps/{parcels.slug}/", "dana"),
    Shot("portal-details", "/portal/apps/{stars.slug}/details/", "dana"),
    Shot("portal-details-approved", "/portal/apps/{till.slug}/details/", "dana"),
    Shot("portal-details-in-review", "/portal/apps/{wall.slug}/details/", "dana"),
    Shot("portal-credentials", "/portal/apps/{stars.slug}/credentials/", "dana"),
    Shot("portal-regenerate", "/portal/apps/{stars.slug}/credentials/regenerate/", "dana"),
    Shot("portal-client-secret", "/portal/apps/{stars.slug}/credentials/regenerate/", "dana", regenerate),
    Shot("portal-test", "/portal/apps/{parcels.slug}/test/", "dana"),
    Shot("portal-test-installed", "/portal/apps/{stars.slug}/test/", "dana"),
    Shot("portal-test-token", "/portal/apps/{stars.slug}/test/", "dana", press("Issue a new token")),
    Shot("portal-test-uninstall", "/portal/apps/{stars.slug}/test/uninstall/", "dana"),
    Shot("portal-test-event", "/portal/apps/{stars.slug}/test/event/", "dana"),
    Shot("portal-webhooks", "/portal/apps/{stars.slug}/webhooks/", "dana"),
    Shot("portal-webhooks-tested", "/portal/apps/{stars.slug}/webhooks/?tested={sent[test].id}", "dana"),
    Shot("portal-webhooks-empty", "/portal/apps/{parcels.slug}/webhooks/", "dana"),
    Shot(
        "portal-webhook-pause", "/portal/apps/{stars.slug}/webhooks/{sent[failing_webhook].id}/pause/", "dana"
    ),
    Shot("portal-deliveries", "/portal/apps/{stars.slug}/deliveries/", "dana"),
    Shot("portal-deliveries-none", "/portal/apps/{stars.slug}/deliveries/?q=1042&status=HELD", "dana"),
    Shot("portal-deliveries-wrong", "/portal/apps/{stars.slug}/deliveries/?status=LOST", "dana", status=422),
    Shot("portal-deliveries-empty", "/portal/apps/{parcels.slug}/deliveries/", "dana"),
    *(
        Shot(
            f"portal-delivery-{state}",
            f"/portal/apps/{{stars.slug}}/deliveries/{{sent[{state}].id}}/",
            "dana",
        )
        for state in ("recovered", "failing", "failed", "tls", "waiting", "held", "cancelled", "test")
    ),
    Shot("portal-erasures", "/portal/apps/{till.slug}/erasures/", "dana"),
    Shot("portal-erasures-empty", "/portal/apps/{stars.slug}/erasures/", "dana"),
    Shot("portal-recover", "/portal/apps/{stars.slug}/deliveries/recover/", "dana"),
    Shot("portal-bench", "/portal/apps/{stars.slug}/signatures/", "dana"),
    Shot("portal-bench-errors", "/portal/apps/{stars.slug}/signatures/", "dana", press("Check")),
    Shot(
        "portal-bench-verdict",
        "/portal/apps/{stars.slug}/signatures/?delivery={sent[failing].id}",
        "dana",
        computed_without_a_timestamp,
    ),
    Shot("portal-delete", "/portal/apps/{parcels.slug}/delete/", "dana"),
    Shot("portal-delete-approved", "/portal/apps/{till.slug}/delete/", "dana"),
    Shot("portal-forbidden", "/portal/", "mira", status=403),
]


def seed() -> SimpleNamespace:
    """The cast, made by the services that users reach.

    Dana is a developer with an app in each state, Sam one without, Mira has a shop, Rae reviews.
    """
    from accounts.enums import Role
    from accounts.models import User
    from accounts.services import register

    def person(name: str, role: Role, **fields: Any) -> User:
        email = f"{name.split()[0].lower()}@example.com"
        return register(email=email, password="correct horse battery", name=name, role=role, **fields).user

    dana = person("Dana Okafor", Role.DEVELOPER)
    return SimpleNamespace(
        dana=dana,
        sam=person("Sam Lindqvist", Role.DEVELOPER),
        mira=person("Mira Santos", Role.MERCHANT, business_name="Harbour Bakery"),
        rae=User.objects.create_user("rae@example.com", name="Rae Ito", role=Role.REVIEWER, is_staff=True),
        **apps_of(dana),
    )


def apps_of(developer: Any) -> dict[str, Any]:
    """Apps: installed for test with pictures, new with a long name, approved, in review."""
    from installations.services import test_install, test_uninstall
    from marketplace.enums import AppStatus
    from marketplace.models import App
    from marketplace.scopes import SCOPES
    from marketplace.services.apps import create_app, update_app
    from marketplace.services.pictures import decode
    from tests import factories
    from tests.deliveries import one_of_each
    from tests.pictures import picture, upload

    def make(name: str, slug: str, category: str, **fields: Any) -> App:
        defaults = {
            "description": "Gives your customers a star for every order, and a treat for every ten stars.",
            "scopes": list(SCOPES),
            "redirect_url": "https://app.example.com/oauth/callback",
        }
        return create_app(
            developer=developer, name=name, slug=slug, category=category, **(defaults | fields)
        ).app

    long_name = "Parcel quotes with a name that goes on for as long as eighty characters allow it"
    stars = make("Loyalty Stars", "loyalty-stars", "loyalty", webhook_url="http://127.0.0.1:9/hooks")
    parcels = make(long_name, "parcel-quotes", "shipping", scopes=["read_orders"])
    till = make("Till Bridge", "till-bridge", "pos", version="1.4.0")
    wall = make("Review Wall", "review-wall", "marketing")
    shown = [decode(upload(picture(size=size))) for size in ((800, 500), (400, 600))]
    update_app(app=stars, changes={"icon": decode(upload()), "screenshots": shown})
    installation = test_install(app=stars, developer=developer).installation
    factories.approve(till)
    App.objects.filter(pk=wall.pk).update(status=AppStatus.PENDING_REVIEW)
    sent = one_of_each(installation)
    test_install(app=till, developer=developer)
    test_uninstall(app=till, developer=developer)
    return {"stars": stars, "parcels": parcels, "till": till, "wall": wall, "sent": sent}


def sessions(cast: SimpleNamespace) -> dict[str, str]:
    """A session for each person of the cast."""
    from django.test import Client

    from accounts.models import User

    made = {}
    for name, person in vars(cast).items():
        if isinstance(person, User):
            client = Client()
            client.force_login(person)
            made[name] = client.cookies["sessionid"].value
    return made


@contextmanager
def served() -> Iterator[str]:
    """The whole site on a free port, in threads of this process; gives its address."""
    import django

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    origin = os.environ["BASE_URL"] = f"http://127.0.0.1:{port}"
    django.setup()
    from django.core.management import call_command
    from waitress.server import create_server

    from config.wsgi import application

    call_command("migrate", verbosity=0)
    server = create_server(application, host="127.0.0.1", port=port, threads=4)
    threading.Thread(target=server.run, daemon=True).start()
    yield origin
    server.close()


class Camera:
    """Takes the pictures, and notes what is wrong with the pages."""

    def __init__(
        self, browser: Browser, origin: str, cast: SimpleNamespace, sessions: dict[str, str]
    ) -> None:
        self.browser = browser
        self.origin = origin
        self.cast = cast
        self.sessions = sessions
        self.problems: list[str] = []

    def take(self, shot: Shot) -> None:
        for look, options in LOOKS.items():
            with self._page(shot, look, options) as page:
                page.screenshot(
                    path=TARGET / f"{shot.name}-{look}.png", full_page=True, animations="disabled"
                )
        with self._page(shot, "320", {"viewport": {"width": 320, "height": 640}}) as page:
            if too_wide := overflow(page):
                self._note(shot, "320", f"{too_wide} pixels too wide")

    @contextmanager
    def _page(self, shot: Shot, look: str, options: dict[str, Any]) -> Iterator[Page]:
        context = self.browser.new_context(base_url=self.origin, **options)
        if shot.signed_in:
            cookie = {"name": "sessionid", "value": self.sessions[shot.signed_in], "url": self.origin}
            context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        watch = Watch(page, self.origin)
        response = page.goto(shot.path.format(**vars(self.cast)))
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


def main(names: list[str]) -> int:
    """Take the named pictures, or all; gives the exit status."""
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    if unknown := set(names) - {shot.name for shot in wanted}:
        print(f"No such page: {', '.join(sorted(unknown))}")
        return 2
    TARGET.mkdir(parents=True, exist_ok=True)
    with served() as origin:
        cast = seed()
        signed_in = sessions(cast)
        with sync_playwright() as playwright:
            browser = launch(playwright)
            camera = Camera(browser, origin, cast, signed_in)
            for shot in wanted:
                camera.take(shot)
                print(shot.name)
            browser.close()
    print("\n".join(camera.problems) or f"No problem on {len(wanted)} pages; pictures are in {TARGET}")
    return 1 if camera.problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    finally:
        shutil.rmtree(os.environ["VAR_DIR"], ignore_errors=True)
