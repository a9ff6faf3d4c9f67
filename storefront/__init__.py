"""The pages that shoppers see."""
