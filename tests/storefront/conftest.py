from tests.stores.conftest import ear

__all__ = ["ear"]
