"""What differs between two manifests, for developers and reviewers: the portal and the administration show the same."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from extensions.enums import ExtensionType
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.sync import same
from marketplace.differences import Difference

Document = Mapping[str, Any]


def manifest_differences(before: Document, after: Document) -> list[Difference]:
    """Of two manifests without problems, defaults filled in: whole definitions that came or went, fields that
    changed, a definition's fields together. In the order of the manifest."""
    found = list(_field("App settings", before.get("settingsSchema"), after.get("settingsSchema")))
    was, now = _by_key(before), _by_key(after)
    for key in dict.fromkeys([*was, *now]):
        if key not in now:
            found.append(Difference("", _label(was[key]), "text", (summary(was[key]),), ()))
        elif key not in was:
            found.append(Difference("", _label(now[key]), "text", (), (summary(now[key]),)))
        else:
            found += _changed(was[key], now[key])
    return found


def summary(defined: Defined) -> str:
    """A definition in one line."""
    return about(defined) if defined.name == defined.key else f"{defined.name}, {about(defined)}"


def about(defined: Defined) -> str:
    """What a list shows of it beside its name."""
    content = defined.content
    if defined.type == ExtensionType.HOOK:
        return f"{content['url']}, within {content['timeout']:,} ms, priority {content['priority']}"
    url = content.get("renderUrl") or content.get("scriptUrl")
    pinned = f", {content['integrity']}" if "integrity" in content else ""
    return f"{content['position']}, {url}{pinned}" if "position" in content else str(url)


def _by_key(document: Document) -> dict[tuple[str, str], Defined]:
    return {(each.type, each.key): each for each in definitions_in(document)}


def _label(defined: Defined) -> str:
    return f"{defined.type.label} {defined.key}"


def _changed(was: Defined, now: Defined) -> Iterator[Difference]:
    for name in dict.fromkeys([*was.content, *now.content]):
        yield from _field(f"{_label(now)}: {name}", was.content.get(name), now.content.get(name))


def _field(label: str, before: Any, after: Any) -> Iterator[Difference]:
    if not same(before, after):
        is_json = any(isinstance(value, dict | list) for value in (before, after))
        written = _json if is_json else _text
        yield Difference("", label, "json" if is_json else "text", written(before), written(after))


def _json(value: Any) -> tuple[str, ...]:
    return () if value is None else (json.dumps(value, ensure_ascii=False),)


def _text(value: Any) -> tuple[str, ...]:
    if value == "":
        return ()
    return (value,) if isinstance(value, str) else _json(value)
