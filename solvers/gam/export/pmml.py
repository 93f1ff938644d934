"""The model as PMML 4.4: a regression on derived fields, one for each shape function."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.export.output_names import OutputNames, output_names
from solvers.gam.export.writable_names import require_writable
from solvers.gam.shape_functions import ShapeFunction

NAMESPACE = "http://www.dmg.org/PMML-4_4"
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 has no way to write these
NORMALISATION = {"identity": "none", "log": "exp", "logit": "logit", "softmax": "softmax"}


def to_pmml(model: AdditiveModel) -> str:
    """Return the model as a PMML 4.4 document.

    Returns
    -------
    str
        Its outputs are `prediction`, `p_<class>`, `decision` and `f_<feature>`. Absent and NaN inputs are missing values. The decision
        holds the offset; an exposure multiplies the prediction alone, and counts as 1 where it is missing. The links are those of the
        standard: exp and softmax overflow where a decision exceeds 700.

    Raises
    ------
    InvalidInput
        If a name or level holds a character that XML cannot write.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.5])
    >>> '<DiscretizeBin binValue="2.0">' in to_pmml(AdditiveModel("regression", "identity", [0.5], [[age]]))
    True
    """
    require_writable(model, UNWRITABLE, "XML")
    names = output_names(model)
    root = Element("PMML", version="4.4", xmlns=NAMESPACE)
    SubElement(SubElement(root, "Header"), "Application", name="Foresolve")
    _add_data_dictionary(root, model, names)
    regression = SubElement(
        root,
        "RegressionModel",
        functionName=model.task,
        algorithmName="stump forest",
        normalizationMethod=NORMALISATION[model.link],
    )
    _add_mining_schema(regression, model, names)
    _add_output(regression, model, names)
    _add_derived_fields(regression, model, names)
    _add_regression_tables(regression, model, names)
    indent(root)
    # A parser turns a bare carriage return into a line feed.
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode").replace("\r", "&#13;") + "\n"


def _add_data_dictionary(root: Element, model: AdditiveModel, names: OutputNames) -> None:
    dictionary = SubElement(root, "DataDictionary")
    for name, per_output in zip(model.feature_names, model.shapes, strict=True):
        if per_output[0].kind == "numeric":
            SubElement(dictionary, "DataField", name=name, optype="continuous", dataType="double")
        else:
            SubElement(dictionary, "DataField", name=name, optype="categorical", dataType="string")
    if model.offset is not None:
        SubElement(dictionary, "DataField", name=model.offset.column, optype="continuous", dataType="double")
    target = _target(names)
    if model.classes is None:
        SubElement(dictionary, "DataField", name=target, optype="continuous", dataType="double")
    else:
        field = SubElement(dictionary, "DataField", name=target, optype="categorical", dataType=_label_type(model.classes))
        for label in model.classes:
            SubElement(field, "Value", value=str(label))


def _label_type(classes: tuple[Any, ...]) -> str:
    kinds = set(map(type, classes))
    return "integer" if kinds == {int} else "double" if kinds == {float} else "string"


def _target(names: OutputNames) -> str:
    return f"{names.prediction}_target"


def _add_mining_schema(regression: Element, model: AdditiveModel, names: OutputNames) -> None:
    schema = SubElement(regression, "MiningSchema")
    SubElement(schema, "MiningField", name=_target(names), usageType="target")
    offset = [] if model.offset is None else [model.offset.column]
    for name in (*model.feature_names, *offset):
        SubElement(schema, "MiningField", name=name, invalidValueTreatment="asIs")


def _add_output(regression: Element, model: AdditiveModel, names: OutputNames) -> None:
    output = SubElement(regression, "Output")
    if model.classes is None:
        SubElement(output, "OutputField", name=names.prediction, feature="predictedValue", optype="continuous", dataType="double")
    else:
        kind = _label_type(model.classes)
        SubElement(output, "OutputField", name=names.prediction, feature="predictedValue", optype="categorical", dataType=kind)
    for name, label in zip(names.probabilities, model.classes or (), strict=True):
        SubElement(
            output, "OutputField", name=name, feature="probability", value=str(label), optype="continuous", dataType="double"
        )
    for number, name in enumerate(names.decisions):
        terms = SubElement(_transformed(output, name), "Apply", function="sum")
        SubElement(terms, "Constant", dataType="double").text = repr(float(model.intercepts[number]))
        for per_output in names.contributions:
            SubElement(terms, "FieldRef", field=_derived(per_output[number]))
        if model.offset is not None and model.offset.kind == "offset":
            SubElement(terms, "FieldRef", field=model.offset.column)
    for per_output in names.contributions:
        for name in per_output:
            SubElement(_transformed(output, name), "FieldRef", field=_derived(name))


def _transformed(output: Element, name: str) -> Element:
    return SubElement(output, "OutputField", name=name, feature="transformedValue", optype="continuous", dataType="double")


def _derived(contribution: str) -> str:
    return f"score_of_{contribution}"


def _add_derived_fields(regression: Element, model: AdditiveModel, names: OutputNames) -> None:
    transformations = SubElement(regression, "LocalTransformations")
    for per_output, contributions in zip(model.shapes, names.contributions, strict=True):
        for shape, name in zip(per_output, contributions, strict=True):
            field = SubElement(transformations, "DerivedField", name=_derived(name), optype="continuous", dataType="double")
            (_add_intervals if shape.kind == "numeric" else _add_levels)(field, shape)
    if model.offset is not None and model.offset.kind == "exposure":
        field = SubElement(transformations, "DerivedField", name=_exposure(names), optype="continuous", dataType="double")
        SubElement(SubElement(field, "Apply", function="ln", mapMissingTo="0"), "FieldRef", field=model.offset.column)


def _exposure(names: OutputNames) -> str:
    return f"{names.prediction}_log_exposure"


def _add_intervals(field: Element, shape: ShapeFunction) -> None:
    missing = repr(shape.missing)
    discretize = SubElement(field, "Discretize", field=shape.name, dataType="double", mapMissingTo=missing, defaultValue=missing)
    margins = [None, *shape.thresholds.tolist(), None]
    for left, right, score in zip(margins, margins[1:], shape.scores.tolist(), strict=False):
        interval = SubElement(SubElement(discretize, "DiscretizeBin", binValue=repr(score)), "Interval")
        interval.set("closure", "openOpen" if right is None else "openClosed")
        if left is not None:
            interval.set("leftMargin", repr(left))
        if right is not None:
            interval.set("rightMargin", repr(right))


def _add_levels(field: Element, shape: ShapeFunction) -> None:
    values = SubElement(
        field,
        "MapValues",
        outputColumn="score",
        dataType="double",
        mapMissingTo=repr(shape.missing),
        defaultValue=repr(shape.unseen),
    )
    SubElement(values, "FieldColumnPair", field=shape.name, column="level")
    table = SubElement(values, "InlineTable")
    for level, score in zip(shape.levels, shape.scores.tolist(), strict=True):
        row = SubElement(table, "row")
        SubElement(row, "level").text = level
        SubElement(row, "score").text = repr(score)


def _add_regression_tables(regression: Element, model: AdditiveModel, names: OutputNames) -> None:
    tables: list[tuple[int, dict[str, str]]] = [(0, {})]
    if model.link == "logit" and model.classes is not None:
        tables = [(0, {"targetCategory": str(model.classes[1])})]
    if model.link == "softmax" and model.classes is not None:
        tables = [(number, {"targetCategory": str(label)}) for number, label in enumerate(model.classes)]
    for number, category in tables:
        table = SubElement(regression, "RegressionTable", category, intercept=repr(float(model.intercepts[number])))
        for per_output in names.contributions:
            SubElement(table, "NumericPredictor", name=_derived(per_output[number]), coefficient="1")
        if model.offset is not None:
            term = model.offset.column if model.offset.kind == "offset" else _exposure(names)
            SubElement(table, "NumericPredictor", name=term, coefficient="1")
    if model.link == "logit" and model.classes is not None:
        SubElement(regression, "RegressionTable", targetCategory=str(model.classes[0]), intercept="0")
