"""The programs of nnsuite as child processes."""
import dataclasses
import errno
import json
import os
import pathlib
import shlex
import signal
import subprocess
import time
from typing import Any, Optional

from nnzoo.errors import Failure, UsageError

NAMES = ("nninspect", "nnvalidate", "nnconvert", "nnrun")

# Errors of the machine, which the programs report like those of files.
MACHINE_ERRORS = tuple(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EIO,
                                                      errno.ESTALE, errno.ENOMEM, errno.EMFILE))
# From outside: by a scheduler, an administrator, or a kernel without memory.
KILLED = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# What an exit code means; 0 depends on the program.
OUTCOMES = {1: "failed", 2: "error", 3: "unsupported", 4: "limit"}


@dataclasses.dataclass(frozen=True)
class Result:
    """A finished program: the report that it printed, and messages."""
    code: int
    report: Optional[dict[str, Any]]
    messages: str
    seconds: float

    @property
    def outcome(self) -> str:
        """ "ok", or why not. """
        if self.code < 0 or self.code > 4:
            return "crash"
        return OUTCOMES.get(self.code, "ok")

    @property
    def reason(self) -> str:
        """Of an outcome other than "ok"."""
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        if self.report is not None and self.report.get("error"):
            return str(self.report["error"]).splitlines()[0]
        lines = [line.split(": error: ", 1)[1] for line in self.messages.splitlines()
                 if ": error: " in line]
        return lines[0] if lines else f"exit code {self.code}"


class Programs:
    """The programs in a folder. Their output with times is collected in `log`."""

    def __init__(self, folder: pathlib.Path, timeout: float) -> None:
        self.folder = folder
        self.timeout = timeout
        self.log: list[str] = []

    def version(self) -> str:
        """That of all programs, with the commit that they were built from."""
        versions = set()
        for name in NAMES:
            try:
                text = subprocess.run([self.folder / name, "--version"], check=True, text=True,
                                      stdout=subprocess.PIPE).stdout
            except (OSError, subprocess.CalledProcessError) as error:
                raise UsageError(f"{self.folder / name}: cannot be run: {error}; build the "
                                 "programs, or name their folder with --bin") from None
            versions.add(text.strip().removeprefix(name + " "))
        if len(versions) != 1:
            raise UsageError(f"{self.folder}: the programs have different versions: "
                             f"{', '.join(sorted(versions))}; build them again")
        return versions.pop()

    def models_with_open_batch(self, folder: pathlib.Path) -> set[str]:
        """The paths of models below a folder that have an input with a symbolic first dimension."""
        try:
            text = subprocess.run([self.folder / "nninspect", folder, "--format=json", "--jobs=0"],
                                  check=False, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, timeout=self.timeout).stdout
            models = list(map(json.loads, text.splitlines()))
        except (OSError, ValueError) as error:
            raise UsageError(f"{self.folder / 'nninspect'} {folder}: {error}") from None
        return {os.path.normpath(model["path"]) for model in models
                if any(where["role"] == "input" and where["axis"] == 0
                       for dimension in model.get("dynamic_dimensions", [])
                       for where in dimension["where"])}

    def run(self, name: str, arguments: list[str], folder: pathlib.Path) -> Result:
        """Runs a program in a folder. Raises Failure if the result depends on the machine."""
        command = [str(self.folder / name), *arguments]
        begin = time.monotonic()
        with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace",
                              env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}) as child:
            try:
                output, messages = child.communicate(timeout=self.timeout)
            except BaseException as error:
                child.kill()
                child.communicate()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise Failure(f"{name}: no result after {self.timeout:g} seconds (--timeout)",
                                  again=True) from None
                raise
        seconds = time.monotonic() - begin
        try:
            report = json.loads(output)
        except ValueError:
            report = None
        result = Result(child.returncode, report if isinstance(report, dict) else None,
                        messages, seconds)
        self.log.append(f"$ {name} {shlex.join(arguments)}\n{messages[-4000:]}"
                        f"exit code {child.returncode}, {seconds:.3f} s\n")
        if -result.code in KILLED:
            raise Failure(f"{name}: {result.reason}", again=True)
        if result.code != 0 and any(error in result.reason for error in MACHINE_ERRORS):
            raise Failure(f"{name}: {result.reason}", again=True)
        if result.code == 0 and result.report is None:
            raise Failure(f"{name}: its output is not JSON", again=True)
        return result
