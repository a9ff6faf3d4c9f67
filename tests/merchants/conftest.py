from tests.extensions.hooks.conftest import hooking
from tests.stores.conftest import ear

__all__ = ["ear", "hooking"]
