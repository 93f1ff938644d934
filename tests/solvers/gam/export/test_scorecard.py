import html
import json
import re

import numpy as np
import pytest

from solvers.gam import AdditiveModel
from solvers.gam.export.scorecard import to_scorecard
from solvers.operation import InvalidInput
from tests.solvers.gam.export.scored import LINKS
from tests.solvers.gam.random_models import a_model, rows_for
from tests.solvers.gam.scoring_vectors import COLUMNS, CONTRIBUTIONS, DOCUMENT

Table = list[list[str]]


def markdown_tables(text: str) -> list[Table]:
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    return [[cells(line) for number, line in enumerate(block) if number != 1] for block in blocks]


def cells(line: str) -> list[str]:
    """Cells of a line, in which a backslash keeps the character that follows from being markup."""
    return [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.findall(r"\|((?:\\.|[^|\\])*)", line)[:-1]]


def html_tables(text: str) -> list[Table]:
    rows = [re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL) for table in re.findall(r"<table>(.*?)</table>", text, re.DOTALL)]
    return [
        [[html.unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows_]
        for rows_ in rows
    ]


def looked_up(table: Table, value: object) -> list[float]:
    """Score a value as a reader would: the first line whose condition holds."""
    for condition, *scores in table[1:]:
        if holds(condition, value):
            return [float(score) for score in scores]
    raise AssertionError(f"no line for {value!r}")


def holds(condition: str, value: object) -> bool:
    if condition == "missing" or value is None:
        return condition == "missing" and value is None
    if condition == "any other":
        return True
    if isinstance(value, str):
        return condition == json.dumps(value, ensure_ascii=False)
    between = re.fullmatch(r"(?:(\S+) < )?x (≤|>) (\S+)", condition)
    if between is None:
        return condition == "any number"
    low, sign, bound = between.groups()
    return (low is None or value > float(low)) and (value <= float(bound) if sign == "≤" else value > float(bound))


READERS = {"markdown": markdown_tables, "html": html_tables}


@pytest.mark.parametrize("form", READERS)
def test_the_vectors_can_be_looked_up(form):
    tables = READERS[form](to_scorecard(AdditiveModel.from_json(DOCUMENT), form))
    parts = [[looked_up(table, value)[0] for value in column] for table, column in zip(tables[1:], COLUMNS.values(), strict=True)]
    np.testing.assert_allclose(np.transpose(parts), CONTRIBUTIONS, atol=1e-12)


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("seed", range(4))
def test_looking_up_every_value_gives_the_decision(form, link, seed):
    model = a_model(seed, link)
    columns = rows_for(model, seed)
    start, *tables = READERS[form](to_scorecard(model, form, digits=15))
    total = np.array(looked_up_start(start)) + np.zeros((60, model.n_outputs))
    for name, table in zip(model.feature_names, tables, strict=True):
        total += [looked_up(table, value) for value in columns[name]]
    np.testing.assert_allclose(total.reshape(model.decision(columns).shape), model.decision(columns), rtol=1e-10, atol=1e-12)


def looked_up_start(table: Table) -> list[float]:
    return [float(score) for score in table[1][1:]]


def test_no_name_is_markup():
    for seed in range(8):
        text = to_scorecard(a_model(seed, "softmax"), "html")
        assert "<script" not in text
        assert "<b>" not in text
        assert all(line.startswith(("|", "#", "Start")) for line in to_scorecard(a_model(seed, "log")).splitlines() if line)


def test_an_unknown_form_is_refused():
    with pytest.raises(InvalidInput, match="neither markdown nor html"):
        to_scorecard(a_model(0, "log"), "pdf")
