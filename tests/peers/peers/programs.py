"""Runs the suite's programs."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from peers.samples import Arrays, load_arrays

SECONDS = 300
REFUSED = 3


@dataclass(frozen=True)
class Run:
    """A finished program; a negative code is a signal, and `SECONDS` exceeded is one, too."""

    code: int
    text: str
    seconds: float

    @property
    def message(self) -> str:
        """The first lines that say what is wrong, or all."""
        lines = [
            line.strip()
            for line in self.text.splitlines()
            if line.strip() and "info:" not in line and "warning:" not in line
        ]
        return "; ".join(lines[:5])[:600] or f"exit code {self.code}"


class Programs:
    """nnvalidate, nnrun and nnconvert in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, program: str, *arguments: object) -> Run:
        begin = time.monotonic()
        try:
            done = subprocess.run(
                [self._folder / program, *map(str, arguments)],
                timeout=SECONDS,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            code, text = done.returncode, done.stderr + done.stdout
        except subprocess.TimeoutExpired:
            code, text = -9, f"longer than {SECONDS} s"
        return Run(code, text, time.monotonic() - begin)

    def run(
        self, model: Path, inputs: Path, output: Path, *arguments: object
    ) -> tuple[Run, Arrays]:
        """nnrun: the outputs in order, none if it failed."""
        output.unlink(missing_ok=True)
        done = self(
            "nnrun", model, "--inputs", inputs, "--output", output, "--threads", 1, *arguments
        )
        return done, load_arrays(output) if done.code == 0 else []
