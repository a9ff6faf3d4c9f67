"""Makes a release: see `__main__`."""
