"""Test your app on a store of the platform that one test has to itself.

pytest finds the fixtures ``platform`` and ``store`` once this package is installed (``testing.plugin``). Elsewhere::

    with TestPlatform.from_environment() as platform, platform.open_store(port=3000) as store:
        store.place_order()
        store.wait_for("order.created")
"""

from .platform import TestPlatform
from .stores import TestStore, waits

__all__ = ["TestPlatform", "TestStore", "waits"]
