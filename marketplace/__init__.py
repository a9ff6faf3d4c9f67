"""Apps as products: their versions, submissions and listings, and the table of scopes."""
