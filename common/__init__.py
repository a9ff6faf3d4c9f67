"""Shared by all apps: the error shape, pagination, ids, money, times, rate limits and encryption. No models."""
