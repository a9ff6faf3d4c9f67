"""The SDKs, as this installation serves them under `/sdk/`: no public registry has packages with their names."""
