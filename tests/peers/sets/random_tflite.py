"""Random TensorFlow Lite graphs, every third with NaN, infinities and the limits of integers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from peers.samples import Made, Recipe
from sets.random_flat import Graph
from sets.random_flat_arrays import RULES as ARRAYS
from sets.random_flat_layers import RULES as LAYERS

COUNT = int(os.environ.get("PEERS_RANDOM", "200"))
OPERATORS = 6
RULES = (*LAYERS, *ARRAYS)


def make_graph(random: np.random.Generator, special: bool) -> Graph:
    graph = Graph(random, special)
    count = graph.integer(1, OPERATORS + 1)
    for _ in range(count):
        graph.pick(RULES)(graph)
    while not graph.inputs or not graph.operators:
        graph.pick(RULES)(graph)
    return graph


def _recipe(number: int) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        special = number % 3 == 2
        graph = make_graph(random, special)
        (folder / "model.tflite").write_bytes(graph.pack())
        traits = ["random", *(["integer"] if graph.integers else [])]
        return Made("model.tflite", graph.inputs, traits + ["special"] * special)

    return Recipe(f"g{number:05}", make)


def recipes() -> list[Recipe]:
    return [_recipe(number) for number in range(COUNT)]
