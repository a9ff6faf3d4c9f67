"""Stores that authors' own end-to-end tests make for a while: each with its data, installation and clock."""
