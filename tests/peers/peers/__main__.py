"""python -m peers: runs sets, or compares two runs. scripts/peers prepares the environment."""

from __future__ import annotations

import argparse
import fnmatch
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import results


def _generate(name: str, folder: Path, only: str) -> None:
    """Starts again if an exporter crashes; the generator leaves its recipe out the next time."""
    command = [sys.executable, "-m", "peers.generate", name, str(folder), "--only", only]
    while subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode < 0:
        pass


def _run(options: argparse.Namespace) -> int:
    # Tables and comparisons need no packages, not even NumPy.
    from peers.owners import Owners
    from peers.programs import Programs
    from peers.samples import read_samples
    from peers.suite import Suite

    known = (
        {(r.set, r.model) for r in results.read(options.output)}
        if (options.resume and options.output.exists())
        else set()
    )
    if not known:
        options.output.write_text("")
    with tempfile.TemporaryDirectory() as temporary:
        scratch = options.scratch or Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        with Owners(scratch) as owners:
            for name in options.sets:
                folder = options.data / name
                if not options.no_generate:
                    _generate(name, folder, options.only)
                suite = Suite(
                    Programs(options.bin),
                    owners,
                    scratch,
                    name,
                    lambda result: results.append(options.output, result),
                    options.edits,
                    converts=not options.only_run,
                )
                for sample in read_samples(folder):
                    if (
                        fnmatch.fnmatch(sample.name, options.only)
                        and (name, sample.name) not in known
                    ):
                        suite.examine(sample)
    found = results.read(options.output)
    print(results.table(found))
    failed = results.failures(found)
    if failed:
        print(failed, file=sys.stderr)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/peers", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="generates, opens and examines the models of sets")
    run.add_argument("sets", nargs="+")
    run.add_argument("--bin", type=Path, required=True, help="folder of the programs")
    run.add_argument("--data", type=Path, required=True, help="folder of the generated models")
    run.add_argument("--output", type=Path, required=True, help="results, as JSON lines")
    run.add_argument("--only", default="*", help="pattern of the names of models")
    run.add_argument("--edits", type=int, default=0, help="edits of each model; 0: all")
    run.add_argument("--only-run", action="store_true", help="no conversions and edits")
    run.add_argument("--scratch", type=Path, help="folder of written models that owners refuse")
    run.add_argument("--resume", action="store_true", help="skip models that OUTPUT has")
    run.add_argument("--no-generate", action="store_true", help="only models that exist")
    run.set_defaults(action=_run)
    report = commands.add_parser("table", help="prints the table and the failures of a run")
    report.add_argument("results", type=Path)
    report.set_defaults(
        action=lambda o: print(
            results.table(results.read(o.results)),
            results.failures(results.read(o.results)),
            sep="\n\n",
        )
    )
    compare = commands.add_parser("compare", help="what changed between two runs")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.set_defaults(
        action=lambda o: print(results.compare(results.read(o.before), results.read(o.after)))
    )
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return int(options.action(options) or 0)


if __name__ == "__main__":
    sys.exit(main())
