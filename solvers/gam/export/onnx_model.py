"""The model as an ONNX graph in double precision.

Every shape function is one tree of a `TreeEnsemble` (ai.onnx.ml, opset 5): its root tests for a missing value, below it lies a binary
search. The leaves hold the scores, so contributions are exact.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.gam.additive_model import LARGEST_EXPONENT, AdditiveModel
from solvers.gam.shape_functions import ShapeFunction
from solvers.operation import InvalidInput

if TYPE_CHECKING:
    import onnx

OPSET = 18
TREE_OPSET = 5
IR_VERSION = 10
BRANCH_LEQ = 0

CODES = (
    "categorical columns hold codes: 0 missing, 1..B the level at that position of its list, anything else unseen; NaN is missing"
)


def to_onnx(model: AdditiveModel) -> bytes:
    """Return the model as an ONNX file.

    Returns
    -------
    bytes
        Input `X`, double, shape (N, D): the features in order, NaN where missing, categorical ones as codes; then the offset or
        exposure column, if the model has one. Outputs `contributions` (N, D), `decision` (N,) and, for a regression, `prediction` (N,),
        else `probabilities` (N, number of classes) and `label` (N,). With more than two classes the first two have one more axis, the
        classes. The decision holds the offset; an exposure multiplies the prediction alone, and counts as 1 where it is NaN.
        Metadata `inputs` (JSON) lists name, type and levels of each column.

    Raises
    ------
    InvalidInput
        If the model has no feature.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.5])
    >>> len(to_onnx(AdditiveModel("regression", "identity", [0.5], [[age]]))) > 500
    True
    """
    if not model.shapes:
        raise InvalidInput("a model without features has no ONNX form")
    content: bytes = _Graph(model).proto().SerializeToString(deterministic=True)
    return content


@dataclass
class _Trees:
    """The parallel lists that a `TreeEnsemble` is made of."""

    roots: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    children: dict[bool, list[int]] = field(default_factory=lambda: {True: [], False: []})
    is_leaf: dict[bool, list[int]] = field(default_factory=lambda: {True: [], False: []})
    leaf_targets: list[int] = field(default_factory=list)
    leaf_weights: list[float] = field(default_factory=list)

    def add(self, feature: int, target: int, thresholds: list[float], scores: list[float], missing: float) -> None:
        """Add the tree of a step function."""
        root = self._node(feature, np.inf)
        self.roots.append(root)
        # NaN fails every comparison, so it takes the branch that no number takes.
        self._leaf(root, False, target, missing)
        self._search(root, True, feature, target, thresholds, scores)

    def _search(
        self, parent: int, side: bool, feature: int, target: int, thresholds: Sequence[float], scores: Sequence[float]
    ) -> None:
        if len(scores) == 1:
            return self._leaf(parent, side, target, scores[0])
        middle = len(thresholds) // 2
        node = self._node(feature, thresholds[middle])
        self.children[side][parent], self.is_leaf[side][parent] = node, 0
        self._search(node, True, feature, target, thresholds[:middle], scores[: middle + 1])
        self._search(node, False, feature, target, thresholds[middle + 1 :], scores[middle + 1 :])
        return None

    def _node(self, feature: int, split: float) -> int:
        self.features.append(feature)
        self.splits.append(split)
        for side in (True, False):
            self.children[side].append(0)
            self.is_leaf[side].append(0)
        return len(self.features) - 1

    def _leaf(self, parent: int, side: bool, target: int, weight: float) -> None:
        self.children[side][parent], self.is_leaf[side][parent] = len(self.leaf_weights), 1
        self.leaf_targets.append(target)
        self.leaf_weights.append(weight)


def _intervals(shape: ShapeFunction, levels: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return thresholds and scores; those of the codes of `levels` lie half-way between them."""
    if shape.kind == "numeric":
        return shape.thresholds.tolist(), shape.scores.tolist()
    scores = shape.values(levels).tolist()
    return [code - 0.5 for code in range(len(levels) + 2)], [shape.unseen, shape.missing, *scores, shape.unseen]


def _levels(per_output: Sequence[ShapeFunction]) -> list[str]:
    """Return the levels that any output of a feature knows."""
    return list(dict.fromkeys(level for shape in per_output for level in shape.levels))


class _Graph:
    """The nodes of the graph, in order; `apply` adds one and returns the name of its output."""

    def __init__(self, model: AdditiveModel) -> None:
        import onnx

        self.onnx = onnx
        self.model = model
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def proto(self) -> onnx.ModelProto:
        model, helper, double = self.model, self.onnx.helper, self.onnx.TensorProto.DOUBLE
        per_class = [model.n_outputs] if model.link == "softmax" else []
        parts = self._contributions("contributions", [len(model.shapes), *per_class])
        self._decision("decision", parts)
        shapes: dict[str, list[Any]] = {"contributions": ["N", len(model.shapes), *per_class], "decision": ["N", *per_class]}
        if model.classes is None:
            self._mean("prediction", "decision")
            shapes["prediction"] = ["N"]
        else:
            self._probabilities("probabilities", "decision")
            shapes["probabilities"] = ["N", len(model.classes)]
        outputs = [helper.make_tensor_value_info(name, double, shape) for name, shape in shapes.items()]
        if model.classes is not None:
            outputs.append(helper.make_tensor_value_info("label", self._labels("label", "decision", model.classes), ["N"]))
        inputs = [helper.make_tensor_value_info("X", double, ["N", len(_inputs(model))])]
        graph = helper.make_graph(self.nodes, "stump_forest", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", TREE_OPSET)]
        proto: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="foresolve")
        helper.set_model_props(proto, {"inputs": json.dumps(_inputs(model)), "codes": CODES, "link": model.link})
        return proto

    def apply(self, operator: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any) -> str:
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def _contributions(self, output: str, dimensions: list[int]) -> str:
        trees = _Trees()
        for feature, per_output in enumerate(self.model.shapes):
            levels = _levels(per_output)
            for output_number, shape in enumerate(per_output):
                target = feature * self.model.n_outputs + output_number
                trees.add(feature, target, *_intervals(shape, levels), shape.missing)
        tensor = self.onnx.numpy_helper.from_array
        flat = self.apply(
            "TreeEnsemble",
            "X",
            domain="ai.onnx.ml",
            n_targets=len(self.model.shapes) * self.model.n_outputs,
            tree_roots=trees.roots,
            nodes_featureids=trees.features,
            nodes_splits=tensor(np.array(trees.splits), "splits"),
            nodes_modes=tensor(np.full(len(trees.splits), BRANCH_LEQ, dtype=np.uint8), "modes"),
            nodes_missing_value_tracks_true=[0] * len(trees.splits),
            nodes_truenodeids=trees.children[True],
            nodes_trueleafs=trees.is_leaf[True],
            nodes_falsenodeids=trees.children[False],
            nodes_falseleafs=trees.is_leaf[False],
            leaf_targetids=trees.leaf_targets,
            leaf_weights=tensor(np.array(trees.leaf_weights), "weights"),
        )
        return self.apply("Reshape", flat, self.constant(np.array([-1, *dimensions], dtype=np.int64)), output=output)

    def _decision(self, output: str, contributions: str) -> None:
        total = self.apply("ReduceSum", contributions, self.constant(np.array([1], dtype=np.int64)), keepdims=0)
        intercept = self.model.intercepts if self.model.link == "softmax" else self.model.intercepts[0]
        if self.model.offset is not None and self.model.offset.kind == "offset":
            axes = [1] if self.model.link == "softmax" else []
            offset = self._last_column()
            total = self.apply("Add", total, self.apply("Unsqueeze", offset, self.constant(np.array(axes, dtype=np.int64))))
        self.apply("Add", total, self.constant(intercept), output=output)

    def _last_column(self) -> str:
        return self.apply("Gather", "X", self.constant(np.int64(len(self.model.shapes))), axis=1)

    def _mean(self, output: str, decision: str) -> None:
        if self.model.link == "identity":
            self.apply("Identity", decision, output=output)
            return
        rate = self.apply("Exp", self._clipped(decision))
        one = self.constant(1.0)
        if self.model.offset is None or self.model.offset.kind == "offset":
            self.apply("Identity", rate, output=output)
            return
        exposure = self._last_column()
        known = self.apply("Where", self.apply("IsNaN", exposure), one, exposure)
        self.apply("Mul", rate, known, output=output)

    def _probabilities(self, output: str, decision: str) -> None:
        if self.model.link == "softmax":
            self.apply("Softmax", decision, axis=1, output=output)
            return
        # F of both classes as columns: exp(F) / (1 + exp(F)) keeps its digits on either side as 1 / (1 + exp(-F)).
        column = self.apply("Unsqueeze", self._clipped(decision), self.constant(np.array([1], dtype=np.int64)))
        both = self.apply("Mul", column, self.constant(np.array([[1.0, -1.0]])))
        one = self.constant(1.0)
        self.apply("Div", one, self.apply("Add", one, self.apply("Exp", both)), output=output)

    def _labels(self, output: str, decision: str, classes: tuple[Any, ...]) -> int:
        if self.model.link == "softmax":
            chosen = self.apply("ArgMax", decision, axis=1, keepdims=0)
        else:
            is_second = self.apply("Greater", decision, self.constant(0.0))
            chosen = self.apply("Cast", is_second, to=self.onnx.TensorProto.INT64)
        if all(type(label) is int and -(2**63) <= label < 2**63 for label in classes):
            self.apply("Gather", self.constant(np.array(classes, dtype=np.int64)), chosen, output=output)
            return self.onnx.TensorProto.INT64
        texts = np.array([str(label) for label in classes], dtype=object)
        self.apply("Gather", self.constant(texts), chosen, output=output)
        return self.onnx.TensorProto.STRING

    def _clipped(self, decision: str) -> str:
        return self.apply("Clip", decision, self.constant(-LARGEST_EXPONENT), self.constant(LARGEST_EXPONENT))


def _inputs(model: AdditiveModel) -> list[dict[str, Any]]:
    columns: list[dict[str, Any]] = []
    for per_output in model.shapes:
        columns.append({"name": per_output[0].name, "type": per_output[0].kind})
        if per_output[0].kind == "categorical":
            columns[-1]["levels"] = _levels(per_output)
    if model.offset is not None:
        columns.append({"name": model.offset.column, "type": model.offset.kind})
    return columns
