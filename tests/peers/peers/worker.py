"""A process that loads and runs models of one owner: python -m peers.worker OWNER.

Requests and answers are lines of JSON. A request has `action` (`check`, `run` or `tail`), `model`,
and for `run` `inputs` and `outputs` (archives); the answer has `error`, which is null on success.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from peers.samples import load_arrays, save_arrays


def _answer(owner: Any, request: dict[str, Any]) -> dict[str, Any]:
    model = Path(request["model"])
    if request["action"] == "check":
        owner.check(model, contrib=request.get("contrib", False))
    elif request["action"] == "tail":
        return {"error": None, "connect": owner.write_tail(model, Path(request["outputs"]))}
    else:
        arrays = owner.run(model, load_arrays(Path(request["inputs"])), request.get("variant", ""))
        save_arrays(Path(request["outputs"]), arrays, "out")
    return {"error": None}


def main() -> int:
    owner = importlib.import_module(f"peers.owner_{sys.argv[1]}")
    answers = os.fdopen(os.dup(1), "w")  # owners print to standard output, too
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = _answer(owner, json.loads(line))
        except Exception as error:  # pylint: disable=broad-exception-caught
            text = " ".join(str(error).split())
            answer = {"error": f"{type(error).__name__}: {text[:400]}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
