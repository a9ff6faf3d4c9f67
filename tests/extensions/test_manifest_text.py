"""The place of each problem in the text of a manifest, for the portal's editor."""

import pytest

from extensions.manifest.text import Located, read, repeated_keys, written


def located(text: str) -> list[tuple[str, int, int]]:
    return [(each.problem.path, each.line, each.column) for each in read(text).problems]


def shown(text: str) -> list[str]:
    """What an editor would underline."""
    return [text[each.start : each.end] for each in read(text).problems]


def one(text: str) -> Located:
    (problem,) = read(text).problems
    return problem


def test_problem_stands_at_its_value() -> None:
    text = '{\n  "hooks": [\n    {"hookPoint": "order.validate", "url": "/x", "timeout": 5}\n  ]\n}'
    assert located(text) == [("hooks[0].timeout", 3, 61)]
    assert shown(text) == ["5"]


def test_problem_of_a_key_stands_at_the_key() -> None:
    text = '{"blokcs": []}'
    assert shown(text) == ['"blokcs"']
    assert one(text).fix == '"blocks"'


def test_missing_key_stands_at_what_should_hold_it() -> None:
    text = '{"hooks": [{"hookPoint": "order.validate"}]}'
    assert located(text) == [("hooks[0].url", 1, 12)]


def test_problem_inside_a_schema_stands_at_its_part() -> None:
    text = '{"settingsSchema": {"properties": {"my color": {"type": "colour"}}}}'
    assert shown(text) == ['"colour"']


def test_problems_come_in_the_order_of_the_text() -> None:
    text = '{"hooks": 1,\n"blocks": 2,\n"nothing": 3}'
    assert [path for path, *_ in located(text)] == ["hooks", "blocks", "nothing"]


def test_text_with_characters_beyond_ascii_is_counted_in_characters() -> None:
    text = '{"é€𝄞": 1, "hooks": 2}'
    assert shown(text) == ['"é€𝄞"', "2"]


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "Enter a JSON object"),
        ("  \n ", 1, 1, "Enter a JSON object"),
        ('{"blocks": [,]}', 1, 13, "not JSON"),
        ('{\n  "blocks": []\n  "hooks": []\n}', 3, 3, "not JSON"),
        ('{"a": NaN}', 1, 7, "not JSON"),
        ('{"a": "\ud800"}', 1, 1, "surrogates"),
        ("[]", 1, 1, "JSON object"),
    ],
)
def test_text_that_is_no_object_says_where(text: str, line: int, column: int, words: str) -> None:
    reading = read(text)
    assert reading.document is None
    problem = one(text)
    assert words in problem.problem.message
    assert (problem.line, abs(problem.column - column) <= 1) == (line, True)


def test_text_that_is_nested_without_end_is_refused() -> None:
    assert "not JSON" in one("[" * 5000).problem.message
    assert "nested" in one('{"a":' * 500 + "1" + "}" * 500).problem.message


def test_repeated_key_is_a_problem() -> None:
    """A reader of JSON keeps one of the two and drops the other without a word."""
    text = (
        '{"blocks": [],\n "hooks": [{"url": "/a", "url": "/b", "hookPoint": "order.validate"}], "blocks": []}'
    )
    assert [(path, line) for path, line, _ in located(text)] == [("hooks[0].url", 2), ("blocks", 2)]
    assert [problem.path for problem in repeated_keys(text)] == ["hooks[0].url", "blocks"]


def test_equal_keys_of_different_objects_are_no_repetition() -> None:
    assert repeated_keys('{"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, {"b": "{"}]}') == []


def test_escapes_in_keys_and_values_are_read() -> None:
    assert repeated_keys('{"a\\"b": "}{,:", "a": "\\\\"}') == []
    assert [each.path for each in repeated_keys('{"a": 1, "\\u0061": 2}')] == ["a"]


def test_written_text_reads_as_it_was() -> None:
    document = {"settingsSchema": {"properties": {"z": {}, "a": {"title": "Größe"}}}}
    assert read(written(document)).document == document
    assert list(read(written(document)).document["settingsSchema"]["properties"]) == ["z", "a"]  # type: ignore[index]
