"""``foresolve gam fit``: a model of the table in a file, in words on the terminal and as a page to look at."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.settings import Settings
from app.solving import option_values, solve_here
from app.terminal import ProgressDisplay, output_console
from solvers.operation import FolderFiles, InvalidInput

if TYPE_CHECKING:
    from solvers.gam.operations.model_record import GamModel, ModelRecord

MOST_SHAPES = 12
COLUMN_TYPES = ("numeric", "categorical", "ignore")

gam = typer.Typer(help="Additive models that fit on a page.", no_args_is_help=True)


@gam.callback()
def main() -> None:
    """Additive models that fit on a page."""


@gam.command()
def fit(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    weight: Annotated[str | None, typer.Option(help="Column of weights.")] = None,
    offset: Annotated[str | None, typer.Option(help="Column that is added to the decision.")] = None,
    exposure: Annotated[str | None, typer.Option(help="Column of exposures, for counts and amounts.")] = None,
    task: Annotated[str, typer.Option(help="regression or classification; default: told by the target.")] = "auto",
    column: Annotated[
        list[str] | None, typer.Option(help="name=type for a column that is numeric, categorical or to be ignored.")
    ] = None,
    holdout: Annotated[float | None, typer.Option(help="Share of the rows to hold back and score on.", min=0, max=1)] = None,
    n_stumps: Annotated[
        int | None, typer.Option(help="Stumps; without it and --alpha both are chosen by cross-validation.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="Ridge on every stump.")] = None,
    rule: Annotated[str, typer.Option(help="min, parsimony or one_se: which of the candidates is chosen.")] = "min",
    option: Annotated[
        list[str] | None, typer.Option(help="name=value: another parameter of the fit, such as loss=poisson.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds.", min=0.001, max=1e9)] = None,
    model: Annotated[Path | None, typer.Option(help="Where to write the model; default: beside the file, as JSON.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the page; default: beside the file, as HTML.")] = None,
) -> None:
    """Fit a model to the rows of a file, and write it and a page about it.

    Ctrl-C ends the search with the best model so far; a second one abandons it.
    """
    # Before the solvers are imported: where the service keeps its compiled kernels, they are found compiled.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Settings().cache_dir))
    from solvers.gam.operations.fit import GAM_FIT
    from solvers.gam.operations.model_record import GamModel
    from solvers.gam.operations.models import read_model
    from solvers.gam.report import to_report

    given = {"n_stumps": n_stumps, "alpha": alpha, **option_values(option or ())}
    params = {name: value for name, value in given.items() if value is not None}
    body: dict[str, Any] = {
        "data": {"file": str(file)},
        "columns": _column_types(column or ()),
        "target": target,
        "weight": weight,
        "offset": offset,
        "exposure": exposure,
        "task": task,
        "params": params,
        "selection": None if params.keys() & {"n_stumps", "alpha"} else {"rule": rule},
        "holdout": None if holdout is None else {"fraction": holdout},
        "keep_data": False,
        "name": file.stem[:200],
        "options": {} if time_limit is None else {"time_limit": time_limit},
    }
    if not file.is_file():
        raise InvalidInput(f"there is no file {file}")
    with tempfile.TemporaryDirectory() as folder:
        files = FolderFiles(Path(folder))
        display = ProgressDisplay(Console(stderr=True), "gam fit", time_limit)
        try:
            fitted = GamModel.model_validate_json(solve_here(GAM_FIT, body, files, display))
        finally:
            display.close()
        record = read_model(files, fitted.model_id)
    model_path, report_path = model or file.with_suffix(".model.json"), report or file.with_suffix(".html")
    model_path.write_text(record.additive_model().to_json(), encoding="utf-8")
    page = to_report(record.additive_model(), title=f"{target} of {file.name}", facts=facts(fitted), warnings=fitted.warnings)
    report_path.write_text(page, encoding="utf-8")
    show(fitted, record)
    print(f"model   {model_path}\nreport  {report_path}")


def facts(fitted: GamModel) -> dict[str, str]:
    """Return what is said of a fit, line by line."""
    score = fitted.score
    lines = {"Rows": f"{fitted.n_rows - fitted.n_holdout} to fit, {fitted.n_holdout} held back"}
    name = score.metric.replace("_", " ").capitalize()
    if score.holdout is not None:
        lines[f"{name}, held back"] = f"{score.holdout:.6g}{_beside(fitted, 'holdout')}"
    if score.cv is not None:
        lines[f"{name}, cross-validated"] = f"{score.cv:.6g} ± {score.cv_se or 0:.2g}"
    lines[f"{name}, fitted"] = f"{score.train:.6g}{_beside(fitted, 'train')}"
    lines["Size"] = f"{fitted.n_steps} steps of {len({shape.feature for shape in fitted.shape_functions})} features"
    lines["Gap to the best forest"] = _gap(fitted)
    return lines


def show(fitted: GamModel, record: ModelRecord) -> None:
    """Write accuracy, size and the shapes that matter most to the terminal."""
    from solvers.gam.sparklines import shape_sparkline

    console = output_console()
    summary = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts(fitted).items():
        summary.add_row(Text(name, style="bold"), Text(value))
    console.print(summary)
    model = record.additive_model()
    importances = model.importances()
    order = sorted(range(len(importances)), key=lambda number: -importances[number])
    shapes = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("feature", "importance", "shape", "scores"):
        shapes.add_column(head)
    for number in order[:MOST_SHAPES]:
        for output, shape in enumerate(model.shapes[number]):
            low, high = float(shape.table.min()), float(shape.table.max())
            label = "" if model.n_outputs == 1 or model.classes is None else f" ({model.classes[output]})"
            share = f"{100 * importances[number]:5.1f} %"
            shapes.add_row(
                Text(f"{shape.name}{label}"),
                Text(share),
                Text(shape_sparkline(shape, low, high)),
                Text(f"{low:.4g} to {high:.4g}"),
            )
    console.print(shapes)
    if len(order) > MOST_SHAPES:
        console.print(Text(f"and {len(order) - MOST_SHAPES} more in the report"))
    for warning in fitted.warnings:
        console.print(Text(f"warning: {warning}"), soft_wrap=True)


def _gap(fitted: GamModel) -> str:
    """Return what is proven of the fit, or why nothing is."""
    if fitted.gap is not None:
        return f"at most {100 * fitted.gap:.2f} %"
    reasons = {
        "loss": "there is no bound for this loss",
        "alpha": "there is no bound without a ridge (alpha)",
        "average": "an average of fits minimises no objective",
    }
    return f"unknown: {reasons.get(fitted.gap_reason or '', 'it was not asked for')}"


def _beside(fitted: GamModel, part: str) -> str:
    """Return what the baselines score on the same rows."""
    scores = {name: getattr(score, part) for name, score in fitted.baselines.items()}
    return f" ({', '.join(f'{name} {value:.6g}' for name, value in scores.items() if value is not None)})"


def _column_types(assignments: list[str] | tuple[str, ...]) -> dict[str, str]:
    types = {}
    for assignment in assignments:
        name, separator, kind = assignment.rpartition("=")
        if not separator or not name or kind not in COLUMN_TYPES:
            raise InvalidInput(f"--column takes name=type with the type {', '.join(COLUMN_TYPES)}, not {assignment!r}")
        types[name] = kind
    return types
