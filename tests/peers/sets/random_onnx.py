"""Random ONNX graphs, every third with NaN, infinities, denormals and the limits of integers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx

from peers.samples import Made, Recipe
from sets.random_rules import make_graph

COUNT = int(os.environ.get("PEERS_RANDOM", "200"))
OPERATORS = 10


def _recipe(number: int) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        special = number % 3 == 2
        graph = make_graph(random, OPERATORS, special)
        onnx.save(graph.model(), str(folder / "model.onnx"))
        traits = ["random"]
        traits += ["special"] if special else []
        traits += ["quantized"] if graph.quantized else []
        return Made("model.onnx", graph.inputs, traits)

    return Recipe(f"g{number:05}", make)


def recipes() -> list[Recipe]:
    return [_recipe(number) for number in range(COUNT)]
