"""Clients of the owners' processes; a process that crashes or hangs is started again."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from peers.samples import Arrays, load_arrays

SECONDS = 120


class OwnerError(Exception):
    """The owner does not load or run a model."""


class Owner:
    """One owner's process, started at the first request."""

    def __init__(self, kind: str, scratch: Path) -> None:
        self._kind, self._scratch = kind, scratch
        self._process: subprocess.Popen[str] | None = None

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "peers.worker", self._kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._process

    def _ask(self, **request: Any) -> dict[str, Any]:
        process = self._start()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request, default=str) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], SECONDS)[0]:
            self.close()
            raise OwnerError(f"longer than {SECONDS} s")
        line = process.stdout.readline()
        if not line:
            raise OwnerError(f"crashed (exit code {process.wait()})")
        answer: dict[str, Any] = json.loads(line)
        if answer["error"] is not None:
            raise OwnerError(answer["error"])
        return answer

    def check(self, model: Path, *, contrib: bool = False) -> None:
        """Raises OwnerError if the owner's own checks reject the model."""
        self._ask(action="check", model=model, contrib=contrib)

    def run(self, model: Path, inputs: Path, variant: str = "") -> Arrays:
        outputs = self._scratch / f"{self._kind}-out.npz"
        self._ask(action="run", model=model, inputs=inputs, outputs=outputs, variant=variant)
        return load_arrays(outputs)

    def write_tail(self, model: Path, tail: Path) -> str:
        return str(self._ask(action="tail", model=model, outputs=tail)["connect"])

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


class Owners:
    """The owners of all formats."""

    def __init__(self, scratch: Path) -> None:
        self._owners = {kind: Owner(kind, scratch) for kind in ("onnx", "tflite", "coreml")}

    def __getitem__(self, kind: str) -> Owner:
        """Core ML's kinds of models have one owner."""
        return self._owners["coreml" if kind == "program" else kind]

    def __enter__(self) -> Owners:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for owner in self._owners.values():
            owner.close()
