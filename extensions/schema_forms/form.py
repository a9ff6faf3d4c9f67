"""A settings form as a Django form: `{{ form }}` gives all of it, as of every form of the site."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.forms import BoundField

from common.web.forms.edits import CONFLICT, EMPTY, MEANWHILE, digest, read, show_theirs, written
from extensions.json_documents import path_of
from extensions.queries import defaults_of, overlaid
from extensions.schema_forms.controls import MISSING, ListControl
from extensions.schema_forms.parts import Group, Leaf, ListPart, Part, part_of
from extensions.schema_forms.state import (
    ListEntry,
    State,
    change_lists,
    may_grow,
    name_below,
    new_state,
    posted_state,
    reset,
    same,
    state_of,
)
from extensions.schemas import problems_of_values, without_misfits
from extensions.schemas.messages import REQUIRED

SHOWN: Final = ":shown"  # the name of the field with the digests; no property's field has a colon in its name
COMMAND: Final = (
    ":do"  # the name of the buttons that change the form; no property's field has a colon in its name
)
Steps = tuple[str | int, ...]


@dataclass
class Node:
    """A part of the form with the names of its fields; an entry of a list also has its place."""

    part: Part
    name: str
    kept: Any  # what is kept of it, or MISSING
    bound: BoundField | None = None
    nodes: dict[str, "Node"] = field(default_factory=dict)
    entries: list["Node"] = field(default_factory=list)
    was: str = ""
    place: int = 0
    is_last: bool = False
    may_grow: bool = False
    kind: str = "leaf"
    differs: bool = False  # from its default, which a button puts back; not within lists

    @property
    def children(self) -> list["Node"]:
        return list(self.nodes.values())


def settings_form(
    schema: Any,
    *,
    values: Mapping[str, Any],
    timezone: str,
    defaults: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    prefix: str = "",
) -> "SettingsForm":
    """The form of a `settingsSchema`.

    `values` are those that are kept, `defaults` a definition's `defaultConfig`, which replace the schema's own;
    `timezone` is the business's; `data` is what was sent. When a button of a list or **Reset** was pressed, the form has changed and
    is not bound, so it is not valid: show it again. When it is valid, `form.values` is what to keep.
    """
    return SettingsForm(schema, values=values, timezone=timezone, defaults=defaults, data=data, prefix=prefix)


def settings_preview(
    schema: Any, *, defaults: Mapping[str, Any] | None = None, prefix: str = "preview"
) -> "SettingsForm":
    """How the form will look to a merchant who has set nothing, each list with one entry. Nothing can be entered."""
    return SettingsForm(schema, values={}, timezone="UTC", defaults=defaults, prefix=prefix, preview=True)


class SettingsForm(forms.Form):
    template_name = "extensions/settings_form.html"
    use_required_attribute = False

    def __init__(
        self,
        schema: Any,
        *,
        values: Mapping[str, Any],
        timezone: str,
        defaults: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        prefix: str = "",
        preview: bool = False,
    ) -> None:
        self.schema = schema
        self.zone = ZoneInfo(timezone)
        self.kept = dict(values)
        self.preview = preview
        self.values: dict[str, Any] = {}
        self.changed = False  # by a button
        self._lists = 0  # around the part that is laid out
        plain = without_misfits(schema)
        self.defaults = overlaid(defaults_of(plain), dict(defaults or {}))
        self.part = part_of(plain, label="Settings", required=True, default=self.defaults)
        self.root_name = "" if isinstance(self.part, Group) else "settings"
        now = state_of(self.part, overlaid(self.defaults, self.kept), self.zone)
        state = self._state(data, now, f"{prefix}-" if prefix else "")
        super().__init__(data={} if data is not None and not self.changed else None, prefix=prefix or None)
        shown = (data or {}).get(self.shown_name, "")
        self.edits = Edits.of(self._by_property(state), self._by_property(now), shown)
        self._texts: dict[str, Any] = {}
        self.root = self._node(self.part, state, self.root_name, self.kept)
        if self.is_bound:
            self.data = {
                self.add_prefix(name): text for name, text in self._texts.items() if text is not None
            }
        self.initial = self._texts
        for node in self._walk(self.root):
            node.bound = self[node.name] if node.name in self.fields else None

    @property
    def nodes(self) -> list[Node]:
        return self.root.children if isinstance(self.part, Group) else [self.root]

    @property
    def has_commands(self) -> bool:
        """Whether it has buttons that change it, so that Enter needs a button for Save before them."""
        return any(node.kind == "list" or node.differs for node in self._walk(self.root))

    @property
    def command_name(self) -> str:
        return self.add_prefix(COMMAND)

    @property
    def shown_name(self) -> str:
        return self.add_prefix(SHOWN)

    @property
    def list_prefix(self) -> str:
        return self.add_prefix("")

    def show_conflicts(self) -> bool:
        """Whether a property that the merchant changed was changed by somebody else, too. Then the form shows both."""
        stale = [node for node in self.nodes if self.edits.is_stale(node.name)]
        saved_now = overlaid(self.defaults, self.kept)
        for node in stale:
            self.edits.have_seen(node.name)
            key = next((each for each in self.root.nodes if self.root.nodes[each] is node), None)
            words = words_of_setting(saved_now.get(key, MISSING) if key else saved_now)
            if node.name in self.fields:
                show_theirs(self, node.name, words)
            else:
                self.status = CONFLICT
                changed = MEANWHILE.replace("This field", node.part.label, 1)
                self.add_error(None, f"{changed} Saved now: {words or EMPTY}")
        return bool(stale)

    def _by_property(self, state: State) -> dict[str, State]:
        if isinstance(self.part, Group):
            return {name_below(self.root_name, key): each for key, each in state.items()}
        return {self.root_name: state}

    def _state(self, data: Mapping[str, Any] | None, now: State, prefix: str) -> State:
        if data is None:
            return _with_samples(self.part, now, self.zone) if self.preview else now
        own = {name.removeprefix(prefix): data[name] for name in data if name.startswith(prefix)}
        state = posted_state(self.part, own, self.root_name, self.zone)
        if COMMAND in own:
            act, _, name = own[COMMAND].partition(" ")
            if act == "reset":
                self.changed = reset(self.part, state, name, self.zone)
            else:
                self.changed = change_lists(self.part, state, own[COMMAND], self.zone)
        return state

    # Laying the fields out

    def _node(self, part: Part, state: State, name: str, kept: Any) -> Node:
        if isinstance(part, Group):
            return self._group(part, state, name, kept)
        if isinstance(part, ListPart) and isinstance(state, list):
            return self._list(part, state, name, kept)
        leaf = part.as_leaf if isinstance(part, ListPart) else part
        assert isinstance(leaf, Leaf)
        self._add_field(name, leaf.control(zone=self.zone, kept=kept), state)
        return Node(leaf, name, kept)

    def _group(self, part: Group, state: State, name: str, kept: Any) -> Node:
        node = Node(part, name, kept, kind="group")
        values = kept if isinstance(kept, dict) else {}
        for key, each in part.parts.items():
            below = name_below(name, key)
            node.nodes[key] = self._node(each, state[key], below, values.get(key, MISSING))
            node.nodes[key].differs = self._differs(each, state[key])
        return node

    def _differs(self, part: Part, state: State) -> bool:
        """Whether another value than the default is shown. The parts of a group say it for themselves."""
        if self.preview or self._lists or isinstance(part, Group) or part.default is MISSING:
            return False
        return not same(state, state_of(part, part.default, self.zone))

    def _list(self, part: ListPart, state: State, name: str, kept: Any) -> Node:
        grows = not self.preview and may_grow(part, state, self.zone)
        node = Node(part, name, kept, kind="list", may_grow=grows)
        self._add_field(
            name, ListControl(label=part.label, help_text=part.help, required=part.required), None
        )
        self._lists += 1
        for place, entry in enumerate(state):
            item = replace(part.item, label=f"{part.item.label} {place + 1}")
            inner = self._node(item, entry.state, f"{name}.{place}", _entry_kept(kept, entry.was))
            inner.was, inner.place, inner.is_last = entry.was, place, place == len(state) - 1
            node.entries.append(inner)
        self._lists -= 1
        return node

    def _add_field(self, name: str, control: forms.Field, text: Any) -> None:
        control.disabled = self.preview
        self.fields[name] = control
        self._texts[name] = text

    def _walk(self, node: Node) -> Iterator[Node]:
        yield node
        for below in (*node.nodes.values(), *node.entries):
            yield from self._walk(below)

    # Reading the values

    def clean(self) -> dict[str, Any]:
        """The values, checked by the schema; each problem is shown at its field."""
        places: dict[str, Node] = {}
        found = self._value(self.root, (), places)
        if not isinstance(found, dict):
            self._show_problem("", "Must be an object.", places)
        values = found if isinstance(found, dict) else {}
        unknown = {name for name in self.kept if name not in self.root.nodes and self.root.kind == "group"}
        problems = problems_of_values(self.schema, overlaid(self.defaults, values))
        if gone := {problem["field"] for problem in problems} & {path_of("", [name]) for name in unknown}:
            # Kept from an earlier schema, and refused by this one.
            values = {name: value for name, value in values.items() if path_of("", [name]) not in gone}
            problems = problems_of_values(self.schema, overlaid(self.defaults, values))
        for problem in problems:
            self._show_problem(problem["field"], problem["message"], places)
        self.values = values
        return self.cleaned_data

    def _value(self, node: Node, steps: Steps, places: dict[str, Node]) -> Any:
        """The value of a part, `MISSING` where it is left out; notes the path of each part's value."""
        places[path_of("", steps)] = node
        if node.kind == "group":
            return self._group_value(node, steps, places)
        if node.kind == "list":
            return self._list_value(node, steps, places)
        value = self.cleaned_data.get(node.name, MISSING)
        if value is MISSING and node.part.required and node.part.default is not MISSING:
            self._show_problem(path_of("", steps), REQUIRED, places)  # to the schema its default would do
        return value

    def _group_value(self, node: Node, steps: Steps, places: dict[str, Node]) -> Any:
        unknown = {name: value for name, value in _dict(node.kept).items() if name not in node.nodes}
        read = {name: self._value(each, (*steps, name), places) for name, each in node.nodes.items()}
        if not steps:
            read = {name: self._edited(node.nodes[name], name, value) for name, value in read.items()}
        if steps and not node.part.required and not unknown and self._is_blank(node):
            return MISSING
        return unknown | {name: value for name, value in read.items() if value is not MISSING}

    def _edited(self, node: Node, key: str, value: Any) -> Any:
        """What was typed, or what is kept of a property that the merchant left alone.

        One that is required, has no default and was never saved is what the page showed: a checkbox that is off.
        """
        never_said = key not in self.kept and node.part.required and node.part.default is MISSING
        return value if never_said or self.edits.is_changed(node.name) else self.kept.get(key, MISSING)

    def _list_value(self, node: Node, steps: Steps, places: dict[str, Node]) -> Any:
        values: list[Any] = []
        for entry in node.entries:
            if (entry.kind == "leaf" and _is_boolean(entry.part)) or not self._is_blank(entry):
                value = self._value(entry, (*steps, len(values)), places)
                if value is not MISSING:
                    values.append(value)
        may_be_left_out = not node.part.required and node.part.default in (MISSING, [])
        return MISSING if not values and may_be_left_out else values

    def _is_blank(self, node: Node) -> bool:
        """Whether nothing was entered in it. A cleared checkbox counts as blank, unless it is on by default."""
        if node.kind == "list":
            return not node.entries
        if node.kind == "group":
            return all(map(self._is_blank, node.nodes.values()))
        if node.name in self.errors:
            return False
        value = self.cleaned_data.get(node.name, MISSING)
        return value is MISSING or (value is False and node.part.default is not True)

    def _show_problem(self, path: str, message: str, places: dict[str, Node]) -> None:
        """At the field of the path, or of the nearest part above that has one."""
        inside = [place for place in places if path == place or path.startswith((f"{place}.", f"{place}["))]
        place = max(inside, key=len, default="")
        node = places[place]
        rest = path[len(place) :].lstrip(".")
        if node.name not in self.fields:
            words = f"{node.part.label}: {message}" if place else f"{rest}: {message}" if rest else message
            self.add_error(None, words)
        elif node.name not in self.errors:
            self.add_error(node.name, _sentence(message, rest))


def _sentence(message: str, inside: str) -> str:
    """With a subject, which the summary on top of the page replaces by the field's name (`ui.said_of`)."""
    if inside:
        return f"This field has a problem at {inside}: {message}"
    verb = message.partition(" ")[0]
    if verb in ("Must", "Has", "Is"):
        return f"This field {message[0].lower()}{message[1:]}"
    return message


def _with_samples(part: Part, state: State, zone: ZoneInfo) -> State:
    """Empty lists with an entry, so that a preview shows what one looks like."""
    if isinstance(part, Group):
        return {key: _with_samples(each, state[key], zone) for key, each in part.parts.items()}
    if isinstance(part, ListPart) and state == []:
        return [ListEntry(_with_samples(part.item, new_state(part, zone), zone))]
    return state


def _entry_kept(kept: Any, was: str) -> Any:
    """What is kept of an entry that may have moved since."""
    known = isinstance(kept, list) and was.isdecimal() and int(was) < len(kept)
    return kept[int(was)] if known else MISSING


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_boolean(part: Part) -> bool:
    return isinstance(part, Leaf) and part.is_boolean


# What a merchant changed in a settings form: property by property, compared with what its page showed.
#
# A property is one of the schema's own; what is inside of an object or a list changes with it.


@dataclass
class Edits:
    """Digests by the names of the properties' fields: of what the page had shown, what was typed, and what is kept now."""

    shown: dict[str, str]
    typed: dict[str, str]
    now: dict[str, str]

    @classmethod
    def of(cls, typed: Mapping[str, State], now: Mapping[str, State], shown: str) -> "Edits":
        """Without `shown`, what is kept now counts as shown."""
        digests = _digests(now)
        return cls(read(shown) or digests, _digests(typed), digests)

    def is_changed(self, name: str) -> bool:
        """By the person. A property that the page didn't show isn't."""
        return self.shown.get(name, self.typed[name]) != self.typed[name]

    def is_stale(self, name: str) -> bool:
        """Whether it was also changed by somebody else, to something else."""
        return self.is_changed(name) and self.shown[name] != self.now[name] != self.typed[name]

    def have_seen(self, name: str) -> None:
        """The page now says what is kept, so typing something else replaces that."""
        self.shown[name] = self.now[name]

    @property
    def text(self) -> str:
        return written(self.shown)


def _digests(states: Mapping[str, State]) -> dict[str, str]:
    return {name: digest(_plain(state)) for name, state in states.items()}


def _plain(state: State) -> Any:
    if isinstance(state, dict):
        return {name: _plain(each) for name, each in state.items()}
    if isinstance(state, list):
        return [_plain(entry.state) for entry in state]
    return state or ""


def words_of_setting(value: Any) -> str:
    """A kept value as a person reads it; "" for none. Entries of a list are lines."""
    match value:
        case bool():
            return "On" if value else "Off"
        case dict():
            return ", ".join(f"{name}: {words_of_setting(each)}" for name, each in value.items())
        case list():
            return "\n".join(map(words_of_setting, value))
    return "" if value is MISSING or value is None else str(value)
