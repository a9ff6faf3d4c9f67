"""Changes to a store, each in one transaction with the signal that announces it."""
