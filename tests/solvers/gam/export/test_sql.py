import re

import numpy as np
import pytest

from solvers.gam import AdditiveModel, ShapeFunction
from solvers.gam.export.sql import to_sql
from solvers.gam.export.sql_dialects import DIALECTS, number
from solvers.operation import InvalidInput
from tests.solvers.gam.export import databases
from tests.solvers.gam.export.databases import TABLE
from tests.solvers.gam.export.scored import LINKS, assert_equal_scores, scored_by_the_model
from tests.solvers.gam.random_models import a_model, rows_for
from tests.solvers.gam.scoring_vectors import COLUMNS, CONTRIBUTIONS, DECISIONS, DOCUMENT, PROBABILITIES


@pytest.fixture(params=list(DIALECTS))
def dialect(request) -> str:
    return request.param


@pytest.fixture
def run(dialect, request):
    """Runs a query of the dialect on a table of its own."""
    if dialect == "postgresql":
        return databases.run_in_postgresql(request.getfixturevalue("a_postgres_database"))
    own = {"sqlite": databases.run_in_sqlite, "duckdb": databases.run_in_duckdb}
    return own.get(dialect) or databases.run_transpiled(dialect)


def test_the_vectors_are_scored_alike(dialect, run):
    answer = run(to_sql(AdditiveModel.from_json(DOCUMENT), TABLE, dialect), COLUMNS)
    parts = np.transpose([answer[f"f_{feature['name']}"] for feature in DOCUMENT["features"]]).astype(float)
    np.testing.assert_allclose(parts, CONTRIBUTIONS, rtol=1e-12)
    np.testing.assert_allclose(answer["decision"], DECISIONS, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(answer["p_yes"], PROBABILITIES, rtol=1e-12)
    assert answer["prediction"] == ["yes" if probability > 0.5 else "no" for probability in PROBABILITIES]


@pytest.mark.parametrize("link", LINKS)
def test_a_query_scores_as_the_model_does(dialect, run, link):
    for seed in range(6):
        # BigQuery's names hold no dots: they would part a record from its field.
        model = AdditiveModel.from_json(a_model(seed, link).to_json().replace('"a.b"', '"a,b"'))
        columns = rows_for(model, seed)
        assert_equal_scores(run(to_sql(model, TABLE, dialect), columns), scored_by_the_model(model, columns))


def test_decisions_of_any_size_give_finite_answers(dialect, run):
    shape = ShapeFunction("x", "numeric", [-1e5, 1e5], [0.0])
    columns = {"x": [-1.0, 1.0]}
    for link, classes in (("log", None), ("logit", ("a", "b")), ("softmax", ("a", "b", "c"))):
        shapes = [[shape, shape.shifted(1), shape.shifted(2)] if link == "softmax" else [shape]]
        model = AdditiveModel("classification" if classes else "regression", link, [0.5] * len(shapes[0]), shapes, classes)
        assert_equal_scores(run(to_sql(model, TABLE, dialect), columns), scored_by_the_model(model, columns))


@pytest.mark.parametrize("classes", [(3, -4, 5), (1.5, 2, 3), (True, "yes", 1.25)])
def test_classes_that_are_no_texts_are_given_back(dialect, run, classes):
    shape = ShapeFunction("x", "numeric", [-1, 1], [0.0])
    model = AdditiveModel("classification", "softmax", [0, 0.5, 0], [[shape, shape.shifted(-1), shape.shifted(1)]], classes)
    columns = {"x": [-1.0, 1.0]}
    expected = [str(label) if isinstance(classes[0], bool) else label for label in model.predict(columns).tolist()]
    assert run(to_sql(model, TABLE, dialect), columns)["prediction"] == expected


def test_missing_offsets_give_no_prediction_and_missing_exposures_count_as_one(dialect, run):
    plain = a_model(1, "logit")
    columns = rows_for(plain, 1)
    columns[plain.offset.column] = [None] * 60
    assert set(run(to_sql(plain, TABLE, dialect), columns)["prediction"]) == {None}
    rate = a_model(1, "log")
    columns = rows_for(rate, 1) | {rate.offset.column: [1.0] * 60}
    expected = scored_by_the_model(rate, columns)
    assert_equal_scores(run(to_sql(rate, TABLE, dialect), columns | {rate.offset.column: [None] * 60}), expected)


def test_columns_of_the_table_are_kept(dialect, run):
    model = AdditiveModel("regression", "identity", [1.0], [[ShapeFunction("x", "numeric", [-1, 1], [0.0])]])
    answer = run(to_sql(model, TABLE, dialect), {"x": [1.0], "note": ["kept"]})
    assert answer["note"] == ["kept"]


def test_integers_and_numeric_types_are_scored_too():
    model = AdditiveModel("regression", "identity", [1.0], [[ShapeFunction("x", "numeric", [-1, 1, 2], [0.5, 2.0])]])
    connection = databases.duckdb.connect()
    for kind in ("INTEGER", "BIGINT", "DECIMAL(10, 2)", "REAL", "UTINYINT"):
        connection.execute(f"CREATE OR REPLACE TABLE data (x {kind})")
        connection.execute("INSERT INTO data VALUES (0), (1), (2), (3)")
        assert sorted(connection.execute(to_sql(model, "data", "duckdb")).fetchall())[0][0] == 0
        assert [row[0] for row in connection.execute(to_sql(model, "data", "duckdb")).fetchall()] == [0, 2, 2, 3]


def test_numbers_read_back_as_the_same_double_everywhere(dialect, run):
    rng = np.random.default_rng(3)
    thresholds = np.unique(rng.normal(size=300) * 10.0 ** rng.integers(-12, 13, 300))
    model = AdditiveModel("regression", "identity", [0.0], [[ShapeFunction("x", "numeric", rng.normal(size=301), thresholds)]])
    values = np.concatenate([thresholds, np.nextafter(thresholds, np.inf)]).tolist()
    answer = run(to_sql(model, TABLE, dialect), {"x": values})
    np.testing.assert_allclose(np.array(answer["f_x"], float), model.contributions({"x": values})[:, 0], rtol=1e-12)


def test_every_number_has_an_exponent():
    query = to_sql(a_model(2, "logit"), "data", "duckdb")
    assert not re.search(r"THEN -?\d+\.\d+(?!\d*e)\b(?!e)", query)
    assert float(number(0.1)) == 0.1


@pytest.mark.parametrize("table", ["", "a..b", ".a"])
def test_a_name_of_no_table_is_refused(table, dialect):
    with pytest.raises(InvalidInput, match="names no table"):
        to_sql(a_model(0, "log"), table, dialect)


def test_an_unknown_dialect_is_refused():
    with pytest.raises(InvalidInput, match="none of sqlite"):
        to_sql(a_model(0, "log"), "data", "oracle")


def test_what_sql_cannot_write_is_refused(dialect):
    for shape in (ShapeFunction("a\0b", "numeric", [1.0]), ShapeFunction("x", "categorical", [1.0], levels=("a\0b",))):
        with pytest.raises(InvalidInput, match="SQL cannot write") as refused:
            to_sql(AdditiveModel("regression", "identity", [0.0], [[shape]]), "data", dialect)
        assert (refused.value.pointer, refused.value.members) == ("/format", {"column": shape.name})


@pytest.mark.parametrize("n_classes", [3, 130])
def test_many_classes_are_scored_as_the_model_does(dialect, run, n_classes):
    rng = np.random.default_rng(0)
    shapes = [ShapeFunction("x", "numeric", rng.normal(size=2), [0.0]) for _ in range(n_classes)]
    model = AdditiveModel("classification", "softmax", rng.normal(size=n_classes), [shapes], tuple(range(n_classes)))
    columns = {"x": [-1.0, 1.0, None]}
    assert_equal_scores(run(to_sql(model, TABLE, dialect), columns), scored_by_the_model(model, columns))


def test_the_query_grows_with_the_classes_and_not_with_their_square(dialect):
    def length(n_classes: int) -> int:
        shapes = [ShapeFunction("x", "numeric", [-1.0, 1.0], [0.0])] * n_classes
        return len(
            to_sql(
                AdditiveModel("classification", "softmax", [0.0] * n_classes, [shapes], tuple(range(n_classes))), TABLE, dialect
            )
        )

    assert length(80) - length(40) < 2.2 * (length(40) - length(20))


def test_what_probabilities_are_made_of_has_a_name_of_its_own(dialect, run):
    names = ("largest_decision", "Total_Odds")
    shapes = [[ShapeFunction(name, "numeric", [-1.0, score], [0.0]) for score in (0.5, 1.0, 2.0)] for name in names]
    model = AdditiveModel("classification", "softmax", [0.0, 0.1, 0.2], shapes, ("a", "b", "c"))
    columns = {name: [-1.0, 1.0, None] for name in names}
    assert_equal_scores(run(to_sql(model, TABLE, dialect), columns), scored_by_the_model(model, columns))
