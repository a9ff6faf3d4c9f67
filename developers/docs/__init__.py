"""`/docs/`: the OpenAPI document, and the pages that are made of it and of the guides."""
