"""ONNX: a tree as a model that any runtime of ONNX executes, in double precision."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tripletree import __version__
from tripletree.errors import MissingDependencyError, ParameterError
from tripletree.export.program import Part, Program, program
from tripletree.model.fitted import Fitted

OPSET, OPSET_ML, IR = 17, 3, 8
"""Versions of the operators, of those for trees (the first one with doubles), and of the file: of 2022."""
MOST_LEAVES = 2**24
"""The operator for trees gives the leaf's number as a float, which cannot tell more apart."""


def to_onnx(fitted: Fitted, *, about: Any = None, leaf_model: Any = None) -> Any:
    """Return a tree as an ONNX model, from ``state`` to ``action``, ``scores``, ``value``, ``derivative`` and ``leaf``.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str or None
        What it predicts, such as "action"; None: all that the tree knows.
    leaf_model : {"mean", "linear"} or None
        What leaves predict; None: as the tree itself.

    Returns
    -------
    onnx.ModelProto
    """
    try:
        import onnx
    except ImportError:
        raise MissingDependencyError('This needs the package onnx. Type: pip install "tripletree[onnx]"') from None
    made = program(fitted, about=about, leaf_model=leaf_model)
    if len(made.centre) > MOST_LEAVES:
        raise ParameterError(f"ONNX has room for {MOST_LEAVES:,} leaves; this tree has {len(made.centre):,}.")
    graph = _Graph(onnx)
    graph.add("TreeEnsembleRegressor", ["state"], "leaf_float", domain="ai.onnx.ml", **_walk(made, graph))
    graph.add("Cast", ["leaf_float"], "leaf_column", to=onnx.TensorProto.INT64)
    graph.add("Reshape", ["leaf_column", graph.constant("flat", np.array([-1]))], "leaf")
    if made.slopes is not None:
        graph.add("Gather", [graph.constant("origins", made.slopes.origin), "leaf"], "origin")
        graph.add("Sub", ["state", "origin"], "away_flat")
        graph.add("Unsqueeze", ["away_flat", graph.constant("one", np.array([1]))], "away")
    outputs: list[Any] = []
    for part in made.parts:
        outputs += _part(graph, made, part)
    # Last: whoever looks for an action takes the first output that can be one.
    outputs.append(graph.output("leaf", onnx.TensorProto.INT64))
    state = onnx.helper.make_tensor_value_info(
        "state", onnx.TensorProto.DOUBLE, ["states", len(fitted.schema.features)]
    )
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "tree", [state], outputs, graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", OPSET_ML)],
        ir_version=IR,
        producer_name="tripletree",
        producer_version=__version__,
    )
    told = {part.kind: list(part.names) for part in made.parts if part.kind != "value"}
    said = {"features": list(fitted.schema.feature_names), **told}
    onnx.helper.set_model_props(model, {name: json.dumps(names) for name, names in said.items()})
    return model


class _Graph:
    """The nodes and constants of a model while it is made."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, inputs: list[str], output: str, **options: Any) -> str:
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [output], **options))
        return output

    def constant(self, name: str, values: Any) -> str:
        self.constants.append(self.tensor(name, values))
        return name

    def tensor(self, name: str, values: Any) -> Any:
        return self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)

    def output(self, name: str, kind: int, *columns: int) -> Any:
        return self.onnx.helper.make_tensor_value_info(name, kind, ["states", *columns])


def _walk(made: Program, graph: _Graph) -> dict[str, Any]:
    """Return the tree as attributes of its operator: splits come first, then the leaves from left to right."""
    splits, leaves = len(made.feature), len(made.centre)
    to = np.where(made.child < 0, splits - 1 - made.child, made.child)
    none, nodes = [0] * leaves, splits + leaves
    return {
        "n_targets": 1,
        "nodes_treeids": [0] * nodes,
        "nodes_nodeids": list(range(nodes)),
        "nodes_featureids": made.feature.tolist() + none,
        "nodes_modes": ["BRANCH_LT"] * splits + ["LEAF"] * leaves,
        "nodes_values_as_tensor": graph.tensor("thresholds", np.append(made.threshold, np.zeros(leaves))),
        "nodes_truenodeids": to[:, 0].tolist() + none,
        "nodes_falsenodeids": to[:, 1].tolist() + none,
        # NaN is not >= any threshold either.
        "nodes_missing_value_tracks_true": [1] * splits + none,
        "target_treeids": none,
        "target_nodeids": list(range(splits, nodes)),
        "target_ids": none,
        "target_weights_as_tensor": graph.tensor("leaves", np.arange(leaves, dtype=np.float64)),
    }


def _part(graph: _Graph, made: Program, part: Part) -> list[Any]:
    """Add the nodes that predict one part, and no other, so that a runtime need not do the rest; return its outputs."""
    kinds, size = graph.onnx.TensorProto, part.last - part.first
    table = "scores" if part.labels else f"{part.kind}_column" if part.kind == "value" else part.kind

    def looked_up(name: str, values: Any) -> str:
        found = graph.add(
            "Gather",
            [graph.constant(f"{table}_{name}s", values[:, part.first : part.last]), "leaf"],
            f"{table}_{name}_as_is",
        )
        return graph.add("Cast", [found], f"{table}_{name}", to=kinds.DOUBLE)

    if made.slopes is None:
        graph.add("Gather", [graph.constant(f"{table}_means", made.centre[:, part.first : part.last]), "leaf"], table)
    else:
        centre = looked_up("centre", made.centre)
        added = graph.add("Mul", [looked_up("slope", made.slopes.slope), "away"], f"{table}_terms")
        last = graph.constant(f"{table}_last", np.array([2]))
        added = graph.add("ReduceSum", [added, last], f"{table}_added", keepdims=0)
        told = graph.add("Add", [centre, added], f"{table}_told")
        told = graph.add("Max", [told, looked_up("low", made.slopes.low)], f"{table}_raised")
        graph.add("Min", [told, looked_up("high", made.slopes.high)], table)
    if part.labels:
        graph.add("ArgMax", [table], "action", axis=1, keepdims=0)
        return [graph.output("action", kinds.INT64), graph.output(table, kinds.DOUBLE, size)]
    if part.kind == "value":
        graph.add("Reshape", [table, "flat"], "value")
        return [graph.output("value", kinds.DOUBLE)]
    return [graph.output(table, kinds.DOUBLE, size)]
