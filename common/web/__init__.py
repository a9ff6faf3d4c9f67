"""Serving HTTP: shared parts for pages, forms, pagination, middleware and rate limits."""
