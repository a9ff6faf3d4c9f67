"""The online store: products, orders, payments, reviews and pages. Its Python code knows nothing about apps."""
