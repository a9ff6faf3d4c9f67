"""What changes apps. Nothing else writes their tables."""
