"""A Django app of the test settings, for its one command."""
