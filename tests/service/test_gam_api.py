"""Additive models over HTTP: from an uploaded table to a model, its views, its versions and its end."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.client import Client, ProblemError
from app.jobs.sweep import sweep_orphans
from solvers.gam.operations import kept_data
from solvers.gam.operations.models import DEMO, MODELS
from tests.service.conftest import BOOTSTRAP_KEY
from tests.service.live import LiveService, live_service, watch
from tests.solvers.gam.operations.running import SMALL, csv_text, people, table

# The first test may wait for kernels to be compiled.
pytestmark = pytest.mark.timeout(600)

ROWS = people(300)
FIT = table(ROWS, "spent") | {"params": SMALL, "holdout": {"fraction": 0.2}, "name": "spending"}


@pytest.fixture(scope="module")
def gam_service(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("gam-service")
    kernels = Path(pytestconfig.cache.mkdir("kernels"))
    with live_service(folder, catalogue="app.operations:CATALOGUE", kernels_dir=kernels, max_file_bytes=200 * 2**20) as live:
        yield live


@pytest.fixture
def client(gam_service: LiveService) -> Iterator[httpx.Client]:
    with gam_service.client() as client:
        yield client


@pytest.fixture(scope="module")
def model(gam_service: LiveService) -> str:
    """A model that no test changes."""
    with gam_service.client() as client:
        return str(post(client, "fit", FIT)["model_id"])


def post(client: httpx.Client, operation: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.post(f"/v1/gam/{operation}", json=body, headers={"Prefer": "wait=50"})
    assert answer.status_code == status, answer.text
    document: dict[str, Any] = answer.json()
    return document


def upload(client: httpx.Client, content: bytes) -> str:
    return str(client.post("/v1/files", content=content).json()["id"])


def test_a_model_is_listed_shown_and_deleted(client: httpx.Client) -> None:
    fitted = post(client, "fit", FIT | {"name": "one of a kind"})
    page = client.get("/v1/gam/models", params={"name": "one of a kind"}).json()
    (listed,) = page["models"]
    assert (page["next"], listed["id"]) == (None, fitted["model_id"])
    shown = client.get(f"/v1/gam/models/{fitted['model_id']}").json()
    assert shown | fitted == shown
    assert {name: value for name, value in shown.items() if name != "shape_functions"} == listed
    assert client.delete(f"/v1/gam/models/{fitted['model_id']}").status_code == 204
    for path in ("", "/shape", "/plot", "/export"):
        assert client.get(f"/v1/gam/models/{fitted['model_id']}{path}").status_code == 404
    assert post(client, "predict", {"model": fitted["model_id"], "rows": ROWS[:1]}, 422)["type"] == "/problems/unknown-file"


def test_a_model_that_was_uploaded_is_none(client: httpx.Client, model: str) -> None:
    content = client.get(f"/v1/files/{model}/content").content
    copy = client.post("/v1/files", content=content, headers={"Content-Type": MODELS.media_type}).json()["id"]
    assert client.get(f"/v1/gam/models/{copy}").status_code == 404
    assert client.delete(f"/v1/gam/models/{copy}").status_code == 404
    assert copy not in client.get("/v1/gam/models").text
    problem = post(client, "predict", {"model": copy, "rows": ROWS[:1]}, 422)
    assert problem["errors"][0]["pointer"] == "/model"
    assert client.delete(f"/v1/files/{copy}").status_code == 204


def test_nothing_is_left_of_a_deleted_model(gam_service: LiveService, client: httpx.Client) -> None:
    model = post(client, "fit", FIT)["model_id"]
    post(client, "edit", {"model": model, "operations": [{"op": "remove", "feature": "plan"}]})
    parts = {file.part for file in gam_service.service.files.walk() if file.name == model}
    assert {None, "version-2", kept_data.PART} <= parts
    client.delete(f"/v1/gam/models/{model}")
    assert not [file for file in gam_service.service.files.walk() if file.name == model]


def test_shape_functions_are_shown_by_their_feature(client: httpx.Client, model: str) -> None:
    everything = client.get(f"/v1/gam/models/{model}/shape").json()["shape_functions"]
    (plan,) = client.get(f"/v1/gam/models/{model}/shape", params={"feature": "plan"}).json()["shape_functions"]
    assert [shape["feature"] for shape in everything] == ["age", "plan", "income"]
    assert plan == everything[1]
    assert client.get(f"/v1/gam/models/{model}/shape", params={"feature": "none"}).status_code == 404


@pytest.mark.parametrize("feature", [{}, {"feature": "age"}, {"feature": "plan", "band": 0.5}])
def test_plots_are_images(client: httpx.Client, model: str, feature: dict) -> None:
    svg = client.get(f"/v1/gam/models/{model}/plot", params=feature)
    png = client.get(f"/v1/gam/models/{model}/plot", params=feature | {"format": "png"})
    assert svg.headers["Content-Type"] == "image/svg+xml"
    assert b"<svg" in svg.content
    assert (png.headers["Content-Type"], png.content[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")


def test_plots_at_the_same_time_are_those_one_after_the_other(gam_service: LiveService, model: str) -> None:
    asked = [{"feature": name, "format": form} for name in ("age", "plan", "income") for form in ("svg", "png")]

    def plot(query: dict) -> bytes:
        with gam_service.client() as client:
            return client.get(f"/v1/gam/models/{model}/plot", params=query).content

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(plot, asked)) == [plot(query) for query in asked]


@pytest.mark.parametrize("query", [{"feature": "none"}, {"feature": "age", "class": "x"}])
def test_a_plot_of_nothing_is_a_404(client: httpx.Client, model: str, query: dict) -> None:
    assert client.get(f"/v1/gam/models/{model}/plot", params=query).status_code == 404


@pytest.mark.parametrize("query", [{"format": "gif"}, {"band": 2}, {"colour": "red"}])
def test_a_plot_that_cannot_be_drawn_is_a_422(client: httpx.Client, model: str, query: dict) -> None:
    assert client.get(f"/v1/gam/models/{model}/plot", params=query).status_code == 422


def test_an_export_is_downloaded_or_kept_as_a_file(client: httpx.Client, model: str) -> None:
    query = {"format": "sql", "dialect": "sqlite", "table": "people"}
    downloaded = client.get(f"/v1/gam/models/{model}/export", params=query)
    assert downloaded.headers["Content-Disposition"].startswith('attachment; filename="model.sqlite.sql"')
    kept = post(client, "export", {"model": model} | query)
    assert kept["text"] == downloaded.text
    assert client.get(f"/v1/files/{kept['file_id']}/content").text == downloaded.text
    onnx = post(client, "export", {"model": model, "format": "onnx"})
    assert (onnx["text"], onnx["media_type"]) == (None, "application/octet-stream")
    rows = [{name: row[name] for name in ("age", "plan", "income")} for row in ROWS]
    expected = post(client, "predict", {"model": model, "rows": rows})["predictions"]
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE people (age REAL, plan TEXT, income REAL)")
        database.executemany("INSERT INTO people VALUES (:age, :plan, :income)", rows)
        found = database.execute(f"SELECT prediction FROM ({downloaded.text.strip().rstrip(';')})").fetchall()
    assert [row[0] for row in found] == pytest.approx(expected, rel=1e-12)


def test_an_uploaded_table_is_fitted_and_scored_to_a_file(client: httpx.Client) -> None:
    uploaded = upload(client, csv_text(ROWS).encode())
    ignored = dict.fromkeys(("left", "visits", "grade"), "ignore")
    fitted = post(client, "fit", {"data": {"file": uploaded}, "columns": ignored, "target": "spent", "params": SMALL})
    scored = post(client, "predict", {"model": fitted["model_id"], "data": {"file": uploaded}})
    inline = post(client, "predict", {"model": fitted["model_id"], "rows": ROWS})
    content = client.get(f"/v1/files/{scored['file_id']}/content").text
    lines = list(csv.DictReader(io.StringIO(content)))
    assert [float(line["prediction"]) for line in lines] == inline["predictions"]


@pytest.mark.parametrize(
    ("content", "members", "detail"),
    [
        (b"x,y\n1,2\n3\n", {"row": 1, "line": 3}, "row 1 (line 3"),
        (b"x,y\n1,2\nfoo,3\n", {"row": 1, "column": "x"}, "column 'x': row 0 holds a number, row 1 a text"),
        (b"x,y\n1,2\n3,\n", {"row": 1, "column": "y"}, "column 'y', row 1: the target is missing"),
        (b"x,x\n1,2\n", {"column": "x"}, "two columns have the name 'x'"),
        (b"x,y\n2024-01-01,2\n", {"row": 0, "column": "x"}, "holds dates or times"),
        (b"x,y\n1,2\n\xff,3\n", {"row": 1, "column": "x"}, "the text is not UTF-8"),
        (b"", {}, "the file is empty"),
    ],
)
def test_a_bad_table_is_a_422_with_its_place(client: httpx.Client, content: bytes, members: dict, detail: str) -> None:
    ways: dict[str, Any] = {"file": upload(client, content)}
    if content.isascii():  # a JSON text cannot hold other bytes
        ways["content"] = content.decode()
    for way, given in ways.items():
        problem = post(client, "fit", {"data": {"format": "csv", way: given}, "target": "y"}, 422)
        assert detail in problem["detail"]
        assert {name: problem.get(name) for name in members} == members
        assert problem["errors"][0]["pointer"] == f"/data/{way}"


@pytest.mark.parametrize("padding", ["", " " * (2 * 2**20)])
def test_a_member_that_occurs_twice_is_a_422(client: httpx.Client, padding: str) -> None:
    body = json.dumps(FIT)[:-1] + padding + ', "name": "again"}'
    answer = client.post("/v1/gam/fit", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "line 1: the member 'name' occurs twice in one object"


def test_a_request_that_is_wrong_is_told_with_its_pointer(client: httpx.Client, model: str) -> None:
    wrong = FIT | {"params": {"alpha": -1}}
    assert post(client, "fit", wrong, 422)["errors"][0]["pointer"] == "/params/alpha"
    edit = {"model": model, "operations": [{"op": "set", "feature": "age"}]}
    assert post(client, "edit", edit, 422)["errors"][0]["pointer"] == "/operations/0/value"


def test_of_two_edits_of_one_version_one_wins(client: httpx.Client, gam_service: LiveService) -> None:
    model = post(client, "fit", FIT)["model_id"]

    def edit(feature: str) -> int:
        with gam_service.client() as other:
            body = {"model": model, "operations": [{"op": "remove", "feature": feature}], "version": 1}
            return other.post("/v1/gam/edit", json=body).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(edit, ["age", "plan"])) == [200, 409]
    history = post(client, "history", {"model": model})
    assert (history["version"], len(history["edits"])) == (2, 1)


def test_without_its_rows_a_model_can_be_edited_but_not_proven(client: httpx.Client) -> None:
    model = post(client, "fit", FIT | {"keep_data": False})["model_id"]
    for operation, more in (("certificate", {}), ("compress", {"tol": 0.1}), ("compare", {})):
        assert post(client, operation, {"model": model} | more, 409)["type"] == "/problems/training-data-gone"
    edited = post(client, "edit", {"model": model, "operations": [{"op": "remove", "feature": "plan"}]})
    assert (edited["version"], edited["score_after"]) == (2, None)
    given = post(client, "compare", {"model": model, "data": FIT["data"]})
    assert given["on"] == "data"


def test_rows_go_when_their_time_is_over_and_the_model_stays(client: httpx.Client, gam_service: LiveService) -> None:
    model = post(client, "fit", FIT)["model_id"]
    sweep_orphans(gam_service.service.store, gam_service.service.files, {kept_data.PART: 0.0})
    assert post(client, "certificate", {"model": model}, 409)["type"] == "/problems/training-data-gone"
    assert post(client, "predict", {"model": model, "rows": ROWS[:1]})["rows"] == 1


def test_a_long_fit_is_watched_and_cancelled(client: httpx.Client) -> None:
    body = table(people(3000, seed=1), "spent") | {"params": SMALL | {"bagging": 10_000}}
    job = client.post("/v1/gam/fit", json=body, headers={"Prefer": "respond-async"}).json()
    events = watch(client, f"/v1/jobs/{job['id']}", count=8)
    fractions = [data["fraction"] for _, kind, data in events if kind == "progress" and "fraction" in data]
    assert fractions == sorted(fractions)
    client.post(f"/v1/jobs/{job['id']}/cancel")
    answer = client.get(f"/v1/jobs/{job['id']}/result", headers={"Prefer": "wait=50"})
    assert answer.status_code == 200, answer.text
    assert any("the model is the best so far" in warning for warning in answer.json()["warnings"])
    assert client.get(f"/v1/gam/models/{answer.json()['model_id']}").status_code == 200


def test_a_fit_ends_with_its_time(client: httpx.Client) -> None:
    body = table(people(3000, seed=1), "spent") | {"params": SMALL | {"bagging": 10_000}, "options": {"time_limit": 3}}
    assert any("the model is the best so far" in warning for warning in post(client, "fit", body)["warnings"])


def test_models_are_their_owner_s(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(BOOTSTRAP_KEY)
    kernels = Path(pytestconfig.cache.mkdir("kernels"))
    settings = {"catalogue": "app.operations:CATALOGUE", "bootstrap_key_file": key_file, "kernels_dir": kernels}
    with live_service(tmp_path / "data", **settings) as live, live.client(BOOTSTRAP_KEY) as owner:
        from app.security import new_key

        key = new_key()
        live.service.store.add_key(key_id=key.id, owner="bob", name="bob", hash=key.hash, scopes=("solve", "files", "read"))
        model = post(owner, "fit", FIT)["model_id"]
        with live.client(key.text) as bob:
            assert bob.get("/v1/gam/models").json()["models"] == []
            assert bob.get(f"/v1/gam/models/{model}/export").status_code == 404
            assert bob.delete(f"/v1/gam/models/{model}").status_code == 404
            for operation, more in (
                ("predict", {"rows": ROWS[:1]}),
                ("edit", {"operations": [{"op": "remove", "feature": "age"}]}),
                ("certificate", {}),
            ):
                assert post(bob, operation, {"model": model} | more, 422)["type"] == "/problems/unknown-file"
        edited = post(owner, "edit", {"model": model, "operations": [{"op": "remove", "feature": "age"}]})
        assert edited["version"] == 2
        assert post(owner, "history", {"model": model})["edits"][0]["by"] == live.service.store.list_keys()[0].owner


def test_the_client_has_a_method_for_each_operation(gam_service: LiveService) -> None:
    with Client(gam_service.url) as client:
        fitted = client.gam_fit(**FIT)
        assert client.gam_predict(model=fitted.model_id, rows=ROWS[:2]).rows == 2
        shown = client.models.get(fitted.model_id)
        assert shown.details.n_steps == fitted.n_steps
        assert client.models.get(DEMO).details.name == "who leaves"
        with pytest.raises(ProblemError) as problem:
            client.gam_edit(model=fitted.model_id, operations=[{"op": "remove", "feature": "none"}])
        assert problem.value.pointer == "/operations/0/feature"
        client.models.delete(fitted.model_id)
