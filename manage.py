#!/usr/bin/env python
"""Django's command line."""

import os
import sys
from importlib import import_module

from common.supported import require_python


def main() -> None:
    require_python()
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    settings = os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        import_module(settings)
    except ModuleNotFoundError as error:
        if not f"{settings}.".startswith(f"{error.name}."):
            raise
        sys.exit(
            f"The variable DJANGO_SETTINGS_MODULE names {settings}, which isn't here. It may be of another project: unset it."
        )
    except ImproperlyConfigured:
        pass  # said below, or of no matter to `help`
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"The settings are not fit to start with: {error}")


if __name__ == "__main__":
    main()
