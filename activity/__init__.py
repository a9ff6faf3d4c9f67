"""What apps did: the log of their API calls, and the use of each scope."""
