"""Writing the log, and deleting from it."""
