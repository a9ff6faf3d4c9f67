"""The components of pages: `{% load ui %}`. docs/frontend.md shows each one, `/_styleguide/` what it looks like."""

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from django import template
from django.forms import BaseForm, BoundField
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.pages import PageRequest
from common.times import iso

register = template.Library()

SPRITE = "vendor/lucide-1.62.0/sprite.svg"
HUES = 8  # .hue-0 … in data.css; none near violet, which means "sandbox"
ICON_OF_KIND = {
    "ok": "check",
    "warn": "clock",
    "bad": "x",
    "info": "info",
    "neutral": "circle",
    "test": "diamond",
}
NOTICE_ICON = ICON_OF_KIND | {"ok": "circle-check", "warn": "triangle-alert", "bad": "circle-alert"}
SEVERAL = ("checkboxlines", "checkboxselectmultiple", "selectmultiple")
KIND_OF_MESSAGE = {"success": "ok", "warning": "warn", "error": "bad"}


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """An icon of the sprite; decoration, so the words beside it must say the same."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"></use></svg>', css, static(SPRITE), name
    )


@register.inclusion_tag("components/pill.html")
def pill(kind: str, word: object, icon_name: str = "") -> dict[str, Any]:
    """A status: icon and word. Kinds: ok, warn, bad, info, neutral; test for the sandbox alone."""
    return {"kind": kind, "word": word, "icon_name": icon_name or ICON_OF_KIND[kind]}


@register.inclusion_tag("components/sandbox_mark.html")
def sandbox_mark(words: str = "Sandbox") -> dict[str, Any]:
    return {"words": words}


@register.simple_block_tag
def notice(content: str, kind: str = "info", title: str = "") -> SafeString:
    """Something to know before going on; `content` is the text, which may hold paragraphs and a button."""
    context = {"kind": kind, "title": title, "content": content, "icon_name": NOTICE_ICON[kind]}
    return render_to_string("components/notice.html", context)


@register.filter
def message_kind(tags: str) -> str:
    """The kind of notice that a message of `django.contrib.messages` becomes."""
    return next((kind for tag, kind in KIND_OF_MESSAGE.items() if tag in tags.split()), "info")


@register.filter
def notice_icon(kind: str) -> str:
    return NOTICE_ICON[kind]


@register.inclusion_tag("components/breadcrumb.html")
def breadcrumb(*parts: str) -> dict[str, Any]:
    """`{% breadcrumb "Apps" apps_url app.name app_url %}`: names and addresses in turn, the nearest last."""
    return {"parts": list(zip(parts[::2], parts[1::2], strict=True))}


@register.inclusion_tag("components/nav_item.html", takes_context=True)
def nav_item(
    context: dict[str, Any], words: str, url: str, icon_name: str, *, exact: bool = True
) -> dict[str, Any]:
    """A line of the side navigation; `exact=False` keeps it marked on the pages beneath `url` too."""
    path = context["request"].path
    inside = path == url or (not exact and path.startswith(url))
    return {"words": words, "url": url, "icon_name": icon_name, "current": inside, "here": path == url}


@register.simple_block_tag
def nav_group(content: str, name: str) -> str:
    """Navigation items under a heading; nothing at all when there are none."""
    if not content.strip():
        return ""
    return render_to_string("components/nav_group.html", {"name": name, "content": content})


@register.inclusion_tag("components/code.html")
def code_block(text: str, label: str = "", *, copy: bool = True, limited: bool = False) -> dict[str, Any]:
    """Text in the mono font with a copy button; `limited` scrolls after 400 px."""
    return {"text": text, "label": label, "copy": copy, "limited": limited}


@register.inclusion_tag("components/copy_button.html")
def copy_button(target: str, what: str) -> dict[str, Any]:
    """Copies the element with the id `target`; `what` ends the sentence "Copy the …"."""
    return {"target": target, "what": what}


@register.inclusion_tag("components/secret.html")
def secret_field(
    label: str, value: str, ident: str, help_text: str = "", *, test: bool = False
) -> dict[str, Any]:
    """A credential in a read-only field with a copy button; `ident` is its id on the page."""
    return {"label": label, "value": value, "ident": ident, "help_text": help_text, "test": test}


@register.simple_block_tag
def empty_state(content: str, title: str, text: str = "", icon_name: str = "inbox") -> SafeString:
    """Instead of an empty list; `content` holds the button that ends the emptiness."""
    context = {"title": title, "text": text, "icon_name": icon_name, "content": content}
    return render_to_string("components/empty_state.html", context)


@register.inclusion_tag("components/pagination.html", takes_context=True)
def pagination(
    context: dict[str, Any],
    request_of_page: PageRequest,
    total: int,
    back: str = "Newer",
    onward: str = "Older",
) -> dict[str, Any]:
    """Two links that keep the filters of the address; nothing when all fits on one page."""
    first, last = request_of_page.offset + 1, request_of_page.offset + request_of_page.limit
    query = context["request"].GET.copy()
    return {
        "first": first,
        "last": min(last, total),
        "total": total,
        "back": back,
        "onward": onward,
        "newer": _with_page(query, request_of_page.page - 1) if request_of_page.page > 1 else "",
        "older": _with_page(query, request_of_page.page + 1) if last < total else "",
    }


def _with_page(query: Any, page: int) -> str:
    query["page"] = str(page)
    return f"?{query.urlencode()}"


@register.inclusion_tag("components/app_icon.html")
def app_icon(name: str, slug: str, url: str = "", size: str = "") -> dict[str, Any]:
    """An app's picture, or its first letter on a colour that its slug chooses. Sizes: small, large."""
    return {
        "letter": name.strip()[:1].upper() or "?",
        "hue": crc32(slug.encode()) % HUES,
        "url": url,
        "size": size,
    }


@register.simple_block_tag
def timeline_item(
    content: str, kind: str, title: str, when: datetime | None = None, icon_name: str = ""
) -> SafeString:
    """An entry of `<ol class="timeline">`."""
    context = {
        "kind": kind, "title": title, "when": when, "content": content,
        "icon_name": icon_name or ICON_OF_KIND[kind],
    }  # fmt: skip
    return render_to_string("components/timeline_item.html", context)


@register.simple_block_tag
def step(
    content: str, number: int, title: str, done: bool = False, when: datetime | None = None
) -> SafeString:
    """An entry of `<ol class="checklist">`: ticked when `done`, numbered until then."""
    context = {"number": number, "title": title, "done": done, "when": when, "content": content}
    return render_to_string("components/step.html", context)


@register.simple_block_tag(takes_context=True)
def confirm_form(context: dict[str, Any], content: str, action: str, button: str, cancel: str) -> SafeString:
    """The form of a page that asks before something can't be undone.

    `content` says what will happen (and holds a field, if there is one), `button` repeats the verb and names
    the object ("Delete endpoint"), `cancel` is where Cancel leads.
    """
    inner = {"content": content, "action": action, "button": button, "cancel": cancel}
    return render_to_string("components/confirm_form.html", inner, request=context["request"])


@register.inclusion_tag("components/error_summary.html")
def error_summary(form: BaseForm, *, focus: bool = True) -> dict[str, Any]:
    """What is wrong with a form, on top of the page, each line a link to its field."""
    return {"form": form, "focus": focus}


@register.filter
def said_of(error: str, field: BoundField) -> str:
    """Name the field where Django says "This field", since a line of the summary stands alone."""
    if not error.startswith("This field "):
        return error
    if field.widget_type in ("checkbox", "switch"):
        return f"Tick “{field.label}”."
    if field.widget_type in SEVERAL:
        return f"Choose at least one of “{field.label}”."
    return error.replace("This field", str(field.label), 1)


@register.filter
def optional(field: BoundField) -> bool:
    """Whether a field may stay empty, which its label says. A single box to tick always may."""
    return not field.field.required and field.widget_type not in ("checkbox", "switch")


@register.filter
def input_id(field: BoundField) -> str:
    """Where a link to the field should lead: for a group of choices, the first of them."""
    return f"{field.auto_id}_0" if field.use_fieldset else str(field.id_for_label or field.auto_id)


@register.filter
def moment(value: datetime | None, otherwise: str = "—") -> str:
    """`<time datetime="…">20 Nov 2026, 15:31:08 UTC</time>`; `otherwise` when there is no moment."""
    if value is None:
        return otherwise
    local = timezone.localtime(value)
    words = f"{date_format(local, 'j M Y, H:i:s')} {local.tzname()}"
    return format_html('<time datetime="{}">{}</time>', iso(value), words)


@register.filter
def minute(value: datetime) -> str:
    """`<time datetime="…">20 Nov 2026, 15:31 UTC</time>`: for sentences, where seconds say nothing."""
    local = timezone.localtime(value)
    words = f"{date_format(local, 'j M Y, H:i')} {local.tzname()}"
    return format_html('<time datetime="{}">{}</time>', iso(value), words)


@register.filter
def thousands(number: int) -> str:
    """`1,204`."""
    return f"{number:,}"


@register.filter
def host(url: str) -> str:
    """The host of an address, for people: `api.example.com`."""
    return urlsplit(url).netloc or url
