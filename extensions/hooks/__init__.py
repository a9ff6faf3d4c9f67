"""The synchronous calls that ask a merchant's apps."""
