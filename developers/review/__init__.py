"""The reviewers' desk: automatic checks, what a reviewer judges, and the effects of a decision; pages in the Django admin."""
