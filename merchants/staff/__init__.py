"""The staff of a store."""
