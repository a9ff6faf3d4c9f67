"""Keeps Python's garbage collector from looking at what the whole run needs: imported modules and collected tests."""

import gc


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
