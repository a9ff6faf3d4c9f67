"""The storefront: `/store/<business-slug>/…`."""
