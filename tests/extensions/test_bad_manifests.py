"""Each bad manifest is refused, with the path of what is wrong (contract sections 6 and 9, "Manifest")."""

import json
from typing import Any

import pytest

from extensions.manifest import find_problems, problems_of_manifest
from tests.extensions.manifests import (
    SCHEMA,
    Document,
    admin_page,
    block,
    full,
    hook,
    script,
    widget,
    without,
)

HOOK_POINTS = [
    "checkout.payment_methods",
    "checkout.create_payment",
    "checkout.shipping_rates",
    "order.validate",
    "order.calculate_discounts",
]


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = {"a": value}
    return value


def of(*blocks: Any) -> Document:
    return {"blocks": list(blocks)}


def many(make: Any, key: str, number: int) -> list[Document]:
    return [make(**{key: f"number-{index}"}) for index in range(number)]


# What is wrong, the manifest, the path of the one problem, a part of its words.
BAD: list[tuple[str, Any, str, str]] = [
    # The document
    ("an array", [], "", "JSON object"),
    ("a text", "{}", "", "JSON object"),
    ("null", None, "", "JSON object"),
    ("unknown top-level key", {"extensions": []}, "extensions", "Unknown key"),
    ("misspelt top-level key", {"block": []}, "block", 'Did you mean "blocks"?'),
    (
        "misspelt key beside the right one",
        {"settingsSchema": {}, "settingSchema": {}},
        "settingSchema",
        'Did you mean "settingsSchema"? It is here too',
    ),
    ("another case", {"AdminPages": []}, "AdminPages", 'Did you mean "adminPages"?'),
    ("the answer of GET sent back", {"manifest": {}}, "manifest", "without"),
    ("a key that is no name", {"my key": 1}, '["my key"]', "Unknown key"),
    ("over 256 KiB", of(block(description="x" * 262_144)), "", "262,144"),
    ("nested without end", {"settingsSchema": deep(200)}, "settingsSchema.a.a.a", "nested"),
    ("NUL in a value", of(block(name="a\x00b")), "blocks[0].name", "NUL"),
    ("NUL in a key", of({"a\x00b": 1}), "blocks[0]", "NUL"),
    # The lists
    ("a list that is an object", {"blocks": {}}, "blocks", "array"),
    ("a list that is null", {"hooks": None}, "hooks", "array"),
    ("an item that is text", of("stars"), "blocks[0]", "object"),
    ("an item that is null", {"adminPages": [admin_page(), None]}, "adminPages[1]", "object"),
    ("51 blocks", {"blocks": many(block, "blockType", 51)}, "blocks", "At most 50"),
    ("51 embeds", {"embeds": many(script, "embedType", 51)}, "embeds", "At most 50"),
    ("51 admin pages", {"adminPages": many(admin_page, "pageId", 51)}, "adminPages", "At most 50"),
    ("a blockType twice", of(block(), block()), "blocks[1].blockType", "blocks[0]"),
    ("an embedType twice", {"embeds": [script(), widget(embedType="counter")]}, "embeds[1].embedType", "already"),
    ("a hook point twice", {"hooks": [hook(), hook(url="other")]}, "hooks[1].hookPoint", "already"),
    ("a pageId twice", {"adminPages": [admin_page(), admin_page()]}, "adminPages[1].pageId", "already"),
    # Global settings
    ("a schema that is an array", {"settingsSchema": []}, "settingsSchema", "object"),
    ("a schema that is null", {"settingsSchema": None}, "settingsSchema", "object"),
    ("a schema of another type", {"settingsSchema": {"type": "string"}}, "settingsSchema.type", ""),
    (
        "a schema with an unknown type",
        {"settingsSchema": {"properties": {"a": {"type": "text"}}}},
        "settingsSchema.properties.a.type",
        "",
    ),
    (
        "a remote reference",
        {"settingsSchema": {"properties": {"a": {"$ref": "https://example.com/schema"}}}},
        "settingsSchema.properties.a.$ref",
        "",
    ),
    # Blocks
    ("a block without a key", of(without(block(), "blockType")), "blocks[0].blockType", "required"),
    ("a block without a name", of(without(block(), "name")), "blocks[0].name", "required"),
    ("a block without a URL", of(without(block(), "renderUrl")), "blocks[0].renderUrl", "required"),
    ("an empty key", of(block(blockType="")), "blocks[0].blockType", "empty"),
    ("a key of spaces", of(block(blockType="  ")), "blocks[0].blockType", "empty"),
    ("a key between spaces", of(block(blockType=" stars")), "blocks[0].blockType", "white space"),
    ("a key that is a number", of(block(blockType=7)), "blocks[0].blockType", "string"),
    ("a key that is too long", of(block(blockType="x" * 101)), "blocks[0].blockType", "100"),
    ("a name that is null", of(block(name=None)), "blocks[0].name", "string"),
    ("a name over two lines", of(block(name="a\nb")), "blocks[0].name", "control"),
    ("a long description", of(block(description="x" * 501)), "blocks[0].description", "500"),
    ("an icon that is a list", of(block(iconName=["star"])), "blocks[0].iconName", "string"),
    ("a category that is a number", of(block(category=1)), "blocks[0].category", "string"),
    ("a key of another kind", of(block(position="head")), "blocks[0].position", "Unknown key"),
    (
        "a misspelt optional key",
        of(block(icon_name="star")),
        "blocks[0].icon_name",
        'Did you mean "iconName"?',
    ),
    (
        "a schema in a block",
        of(block(settingsSchema={"properties": {"a": {"minimum": "x"}}})),
        "blocks[0].settingsSchema.properties.a.minimum",
        "",
    ),
    ("a schema that is true", of(block(settingsSchema=True)), "blocks[0].settingsSchema", "object"),
    ("a defaultConfig that is text", of(block(defaultConfig="{}")), "blocks[0].defaultConfig", "object"),
    (
        "a default that does not fit",
        of(block(settingsSchema=SCHEMA, defaultConfig={"limit": 11})),
        "blocks[0].defaultConfig.limit",
        "10",
    ),
    (
        "a default of another type",
        of(block(), block(blockType="b", settingsSchema=SCHEMA, defaultConfig={"title": 1})),
        "blocks[1].defaultConfig.title",
        "",
    ),
    # URLs
    ("plain HTTP", of(block(renderUrl="http://stars.example.com/")), "blocks[0].renderUrl", "https://"),
    ("another scheme", of(block(renderUrl="javascript:alert(1)")), "blocks[0].renderUrl", "https://"),
    ("a relative URL", of(block(renderUrl="/block")), "blocks[0].renderUrl", "https://"),
    ("no scheme", of(block(renderUrl="//stars.example.com/")), "blocks[0].renderUrl", "https://"),
    ("an empty URL", of(block(renderUrl="")), "blocks[0].renderUrl", "Enter a URL"),
    ("a URL that is a number", of(block(renderUrl=1)), "blocks[0].renderUrl", "string"),
    ("a user name", of(block(renderUrl="https://a:b@stars.example.com/")), "blocks[0].renderUrl", "user name"),
    ("a space", of(block(renderUrl="https://stars.example.com/a b")), "blocks[0].renderUrl", "spaces"),
    ("a line break", of(block(renderUrl="https://stars.example.com/\n")), "blocks[0].renderUrl", "control"),
    ("no host", of(block(renderUrl="https:///block")), "blocks[0].renderUrl", "host"),
    ("letters beyond ASCII", of(block(renderUrl="https://例え.jp/w")), "blocks[0].renderUrl", "xn--"),
    ("its own host, disguised", of(block(renderUrl="https://pl🄰tform.example/")), "blocks[0].renderUrl", "xn--"),
    ("a zone in an address", of(block(renderUrl="https://[fe80::1%25;sandbox]/")), "blocks[0].renderUrl", "host"),
    ("a dot behind the host", of(block(renderUrl="https://stars.example.com./w")), "blocks[0].renderUrl", "dot"),
    ("a bad port", of(block(renderUrl="https://stars.example.com:99999/")), "blocks[0].renderUrl", "port"),
    ("a long URL", of(block(renderUrl="https://a.example/" + "x" * 2048)), "blocks[0].renderUrl", "2048"),
    (
        "the service's own origin",
        of(block(renderUrl="https://platform.example/admin/")),
        "blocks[0].renderUrl",
        "own origin",
    ),
    (
        "its own origin in other letters",
        of(block(renderUrl="https://PLATFORM.example.:443/")),
        "blocks[0].renderUrl",
        "own origin",
    ),
    (
        "another name of the service",
        {"embeds": [script(scriptUrl="https://www.platform.example/a.js")]},
        "embeds[0].scriptUrl",
        "own origin",
    ),
    (
        "an admin page on its own origin",
        {"adminPages": [admin_page(renderUrl="https://platform.example/x")]},
        "adminPages[0].renderUrl",
        "own origin",
    ),
    # Embeds
    ("an embed without a key", {"embeds": [without(widget(), "embedType")]}, "embeds[0].embedType", "required"),
    ("an embed without a name", {"embeds": [without(widget(), "name")]}, "embeds[0].name", "required"),
    ("an embed without a kind", {"embeds": [without(widget(), "kind")]}, "embeds[0].kind", "required"),
    ("an embed without a place", {"embeds": [without(widget(), "position")]}, "embeds[0].position", "required"),
    (
        "an unknown kind",
        {"embeds": [script(kind="GLOBAL_SCRIPTS")]},
        "embeds[0].kind",
        'Did you mean "GLOBAL_SCRIPT"?',
    ),
    ("a kind that is a list", {"embeds": [script(kind=[])]}, "embeds[0].kind", "string"),
    ("a script at the corner", {"embeds": [script(position="bottom_left")]}, "embeds[0].position", "head"),
    ("a widget in the head", {"embeds": [widget(position="head")]}, "embeds[0].position", "bottom_right"),
    (
        "a misspelt position",
        {"embeds": [script(position="body-end")]},
        "embeds[0].position",
        'Did you mean "body_end"?',
    ),
    ("a script without its URL", {"embeds": [without(script(), "scriptUrl")]}, "embeds[0].scriptUrl", "required"),
    (
        "a script with the other URL",
        {"embeds": [without(script(), "scriptUrl") | {"renderUrl": "https://a.example/"}]},
        "embeds[0].scriptUrl",
        "required",
    ),
    ("an unknown hash", {"embeds": [script(integrity="md5-AAAA")]}, "embeds[0].integrity", "sha384"),
    ("a hash in hex", {"embeds": [script(integrity="sha256-" + "g!" * 32)]}, "embeds[0].integrity", "base64"),
    ("a short hash", {"embeds": [script(integrity="sha256-AAAA")]}, "embeds[0].integrity", "32 bytes, not 3"),
    ("a widget whose other URL is no text", {"embeds": [widget(scriptUrl={})]}, "embeds[0].scriptUrl", "text"),
    ("a widget without its URL", {"embeds": [without(widget(), "renderUrl")]}, "embeds[0].renderUrl", "required"),
    ("an embed with an icon", {"embeds": [widget(iconName="star")]}, "embeds[0].iconName", "The keys here are"),
    (
        "an embed's default that does not fit",
        {"embeds": [widget(settingsSchema=SCHEMA, defaultConfig={"limit": "many"})]},
        "embeds[0].defaultConfig.limit",
        "",
    ),
    # Hooks
    ("a hook without a point", {"hooks": [without(hook(), "hookPoint")]}, "hooks[0].hookPoint", "required"),
    ("a hook without a path", {"hooks": [without(hook(), "url")]}, "hooks[0].url", "required"),
    (
        "an unsupported hook point",
        {"hooks": [hook(hookPoint="checkout.shipping_rate")]},
        "hooks[0].hookPoint",
        'Did you mean "checkout.shipping_rates"?',
    ),
    ("a made-up hook point", {"hooks": [hook(hookPoint="x")]}, "hooks[0].hookPoint", "order.validate"),
    ("a hook point in capitals", {"hooks": [hook(hookPoint="ORDER.VALIDATE")]}, "hooks[0].hookPoint", "mean"),
    ("a hook point that is null", {"hooks": [hook(hookPoint=None)]}, "hooks[0].hookPoint", "string"),
    ("a full URL", {"hooks": [hook(url="https://stars.example.com/x")]}, "hooks[0].url", "only the path"),
    ("a path to another host", {"hooks": [hook(url="//evil.example/x")]}, "hooks[0].url", "only the path"),
    ("a path upwards", {"hooks": [hook(url="/hooks/../admin")]}, "hooks[0].url", "two dots"),
    ("a path with a query", {"hooks": [hook(url="/hooks?a=1")]}, "hooks[0].url", "letters"),
    ("a path with an escape", {"hooks": [hook(url="/%2e%2e/")]}, "hooks[0].url", "letters"),
    ("an empty path", {"hooks": [hook(url="")]}, "hooks[0].url", "letters"),
    ("a path that is a list", {"hooks": [hook(url=["a"])]}, "hooks[0].url", "string"),
    ("a timeout too short", {"hooks": [hook(timeout=99)]}, "hooks[0].timeout", "100 to 10000"),
    ("a timeout too long", {"hooks": [hook(timeout=10_001)]}, "hooks[0].timeout", "100 to 10000"),
    ("a timeout in text", {"hooks": [hook(timeout="5000")]}, "hooks[0].timeout", "whole number"),
    ("a timeout that is true", {"hooks": [hook(timeout=True)]}, "hooks[0].timeout", "whole number"),
    ("a timeout with a fraction", {"hooks": [hook(timeout=500.5)]}, "hooks[0].timeout", "whole number"),
    ("a priority below zero", {"hooks": [hook(priority=-1)]}, "hooks[0].priority", "0 to 1000"),
    ("a priority too high", {"hooks": [hook(priority=1001)]}, "hooks[0].priority", "0 to 1000"),
    ("a priority that is null", {"hooks": [hook(priority=None)]}, "hooks[0].priority", "whole number"),
    ("settings of a hook", {"hooks": [hook(settingsSchema={})]}, "hooks[0].settingsSchema", "Unknown key"),
    # Admin pages
    ("a page without an id", {"adminPages": [without(admin_page(), "pageId")]}, "adminPages[0].pageId", "required"),
    ("a page without a title", {"adminPages": [without(admin_page(), "title")]}, "adminPages[0].title", "required"),
    ("a page without a URL", {"adminPages": [without(admin_page(), "renderUrl")]}, "adminPages[0].renderUrl", "req"),
    ("a page with a name", {"adminPages": [admin_page(name="Stars")]}, "adminPages[0].name", "Unknown key"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_production(settings: Any) -> None:
    settings.DEBUG = False
    settings.BASE_URL = "https://platform.example"
    settings.ALLOWED_HOSTS = ["platform.example", "www.platform.example"]


@pytest.mark.spec("Contract 6 Manifest", "Every error has its path")
@pytest.mark.parametrize(
    ("manifest", "path", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_bad_manifest_is_refused_at_its_path(manifest: Any, path: str, words: str) -> None:
    problems = problems_of_manifest(manifest)
    assert [problem["field"] for problem in problems] == [path]
    assert words in problems[0]["message"]
    assert len(problems[0]["message"]) < 400


def test_there_are_enough_bad_manifests() -> None:
    assert len(BAD) >= 60
    assert len({name for name, *_ in BAD}) == len(BAD)


@pytest.mark.spec("Contract 6 Manifest", "Every error is reported at once")
def test_every_problem_is_told_at_once() -> None:
    manifest = {
        "block": [],
        "blocks": [block(renderUrl="http://a.example/"), without(block(name=""), "blockType")],
        "embeds": [widget(position="head", colour="red")],
        "hooks": [hook(hookPoint="order.validated", timeout=1, priority=-1)],
    }
    assert [problem["field"] for problem in problems_of_manifest(manifest)] == [
        "block",
        "blocks[0].renderUrl",
        "blocks[1].blockType",
        "blocks[1].name",
        "embeds[0].colour",
        "embeds[0].position",
        "hooks[0].hookPoint",
        "hooks[0].timeout",
        "hooks[0].priority",
    ]


def test_suggestions_say_what_to_write_instead() -> None:
    misspelt_value, misspelt_key = find_problems(
        {"hooks": [hook(hookPoint="order.validat")], "adminPages": [admin_page(iconname="star")]}
    )
    (beside_the_right_key,) = find_problems({"settingsSchema": {}, "settingSchema": {}})
    assert beside_the_right_key.suggestion is None, "that key would be there twice"
    assert (misspelt_value.suggestion, misspelt_value.of_key) == ("order.validate", False)
    assert (misspelt_key.suggestion, misspelt_key.of_key) == ("iconName", True)


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        full(),
        {"blocks": [], "embeds": [], "hooks": [], "adminPages": []},
        {"settingsSchema": {}},
        {"settingsSchema": {"properties": {"a": {"type": "string"}}}},
        of(block(description="", iconName="", category="", settingsSchema={}, defaultConfig={})),
        of(block(iconName="no-such-icon")),
        of(block(description="over\ntwo lines", category="Społeczność")),
        of(block(renderUrl="https://stars.example.com:8443/a?b=c#/route")),
        of(block(renderUrl="https://xn--mnchen-3ya.example/käse")),
        of(block(renderUrl="https://platform.example:8443/")),
        of(block(settingsSchema=SCHEMA, defaultConfig={"limit": 10})),
        of(*many(block, "blockType", 50)),
        of(block(blockType="a"), block(blockType="A")),
        {"blocks": [block()], "embeds": [script(embedType="stars")], "adminPages": [admin_page(pageId="stars")]},
        {"embeds": [script(renderUrl="https://a.example/")]},
        {"embeds": [widget(scriptUrl="not used")]},
        {"embeds": [script(position="body_end"), widget(position="bottom_left")]},
        {"hooks": [hook(hookPoint=point) for point in HOOK_POINTS]},
        {"hooks": [hook(url="hooks/discounts", timeout=100, priority=0)]},
        {"hooks": [hook(url="/a/b.c_d~e-f/", timeout=10_000, priority=1000)]},
        {"hooks": [hook(timeout=5000.0)]},
    ],
)  # fmt: skip
def test_good_manifest_has_no_problems(manifest: Document) -> None:
    assert problems_of_manifest(manifest) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_over_plain_http_needs_debug(settings: Any, host: str) -> None:
    manifest = of(block(renderUrl=f"http://{host}:8001/block"))
    assert [problem["field"] for problem in problems_of_manifest(manifest)] == ["blocks[0].renderUrl"]
    settings.DEBUG = True
    assert problems_of_manifest(manifest) == []


def test_own_origin_is_refused_by_each_of_its_names(settings: Any) -> None:
    settings.DEBUG, settings.BASE_URL = True, "http://127.0.0.1:8000"
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
    for host in ("127.0.0.1", "localhost"):
        (problem,) = problems_of_manifest(of(block(renderUrl=f"http://{host}:8000/portal/")))
        assert "own origin" in problem["message"]


@pytest.mark.parametrize("host", ["stores.example", "bakery.stores.example", "BAKERY.Stores.Example:443"])
def test_origins_of_stores_are_refused(settings: Any, host: str) -> None:
    settings.STORES_URL = "https://{slug}.stores.example"
    (problem,) = problems_of_manifest(of(block(renderUrl=f"https://{host}/store/bakery/")))
    assert "own origin" in problem["message"]
    assert not problems_of_manifest(of(block(renderUrl="https://notstores.example/")))


def test_wildcard_host_covers_the_domain_and_its_subdomains(settings: Any) -> None:
    settings.BASE_URL = "https://www.platform.example"
    settings.ALLOWED_HOSTS = [".platform.example", "*"]
    for host in ("platform.example", "a.platform.example", "a.b.platform.example"):
        (problem,) = problems_of_manifest(of(block(renderUrl=f"https://{host}/")))
        assert "own origin" in problem["message"]
    assert not problems_of_manifest(of(block(renderUrl="https://notplatform.example/")))


@pytest.mark.spec("Contract 6 Manifest", "At most 256 KiB")
def test_size_limit_counts_bytes_without_white_space() -> None:
    manifest = of(*(block(blockType=f"b{n}", description="é" * 500) for n in range(50)))
    assert problems_of_manifest(manifest) == []
    room = 256 * 1024 - len(json.dumps({"embeds": [widget(scriptUrl="")]}, separators=(",", ":")))
    assert problems_of_manifest({"embeds": [widget(scriptUrl="x" * room)]}) == []
    (problem,) = problems_of_manifest({"embeds": [widget(scriptUrl="x" * (room + 1))]})
    assert "262,145 bytes" in problem["message"]


def test_a_flood_of_problems_is_told_in_bounded_time() -> None:
    manifest = of(*({f"unknown-{n}-{m}": 0 for m in range(200)} for n in range(50)))
    problems = problems_of_manifest(manifest)
    assert len(problems) == 500 + 1
    assert problems[-1]["message"] == f"There are {50 * (200 + 3):,} problems. The first 500 are listed."
