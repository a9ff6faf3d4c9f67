"""Where plots place their bars, lines and names. Pages that show one are tested with these pages."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.template.loader import render_to_string

from common.web.charts import Chart, Mark, Number, Point, Scale, Series, chart, line, nice_top, strip

TODAY = date(2026, 11, 20)


def drawn(*series: Series, points: list[Point] | None = None, **options: Any) -> Chart:
    number = len(series[0].values)
    days = points or [Point(TODAY - timedelta(days=ago)) for ago in range(number - 1, -1, -1)]
    return chart("it", "API calls", days, series, empty="None yet.", **options)


@pytest.mark.parametrize(
    ("highest", "top"),
    [
        (0, 2),
        (2, 2),
        (3, 4),
        (5, 6),
        (9, 10),
        (11, 12),
        (21, 30),
        (99, 100),
        (1250, 1600),
        (1_000_001, 1_200_000),
    ],
)
def test_scale_ends_at_a_round_number(highest: Number, top: int) -> None:
    assert nice_top(highest) == top


def test_bars_are_as_high_as_their_share_and_never_invisible() -> None:
    found = drawn(Series("A", "ok", [1000, 500]), Series("B", "bad", [1, 0]))
    first, second = found.points
    assert [(bar.css, bar.y, bar.height) for bar in first.bars] == [
        ("ok", "0%", "100%"),
        ("bad", "98%", "2%"),
    ]
    assert [(bar.css, bar.x, bar.width, bar.height) for bar in second.bars] == [("ok", "57%", "18%", "50%")]


def test_stacked_bars_stand_on_one_another_and_share_the_scale() -> None:
    found = drawn(Series("A", "ok", [6]), Series("B", "bad", [2]), is_stacked=True)
    assert [(bar.x, bar.y, bar.height, bar.pattern) for bar in found.last.bars] == [
        ("14%", "25%", "75%", ""),
        ("14%", "0%", "25%", "hatch"),
    ]
    assert found.scale == ("8", "4", "0")


def test_lines_have_gaps_and_a_point_alone_is_a_dot() -> None:
    values = [1, None, 2, 4, None]
    found = drawn(Series("p50", "first", values, is_line=True), write="{:,} ms".format)
    assert (found.keys[0].path, found.keys[0].alone) == ("M50,50L70,0", "M10,75h0")
    assert found.keys[0].total == ""
    assert [point.cells for point in found.points] == [("1 ms",), ("–",), ("2 ms",), ("4 ms",), ("–",)]
    assert found.points[1].summary == "17 Nov: nothing"


def test_summary_says_figures_and_marks() -> None:
    found = drawn(
        Series("Failed", "bad", [3, 1]), Series("API", "ok", [1, 2]), marks=[Mark(TODAY, "1.2.0 approved")]
    )
    assert [point.summary for point in found.points] == [
        "19 Nov: failed 3, API 1",
        "20 Nov: failed 1, API 2. 1.2.0 approved",
    ]
    assert [point.point.at for point in found.noted] == [TODAY]


@pytest.mark.parametrize(
    ("number", "names"),
    [
        (3, ["Wed", "Thu", "Today"]),
        (30, ["27 Oct", "4 Nov", "12 Nov", "Today"]),
        (90, ["12 Sep", "5 Oct", "28 Oct", "Today"]),
    ],
)
def test_few_points_are_named_below_the_plot(number: int, names: list[str]) -> None:
    found = drawn(Series("A", "ok", [1] * number))
    assert [tick.text for tick in found.ticks] == names


def test_plot_that_is_over_marks_no_day_as_today() -> None:
    over = drawn(Series("A", "ok", [1, 2, 3]), is_over=True)
    assert [tick.text for tick in over.ticks] == ["18 Nov", "19 Nov", "20 Nov"]
    assert 'class="today"' not in render_to_string("components/chart.html", {"chart": over})


def test_points_can_be_hours() -> None:
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    found = drawn(Series("A", "ok", [1, 2]), points=[Point(now - timedelta(hours=1)), Point(now)])
    assert [tick.text for tick in found.ticks] == ["11:00", "Now"]
    assert (found.unit, found.first.point.full) == ("Hour", "20 Nov 2026, 11:00")


def test_every_bar_leads_where_its_row_in_the_table_leads() -> None:
    found = drawn(Series("A", "ok", [1]), points=[Point(TODAY, "/orders/?since=a&until=b")])
    page = render_to_string("components/chart.html", {"chart": found})
    assert (
        '<a href="/orders/?since=a&amp;until=b" tabindex="-1">' in page
    )  # the plot is hidden from screen readers
    assert '<a href="/orders/?since=a&amp;until=b">20 Nov 2026</a>' in page


def test_what_is_drawn_is_text() -> None:
    version = "<b>1</b> & 'more'"
    found = drawn(
        Series("<i>A</i>", "ok", [1]),
        points=[Point(TODAY, '/?q="<u>')],
        marks=[Mark(TODAY, version)],
        write="<s>{}".format,
    )
    page = render_to_string("components/plots.html", {"charts": [found]})
    assert not re.search(r"<[bisu]>", page)
    assert (
        page.count("&lt;b&gt;1&lt;/b&gt; &amp; &#x27;more&#x27;") == 3
    )  # above the plots, in the plot and in the table
    assert page.count('"/?q=&quot;&lt;u&gt;"') == 2


def test_chart_without_figures_is_a_sentence_and_no_axis() -> None:
    found = drawn(Series("A", "first", [0, None]), marks=[Mark(TODAY, "1.2.0 approved")])
    page = render_to_string("components/plots.html", {"charts": [found]})
    assert "None yet." in page
    assert not re.search(r"<svg class=.plot|chart-scale|<table|1\.2\.0 approved|Show tables", page)
    assert drawn(Series("A", "first", [0, 1])).empty == ""


@pytest.mark.parametrize(
    ("values", "top"),
    [
        ([80, 90, 5500, 100], "100"),  # on a scale to 5,500 the others would lie on the ground
        ([80, 90, 500, 100], "500"),  # not so far off
        ([1, None, 0, 1, 9], "10"),  # beside two alone nothing is an outlier
        ([10] * 98 + [9000, 9000], "10,000"),  # two of a hundred are more than 1%
        ([10] * 198 + [9000, 9000], "10"),
    ],
)
def test_scale_ends_below_an_outlier(values: list[int | None], top: str) -> None:
    assert drawn(Series("p95", "first", values, is_line=True)).scale[0] == top


def test_outlier_is_cut_marked_and_said() -> None:
    values = [80, 90, 5500, 100]
    found = drawn(Series("p95", "first", values, is_line=True), write="{:,} ms".format)
    assert found.keys[0].path == "M12.5,20L37.5,10L62.5,0L87.5,0"
    assert [point.is_above for point in found.points] == [False, False, True, False]
    assert found.points[2].summary == "19 Nov: p95 5,500 ms. Above the scale"
    page = render_to_string("components/chart.html", {"chart": found})
    assert re.findall(r'<text class="above" x="([^"]+)"', page) == ["62.5%"]
    assert re.search(r'19 Nov 2026 <span class="soft small">Above the scale</span>.*5,500 ms', page)


def test_stack_beyond_the_scale_keeps_its_shares() -> None:
    ok, bad = Series("A", "first", [1, 2, 2, 30]), Series("B", "bad", [0, 0, 0, 10])
    found = drawn(ok, bad, is_stacked=True)
    assert [(bar.css, bar.y, bar.height) for bar in found.last.bars] == [
        ("first", "25%", "75%"),
        ("bad", "0%", "25%"),
    ]
    assert found.scale == ("2", "1", "0")


@pytest.mark.parametrize(
    ("rates", "scale", "path"),
    [
        ([95, 97.5, None, 100], ("100%", "97.5%", "95%"), "M12.5,100L37.5,50"),
        ([94.9, 100, None, 100], ("100%", "50%", "0%"), "M12.5,5.1L37.5,0"),
    ],
)
def test_high_rates_are_drawn_from_95_per_cent(
    rates: list[Number | None], scale: tuple[str, ...], path: str
) -> None:
    rate = Series("Answered 2xx", "first", rates, is_line=True)
    found = drawn(rate, write="{:g}%".format, scale=Scale(is_rate=True))
    assert (found.scale, found.keys[0].path) == (scale, path)


def test_scale_of_amounts_has_no_cents() -> None:
    found = drawn(
        Series("Paid", "first", [330, 1]),
        write="${:,.2f}".format,
        scale=Scale("{:g} of {:g}".format, unit=100),
    )
    assert found.scale == ("400 of 400", "200 of 400", "0 of 400")


def test_what_happened_is_said_once_for_several_plots() -> None:
    one = drawn(Series("A", "first", [1, 2]), marks=[Mark(TODAY, "1.2.0 approved")])
    page = render_to_string("components/plots.html", {"charts": [one, one]})
    assert page.count("</svg>20 Nov: 1.2.0 approved") == 1


def test_sparkline_goes_from_its_lowest_to_its_highest() -> None:
    assert line([5, None, 10], width=60, height=24) == "M1,23L59,1"
    assert line([5, 5], width=60, height=24) == "M1,23L59,23"
    assert line([None, 5], width=60, height=24) == ""


def test_strip_stacks_failures_on_successes() -> None:
    bars = strip([(2, 1, 1), (0, 0, 0), (0, 0, 2)], step=8)
    assert [(bar.css, bar.x, bar.y, bar.width, bar.height) for bar in bars] == [
        ("first", "0", "12", "6", "12"),
        ("warn", "0", "6", "6", "6"),
        ("bad", "0", "0", "6", "6"),
        ("bad", "16", "12", "6", "12"),
    ]
