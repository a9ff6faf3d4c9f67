"""The whole product in one process, on the embedded database, broker and cache (`manage.py demo`)."""
