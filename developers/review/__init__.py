"""Reviewing apps: what is checked by machine, what a reviewer judges, what a decision brings. Its pages are in
`developers.admin`."""
