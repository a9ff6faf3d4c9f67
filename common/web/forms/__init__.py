"""Forms of the site: how they look, where they belong, what they save (docs/frontend.md, "Forms")."""
