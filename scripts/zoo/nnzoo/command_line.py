"""The commands of "zoo"."""
import argparse
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Optional

from nnzoo import manifest, report
from nnzoo.batch import run_batch
from nnzoo.errors import UsageError
from nnzoo.examine import TARGETS, Options
from nnzoo.plan import Folder, Shard
from nnzoo.programs import Programs
from nnzoo.rows import STATUSES
from nnzoo.store import Store, write_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT.parent.parent / "build/bin"
EPILOG = """exit codes: 0 success; 1 a model has the status failure or defect; 2 usage error, or
jobs that did not finish"""


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zoo", epilog=EPILOG,
        description="Inspects, validates, converts and runs the models of a manifest, as jobs of "
        "Snakemake.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    write = commands.add_parser("manifest", help="print a manifest of the models below folders")
    write.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    write.add_argument("--license", default="", help="of all models")
    write.add_argument("--batch", type=_positive,
                       help="batch size of the models whose file leaves it open")
    write.add_argument("--bin", type=pathlib.Path, default=BIN, metavar="DIR",
                       help="folder of nninspect, which --batch needs")
    write.add_argument("-o", "--output", type=pathlib.Path, required=True,
                       help="manifest to write; paths are relative to its folder")
    merge = commands.add_parser("merge", help="merge the reports of all shards")
    merge.add_argument("runs", nargs="+", type=pathlib.Path, metavar="RUN")
    merge.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="DIR")
    _add_examine(commands)
    # The jobs of the workflow.
    batch = commands.add_parser("batch")
    batch.add_argument("run", type=pathlib.Path)
    batch.add_argument("name")
    batch.add_argument("--attempt", type=int, required=True)
    batch.add_argument("--attempts", type=int, required=True)
    for name in ("bin", "cache", "scratch"):
        batch.add_argument(f"--{name}", required=True)
    batch.add_argument("--timeout", type=float, required=True)
    commands.add_parser("report").add_argument("run", type=pathlib.Path)
    return parser


def _add_examine(commands: Any) -> None:
    examine = commands.add_parser("examine", help="examine the models of a manifest", epilog=EPILOG,
                                  usage="%(prog)s -o DIR [OPTION...] manifest "
                                  "[-- OPTION OF SNAKEMAKE...]")
    add = examine.add_argument
    add("manifest", type=pathlib.Path)
    add("-o", "--output", type=pathlib.Path, required=True, metavar="DIR",
        help="folder of the run, on storage that all machines share; the report is in DIR/report")
    add("--bin", type=pathlib.Path, default=BIN, metavar="DIR", help="folder of the programs")
    add("--cache", type=pathlib.Path, metavar="DIR",
        help="folder of results, which any runs may share; default: DIR/cache of the run")
    add("--scratch", default="", metavar="DIR",
        help="folder for the model in work, on each machine; default: that of temporary files")
    add("--profile", default="local",
        help="of Snakemake: local, slurm, kubernetes, aws-batch, or a folder")
    add("--cores", type=_positive, help="of this machine; default: all")
    add("--shard", type=Shard.parse, default=Shard(), metavar="I/N",
        help="examine part I of N; zoo merge merges the reports")
    add("--to", default=",".join(target.option for target in TARGETS), metavar="FORMAT,...",
        help="formats to convert to (default: %(default)s)")
    add("--memory-mib", type=_positive, default=4096, metavar="N",
        help="memory of a program; more is the outcome limit (default: %(default)s)")
    add("--max-work", type=float, default=1e12, metavar="N",
        help="operations on elements in one run of a model (default: %(default)g)")
    add("--threads", type=_positive, default=1, metavar="N", help="of a job (default: %(default)s)")
    add("--timeout", type=float, default=3600, metavar="SECONDS",
        help="of a program; beyond it, the model has failed (default: %(default)g)")
    add("--runtime", type=_positive, default=720, metavar="MINUTES",
        help="of a job, for the scheduler (default: %(default)s)")
    add("--retries", type=int, default=2, metavar="N",
        help="of a job after a failure of the machine or of a source (default: %(default)s)")
    add("--batch-seconds", type=float, default=60, metavar="SECONDS",
        help="estimated work of a job (default: %(default)g)")


def _targets(text: str) -> tuple[str, ...]:
    known = [target.option for target in TARGETS]
    names = text.split(",")
    for name in names:
        if name not in known:
            raise UsageError(f'--to: unknown format "{name}"; known: {", ".join(known)}')
    return tuple(name for name in known if name in names)


def _snakemake(o: argparse.Namespace, folder: Folder, lock: int) -> int:
    """Runs the planned jobs that are not finished; returns the exit code of Snakemake, which holds
    the lock, too, in case that it outlives this process."""
    profile = ROOT / "profiles" / o.profile
    config = {
        "bin": o.bin.resolve(), "cache": (o.cache or o.output / "cache").resolve(),
        "scratch": o.scratch, "timeout": o.timeout, "retries": o.retries, "runtime": o.runtime,
        "threads": o.threads, "memory_mib": o.memory_mib,
    }
    command = ["snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder.path,
               "--forcerun", "report",
               "--profile", profile if profile.is_dir() else o.profile,
               *(["--cores", o.cores] if o.cores else []), *o.snakemake,
               "--config", *(f"{name}={value}" for name, value in config.items())]
    try:
        child = subprocess.Popen(list(map(str, command)), pass_fds=[lock])
    except FileNotFoundError:
        raise UsageError("snakemake: not found; scripts/setup zoo installs it") from None
    try:
        return child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise


def _forget_failures(folder: Folder, names: list[str]) -> None:
    """Batches with failures are examined again."""
    for name in names:
        results = folder.read_results(name)
        if results is not None and any("failure" in result for result in results):
            folder.result(name).unlink()


def _summary(coverage: dict[str, Any]) -> int:
    """Prints the numbers of a report, and returns the exit code."""
    statuses = coverage["statuses"]
    numbers = ", ".join(f"{statuses[s]} {s}" for s in reversed(STATUSES) if s in statuses)
    print(f"{_number(coverage['models'], 'model')}: {numbers or 'none in this shard'}")
    return 1 if statuses.keys() & {"failure", "defect"} else 0


def _examine(o: argparse.Namespace) -> int:
    begin = time.monotonic()
    models = manifest.read(o.manifest)
    options = Options(_targets(o.to), o.memory_mib, o.max_work, o.threads)
    version = Programs(o.bin, o.timeout).version()
    folder = Folder(o.output.resolve())
    folder.path.mkdir(parents=True, exist_ok=True)
    with open(folder.path / ".lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{folder.path}: another zoo examine works in this folder") from None
        names = folder.write(models, o.shard, options, version, o.batch_seconds)
        _forget_failures(folder, names)
        code = _snakemake(o, folder, lock.fileno())
        unfinished = [name for name in names if not folder.result(name).exists()]
        if unfinished:
            logs = "".join(f"\n  {folder.path}/logs/{name}.log" for name in unfinished[:5])
            raise UsageError(f"{len(unfinished)} of {_number(len(names), 'job')} did not finish; "
                             f"the same command continues, and repeats no finished model{logs}")
        if code != 0:
            raise UsageError(f"{folder.report}: not written; the messages of Snakemake say why")
    coverage: dict[str, Any] = json.loads((folder.report / "coverage.json").read_text("utf-8"))
    work = json.loads((folder.path / "times.json").read_text("utf-8")).get("total", 0)
    print(f"report: {o.output / 'report' / 'index.html'}")
    print(f"{_number(len(names), 'job')}, {work:.1f} s of work, "
          f"{time.monotonic() - begin:.1f} s in all")
    return _summary(coverage)


def _manifest(o: argparse.Namespace) -> int:
    beside = o.output.resolve().parent
    lines = []
    for folder in o.folders:
        prefix = f"{folder.name}/" if len(o.folders) > 1 else ""
        is_open = (Programs(o.bin, timeout=3600).models_with_open_batch(folder.resolve())
                   if o.batch else set())
        for line in manifest.lines_of(folder.resolve(), beside):
            path = os.path.normpath(beside / line["path"])
            lines.append({**line, "name": prefix + line["name"],
                          **({"license": o.license} if o.license else {}),
                          **({"batch": o.batch} if path in is_open else {})})
    if not lines:
        raise UsageError(f"{o.folders[0]}: no models; their extensions are "
                         f"{' '.join(manifest.EXTENSIONS)}")
    write_file(o.output, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    print(f"{o.output}: {_number(len(lines), 'model')}")
    return 0


def _batch(o: argparse.Namespace) -> int:
    folder = Folder(o.run.resolve())
    scratch = pathlib.Path(o.scratch or tempfile.gettempdir())
    return run_batch(folder.read_batch(o.name), Programs(pathlib.Path(o.bin), o.timeout),
                     Store(pathlib.Path(o.cache)), scratch, folder.result(o.name),
                     o.attempt >= o.attempts)


def main(arguments: list[str]) -> int:
    """Runs a command; returns the exit code."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    separator = arguments.index("--") if "--" in arguments else len(arguments)
    try:
        o = _parser().parse_args(arguments[:separator])
        o.snakemake = arguments[separator + 1:]
        if o.command == "manifest":
            return _manifest(o)
        if o.command == "examine":
            return _examine(o)
        if o.command == "merge":
            return _summary(report.merge(o.output, o.runs))
        if o.command == "batch":
            return _batch(o)
        report.write_run(Folder(o.run.resolve()))
        return 0
    except UsageError as error:
        print(f"zoo: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"zoo: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
