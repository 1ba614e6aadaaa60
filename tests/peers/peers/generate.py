"""Generates the samples of one set: python -m peers.generate SET FOLDER [--only PATTERN].

One process a set, because the frameworks do not all work in one process. A sample that exists is
kept; a recipe that fails is recorded in `FOLDER/failed.jsonl`, because exporters have limits, too.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import shutil
import signal
import sys
import warnings
import zlib
from pathlib import Path
from types import FrameType

import numpy as np

from peers.samples import Recipe

SECONDS_PER_RECIPE = 180


class TooSlow(Exception):
    """A recipe that exceeds its time."""


def _on_alarm(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow(f"longer than {SECONDS_PER_RECIPE} s")


def _record(failed: Path, name: str, reason: str) -> None:
    with failed.open("a") as out:
        out.write(json.dumps({"name": name, "reason": reason}) + "\n")


def _make(recipe: Recipe, folder: Path) -> None:
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    random = np.random.default_rng(zlib.crc32(recipe.name.encode()))
    signal.alarm(SECONDS_PER_RECIPE)
    try:
        recipe.make(partial, random).store(recipe.name, partial)
    finally:
        signal.alarm(0)
    partial.rename(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="*")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGALRM, _on_alarm)
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = options.folder / "failed.jsonl"
    for crashed in options.folder.glob("*.partial"):
        _record(failed, crashed.stem, "the exporter crashed")
        shutil.rmtree(crashed)
    known = set(failed.read_text().splitlines()) if failed.exists() else set()
    names = {json.loads(line)["name"] for line in known}
    recipes: list[Recipe] = importlib.import_module(f"sets.{options.set}").recipes()
    for recipe in recipes:
        folder = options.folder / recipe.name
        if (
            not fnmatch.fnmatch(recipe.name, options.only)
            or folder.exists()
            or recipe.name in names
        ):
            continue
        try:
            _make(recipe, folder)
        except (Exception, SystemExit) as error:  # pylint: disable=broad-exception-caught
            reason = f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]
            _record(failed, recipe.name, reason)
            shutil.rmtree(folder.with_name(folder.name + ".partial"), ignore_errors=True)
    print(
        f"{options.set}: {sum(1 for _ in options.folder.glob('*/sample.json'))} models",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
