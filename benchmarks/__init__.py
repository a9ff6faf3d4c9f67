"""Benchmarks: each prints a ratio against a baseline of the same run. `make bench` runs them all."""
