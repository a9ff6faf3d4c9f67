#!/usr/bin/env python
"""Django's command line."""

import os
import sys

from common.supported import require_python


def main() -> None:
    require_python()
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"The settings are not fit to start with: {error}")


if __name__ == "__main__":
    main()
