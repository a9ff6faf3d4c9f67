"""What developers and merchants do with extensions."""
