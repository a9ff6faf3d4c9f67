"""Database tools: planned queries, encrypted fields, totals and transactions."""
