"""Synchronous calls to a merchant's apps."""
