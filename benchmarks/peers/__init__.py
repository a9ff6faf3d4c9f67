"""Other ways to send webhooks, measured beside the product: `make bench ARGS=peers`.

`catalog.py` names them with their versions, `programs/` is the code that each of them runs.
"""
