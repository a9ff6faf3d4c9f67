"""Manifests for tests: `manifest(block(), hook(timeout=100))` is a valid one."""

from typing import Any

Document = dict[str, Any]

SCHEMA: Document = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "title": "Title", "default": "Our stars"},
        "color": {"type": "string", "format": "color", "default": "#3b4cca"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 10},
    },
    "required": ["title", "limit"],
}


def block(**fields: Any) -> Document:
    return {
        "blockType": "stars",
        "name": "Star rating",
        "renderUrl": "https://stars.example.com/block",
        **fields,
    }


def script(**fields: Any) -> Document:
    return {
        "embedType": "counter",
        "name": "Visit counter",
        "kind": "GLOBAL_SCRIPT",
        "position": "head",
        "scriptUrl": "https://stars.example.com/count.js",
        **fields,
    }


def widget(**fields: Any) -> Document:
    return {
        "embedType": "chat",
        "name": "Chat",
        "kind": "FLOATING_WIDGET",
        "position": "bottom_right",
        "renderUrl": "https://stars.example.com/chat",
        **fields,
    }


def hook(**fields: Any) -> Document:
    return {"hookPoint": "order.calculate_discounts", "url": "/hooks/discounts", **fields}


def admin_page(**fields: Any) -> Document:
    return {
        "pageId": "overview",
        "title": "Stars",
        "renderUrl": "https://stars.example.com/admin",
        **fields,
    }


def without(definition: Document, *names: str) -> Document:
    return {name: value for name, value in definition.items() if name not in names}


def full() -> Document:
    """One of everything."""
    return {
        "settingsSchema": SCHEMA,
        "blocks": [block(settingsSchema=SCHEMA, defaultConfig={"title": "Stars"})],
        "embeds": [script(), widget()],
        "hooks": [hook()],
        "adminPages": [admin_page()],
    }


FLOODS = {
    "repeated keys": "{" + ",\n".join(['"a":1'] * 40_000) + "}",
    "blocks": '{"blocks":[' + ",\n".join(["{}"] * 24_000) + "]}",
    "unknown keys": "{" + ",\n".join(f'"a{n}":1' for n in range(25_000)) + "}",
    "a long name above many values": '{"' + "k" * 400_000 + '":[' + ",".join(["1"] * 250_000) + "]}",
    "repeated keys under a long name": '{"' + "k" * 400_000 + '":[' + ",".join(['{"a":1,"a":1}'] * 40_000) + "]}",
    "repeated keys far down": '{"key":' * 900 + "[" + ",".join(['{"a":1,"a":1}'] * 60_000) + "]" + "}" * 900,
}  # fmt: skip
