"""Django's PostgreSQL, with a health check that costs no statement."""
