"""Text as a search compares it: in one case, and with letters that are one sign where Unicode has one ("é")."""

from unicodedata import normalize


def folded(text: str) -> str:
    """Unicode's canonical caseless form, by its default case folding: what reads the same is equal."""
    return normalize("NFC", normalize("NFC", text).casefold())
