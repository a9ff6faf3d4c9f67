"""The command line ``extension-platform``.

Each command is a module with ``NAME``, ``HELP``, ``add_arguments(parser)`` and ``run(args) -> int``, listed in ``main``.
"""
