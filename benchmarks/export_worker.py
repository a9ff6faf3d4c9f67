"""A process that makes exports: `python -m benchmarks.export_worker` makes what is pending at each line that it reads.

It calls what the task does that a worker runs, and nothing else, so that its memory and processor time are those of exports.
"""

import json
import sys
import time


def main() -> None:
    import django

    django.setup()
    from appapi.services.exports import make_exports

    print(json.dumps("ready"), flush=True)
    for _ in sys.stdin:
        began = time.monotonic()
        made = make_exports()
        print(json.dumps([made, time.monotonic() - began]), flush=True)


if __name__ == "__main__":
    main()
