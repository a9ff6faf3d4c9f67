"""Maintenance scripts, run from the root as `python -m tools.<name>`. The product imports none of them."""
