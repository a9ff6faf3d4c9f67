"""Releases in steps: how well a version works, and whether it goes on (contract, section 10)."""
