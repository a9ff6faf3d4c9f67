"""Where shoppers find the stores: at `STORES_URL`, on a host for each store or, in development, on one for all."""

from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlsplit
from uuid import UUID

from django.conf import settings
from django.core import signing

from common.ids import parse_id

PICTURES: Final = "/media/stores/"
THUMBNAIL: Final = "/thumbnail"
SAMPLES: Final = "/static/vendor/sample-products/"  # a picture is named by the slug of its product

PROVES_FOR: Final = timedelta(days=7)

PLACE: Final = "{slug}"
"""Stands for the store's slug in `STORES_URL`."""


def store_url(slug: str, *parts: str) -> str:
    """The address of a store's home, or of the page below it that the parts name: `store_url("bakery", "pages", "about")`.

    With `{slug}` in `STORES_URL` a store begins at `/` of its own host, else at `/store/<slug>/`.
    """
    return store_origin(slug) + store_root(slug) + "".join(f"{quote(part)}/" for part in parts)


def store_origin(slug: str) -> str:
    return settings.STORES_URL.replace(PLACE, slug)


def store_root(slug: str) -> str:
    return "/" if PLACE in settings.STORES_URL else f"/store/{slug}/"


def stores_origin() -> str:
    """Of all stores, as policies write it: `https://*.stores.example`."""
    return settings.STORES_URL.replace(PLACE, "*")


def is_stores_host(host: str) -> bool:
    """Whether a host name, in small letters and without a port, is the stores' own or one below it."""
    domain = _domain()
    return host == domain or (PLACE in settings.STORES_URL and host.endswith(f".{domain}"))


def slug_of(host: str) -> str | None:
    """The slug of the store whose own host this is; None for the host that all stores share."""
    label = host.removesuffix(f".{_domain()}")
    return label if label != host and "." not in label else None


def _domain() -> str:
    return (urlsplit(settings.STORES_URL).hostname or "").removeprefix(f"{PLACE}.")


def order_key(order_id: UUID) -> str:
    """Opens the page of an order beside the key of its checkout, of which only a digest is kept: for links in later mails."""
    return _signer().sign(str(order_id))


def mailed_key(order_id: UUID) -> str:
    """Opens the page of an order, too. It goes to the buyer's address alone, so the person who has it reads the mails of that address."""
    return _proof_signer().sign(str(order_id))


def order_of_key(key: str) -> UUID | None:
    """The id in a key of `order_key` or `mailed_key`; None for any other text."""
    for signer in (_signer(), _proof_signer()):
        try:
            return parse_id(signer.unsign(key))
        except signing.BadSignature:
            continue
    return None


def proves(key: str) -> bool:
    """Whether it is a key of `mailed_key` that is at most `PROVES_FOR` old."""
    try:
        _proof_signer().unsign(key, max_age=PROVES_FOR)
    except signing.BadSignature:
        return False
    return True


def _signer() -> signing.Signer:
    return signing.Signer(sep=".", salt="stores.order-page")


def _proof_signer() -> signing.TimestampSigner:
    return signing.TimestampSigner(sep=".", salt="stores.mailed-order-page")


def picture_path(picture_id: UUID | str) -> str:
    """The path of an uploaded picture, on the platform's host and on all stores' hosts."""
    return f"{PICTURES}{picture_id}"


def thumbnail_path(path: str) -> str:
    """Of the small version of a picture that was uploaded; any other path has none and stays as it is."""
    return f"{path}{THUMBNAIL}" if path.startswith(PICTURES) else path


def small_path(path: str) -> str:
    """For 48 pixels: those of the sample goods are there in 96. Uploaded ones have their thumbnail."""
    if path.startswith(SAMPLES):
        return f"{SAMPLES}small/{path.removeprefix(SAMPLES)}"
    return thumbnail_path(path)
