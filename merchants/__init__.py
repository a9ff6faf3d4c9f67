"""A door: the merchants' dashboard, the marketplace, and the page that asks for consent."""
