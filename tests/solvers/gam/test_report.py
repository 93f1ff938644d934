import html
import re
from html.parser import HTMLParser

import pytest

from solvers.gam.export.scorecard import quoted_name
from solvers.gam.report import to_report
from tests.solvers.gam.random_models import a_model

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Tags and attributes of a page; fails where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module", params=["logit", "softmax"])
def page(request) -> Page:
    model = a_model(5, request.param)
    return Page(to_report(model, title="<img src=x>", facts={"Score <b>": "0.1 & up"}, warnings=["<script>"]))


def test_a_report_holds_a_picture_and_a_table_of_every_feature():
    model = a_model(5, "log")
    tags = Page(to_report(model)).tags
    assert [tags.count(tag) for tag in ("section", "svg", "table")] == [len(model.shapes) + extra for extra in (0, 1, 1)]


def test_a_report_loads_nothing(page):
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    links = [value for name, value in page.attributes if name in ("href", "xlink:href", "src")]
    assert all(value.startswith("#") for value in links)


def test_no_name_occurs_twice_as_an_id(page):
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_equal_models_have_equal_reports():
    assert to_report(a_model(3, "log")) == to_report(a_model(3, "log"))


def test_features_come_in_the_order_of_their_importance():
    model = a_model(4, "identity")
    shares = model.importances()
    order = sorted(range(len(shares)), key=lambda number: -shares[number])
    titles = re.findall(r"<section>\n<h2>(.*?)</h2>", to_report(model))
    assert list(map(html.unescape, titles)) == [quoted_name(model.feature_names[number]) for number in order]
