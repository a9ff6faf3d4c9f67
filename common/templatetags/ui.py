"""Components for pages: `{% load ui %}`. docs/frontend.md describes them, and `/_styleguide/` shows them."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID
from zlib import crc32

from django import template
from django.forms import BaseForm, BoundField, CheckboxInput, RadioSelect
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from common.languages import whole
from common.times import duration, iso, lately, since_day, to_the_day, to_the_minute
from common.web.pagination import PageRequest

register = template.Library()

SPRITE = "vendor/lucide-1.62.0/sprite.svg"
ICONS_OF_PICTURE: Final = {
    "basket": "shopping-cart",
    "bell": "plug user users webhook",
    "envelope": "file-text inbox",
    "key": "link log-in shield-check",
    "parcel": "blocks boxes",
    "shelf": "flask-conical package store",
    "till": "code receipt trending-up",
}
PICTURE_OF_ICON: Final = {icon: name for name, icons in ICONS_OF_PICTURE.items() for icon in icons.split()}
"""The picture of an empty list, by the icon of what would be in it. Others, and what a search didn't find, have the lamp."""
AREAS = ("portal", "merchant", "marketplace", "docs")
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
THEIRS = '<div class="theirs"><p class="small soft">Saved now</p><div class="words" dir="auto">{}</div></div>'
FILTER_FIELD = '<div class="field{}"><label for="{}"{}>{}</label><div class="input">{}</div></div>'
TYPED: Final = {"text", "search", "email"}  # kinds of fields in which people type words
ABOUT = '<details class="about-page"><summary aria-label="About this page">{}</summary><div class="said">{}</div></details>'
KIND_OF_MESSAGE = {"success": "ok", "warning": "warn", "error": "bad"}


@register.simple_tag
@lru_cache(maxsize=512)
def icon(name: str, css: str = "") -> SafeString:
    """An icon of the sprite. Screen readers skip it, so it needs text beside it."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"></use></svg>', css, static(SPRITE), name
    )


@register.simple_tag
@lru_cache(maxsize=512, typed=True)  # so that a safe text isn't taken for one that somebody typed
def pill(kind: str, word: object, icon_name: str = "") -> SafeString:
    """A status with icon and word. Kinds: ok, warn, bad, info, neutral, and test for sandboxes."""
    shown = icon(icon_name or ICON_OF_KIND[kind])
    return format_html('<span class="pill kind-{}">{}{}</span>', kind, shown, word)


@register.simple_tag
@lru_cache(maxsize=64, typed=True)
def sandbox_mark(words: str = "Sandbox") -> SafeString:
    return format_html('<span class="sandbox-mark">{}{}</span>', icon("diamond"), words)


@register.simple_block_tag
def notice(content: str, kind: str = "info", title: str = "") -> SafeString:
    """A highlighted note. `content` is its text, which may have paragraphs and a button."""
    context = {"kind": kind, "title": title, "content": content, "icon_name": NOTICE_ICON[kind]}
    return render_to_string("components/notice.html", context)


@register.filter
def message_kind(tags: str) -> str:
    """The kind of notice for a message of `django.contrib.messages`."""
    return next((kind for tag, kind in KIND_OF_MESSAGE.items() if tag in tags.split()), "info")


@register.filter
def notice_icon(kind: str) -> str:
    return NOTICE_ICON[kind]


@register.inclusion_tag("components/breadcrumb.html")
def breadcrumb(*parts: str) -> dict[str, Any]:
    """`{% breadcrumb "Apps" apps_url app.name app_url %}`: pairs of name and URL, the closest page last."""
    return {"parts": list(zip(parts[::2], parts[1::2], strict=True))}


@register.simple_tag(takes_context=True)
def nav_item(
    context: dict[str, Any], words: str, url: str, icon_name: str, *, exact: bool = True
) -> SafeString:
    """A link of the side navigation. With `exact=False` it is also marked on pages below `url`."""
    return nav_link(words, url, icon_name, mark_of(context["request"].path, url, exact=exact))


def mark_of(path: str, url: str, *, exact: bool) -> str:
    """The `aria-current` of a link to `url` on the page at `path`, "" for none."""
    return "page" if path == url else "true" if not exact and path.startswith(url) else ""


@lru_cache(maxsize=2048, typed=True)
def nav_link(
    words: str, url: str, icon_name: str, mark: str = "", number: str = "", of_what: str = ""
) -> SafeString:
    """With a `number` beside its words, and for screen readers `of_what` it is."""
    return format_html(
        '<li><a href="{}"{}>{}{}{}</a></li>',
        url,
        format_html(' aria-current="{}"', mark) if mark else "",
        icon(icon_name),
        words,
        format_html(
            '<span class="count"><span class="visually-hidden">, </span>{}<span class="visually-hidden"> {}</span></span>',
            number,
            of_what,
        )
        if number
        else "",
    )


@register.simple_block_tag
def nav_group(content: str, name: str) -> str:
    """Navigation items under a heading. Empty without items."""
    if not content.strip():
        return ""
    return render_to_string("components/nav_group.html", {"name": name, "content": content})


@register.inclusion_tag("components/code.html")
def code_block(text: str, label: str = "", *, copy: bool = True, limited: bool = False) -> dict[str, Any]:
    """Monospaced text with a copy button. `limited` scrolls beyond 400 px."""
    return {"text": text, "label": label, "copy": copy, "limited": limited}


@register.inclusion_tag("components/copy_button.html")
def copy_button(target: str, what: str) -> dict[str, Any]:
    """Copies the text of the element with the id `target`. `what` completes the label "Copy the …"."""
    return {"target": target, "what": what}


@register.inclusion_tag("components/secret.html")
def secret_field(
    label: str, value: str, ident: str, help_text: str = "", *, test: bool = False
) -> dict[str, Any]:
    """A credential in a read-only field with a copy button. `ident` is the field's HTML id."""
    return {"label": label, "value": value, "ident": ident, "help_text": help_text, "test": test}


@register.simple_block_tag
def empty_state(content: str, title: str, text: str = "", icon_name: str = "inbox") -> SafeString:
    """Shown in place of an empty list, with a picture. `content` has the button that adds the first entry."""
    picture = PICTURE_OF_ICON.get(icon_name, "lamp")
    context = {"title": title, "text": text, "picture": picture, "content": content}
    return render_to_string("components/empty_state.html", context)


@register.inclusion_tag("components/pagination.html", takes_context=True)
def pagination(
    context: dict[str, Any],
    request_of_page: PageRequest,
    total: int,
    back: str = "",
    onward: str = "",
    ends: Sequence[UUID] = (),
) -> dict[str, Any]:
    """Links to the newer and older page that keep the URL's filters. Empty if everything fits on one page.

    `ends` are the first and the last id of a page, from which the links go on (`after`, `before`), so that nothing before it is read again.
    """
    first, last = request_of_page.offset + 1, request_of_page.offset + request_of_page.limit
    query = context["request"].GET.copy()
    return {
        "first": first,
        "last": min(last, total),
        "total": total,
        "back": back or _("Newer"),
        "onward": onward or _("Older"),
        "newer": _with_page(query, request_of_page.page - 1, after=ends[:1])
        if request_of_page.page > 1
        else "",
        "older": _with_page(query, request_of_page.page + 1, before=ends[-1:]) if last < total else "",
    }


def _with_page(query: Any, page: int, **position: Sequence[UUID]) -> str:
    """The first page needs no position."""
    for name in ("before", "after"):
        query.pop(name, None)
    for name, ids in position.items():
        if ids and page > 1:
            query[name] = str(ids[0])
    query["page"] = str(page)
    return f"?{query.urlencode()}"


@register.simple_tag
def app_icon(name: str, slug: str, url: str | None = "", size: str = "") -> SafeString:
    """An app's icon, or its first letter on a color that depends on the slug. Sizes: small, large."""
    picture = (
        format_html('<img src="{}" alt="" loading="lazy">', url) if url else name.strip()[:1].upper() or "?"
    )
    look = f"app-icon hue-{crc32(slug.encode()) % HUES} {size}".rstrip()
    return format_html('<span class="{}" aria-hidden="true">{}</span>', look, picture)


@register.simple_tag
@lru_cache(maxsize=512)
def avatar(name: str) -> SafeString:
    """A person's initials, in a tint that depends on the name. Screen readers skip it, so it needs the name beside it."""
    words = name.split()
    initials = "".join(each[0] for each in [*words[:1], *words[1:][-1:]]).upper() or "?"
    tint = crc32(name.encode()) % HUES
    return format_html('<span class="avatar hue-{}" aria-hidden="true">{}</span>', tint, initials)


@register.simple_block_tag
def timeline_item(
    content: str,
    kind: str,
    title: str,
    when: datetime | None = None,
    icon_name: str = "",
    *,
    by: str = "",
    at: str = "",
) -> SafeString:
    """An entry of `<ol class="timeline">`, with the initials of whom it is `by`. `at` are other words for the time."""
    context = {
        "kind": kind, "title": title, "when": when, "content": content, "by": by, "at": at,
        "icon_name": icon_name or ICON_OF_KIND[kind],
    }  # fmt: skip
    return render_to_string("components/timeline_item.html", context)


@register.simple_block_tag
def step(
    content: str, number: int, title: str, done: bool = False, when: datetime | None = None
) -> SafeString:
    """An entry of `<ol class="checklist">`: a check mark when `done`, a number until then."""
    context = {"number": number, "title": title, "done": done, "when": when, "content": content}
    return render_to_string("components/step.html", context)


@register.simple_tag
def error_summary(form: BaseForm | None, *, focus: bool = True) -> SafeString:
    """The errors of a form at the top of the page, each with a link to its field. A list may have no form."""
    if not form or not (form.is_bound and form.errors):
        return SafeString()
    return render_to_string("components/error_summary.html", {"form": form, "focus": focus})


@register.filter
def said_of(error: str, field: BoundField) -> str:
    """Replaces Django's "This field" by the field's label, because the summary lists errors without their fields."""
    if not error.startswith("This field "):
        return error
    if field.widget_type in ("checkbox", "switch"):
        return f"Select “{field.label}”."
    if field.widget_type in SEVERAL:
        return f"Choose at least one of “{field.label}”."
    return error.replace("This field", str(field.label), 1)


@register.simple_tag
def help_and_errors(field: BoundField) -> SafeString:
    """What is shown between a label and its field: the help, what is wrong, and what is saved now if somebody else changed that."""
    parts = []
    if field.help_text:
        words = mark_safe(field.help_text)  # noqa: S308  as Django's templates take it: it may have links
        parts.append(format_html('<div class="help" id="{}_helptext">{}</div>', field.auto_id, words))
    if errors := field.errors:
        said = ((icon("circle-alert"), said_of(str(error), field)) for error in errors)
        lines = format_html_join("", '<p class="error">{}<span>{}</span></p>', said)
        parts.append(format_html('<div id="{}_error">{}</div>', field.auto_id, lines))
    if theirs := getattr(field.field, "theirs", ""):
        parts.append(format_html(THEIRS, theirs))
    return SafeString("".join(parts))


@register.simple_block_tag
def filter_bar(
    content: str,
    fields: Iterable[BoundField],
    label: str,
    *,
    search: BoundField | None = None,
    clear: str = "",
    more: bool = False,
) -> SafeString:
    """The filters of a list, which apply as soon as one changes. `content` has those of which there is more to say (`more`: one of
    them has a value). `clear` is the list without any.
    """
    shown = [*([search] if search else []), *fields]
    count = sum(bool(each.value()) for each in shown) + more
    context = {"content": content, "fields": shown, "label": label, "clear": clear, "count": count}
    return render_to_string("components/filter_bar.html", context)


@register.simple_tag
def filter_field(field: BoundField) -> SafeString:
    """A field of a `filter_bar`. Where people type, the label is inside. Errors are in the summary above the list."""
    if field.widget_type in TYPED:
        widget = field.as_widget(attrs={"placeholder": str(field.label)})
        look, hidden = " grow", mark_safe(' class="visually-hidden"')
    else:
        widget, look, hidden = field.as_widget(), "", SafeString("")
    return format_html(FILTER_FIELD, look, field.id_for_label, hidden, field.label, widget)


@register.simple_block_tag
def about(content: str) -> SafeString:
    """What a page is about, behind a sign beside its name."""
    return format_html(ABOUT, icon("info"), content)


@register.filter
def optional(field: BoundField) -> bool:
    """Whether the label marks a field as optional. Checkboxes and radio buttons never are, since none must be pressed, nor
    fields of which one is needed (`one_of`), nor those that people are expected to fill in (`expected`).
    """
    is_needed = field.field.required or any(
        getattr(field.field, mark, False) for mark in ("one_of", "expected")
    )
    return not is_needed and not isinstance(field.field.widget, CheckboxInput | RadioSelect)


@register.filter
def input_id(field: BoundField) -> str:
    """The id for links to the field. For a group of choices it is that of the first one."""
    return f"{field.auto_id}_0" if field.use_fieldset else str(field.id_for_label or field.auto_id)


@register.filter
def moment(value: datetime | None, otherwise: str = "—") -> str:
    """`<time datetime="…">20 Nov 2026, 15:31:08 UTC</time>`, or `otherwise` for None."""
    if value is None:
        return otherwise
    local = timezone.localtime(value)
    words = f"{local.day} {local:%b %Y, %H:%M:%S} {local.tzname()}"  # English: Django takes ten times as long
    return time_element(value, words)


def time_element(value: datetime, words: str) -> SafeString:
    """`words` are those of a time: figures and names of months and zones."""
    return mark_safe(f'<time datetime="{iso(value)}">{words}</time>')  # noqa: S308  all of it is ours


@register.filter
def clock(value: datetime) -> str:
    """`15:31:08`."""
    return f"{timezone.localtime(value):%H:%M:%S}"


@register.filter
def row_moment(value: datetime) -> str:
    """`<time datetime="…">15:31:08</time>`, for the rows of lists that name the day and the zone above."""
    return time_element(value, clock(value))


@register.filter
def minute(value: datetime) -> str:
    """`<time datetime="…">20 Nov 2026, 15:31 UTC</time>`, for sentences."""
    return time_element(value, to_the_minute(value))


@register.filter(name="since_day")
def since_day_filter(value: datetime) -> str:
    """`<time datetime="…">3 November</time>`."""
    return time_element(value, since_day(value))


@register.filter(name="lately")
def lately_filter(value: datetime | None) -> str:
    """`14:02` of today, `24 Nov` of earlier days, and empty for None."""
    return lately(value) if value else ""


@register.filter
def day(value: datetime) -> str:
    """`20 Nov 2026`."""
    return to_the_day(value)


@register.filter(name="duration")
def duration_filter(seconds: float) -> str:
    """`48 hours` for 172800."""
    return duration(timedelta(seconds=seconds))


@register.filter
def thousands(number: int) -> str:
    """`1,204`."""
    return whole(number)


@register.filter
def percent(rate: float) -> str:
    """`99.2%`. Only exactly 1 is 100%, and only exactly 0 is 0%."""
    shown = min(max(round(100 * rate, 1), 0.1), 99.9) if 0 < rate < 1 else 100 * rate
    return f"{shown:.1f}%" if 0 < rate < 1 else f"{shown:.0f}%"


@register.filter
def kilobytes(size: int) -> str:
    """Bytes as `35 kB`, `1.2 MB`; less than 1 kB is `under 1 kB`."""
    if size < 1000:
        return "under 1 kB"
    return f"{size / 1000:,.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:,.1f} MB"


@register.filter
def area(path: str) -> str:
    """The part of the site that the bar at the top names: `portal`, `merchant`, `marketplace`, `docs`, or empty for others."""
    first = path[1:].partition("/")[0]
    return first if first in AREAS else ""


@register.filter
def host(url: str) -> str:
    """The host of a URL, for people: `api.example.com`."""
    return urlsplit(url).netloc or url
