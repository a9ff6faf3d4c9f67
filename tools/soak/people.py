"""What merchants and shoppers do, by pages: consent, products with pictures, orders in the store, reviews."""

import random
import re
from html import unescape
from io import BytesIO
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests
from PIL import Image

from tools.soak.calls import Calls, GivenUp, every
from tools.soak.ledger import Install, Placed

HIDDEN = re.compile(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">')
SHOP_EVERY = 2.0  # seconds
SHELF_EVERY = 3.0
REVIEW_EVERY = 4.0
SHADE = 12  # by which a channel of a picture may differ after it was made smaller


def hidden_fields(page: requests.Response, action: str = "") -> dict[str, str]:
    """Of the form that leads there; of all forms if none says so."""
    form = page.text.partition(f'action="{action}"')[2].partition("</form>")[0] if action else ""
    return {name: unescape(value) for name, value in HIDDEN.findall(form or page.text)}


class Merchant:
    """Signs in once, and again if the session is gone."""

    def __init__(self, load: Calls, about: dict[str, str]) -> None:
        self.business, self.product, self.slug = about["business"], about["product"], about["slug"]
        self.product_slug = about["product_slug"]
        self._load, self._about = load, about
        self._session = requests.Session()

    def install(self, app: dict[str, Any]) -> None:
        """The way of a merchant through the consent page, the app's exchange of the code, and its look at its webhook."""
        began = monotonic()
        while (answer := self.exchange(app, self.consent(app))) is None:
            sleep(1.0)
        token = answer.json()
        made = Install(
            app=app["number"],
            business=self.business,
            product=self.product,
            slug=self.slug,
            token=token["access_token"],
            secret=token["webhookSecret"],
            began=began,
            since=monotonic(),
        )
        headers = {"Authorization": f"Bearer {made.token}"}
        webhooks = self._load.call(requests.Session(), "GET", "/webhooks", headers=headers).json()["data"]
        made.webhook = next(each["id"] for each in webhooks if each["isAppDefined"])
        with self._load.ledger.lock:
            self._load.ledger.installs.append(made)

    def exchange(self, app: dict[str, Any], code: str) -> requests.Response | None:
        """None if it has to be done again: a code that was used once is worth nothing."""
        try:
            answer = self._load.call(
                requests.Session(),
                "POST",
                "/oauth/token",
                again=False,
                auth=(app["client_id"], app["client_secret"]),
                data={"grant_type": "authorization_code", "code": code, "redirect_uri": app["redirect"]},
            )
        except requests.RequestException:
            return None
        if answer.status_code not in (200, 503):
            raise GivenUp(f"A code was answered {answer.status_code}: {answer.text[:200]}")
        return answer if answer.status_code == 200 else None

    def consent(self, app: dict[str, Any]) -> str:
        query = {
            "response_type": "code",
            "client_id": app["client_id"],
            "redirect_uri": app["redirect"],
            "state": "xyz",
        }
        path = f"/oauth/authorize?{urlencode(query)}"
        page = self.open(path)
        answer = self.press(path, page, {"answer": "install"})
        if answer.status_code != 302:
            raise GivenUp(f"The consent page was answered {answer.status_code}: {answer.text[:300]}")
        return parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]

    def open(self, path: str) -> requests.Response:
        """A page, after a sign-in if that is asked for."""
        for _ in range(5):
            page = self._load.call(self._session, "GET", path)
            if page.status_code != 302:
                return page
            self._sign_in(page.headers["Location"])
        raise GivenUp(f"GET {path} asks for a sign-in again and again.")

    def _sign_in(self, location: str) -> None:
        path = location.replace(self._load.url, "")
        page = self._load.call(self._session, "GET", path)
        fields = {"email": self._about["email"], "password": self._load.world["password"]}
        answer = self.press(path.partition("?")[0], page, fields)
        if answer.status_code != 302:
            raise GivenUp(f"The sign-in was answered {answer.status_code}: {answer.text[:300]}")

    def press(
        self, path: str, page: requests.Response, fields: dict[str, str], **options: Any
    ) -> requests.Response:
        return self._load.call(
            self._session, "POST", path, data=hidden_fields(page, path) | fields, **options
        )


class People:
    """All merchants, and the jobs of merchants and shoppers."""

    def __init__(self, load: Calls) -> None:
        self._load = load
        self.aside = Merchant(load, load.world["aside"])
        self._merchants = {each["business"]: Merchant(load, each) for each in load.world["merchants"]}
        self._numbers = 0
        self.jobs = [
            (self.stock_shelf, every(SHELF_EVERY)),
            (self.shop, every(SHOP_EVERY)),
            (self.review, every(REVIEW_EVERY)),
        ]

    def install_all(self) -> None:
        for merchant in self._merchants.values():
            for app in self._load.world["apps"]:
                merchant.install(app)

    def install(self, app: int, business: str) -> None:
        self._merchants[business].install(self._load.world["apps"][app])

    def _any(self, chance: random.Random) -> Merchant:
        return chance.choice(list(self._merchants.values()))

    # Merchants

    def stock_shelf(self, session: requests.Session, chance: random.Random) -> None:
        """Add a product with a picture, look at it, rename it, and delete it."""
        if not self._load.is_current:  # the first release can't do it yet
            return
        merchant, ledger = self._any(chance), self._load.ledger
        self._numbers += 1
        name, began = f"Shelf {self._numbers:06}", monotonic()
        color = (chance.randrange(256), chance.randrange(256), chance.randrange(256))
        add = "/merchant/products/add/"
        fields = {"name": name, "price": "5", "slug": f"shelf-{self._numbers}-{chance.randrange(10**9)}"}
        picture = {"pictures": ("picture.png", png(color), "image/png")}
        answer = merchant.press(add, merchant.open(add), fields, files=picture)
        path = answer.headers.get("Location", "")
        if answer.status_code == 422 and answer in self._load.repeated:
            path = self._added(merchant, name)  # by a press that got no answer, so its address is taken
        if not path:
            self._load.failed("A product", answer)
            return
        product = path.strip("/").split("/")[-1]
        ledger.changed("product.created", product, merchant.business, began)
        self._look(session, merchant.open(path), product, color)
        began, renamed = monotonic(), f"{name} renamed"
        fields = {"name": renamed, "price": "5", "is_available": "on"}
        answer = merchant.press(path, merchant.open(path), fields)
        if answer.status_code != 302:
            self._load.failed("A product's name", answer)
            return
        ledger.changed("product.updated", f"{product} {renamed}", merchant.business, began)
        began = monotonic()
        answer = merchant.press(f"{path}delete/", merchant.open(f"{path}delete/"), {})
        is_gone = answer.status_code == 404 and answer in self._load.repeated
        if answer.status_code != 302 and not is_gone:
            self._load.failed("A product's end", answer)
            return
        ledger.changed("product.deleted", product, merchant.business, began)

    def _added(self, merchant: Merchant, name: str) -> str:
        """The path of the product with that name; empty if there is none."""
        page = merchant.open(f"/merchant/products/?{urlencode({'q': name})}")
        return next(iter(re.findall(r'href="(/merchant/products/[0-9a-f-]{36}/)"', page.text)), "")

    def _look(
        self, session: requests.Session, page: requests.Response, product: str, color: tuple[int, int, int]
    ) -> None:
        """The picture has to be what was uploaded."""
        ledger = self._load.ledger
        paths = re.findall(r'src="(?:https?://[^/"]+)?(/media/stores/[^"]+)"', page.text)
        ledger.pictures += 1
        for path in paths[:1]:
            answer = self._load.call(session, "GET", path)
            if answer.status_code == 200 and shows(answer.content, color):
                return
            ledger.bad_pictures.append(f"{product}: {answer.status_code}, {len(answer.content)} bytes")
        if not paths:
            ledger.bad_pictures.append(f"{product}: not on its page")

    # Shoppers

    def shop(self, _: requests.Session, chance: random.Random) -> None:
        """Put a product into the cart and order it, by the store's pages."""
        if not self._load.is_current:
            return
        merchant, marker, session = self._any(chance), self._load.marker(), requests.Session()
        session.headers["Host"] = self._host(merchant)
        began = monotonic()
        path = f"/products/{merchant.product_slug}/"
        self._load.call(session, "POST", f"{path}add/", data={"quantity": "1"})
        page = self._load.call(session, "GET", "/checkout/")
        email = f"{marker.replace(' ', '').lower()}@example.net"
        fields = {
            "customer_name": marker, "customer_email": email, "delivery_method": "PICKUP", "payment_method": "CASH",
        }  # fmt: skip
        answer = self._load.call(session, "POST", "/checkout/", data=hidden_fields(page) | fields)
        if answer.status_code != 302 or "/orders/" not in answer.headers["Location"]:
            self._load.failed("A checkout", answer)
            return
        ledger, accepted = self._load.ledger, monotonic()
        with ledger.lock:
            ledger.placed.append(Placed("", marker, merchant.business, began, accepted))
            ledger.mails[email] = accepted

    def review(self, session: requests.Session, chance: random.Random) -> None:
        if not self._load.is_current:
            return
        merchant, began = self._any(chance), monotonic()
        self._numbers += 1
        comment = f"Comment {self._numbers} {chance.randrange(10**9)}"
        answer = self._load.call(
            session,
            "POST",
            f"/products/{merchant.product_slug}/reviews/",
            data={"rating": "5", "comment": comment, "author_name": "Kim"},
            headers={"Host": self._host(merchant)},
        )
        if answer.status_code != 302:
            self._load.failed("A review", answer)
            return
        self._load.ledger.changed("review.created", comment, merchant.business, began)

    def _host(self, merchant: Merchant) -> str:
        return f"{merchant.slug}.stores.localhost:{urlsplit(self._load.url).port}"


def png(color: tuple[int, int, int]) -> bytes:
    written = BytesIO()
    Image.new("RGB", (64, 64), color).save(written, "PNG")
    return written.getvalue()


def shows(content: bytes, color: tuple[int, int, int]) -> bool:
    """Whether it is a whole picture of this color."""
    try:
        with Image.open(BytesIO(content)) as picture:
            middle = picture.convert("RGB").getpixel((picture.width // 2, picture.height // 2))
    except (OSError, SyntaxError):  # as Pillow has it
        return False
    return isinstance(middle, tuple) and all(abs(a - b) <= SHADE for a, b in zip(middle, color, strict=True))
