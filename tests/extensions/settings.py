"""An app with settings of every kind, for tests and pictures."""

from typing import Any

from extensions.models import Manifest
from marketplace.models import App

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["heading", "accent", "size"],
    "properties": {
        "heading": {
            "type": "string",
            "minLength": 2,
            "maxLength": 40,
            "default": "Collect a stamp with every order",
            "description": "Shown above the card.",
        },
        "message": {
            "type": "string",
            "maxLength": 300,
            "title": "Message to your customers",
            "default": "Ten stamps, one treat.",
        },
        "accent": {"$ref": "#/$defs/color", "title": "Accent color", "default": "#3b4cca"},
        "ink": {"$ref": "#/$defs/color", "title": "Text color", "description": "Your shop's own when there is none."},
        "size": {"enum": ["small", "medium", "large"], "default": "medium", "title": "Size of the card"},
        "stampsNeeded": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        "smallestOrder": {"type": "number", "minimum": 0, "description": "In the currency of your shop."},
        "startsAt": {"type": "string", "format": "date-time", "title": "Starts"},
        "terms": {"type": "string", "format": "uri", "title": "Link to your terms"},
        "askForBirthday": {
            "type": "boolean",
            "default": True,
            "title": "Ask for the birthday",
            "description": "Customers get a stamp on that day.",
        },
        "counter": {
            "type": "object",
            "title": "At the counter",
            "description": "For shops where customers pick up.",
            "required": ["greeting"],
            "properties": {
                "greeting": {"type": "string"},
                "printer": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$", "description": "Such as AB-1234."},
            },
        },
        "treats": {
            "type": "array",
            "minItems": 1,
            "maxItems": 5,
            "default": [{"name": "A free coffee", "stamps": 10}],
            "description": "What customers get for their stamps.",
            "items": {
                "type": "object",
                "title": "Treat",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "stamps": {"type": "integer", "minimum": 1}},
            },
        },
        "closedDays": {"type": "array", "items": {"type": "string", "title": "Day"}, "uniqueItems": True},
        "advanced": {"type": "object", "description": "For your developer."},
    },
    "$defs": {"color": {"type": "string", "format": "color"}},
}  # fmt: skip


def give_settings(app: App, schema: Any = None) -> App:
    """The app's manifest has these global settings."""
    document = {"settingsSchema": SCHEMA if schema is None else schema}
    Manifest.objects.update_or_create(app=app, defaults={"document": document})
    return app
