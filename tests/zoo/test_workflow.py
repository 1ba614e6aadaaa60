"""zoo with Snakemake on small models of the project, on local cores."""
import fcntl
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from typing import Any

from support import BIN, SOURCE, ZOO, FolderTest
from nnzoo.manifest import sha256_of
from nnzoo.programs import NAMES

REPORTS = ("models.jsonl", "coverage.json", "junit.xml", "index.html")
# Models and their status.
MODELS = {
    "golden/cnn.onnx": "ok",
    "golden/mobile_quant.tflite": "refused",
    "golden/superres.mlmodel": "ok",
    "golden/squeeze.nnapi": "ok",
    "tests/cases/onnx/good.onnx": "ok",
    "tests/cases/onnx/truncated.onnx": "invalid",
    "tests/cases/onnx/operator_unknown.onnx": "invalid",
    "tests/cases/onnx/operator_of_other_domain.onnx": "refused",
    "tests/cases/tflite/good.tflite": "ok",
    "tests/cases/tflite/cycle.tflite": "invalid",
    "tests/cases/nnapi/good.nnapi.json": "ok",
    "tests/cases/nnapi/wrong_shape.nnapi.json": "invalid",
}


def line_of(file: str, **members: Any) -> dict[str, Any]:
    batch = {"batch": 1} if file == "golden/cnn.onnx" else {}
    return {"name": file, "path": str(SOURCE / file), "sha256": sha256_of(SOURCE / file),
            "license": "Apache-2.0", **batch, **members}


def write_manifest(path: pathlib.Path, *more: dict[str, Any]) -> pathlib.Path:
    lines = [line_of(name) for name in MODELS] + list(more)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def examine(manifest: pathlib.Path, folder: pathlib.Path, *options: str,
            programs: pathlib.Path = BIN) -> "subprocess.CompletedProcess[str]":
    """In a session of its own, so that a test may kill all of it."""
    return subprocess.run([ZOO / "zoo", "examine", manifest, "-o", folder, "--bin", programs,
                           "--cores=2", "--batch-seconds=1", *options], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def rows(folder: pathlib.Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "report" / "models.jsonl").read_text().splitlines()
    return {row["name"]: row for row in map(json.loads, lines[1:])}


@unittest.skipUnless(shutil.which("snakemake"), "snakemake is not installed: scripts/setup zoo")
class WorkflowTest(FolderTest):
    reference: pathlib.Path  # a finished run
    manifest: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="zoo-test-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.reference = folder / "run"
        cls.manifest = write_manifest(folder / "all.jsonl")
        result = examine(cls.manifest, cls.reference)
        assert result.returncode == 0, result.stdout

    def wrappers(self, name: str, script: str) -> pathlib.Path:
        """The programs, one of them with a script before it. $STATE names a file that exists until
        the test or the script removes it."""
        (self.folder / "state").touch()
        for program in NAMES:
            before = script if program == name else ""
            self.write(f"bin/{program}", f"#!/bin/bash\nSTATE={self.folder}/state\n{before}\n"
                       f'exec {BIN / program} "$@"\n', 0o755)
        return self.folder / "bin"

    def assert_same_report(self, folder: pathlib.Path) -> None:
        for name in REPORTS:
            self.assertEqual((folder / "report" / name).read_bytes(),
                             (self.reference / "report" / name).read_bytes(), name)

    def test_report(self) -> None:
        found = rows(self.reference)
        self.assertEqual({name: row["status"] for name, row in found.items()}, MODELS)
        cnn = found["golden/cnn.onnx"]
        digest = subprocess.run([BIN / "nnrun", SOURCE / "golden/cnn.onnx", "--seed=0", "--digest"],
                                check=True, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL).stdout.strip()
        self.assertEqual(cnn["run"]["digest"], digest)
        self.assertEqual(cnn["model"]["operators"]["Conv"], 5)
        self.assertEqual(cnn["bytes"], (SOURCE / "golden/cnn.onnx").stat().st_size)
        self.assertEqual({name: (target["outcome"], target["digests"])
                          for name, target in cnn["targets"].items()},
                         {"Core ML": ("converted", "equal"), "NNAPI": ("converted", "interface"),
                          "TensorFlow Lite": ("converted", "equal")})
        good = found["tests/cases/onnx/good.onnx"]
        self.assertEqual(good["targets"]["NNAPI"]["digests"], "equal")
        quantized = found["golden/mobile_quant.tflite"]["targets"]
        self.assertEqual(quantized["Core ML"]["unsupported"],
                         [{"operator": "dequantize", "reason": "Core ML has no dequantize layer",
                           "count": 8},
                          {"operator": "quantize", "reason": "Core ML has no quantized values",
                           "count": 8}])
        self.assertEqual(quantized["ONNX"]["digests"], "equal")
        truncated = found["tests/cases/onnx/truncated.onnx"]
        self.assertIn("ONNX-FILE-001", truncated["validate"]["rules"])
        suites = xml.etree.ElementTree.parse(self.reference / "report" / "junit.xml").getroot()
        self.assertEqual(len(suites), len(MODELS))
        coverage = json.loads((self.reference / "report" / "coverage.json").read_text())
        self.assertIn("Core ML has no quantized values",
                      "".join(reason["reason"] for reason in coverage["reasons"]))
        self.assertGreater(len(list((self.reference / "plan").iterdir())), 1)

    def test_finished_jobs_are_not_repeated(self) -> None:
        before = {p: p.stat().st_mtime_ns for p in (self.reference / "batches").iterdir()}
        report = {name: (self.reference / "report" / name).read_bytes() for name in REPORTS}
        self.assertEqual(examine(self.manifest, self.reference).returncode, 0)
        self.assertEqual(before, {p: p.stat().st_mtime_ns
                                  for p in (self.reference / "batches").iterdir()})
        self.assertEqual(report, {name: (self.reference / "report" / name).read_bytes()
                                  for name in REPORTS})

    def test_shards_share_results_and_merge(self) -> None:
        cache = f"--cache={self.reference / 'cache'}"
        for index in (1, 2):
            result = examine(self.manifest, self.folder / str(index), f"--shard={index}/2", cache)
            self.assertEqual(result.returncode, 0, result.stdout)
            times = json.loads((self.folder / str(index) / "times.json").read_text())
            self.assertEqual(times, {}, "models were examined again")
        self.assertEqual(len(rows(self.folder / "1")) + len(rows(self.folder / "2")), len(MODELS))
        subprocess.run([ZOO / "zoo", "merge", self.folder / "1", self.folder / "2", "-o",
                        self.folder / "merged"], check=True, stdout=subprocess.DEVNULL)
        self.assert_same_report(self.folder / "merged")

    def test_a_killed_job_is_repeated(self) -> None:
        programs = self.wrappers("nnvalidate", '[ "$1" = --version ] || ! rm "$STATE" 2>/dev/null '
                                 "|| kill -KILL $PPID")
        result = examine(self.manifest, self.folder / "run", programs=programs)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertFalse((self.folder / "state").exists())
        self.assert_same_report(self.folder / "run")

    def test_a_killed_run_continues(self) -> None:
        # All processes of the session, after the first model.
        programs = self.wrappers("nnvalidate", f"if ls {self.folder}/run/cache/*/*.json "
                                 '>/dev/null 2>&1 && rm "$STATE"; then kill -KILL 0; fi')
        result = examine(self.manifest, self.folder / "run", programs=programs)
        self.assertLess(result.returncode, 0)
        self.assertFalse((self.folder / "state").exists())
        finished = {p: p.stat().st_mtime_ns for p in (self.folder / "run/cache").glob("*/*.json")}
        self.assertTrue(0 < len(finished) < len(MODELS))
        result = examine(self.manifest, self.folder / "run", programs=programs)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assert_same_report(self.folder / "run")
        self.assertEqual(finished, {p: p.stat().st_mtime_ns for p in finished})

    def test_a_full_disk_fails_no_model(self) -> None:
        programs = self.wrappers("nnconvert", '''if [ -e "$STATE" ] && [ "$1" != --version ]; then
            echo "nnconvert: error: $2: No space left on device" >&2; exit 2; fi''')
        result = examine(self.manifest, self.folder / "run", "--retries=1", programs=programs)
        self.assertEqual(result.returncode, 1, result.stdout)
        found = rows(self.folder / "run")
        self.assertEqual(found["golden/cnn.onnx"]["failure"],
                         "nnconvert: converted.tflite: No space left on device")
        self.assertEqual(found["tests/cases/onnx/truncated.onnx"]["status"], "invalid")
        (self.folder / "state").unlink()
        result = examine(self.manifest, self.folder / "run", "--retries=1", programs=programs)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assert_same_report(self.folder / "run")

    def test_sources_that_fail_do_not_stop_others(self) -> None:
        sources = {"missing": "tests/cases/onnx/graph_unnamed.onnx",
                   "other": "tests/cases/onnx/optional_left_out.onnx"}
        manifest = write_manifest(self.folder / "all.jsonl", *(
            line_of(file, name=name, path=str(self.folder / f"{name}.onnx"))
            for name, file in sources.items()))
        shutil.copy(SOURCE / "golden/cnn.onnx", self.folder / "other.onnx")
        result = examine(manifest, self.folder / "run")
        self.assertEqual(result.returncode, 1, result.stdout)
        found = rows(self.folder / "run")
        self.assertEqual({name: row["status"] for name, row in found.items()},
                         {**MODELS, "missing": "failure", "other": "failure"})
        self.assertIn("missing.onnx: No such file or directory", found["missing"]["failure"])
        self.assertIn("not that of the manifest", found["other"]["failure"])
        # The same command examines them when they are there.
        for name, file in sources.items():
            shutil.copy(SOURCE / file, self.folder / f"{name}.onnx")
        result = examine(manifest, self.folder / "run")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual({name: row["run"]["outcome"] for name, row in
                          rows(self.folder / "run").items() if name in sources},
                         {"missing": "ok", "other": "ok"})

    def test_a_crash_is_a_defect(self) -> None:
        programs = self.wrappers("nnrun", '[ "$1" != converted.tflite ] || kill -SEGV $$')
        result = examine(self.manifest, self.folder / "run", programs=programs)
        self.assertEqual(result.returncode, 1, result.stdout)
        found = rows(self.folder / "run")
        self.assertEqual(found["golden/cnn.onnx"]["status"], "defect")
        self.assertEqual(found["golden/cnn.onnx"]["targets"]["TensorFlow Lite"]["run"],
                         {"outcome": "crash", "reason": "killed by SIGSEGV"})
        self.assertEqual(found["tests/cases/tflite/good.tflite"]["status"], "ok")

    def test_one_run_at_a_time_works_in_a_folder(self) -> None:
        with open(self.write("run/.lock", ""), encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            result = examine(self.manifest, self.folder / "run")
        self.assertEqual(result.returncode, 2)
        self.assertIn("another zoo examine works in this folder", result.stdout)

    def test_options_of_snakemake(self) -> None:
        result = examine(self.manifest, self.folder / "run", "--", "--dry-run")
        self.assertEqual(result.returncode, 2)
        self.assertIn("This was a dry-run", result.stdout)
        self.assertIn(" jobs did not finish", result.stdout)

    def test_usage(self) -> None:
        for options, message in ((["--to=foo"], 'unknown format "foo"'), (["--shard=3/2"], "3/2"),
                                 (["--bin=/nowhere"], "cannot be run")):
            with self.subTest(options):
                result = examine(self.manifest, self.folder / "run", *options)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stdout)
                self.assertNotIn("Traceback", result.stdout)


if __name__ == "__main__":
    unittest.main()
