"""What a shop needs to connect to an Extension Platform, and nothing of the platform itself.

================== =======================================================================
``StoreClient``    the calls of the store API (``client``)
``Shop``           what you write: your products, orders, reviews and pages as rows (``shop``)
``SqliteOutbox``   what has changed, noted in the transaction that changes it (``outbox``)
``Sender``         pushes what the outbox notes, and compares both sides (``sender``)
``Hooks``          asks apps at the checkout, within a time (``hooks``)
``Commands``       carries out what apps ask of the shop, once (``commands``)
``verify``         the signature of commands (``signatures``)
================== =======================================================================

With Django, add ``extension_platform_store.django`` to ``INSTALLED_APPS``: it has the outbox in your own database.
"""

from .client import StoreClient
from .commands import Command, Commands, Refused
from .errors import ApiError, PlatformError, Unreachable
from .hooks import Checkout, HookAnswer, Hooks
from .outbox import Outbox, SqliteOutbox, Work
from .sender import Sender
from .shop import Row, Shop
from .signatures import InvalidSignature, verify

__version__ = "1.0.0.dev0"

__all__ = [
    "ApiError",
    "Checkout",
    "Command",
    "Commands",
    "HookAnswer",
    "Hooks",
    "InvalidSignature",
    "Outbox",
    "PlatformError",
    "Refused",
    "Row",
    "Sender",
    "Shop",
    "SqliteOutbox",
    "StoreClient",
    "Unreachable",
    "Work",
    "verify",
]
