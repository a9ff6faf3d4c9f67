"""A command of the project, run with the faults that the environment names built in.

    FAULT_CLOCK=600 python -m tests.faults.process manage.py deliver --forever

FAULT_WITHOUT    a protection of `tests.faults.protections`, taken out
FAULT_DIE_AT     `module:name`, or `module:Class.name`; its first call is the process group's death by SIGKILL
FAULT_STOP_AT    the same; at its first call the process stops, as by SIGSTOP, until it is sent SIGCONT
FAULT_CONSTANTS  JSON `{"module:NAME": seconds}`: constants that would make a test last too long
FAULT_HURRY      how many times more often the tasks run that are scheduled by seconds; the worker logs each that is done
FAULT_CLOCK      seconds that this process's clock is ahead
FAULT_NAMES      JSON `{name: {"answers": [[address, ...], ...], "delay": seconds}}`, in place of DNS for these names:
                 each look-up gets the next answer, and all later ones the last. A user who isn't root can't point the
                 system's resolver elsewhere
FAULT_CONNECTS   a file to which every address is written that this process connects to; connections that would
                 leave the machine are refused
"""

import json
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import reduce
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import django
import time_machine
from celery.signals import task_success
from django.conf import settings

from tests.faults import protections

log = logging.getLogger(__name__)


def main() -> None:
    if without := os.environ.get("FAULT_WITHOUT"):
        protections.take_out(without)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    for name, build_in in FAULTS.items():
        if value := os.environ.get(name):
            build_in(value)
    sys.argv = sys.argv[1:]
    COMMANDS[sys.argv[0]]()


def die_at(place: str) -> None:
    owner, name = find(place)
    setattr(owner, name, lambda *_, **__: os.killpg(0, signal.SIGKILL))


def stop_at(place: str) -> None:
    owner, name = find(place)
    original = getattr(owner, name)

    def stop_and_call(*arguments: Any, **options: Any) -> Any:
        setattr(owner, name, original)
        os.kill(os.getpid(), signal.SIGSTOP)
        return original(*arguments, **options)

    setattr(owner, name, stop_and_call)


def find(place: str) -> tuple[Any, str]:
    """The module or class, and the name in it."""
    module_name, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner = reduce(getattr, owners, import_module(module_name))
    assert hasattr(owner, name), place
    return owner, name


def set_constants(text: str) -> None:
    """In their module, and wherever they were imported by name."""
    for place, seconds in json.loads(text).items():
        module_name, _, name = place.partition(":")
        before = getattr(import_module(module_name), name)
        value = timedelta(seconds=seconds) if isinstance(before, timedelta) else seconds
        for module in list(sys.modules.values()):
            if vars(module).get(name) is before:
                setattr(module, name, value)


def hurry(times: str) -> None:
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        if isinstance(entry["schedule"], float):
            entry["schedule"] /= float(times)
    task_success.connect(lambda sender, **_: log.warning("done: %s", sender.name), weak=False)


def shift_clock(seconds: str) -> None:
    time_machine.travel(datetime.now(UTC) + timedelta(seconds=float(seconds)), tick=True).start()


def make_up_names(text: str) -> None:
    names, system = json.loads(text), socket.getaddrinfo

    def look_up(host: str, port: Any = None, *arguments: Any, **options: Any) -> list[Any]:
        if host not in names:
            return system(host, port, *arguments, **options)
        answers = names[host]["answers"]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        time.sleep(names[host].get("delay", 0.0))
        return [found for address in addresses for found in system(address, port, type=socket.SOCK_STREAM)]

    socket.getaddrinfo = look_up


def write_connects(file: str) -> None:
    from common.http import transfers  # not earlier: a protection may be taken out of it

    vetted_socket = transfers.vetted_socket

    def write(family: int, kind: int, protocol: int, address: str) -> socket.socket:
        vetted = vetted_socket(family, kind, protocol, address)
        with Path(file).open("a") as target:
            target.write(f"{address}\n")
        if not ip_address(address).is_loopback:
            vetted.close()
            raise ConnectionRefusedError
        return vetted

    transfers.vetted_socket = write


FAULTS: dict[str, Callable[[str], None]] = {
    "FAULT_DIE_AT": die_at,
    "FAULT_STOP_AT": stop_at,
    "FAULT_CONSTANTS": set_constants,
    "FAULT_HURRY": hurry,
    "FAULT_CLOCK": shift_clock,
    "FAULT_NAMES": make_up_names,
    "FAULT_CONNECTS": write_connects,
}


def manage() -> None:
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


def celery() -> None:
    from celery.__main__ import main as run

    run()


def gunicorn() -> None:
    from gunicorn.app.wsgiapp import run

    run()


COMMANDS: dict[str, Callable[[], None]] = {"manage.py": manage, "celery": celery, "gunicorn": gunicorn}

if __name__ == "__main__":
    main()
