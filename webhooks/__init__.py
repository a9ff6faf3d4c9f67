"""Webhook endpoints, events and their signed deliveries: published in the transaction, retried, never lost."""
