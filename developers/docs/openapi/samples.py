"""A call of each endpoint with curl, in Python and in JavaScript.

Made of the document's examples. Readers replace the token and the ids by their own.
"""

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from developers.docs.openapi.document import ACCESS_TOKEN, CLIENT, DEVELOPER_TOKEN, SHOP_KEY

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PARAMETER = re.compile(r"\{(\w+)\}")
TOKENS = {ACCESS_TOKEN: "YOUR_ACCESS_TOKEN", DEVELOPER_TOKEN: "YOUR_DEVELOPER_TOKEN", SHOP_KEY: "YOUR_KEY"}
CLIENT_ID, CLIENT_SECRET = "YOUR_CLIENT_ID", "YOUR_CLIENT_SECRET"
SHOWN_QUERY = ("page", "limit", "days", "version")
INDENT = "    "


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """A request, ready to be written down in any language."""

    method: str
    url: str
    query: dict[str, Any]
    credential: str | None
    json: Any = None
    form: dict[str, str] | None = None
    idempotency_key: str | None = None
    answers: bool = True  # with a JSON body
    saves: str = ""  # the name for a file that it answers with

    @property
    def full_url(self) -> str:
        return f"{self.url}?{urlencode(self.query)}" if self.query else self.url

    @property
    def headers(self) -> dict[str, str]:
        headers = {}
        if self.credential in TOKENS:
            headers["Authorization"] = f"Bearer {TOKENS[self.credential]}"
        if self.idempotency_key:
            headers["Idempotency-Key"] = self.idempotency_key
        return headers


@dataclass(frozen=True, slots=True)
class Sample:
    language: str
    text: str


def call_of(method: str, path: str, entry: dict[str, Any], base_url: str) -> SampleRequest:
    """The call that an Operation Object of the document describes, with its examples."""
    given = {(each["in"], each["name"]): each["schema"]["examples"][0] for each in entry["parameters"]}
    content = entry.get("requestBody", {}).get("content", {})
    answers = [answer for status, answer in entry["responses"].items() if status < "300"]
    answered = {kind for answer in answers for kind in answer.get("content", {})}
    credential = next((name for requirement in entry["security"] for name in requirement), None)
    return SampleRequest(
        method=method.upper(),
        url=base_url + PARAMETER.sub(lambda found: str(given["path", found[1]]), path),
        query={name: given["query", name] for name in SHOWN_QUERY if ("query", name) in given},
        credential=credential,
        json=example_in(content[JSON]) if JSON in content else None,
        form=example_in(content[FORM]) if FORM in content else None,
        # Calls that make something are those that people repeat.
        idempotency_key=given.get(("header", "Idempotency-Key")) if method == "post" else None,
        answers=JSON in answered,
        saves="export.ndjson.gz" if "application/gzip" in answered else "",
    )


def example_in(media: dict[str, Any]) -> Any:
    """The first example of a Media Type Object; None for a file, which has none."""
    return next((example["value"] for example in media.get("examples", {}).values()), None)


def samples_of(call: SampleRequest) -> list[Sample]:
    return [
        Sample("curl", curl(call)),
        Sample("Python", python(call)),
        Sample("JavaScript", javascript(call)),
    ]


def curl(call: SampleRequest) -> str:
    parts = [f"curl {shlex.quote(call.full_url)}"]
    if call.method != ("GET" if call.json is None and call.form is None else "POST"):
        parts[0] = f"curl -X {call.method} {shlex.quote(call.full_url)}"
    if call.credential == CLIENT:
        parts.append(f"-u {CLIENT_ID}:{CLIENT_SECRET}")
    parts += [f"-H {_quoted(f'{name}: {value}')}" for name, value in call.headers.items()]
    if call.json is not None:
        parts += ['-H "Content-Type: application/json"', f"-d {shlex.quote(_json(call.json, 2))}"]
    if call.form is not None:
        parts += [f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in call.form.items()]
    if call.saves:
        parts.append(f"-o {call.saves}")
    return " \\\n  ".join(parts)


def python(call: SampleRequest) -> str:
    arguments = [f'"{call.url}"']
    if call.query:
        arguments.append(f"params={call.query!r}")
    if call.credential == CLIENT:
        arguments.append(f'auth=("{CLIENT_ID}", "{CLIENT_SECRET}")')
    if call.headers:
        arguments.append(f"headers={_python(call.headers)}")
    if call.json is not None:
        arguments.append(f"json={_python(call.json)}")
    if call.form is not None:
        arguments.append(f"data={_python(call.form)}")
    arguments.append("timeout=10")
    lines = ",\n".join(INDENT + argument.replace("\n", "\n" + INDENT) for argument in arguments)
    shown = "print(response.json())" if call.answers else "print(response.status_code)"
    if call.saves:
        shown = f'with open("{call.saves}", "wb") as file:\n    file.write(response.content)'
    return (
        f"import requests\n\nresponse = requests.{call.method.lower()}(\n{lines},\n)\n"
        f"response.raise_for_status()\n{shown}\n"
    )


def javascript(call: SampleRequest) -> str:
    options, headers = (
        [],
        [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in call.headers.items()],
    )
    if call.credential == CLIENT:
        headers.append(f'"Authorization": "Basic " + btoa("{CLIENT_ID}:{CLIENT_SECRET}")')
    if call.json is not None:
        headers.append('"Content-Type": "application/json"')
    if call.method != "GET":
        options.append(f'method: "{call.method}"')
    if headers:
        inner = "".join(f"\n    {header}," for header in headers)
        options.append(f"headers: {{{inner}\n  }}")
    if call.json is not None:
        body = _json(call.json, 2).replace("\n", "\n  ")
        options.append(f"body: JSON.stringify({body})")
    if call.form is not None:
        body = _json(call.form, 2).replace("\n", "\n  ")
        options.append(f"body: new URLSearchParams({body})")
    inner = "".join(f"\n  {option}," for option in options)
    asked = f"{json.dumps(call.full_url)}, {{{inner}\n}}" if options else json.dumps(call.full_url)
    shown = "await response.json()" if call.answers else "response.status"
    if call.saves:
        shown = "(await response.arrayBuffer()).byteLength"
    return (
        f"const response = await fetch({asked});\n"
        f"if (!response.ok) throw new Error(await response.text());\nconsole.log({shown});\n"
    )


def _quoted(text: str) -> str:
    return f'"{text}"'


def _json(value: Any, indent: int) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


def _python(value: Any, depth: int = 0) -> str:
    """A literal over as many lines as it has entries, as a formatter would lay it out."""
    inner, outer = INDENT * (depth + 1), INDENT * depth
    if isinstance(value, dict) and value:
        lines = "".join(f"{inner}{_text(key)}: {_python(each, depth + 1)},\n" for key, each in value.items())
        return f"{{\n{lines}{outer}}}"
    if isinstance(value, list) and value and not all(isinstance(each, str) for each in value):
        lines = "".join(f"{inner}{_python(each, depth + 1)},\n" for each in value)
        return f"[\n{lines}{outer}]"
    if isinstance(value, list):
        return f"[{', '.join(_text(each) for each in value)}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
