"""An app's reach: what its manifest lets it do in a store, and which changes widen that (contract, section 6, "Reach").

One definition is the unit: it is covered by what was approved, or it widens the reach.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from common.http.url_policy import origin_of
from extensions.enums import EmbedKind, ExtensionType
from extensions.manifest.content import Defined, definitions_in


@dataclass(frozen=True, slots=True)
class Reach:
    """Hook points; the keys of scripts with their URLs; the keys of widgets; the hosts of every URL.

    A host is an origin: another scheme or port is another server.
    """

    hook_points: frozenset[str]
    scripts: frozenset[tuple[str, str]]
    widgets: frozenset[str]
    hosts: frozenset[str]

    def covers(self, defined: Defined) -> bool:
        """Whether a definition stays within this reach.

        Not covered: a new hook point, script or widget, another script URL, another host. Everything else may change:
        a hook's path, timeout and priority, a script's position, texts, settings, and the paths of frames.
        """
        if defined.type == ExtensionType.HOOK:
            return defined.key in self.hook_points
        if _is_script(defined):
            return (defined.key, defined.content["scriptUrl"]) in self.scripts
        if defined.type == ExtensionType.EMBED and defined.key not in self.widgets:
            return False
        return host_of(defined) in self.hosts


def reach_of(all_defined: Iterable[Defined]) -> Reach:
    """The reach of the definitions together."""
    every = list(all_defined)
    embeds = [each for each in every if each.type == ExtensionType.EMBED]
    return Reach(
        hook_points=frozenset(each.key for each in every if each.type == ExtensionType.HOOK),
        scripts=frozenset((each.key, each.content["scriptUrl"]) for each in embeds if _is_script(each)),
        widgets=frozenset(each.key for each in embeds if not _is_script(each)),
        hosts=frozenset(filter(None, map(host_of, every))),
    )


def added_reach(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Defined]:
    """The definitions of a manifest that widen the reach of an earlier one, in the manifest's order."""
    approved = reach_of(definitions_in(before))
    return [each for each in definitions_in(after) if not approved.covers(each)]


def host_of(defined: Defined) -> str:
    """The origin that a browser loads a definition from; empty for a hook."""
    url = defined.content.get("scriptUrl") or defined.content.get("renderUrl")
    return origin_of(url) if url else ""


def _is_script(defined: Defined) -> bool:
    return defined.content.get("kind") == EmbedKind.GLOBAL_SCRIPT
