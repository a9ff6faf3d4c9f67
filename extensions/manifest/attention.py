"""What reviewers are told of a save after the approval (contract section 6, "After approval")."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from common.url_policy import host_of
from extensions.enums import EmbedKind, ExtensionType
from extensions.manifest.content import Defined, definitions_in

_URLS: Final = ("renderUrl", "scriptUrl")


def reasons_for_review(document: Mapping[str, Any], *known: Mapping[str, Any]) -> list[str]:
    """Sentences: a hook, a global script or a host in a URL that none of the known manifests has.

    All manifests are valid ones.
    """
    before = [defined for each in known for defined in definitions_in(each)]
    now = list(definitions_in(document))
    hooks, scripts, hosts = set(_hooks(before)), set(_scripts(before)), set(_hosts(before))
    return [
        *(f"Adds a hook at {point}." for point in _new(_hooks(now), hooks)),
        *(f"Adds the script “{key}” to every page of a store." for key in _new(_scripts(now), scripts)),
        *(f"Loads from a new host: {host}." for host in _new(_hosts(now), hosts)),
    ]


def urls_of(defined: Defined) -> list[str]:
    """The addresses that a browser would load for it."""
    return [defined.content[name] for name in _URLS if name in defined.content]


def _hooks(all_defined: list[Defined]) -> Iterator[str]:
    return (each.key for each in all_defined if each.type == ExtensionType.HOOK)


def _scripts(all_defined: list[Defined]) -> Iterator[str]:
    return (each.key for each in all_defined if each.content.get("kind") == EmbedKind.GLOBAL_SCRIPT)


def _hosts(all_defined: list[Defined]) -> Iterator[str]:
    return (host_of(url) for each in all_defined for url in urls_of(each))


def _new(found: Iterator[str], known: set[str]) -> list[str]:
    return [each for each in dict.fromkeys(found) if each not in known]
