"""Drives the shop for the check of connected stores. SHOP_HOME and SHOP_DATABASE may say where."""

import atexit
import os
import sqlite3
import subprocess
import sys
import time
import uuid
from decimal import Decimal
from pathlib import Path

import requests

HERE = Path(__file__).parent
HOME = os.environ.get("SHOP_HOME", "http://localhost:8160")
DATABASE = os.environ.get("SHOP_DATABASE", str(HERE / "check.sqlite3"))
STAFF = ("owner", "a-password")
processes = {}
atexit.register(lambda: [each.kill() for each in processes.values()])


def connect(platform, key, secret):
    os.environ |= {
        "PLATFORM_URL": platform,
        "PLATFORM_KEY": key,
        "PLATFORM_SECRET": secret,
        "SHOP_HOME": HOME,
    }
    os.environ |= {"SHOP_PASSWORD": STAFF[1], "SHOP_DATABASE": DATABASE}
    start("web")
    start("sender")
    wait()
    return {
        "commands": f"{HOME}/platform/commands",
        "page": f"{HOME}/about",
        "paths": [[("packed", "PREPARING"), ("sent", "DELIVERED")], [("void", "CANCELLED")]],
    }


def start(name, *options):
    if name in processes:
        processes[name].kill()
        processes[name].wait()
    processes[name] = subprocess.Popen([sys.executable, HERE / "shop.py", name, *options])  # noqa: S603


def wait():
    for _ in range(100):
        try:
            return requests.get(f"{HOME}/about", timeout=5)
        except requests.ConnectionError:
            time.sleep(0.1)
    raise RuntimeError("The shop doesn't start.")


def send(method, path, body=None):
    response = requests.request(method, HOME + path, json=body, auth=STAFF, timeout=30)
    response.raise_for_status()
    return response


def save_product(product, *, name, price, stock):
    product = product or uuid.uuid4().hex[:12]
    send("PUT", f"/flowers/{product}", {"name": name, "price": str(price), "stock": stock})
    return product


def delete_product(product):
    send("DELETE", f"/flowers/{product}")


def checkout(items, person, *, confirm):
    basket = [{"flower": flower, "quantity": quantity} for flower, quantity in items]
    about = {"name": person.name, "email": person.email, "phone": person.phone}
    body = {"items": basket, "person": about, "confirm": confirm}
    began = time.monotonic()
    answer = requests.post(f"{HOME}/checkout", json=body, timeout=30).json()
    return {
        "total": Decimal(answer["total"]),
        "order": answer.get("order"),
        "message": answer["message"],
        "seconds": time.monotonic() - began,
    }


def move_order(order, state):
    send("POST", f"/orders/{order}/state", {"state": state})


def erase(person):
    send("POST", "/erase", {"email": person.email})


def dump():
    return "\n".join(sqlite3.connect(DATABASE).iterdump())


def open_apps(next_page, *, signed_in):
    auth = STAFF if signed_in else None
    query = {"next": next_page} if next_page else {}
    response = requests.get(
        f"{HOME}/platform/apps", params=query, auth=auth, timeout=30, allow_redirects=False
    )
    return response.headers.get("Location")


def restart_sender(*, compare):
    start("sender", *(["--compare"] if compare else []))
