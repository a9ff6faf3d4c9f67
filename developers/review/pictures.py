"""The check of the pictures that merchants will see: there, readable, and large enough to look good."""

from collections.abc import Iterator
from typing import Final

from django.template.defaultfilters import filesizeformat

from developers.review.evidence import Evidence, Outcome
from marketplace.models import App, Picture

ICON_PIXELS: Final = 256  # at least, on each side
SCREENSHOT_PIXELS: Final = 640  # at least, in width


def pictures(app: App) -> Iterator[Evidence]:
    yield (
        _icon(app.icon)
        if app.icon
        else Evidence(Outcome.WARN, "There is no icon. The listing shows the first letter of the name.")
    )
    if not app.screenshot_ids:
        yield Evidence(Outcome.WARN, "There are no screenshots.")
    found = app.pictures.in_bulk(app.screenshot_ids)
    by_id = {str(picture.id): picture for picture in found.values()}
    for number, picture_id in enumerate(app.screenshot_ids, 1):
        yield _screenshot(number, by_id.get(picture_id))


def _icon(icon: Picture) -> Evidence:
    size = _size(icon)
    if size is None:
        return Evidence(Outcome.FAIL, "The icon's file can't be read.")
    if icon.width != icon.height:
        return Evidence(Outcome.WARN, f"The icon is not square: {size}.")
    if icon.width < ICON_PIXELS:
        return Evidence(Outcome.WARN, f"The icon is small: {size}, where {ICON_PIXELS} pixels look sharp.")
    return Evidence(Outcome.PASS, f"Icon: {size}.")


def _screenshot(number: int, picture: Picture | None) -> Evidence:
    size = _size(picture) if picture else None
    if picture is None or size is None:
        return Evidence(Outcome.FAIL, f"The file of screenshot {number} can't be read.")
    if picture.width < SCREENSHOT_PIXELS:
        return Evidence(Outcome.WARN, f"Screenshot {number} is small: {size}.")
    return Evidence(Outcome.PASS, f"Screenshot {number}: {size}.")


def _size(picture: Picture) -> str | None:
    """In words, the file's size too; None where the storage has no such file."""
    try:
        size = filesizeformat(picture.file.size)
    except OSError:
        return None
    return f"{picture.width} × {picture.height} pixels, {size}"
