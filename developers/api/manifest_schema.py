"""The manifest as the API's description tells it. `extensions.manifest` checks it, and by more than a schema can say."""

from typing import Any

from common.json_schema import Schema, identifier, integer, listing, one_of, or_null, record, shape, text
from extensions.enums import EmbedKind, ExtensionType
from stores.hookpoints import HookPoint

MOST = 50  # of each kind
TYPE_ID = "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0d"


def _key(about: str, example: str) -> Schema:
    return text(about, example, minLength=1, maxLength=100)


def _url(about: str, example: str) -> Schema:
    return text(f"{about} HTTPS, on another origin than this service.", example, format="uri")


def _embed_url(about: str, example: str) -> Schema:
    about = f"{about} HTTPS, on another origin than this service; not used by the other kind."
    return or_null(text(about, example))


def _free(about: str, example: dict[str, Any]) -> Schema:
    return {"type": "object", "description": about, "examples": [example]}


SETTINGS_SCHEMA = _free(
    "JSON Schema (Draft 2020-12) of what a merchant can set: of type object, at most 64 KiB, 8 levels and "
    "100 properties.",
    {"type": "object", "properties": {"title": {"type": "string", "title": "Title"}}},
)
_CONFIGURED = {
    "settingsSchema": SETTINGS_SCHEMA,
    "defaultConfig": _free("Values to begin with; they fit the schema.", {"title": "What others say"}),
}
_NAME = _key("Shown to merchants.", "Star rating")
_DESCRIPTION = text("What it does.", "The rating of a product, in stars.", maxLength=500)
_ICON = text("An icon's name; an unknown one shows a neutral icon.", "star", maxLength=100)

BLOCK = shape(
    {
        "blockType": _key("Its key, once in the list.", "stars"),
        "name": _NAME,
        "description": _DESCRIPTION,
        "iconName": _ICON,
        "category": text("Groups the picker.", "Reviews", maxLength=100),
        "renderUrl": _url("The frame's address.", "https://stars.example.com/block"),
        **_CONFIGURED,
    },
    optional=["description", "iconName", "category", "settingsSchema", "defaultConfig"],
)
EMBED = shape(
    {
        "embedType": _key("Its key, once in the list.", "chat"),
        "name": _NAME,
        "description": _DESCRIPTION,
        "kind": one_of("What it is.", EmbedKind.values, "FLOATING_WIDGET"),
        "position": one_of(
            "head or body_end of a script, a corner of a widget.",
            ["head", "body_end", "bottom_right", "bottom_left"],
            "bottom_right",
        ),
        # The one that the kind does not use may be any text.
        "scriptUrl": _embed_url("Of a GLOBAL_SCRIPT.", "https://stars.example.com/chat.js"),
        "renderUrl": _embed_url("Of a FLOATING_WIDGET.", "https://stars.example.com/chat"),
        **_CONFIGURED,
    },
    optional=["description", "scriptUrl", "renderUrl", "settingsSchema", "defaultConfig"],
)
HOOK = shape(
    {
        "hookPoint": one_of(
            "Once in the list.", [str(each) for each in HookPoint], "order.calculate_discounts"
        ),
        "url": text("A path below the Webhook URL.", "/hooks/discounts", minLength=1, maxLength=500),
        "timeout": integer("Milliseconds.", 2000, minimum=100, maximum=10_000, default=5000),
        "priority": integer("Lower is asked first.", 100, minimum=0, maximum=1000, default=100),
    },
    optional=["timeout", "priority"],
)
ADMIN_PAGE = shape(
    {
        "pageId": _key("Its key, once in the list.", "overview"),
        "title": _key("In the merchant's sidebar.", "Stars"),
        "iconName": _ICON,
        "renderUrl": _url("The frame's address.", "https://stars.example.com/admin"),
    },
    optional=["iconName"],
)

LISTS = {"blocks": BLOCK, "embeds": EMBED, "hooks": HOOK, "adminPages": ADMIN_PAGE}


def manifest() -> Schema:
    """Every key may be left out; any other is refused."""
    fields = {"settingsSchema": SETTINGS_SCHEMA} | {
        name: {**listing(f"At most {MOST}.", _closed(item)), "maxItems": MOST} for name, item in LISTS.items()
    }
    return _closed(shape(fields, optional=list(fields), about="What the app adds to a store."))


def _closed(schema: Schema) -> Schema:
    return {**schema, "additionalProperties": False}


def saved_manifest() -> Schema:
    change = record(
        type=one_of("What it is.", ExtensionType.values, "block"),
        key=text("Its key.", "stars"),
        id=identifier("The definition; it stays the same over saves.", TYPE_ID),
    )
    lists = {
        "created": listing("New ones.", change),
        "updated": listing("Changed or returned ones.", change),
        "deactivated": listing("Those that left the manifest.", change),
    }
    return record(manifest=manifest(), changes=record(**lists))
