"""Benchmarks: each prints a ratio against a baseline of the same run. `make bench` runs them all.

docs/performance.md says what each one measures and what came of it.
"""
