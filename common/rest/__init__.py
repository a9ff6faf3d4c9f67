"""Shared by all JSON endpoints: parsing, rendering, field types and the error shape."""
