"""Fails if the wire contract breaks one of a release: `python -m tools.contract_changes`.

Each release's OpenAPI document is kept in `docs/contract/`, without its texts and examples. The newest of them is compared
with the document of this tree. A change is breaking if an app that was right before may be wrong after it:

- what is gone: an operation, a parameter, a field, a header, a content type, a webhook or a hook;
- what we accept becomes narrower: a new required input, a type, enum, limit, format or default that differs, a new scope;
- what we send becomes wider: an optional or null value that was always there, another type, format or status of success.

Anything that is new is an addition, a new value of an enum that we send included: apps have to ignore what they don't know.
A breaking change has to be decided on (`DECIDED`), and needs a version with a new first number; 0.x had a new second one. From 1.0 on,
an operation goes only if the newest release has marked it as deprecated (contract, section 18).
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "contract"

Node = dict[str, Any]

# Breaking changes since the newest release that were decided on. The next version has to have a number for breaking changes. Of a customer who was erased nothing is left to send (docs/decisions/0101).
DECIDED = {
    "GET /app-api/orders: 200.data[].address: may be null",
    "GET /app-api/orders: 200.data[].customer.name: may be null",
    "GET /app-api/orders: 200.data[].note: may be null",
    "GET /app-api/reviews: 200.data[].authorName: may be null",
    "GET /app-api/reviews: 200.data[].comment: may be null",
    "review.created: body.data.authorName: may be null",
    "review.created: body.data.comment: may be null",
    # A connected store may be without pages that shoppers read (docs/decisions/0139).
    "GET /app-api/business: 200.storefrontUrl: may be null",
    # Such a shop may sell what is no product, and stop tracking a product's stock (contract, section 17).
    "GET /app-api/orders: 200.data[].items[].productId: may be null",
    "product.back_in_stock: body.data.stock: may be null",
    # No hook is asked in the shadow (docs/decisions/0112).
    "GET /developer/apps/{appId}/release: 200.shadow: removed",
    "GET /developer/apps/{appId}/submissions: 200.data[].shadow: removed",
    "POST /developer/apps/{appId}/submit: body.shadow: removed",
    # Their maxima, in forms that are one of two.
    "POST /oauth/revoke: body.token_type_hint: a form no longer accepted",
    "POST /oauth/token: body.code_verifier: a form no longer accepted",
    "POST /oauth/token: body.redirect_uri: a form no longer accepted",
}
# Every text has a maximum (contract, section 15, "Lengths").
FIRST_MAXIMUM = re.compile(r".*: maxLength None is now \d+")

FIRST_PROMISE = (1, 0, 0)

# What holds for people alone.
TEXTS = {"description", "summary", "title", "examples", "example", "servers", "tags"}
# The keys of these objects are names that we gave, not words of OpenAPI.
NAMED = {
    "paths",
    "webhooks",
    "properties",
    "schemas",
    "responses",
    "headers",
    "content",
    "securitySchemes",
    "$defs",
}

# Limits of what we accept. One that isn't there is no limit.
LOWER_IS_NARROWER = ("maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties")
HIGHER_IS_NARROWER = ("minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties")

_CHOICE = re.compile(r"(?<=\(\?:)[^()]*(?=\))")


def main() -> int:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    released = newest(FOLDER)
    before = json.loads((FOLDER / f"{released}.json").read_text())
    found = refused(before, list(breaking(before, current())), version, released)
    if not found:
        return 0
    print(f"These changes break the contract of {released}:")
    print(*(f"  {change}" for change in found), sep="\n")
    print(
        "Make them additions, or decide on them, and give the version in pyproject.toml a new number for breaking changes."
    )
    return 1


def refused(before: Node, found: list[str], version: str, released: str) -> list[str]:
    """Those of the breaking changes that the version may not make. The number of a development version is no promise."""
    if ".dev" not in version and not allowed(version, released):
        return found
    sudden = _removed_without_notice(before, found) if _numbers(released) >= FIRST_PROMISE else set()
    undecided = {each for each in found if each not in DECIDED and not FIRST_MAXIMUM.fullmatch(each)}
    return [each for each in found if each in undecided | sudden]


def _removed_without_notice(before: Node, found: list[str]) -> set[str]:
    marked = {
        f"{method.upper()} {path}: removed"
        for path, methods in before["paths"].items()
        for method, operation in methods.items()
        if operation.get("deprecated")
    }
    gone = {
        f"{method.upper()} {path}: removed" for path, methods in before["paths"].items() for method in methods
    }
    return set(found) & gone - marked


def newest(folder: Path) -> str:
    """The newest release in the folder, such as `v0.1.0`."""
    return max((path.stem for path in folder.glob("v*.json")), key=_numbers)


def allowed(version: str, released: str) -> bool:
    """Whether the version says that it breaks the release's contract."""
    (major, minor, _), (was_major, was_minor, _) = _numbers(version), _numbers(released)
    return major > was_major or (major == was_major == 0 and minor > was_minor)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.removeprefix("v").partition(".dev")[0].split(".")))


def record(name: str) -> None:
    """Keep this tree's contract as that of the release `name`. Django must be set up."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(current(), separators=(",", ":"), sort_keys=True)
    (FOLDER / f"{name}.json").write_text(text + "\n")


def current() -> Node:
    from developers.docs.openapi.document import document

    found: Node = without_texts(document())
    return found


def without_texts(node: Any, *, named: bool = False) -> Any:
    if isinstance(node, list):
        return [without_texts(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_texts(value, named=key in NAMED and not named)
        for key, value in node.items()
        if named or key not in TEXTS
    }


def breaking(old: Node, new: Node) -> Iterator[str]:
    """One line for each breaking change between two documents."""
    yield from Comparison(old, new).documents()


class Place(NamedTuple):
    """Where a schema is used. `sent` is true for what we send, and false for what we accept."""

    name: str
    sent: bool

    def __truediv__(self, part: str) -> "Place":
        return Place(f"{self.name}{part}", self.sent)


class Comparison:
    def __init__(self, old: Node, new: Node) -> None:
        self.old, self.new = old, new
        self.compared: set[tuple[str, str, bool]] = set()

    def documents(self) -> Iterator[str]:
        for kind, sent in (("paths", False), ("webhooks", True)):
            for path, methods in self.old.get(kind, {}).items():
                for method, old in methods.items():
                    name = path if sent else f"{method.upper()} {path}"
                    new = self.new.get(kind, {}).get(path, {}).get(method)
                    if new is None:
                        yield f"{name}: removed"
                    else:
                        yield from self._operation(name, old, new, sent=sent)

    def _operation(self, name: str, old: Node, new: Node, *, sent: bool) -> Iterator[str]:
        """`sent` is true for requests that we make: webhooks and hooks."""
        request, response = Place(name, sent), Place(name, not sent)
        yield from self._scopes(name, old, new)
        yield from self._parameters(request, old.get("parameters", []), new.get("parameters", []))
        yield from self._body(request, old.get("requestBody", {}), new.get("requestBody", {}))
        yield from self._responses(response, old.get("responses", {}), new.get("responses", {}))

    def _scopes(self, name: str, old: Node, new: Node) -> Iterator[str]:
        before, after = (
            {scope for way in found.get("security", []) for scopes in way.values() for scope in scopes}
            for found in (old, new)
        )
        for scope in sorted(after - before):
            yield f"{name}: needs the scope {scope}"

    def _parameters(self, place: Place, old: list[Node], new: list[Node]) -> Iterator[str]:
        before, after = ({(p["in"], p["name"]): p for p in found} for found in (old, new))
        for key, was in before.items():
            at = place / f": {key[0]} {key[1]}"
            if key not in after:
                yield f"{at.name}: removed"
                continue
            now = after[key]
            if now.get("required") and not was.get("required") and not place.sent:
                yield f"{at.name}: now required"
            if was.get("required") and not now.get("required") and place.sent:
                yield f"{at.name}: no longer always there"
            yield from self.schema(at, was.get("schema", {}), now.get("schema", {}))
        for key, now in after.items():
            if key not in before and now.get("required") and not place.sent:
                yield f"{place.name}: {key[0]} {key[1]}: new and required"

    def _body(self, place: Place, old: Node, new: Node) -> Iterator[str]:
        if new.get("required") and not old.get("required") and not place.sent:
            yield f"{place.name}: the body is now required"
        yield from self._content(place / ": body", old.get("content", {}), new.get("content", {}))

    def _content(self, place: Place, old: Node, new: Node) -> Iterator[str]:
        for kind, was in old.items():
            if kind not in new:
                yield f"{place.name}: no {kind} any more"
            else:
                yield from self.schema(place, was.get("schema", {}), new[kind].get("schema", {}))

    def _responses(self, place: Place, old: Node, new: Node) -> Iterator[str]:
        before, after = (
            {status for status in found if status.startswith(("2", "3"))} for found in (old, new)
        )
        for status in sorted(before ^ after):
            yield f"{place.name}: status {status} {'removed' if status in before else 'new'}"
        for status in sorted(old.keys() & new.keys()):
            at = place / f": {status}"
            for header in old[status].get("headers", {}).keys() - new[status].get("headers", {}).keys():
                yield f"{at.name}: header {header} removed"
            yield from self._content(at, old[status].get("content", {}), new[status].get("content", {}))

    def schema(self, place: Place, old: Any, new: Any) -> Iterator[str]:
        if not isinstance(old, dict) or not isinstance(new, dict):
            if new is False and old is not False and not place.sent:
                yield f"{place.name}: no longer accepted"
            return
        refs = old.get("$ref", ""), new.get("$ref", "")
        if any(refs):
            if (*refs, place.sent) in self.compared and all(refs):
                return
            self.compared.add((*refs, place.sent))
            yield from self.schema(place, self._resolved(self.old, old), self._resolved(self.new, new))
            return
        yield from self._types(place, old, new)
        yield from self._values(place, old, new)
        yield from self._variants(place, old, new)
        yield from self._fields(place, old, new)
        if "items" in old:
            yield from self.schema(place / "[]", old["items"], new.get("items", {}))
        if (
            not place.sent
            and new.get("additionalProperties") is False
            and old.get("additionalProperties") is not False
        ):
            yield f"{place.name}: other fields are no longer accepted"

    def _resolved(self, document: Node, schema: Node) -> Node:
        while "$ref" in schema:
            found = document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part.replace("~1", "/")]
            schema = found
        return schema

    def _types(self, place: Place, old: Node, new: Node) -> Iterator[str]:
        before, after = _types_of(old), _types_of(new)
        if "number" in (wide := after if not place.sent else before):
            wide.add("integer")
        if place.sent and before and not after <= before:
            yield f"{place.name}: may be {', '.join(sorted(after - before))}"
        if not place.sent and after and not before <= after:
            yield f"{place.name}: may no longer be {', '.join(sorted(before - after))}"
        if old.get("format") != new.get("format") and not (not place.sent and "format" not in new):
            yield f"{place.name}: format {old.get('format')} is now {new.get('format')}"

    def _values(self, place: Place, old: Node, new: Node) -> Iterator[str]:
        if place.sent:
            return
        before, after = _enum(old), _enum(new)
        if after is not None and before is None:
            yield f"{place.name}: now only {', '.join(sorted(after))}"
        elif after is not None and before is not None and not before <= after:
            yield f"{place.name}: no longer {', '.join(sorted(before - after))}"
        for keyword in (*LOWER_IS_NARROWER, *HIGHER_IS_NARROWER):
            was, now = old.get(keyword), new.get(keyword)
            if now is None or was == now:
                continue
            if was is None or (now < was if keyword in LOWER_IS_NARROWER else now > was):
                yield f"{place.name}: {keyword} {was} is now {now}"
        if new.get("pattern") is not None and not _accepts_all(new["pattern"], old.get("pattern", "")):
            yield f"{place.name}: another pattern"
        if "default" in old and old["default"] != new.get("default"):
            yield f"{place.name}: default {old['default']} is now {new.get('default')}"

    def _variants(self, place: Place, old: Node, new: Node) -> Iterator[str]:
        before, after = ([*schema.get("anyOf", []), *schema.get("oneOf", [])] for schema in (old, new))
        if not before and not after:
            return
        # Alone, a schema is its only variant.
        given, offered = (
            (after or [new], before or [old]) if place.sent else (before or [old], after or [new])
        )
        for variant in given:
            pairs = ((other, variant) if place.sent else (variant, other) for other in offered)
            if not any(self._fits(place, *pair) for pair in pairs):
                yield f"{place.name}: {'another form' if place.sent else 'a form no longer accepted'}"

    def _fits(self, place: Place, old: Any, new: Any) -> bool:
        return not any(Comparison(self.old, self.new).schema(place, old, new))  # its own memory

    def _fields(self, place: Place, old: Node, new: Node) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        needed_before, needed = set(old.get("required", [])), set(new.get("required", []))
        for name, was in before.items():
            at = place / f".{name}"
            if name not in after:
                yield f"{at.name}: removed"
                continue
            if place.sent and name in needed_before - needed:
                yield f"{at.name}: no longer always there"
            if not place.sent and name in needed - needed_before:
                yield f"{at.name}: now required"
            yield from self.schema(at, was, after[name])
        if not place.sent:
            for name in sorted(needed - before.keys()):
                yield f"{place.name}.{name}: new and required"


def _types_of(schema: Node) -> set[str]:
    found = schema.get("type", [])
    return {found} if isinstance(found, str) else set(found)


def _enum(schema: Node) -> set[str] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return None if values is None else {json.dumps(value) for value in values}


def _accepts_all(new: str, old: str) -> bool:
    """Whether the patterns are the same, but for alternatives that the new one has besides: `(?:a|b)` and `(?:a|b|c)`."""
    choices = zip(_CHOICE.findall(new), _CHOICE.findall(old), strict=False)
    return _CHOICE.sub("", new) == _CHOICE.sub("", old) and all(
        {*before.split("|")} <= {*after.split("|")} for after, before in choices
    )


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    sys.exit(main())
