"""Changes to apps and their reviews. No other code writes their tables."""
