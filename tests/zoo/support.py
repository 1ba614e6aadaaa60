"""What the tests share."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from typing import Any

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
ZOO = SOURCE / "scripts" / "zoo"
BIN = pathlib.Path(os.environ.get("NN_BIN_DIR", SOURCE / "build/bin"))
sys.path.insert(0, str(ZOO))


class FolderTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zoo-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name: str, text: str, mode: int = 0o644) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path


def row(name: str, **members: Any) -> dict[str, Any]:
    """A row of a report whose steps are all ok, unless a member says otherwise."""
    from nnzoo.rows import status_of
    if "failure" in members:
        return {"name": name, "sha256": "0" * 64, "license": "", "key": "1" * 64, **members,
                "status": "failure"}
    run = {"outcome": "ok", "digest": "sha256:0", "outputs": ["sha256:1"]}
    value = {
        "name": name, "sha256": "0" * 64, "license": "", "key": "1" * 64, "bytes": 10,
        "inspect": {"outcome": "ok"}, "validate": {"outcome": "ok", "rules": {}},
        "model": {"format": "ONNX", "format_version": "", "producer": "", "parameters": 3,
                  "multiply_adds": 4, "operators": {"Conv": 2, "Relu": 1}},
        "unsupported": [], "run": run,
        "targets": {"NNAPI": {"outcome": "converted", "verification": "identical", "run": run,
                              "digests": "equal", "bytes": 9, "files": []}},
        **members,
    }
    value["status"] = status_of(value)
    return value
