from typing import get_args

import pytest

from solvers.gam import AdditiveModel
from solvers.gam.export.formats import ExportFormat, export
from solvers.operation import InvalidInput
from tests.solvers.gam.random_models import a_model


@pytest.mark.parametrize("form", get_args(ExportFormat))
@pytest.mark.parametrize("link", ["log", "softmax"])
def test_a_model_can_be_taken_home_in_every_form(form, link):
    exported = export(a_model(3, link), form)
    assert (exported.text is None) == (form == "onnx")
    assert exported == export(a_model(3, link), form)
    assert exported.name.isascii()


def test_json_is_the_model_itself():
    model = a_model(3, "softmax")
    assert AdditiveModel.from_json(export(model, "json").content).to_json() == model.to_json()


def test_sql_is_written_in_the_dialect_for_the_table():
    assert "[dbo].[my table]" in export(a_model(0, "log"), "sql", dialect="tsql", table="dbo.my table").text


def test_an_unknown_form_is_refused():
    with pytest.raises(InvalidInput, match="no form 'pickle'"):
        export(a_model(0, "log"), "pickle")
