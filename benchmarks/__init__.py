"""Benchmarks: each prints a ratio against a baseline of the same run. `make bench` runs them all.

docs/performance.md describes what each one measures, and has the results.
"""
