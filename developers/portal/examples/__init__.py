"""Examples to start an app from: what each needs from the platform, and a program that does its part.

The programs are files of this folder. They need only Python, so developers can copy and run them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

PORT: Final = 8787  # where the programs listen
ON_THIS_MACHINE: Final = f"http://localhost:{PORT}"
ELSEWHERE: Final = "https://your-server.example"


@dataclass(frozen=True, slots=True)
class Example:
    """`manifest` has `SERVER` where the address of the developer's server goes. Without one the manifest stays empty."""

    key: str
    title: str
    about: str
    picture: str  # of `components/picture.html`
    scopes: Sequence[str]
    manifest: dict[str, Any] | None = None
    hook: bool = False  # is called at the Webhook URL

    @property
    def file_name(self) -> str:
        return f"{self.key}.py"

    def manifest_for(self, server: str) -> dict[str, Any] | None:
        """The manifest of an app whose server has this address."""
        return None if self.manifest is None else _filled_in(self.manifest, server.rstrip("/"))

    def code(self) -> str:
        return _code(self.key)


@cache
def _code(key: str) -> str:
    return (Path(__file__).parent / f"{key}.py").read_text()


def _filled_in(value: Any, server: str) -> Any:
    if isinstance(value, dict):
        return {name: _filled_in(each, server) for name, each in value.items()}
    if isinstance(value, list):
        return [_filled_in(each, server) for each in value]
    return value.replace("SERVER", server) if isinstance(value, str) else value


EXAMPLES: Final[dict[str, Example]] = {
    example.key: example
    for example in (
        Example(
            "webhook_receiver",
            "Webhook receiver",
            "Prints each order, product change and review as it happens.",
            "envelope",
            ("read_products", "read_orders", "read_reviews"),
        ),
        Example(
            "checkout_hook",
            "Checkout hook",
            "Takes 10% off orders of 20.00 and more, while the customer checks out.",
            "till",
            ("read_products", "read_orders"),
            {"hooks": [{"hookPoint": "order.calculate_discounts", "url": "/discounts", "timeout": 2000}]},
            hook=True,
        ),
        Example(
            "block",
            "Block",
            "Shows opening hours on a page of the store. The merchant edits the text.",
            "parcel",
            ("read_pages",),
            {
                "blocks": [
                    {
                        "blockType": "opening_hours",
                        "name": "Opening hours",
                        "description": "When the store is open.",
                        "iconName": "clock",
                        "category": "Information",
                        "renderUrl": "SERVER/block",
                        "settingsSchema": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string", "title": "Text", "maxLength": 200},
                            },
                        },
                        "defaultConfig": {"text": "Open Monday to Saturday, 8 to 18"},
                    }
                ]
            },
        ),
        Example(
            "embed",
            "Embed",
            "Adds a help button to every page of the store.",
            "bell",
            ("read_business",),
            {
                "embeds": [
                    {
                        "embedType": "help",
                        "name": "Help button",
                        "description": "A way to ask for help, on every page.",
                        "kind": "FLOATING_WIDGET",
                        "position": "bottom_right",
                        "renderUrl": "SERVER/widget",
                        "settingsSchema": {
                            "type": "object",
                            "properties": {
                                "email": {"type": "string", "format": "email", "title": "E-mail address"},
                            },
                        },
                        "defaultConfig": {"email": "help@example.com"},
                    }
                ]
            },
        ),
        Example(
            "admin_page",
            "Admin page",
            "Greets the merchant on a page of your own in the dashboard, and checks who is looking.",
            "key",
            ("read_business",),
            {
                "adminPages": [
                    {
                        "pageId": "overview",
                        "title": "Overview",
                        "iconName": "layout-dashboard",
                        "renderUrl": "SERVER/admin",
                    }
                ]
            },
        ),
    )
}
