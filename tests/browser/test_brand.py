"""The operator's color on real pages, as a browser draws it."""

from typing import Any

import pytest

from common.files import brand

from .conftest import NewPage

COLORS = """() => {
    const of = (element, property) => getComputedStyle(element)[property];
    const ground = (element) => {
        for (let each = element; each; each = each.parentElement) {
            const color = of(each, "backgroundColor");
            if (color !== "rgba(0, 0, 0, 0)") return color;
        }
    };
    const button = document.querySelector("main .button.primary");
    const link = document.querySelector("main a:not(.button)");
    return [of(button, "backgroundColor"), of(button, "color"), of(link, "color"), ground(link)];
}"""


def hexadecimal(color: str) -> str:
    red, green, blue = (int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(","))
    return f"#{red:02x}{green:02x}{blue:02x}"


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec(
    "Contract 16 In your name, with your people",
    "The accent is the ground of primary buttons, and links use a tone of it that reaches 4.5:1 on each theme",
)
@pytest.mark.parametrize(
    ("accent", "text"), [("#0a7d4f", brand.WHITE), ("#ffd400", brand.INK), ("#1a0033", brand.WHITE)]
)
def test_accent_is_behind_primary_buttons_and_links_can_be_read(
    new_page: NewPage, settings: Any, transactional_db: None, accent: str, text: str
) -> None:
    settings.PLATFORM_ACCENT = accent
    for scheme in ("light", "dark"):
        page = new_page(color_scheme=scheme)
        page.goto("/accounts/login/")
        button, on_button, link, ground = map(hexadecimal, page.evaluate(COLORS))
        assert (button, on_button) == (accent, text)
        assert brand.contrast(link, ground) >= 4.5
        assert link != ("#3b4cca" if scheme == "light" else "#97a4ff")
