"""Detectors of Ultralytics with random weights, by their own exporter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ultralytics import YOLO
from ultralytics.utils import SETTINGS

from peers.samples import Made, Recipe

SIZE = 160
SETTINGS["sync"] = False
# Names end with the scale, "n" for the smallest networks.
NETWORKS: dict[str, dict[str, Any]] = {
    "yolov3-tiny": {},
    "yolov5n": {"opset": 12},
    "yolov6n": {},
    "yolov8n": {"dynamic": True},
    "yolov8n-seg": {"opset": 13},
    "yolov8n-pose": {},
    "yolov8n-obb": {},
    "yolov8n-cls": {"dynamic": True, "simplify": False},
    "yolov8n-ghost": {},
    "yolov8n-p2": {},
    "yolov8n-rtdetr": {"opset": 16},
    "yolov8s-worldv2": {},
    "yolov9t": {"opset": 11},
    "yolov10n": {},
    "yolo11n": {"nms": True},
    "yolo11n-seg": {"dynamic": True},
    "yolo11n-pose": {"nms": True},
    "yolo11n-obb": {},
    "yolo12n": {"simplify": False},
    "yolo26n": {},
    "yolo26n-seg": {},
    "yolo26n-pose": {"dynamic": True},
    "rtdetr-resnet50": {"opset": 17},
}


def _recipe(name: str, settings: dict[str, Any]) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        torch.manual_seed(7)
        before = Path.cwd()
        os.chdir(folder)
        try:
            path = Path(YOLO(f"{name}.yaml").export(format="onnx", imgsz=SIZE, **settings))
            path.rename(folder / "model.onnx")
        finally:
            os.chdir(before)
        picture = random.random((1, 3, SIZE, SIZE), np.float32)
        traits = ["picture", *(["dynamic"] if settings.get("dynamic") else [])]
        return Made("model.onnx", {"images": picture}, traits)

    return Recipe(name, make)


def recipes() -> list[Recipe]:
    """A recipe for each network; options of the exporter take turns."""
    return [_recipe(name, settings) for name, settings in NETWORKS.items()]
