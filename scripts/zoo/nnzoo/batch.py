"""A job: the models of a batch, one after the other."""
import pathlib
import sys
import time
from typing import Any, Optional

from nnzoo.errors import Failure, UsageError
from nnzoo.examine import Examination
from nnzoo.plan import Batch, Item
from nnzoo.programs import Programs
from nnzoo.staging import scratch_folder, stage
from nnzoo.store import Store, canonical, write_file


class Job:
    """Examines the models of a batch that the store does not have."""

    def __init__(self, batch: Batch, programs: Programs, store: Store,
                 scratch: pathlib.Path) -> None:
        self.batch = batch
        self.programs = programs
        self.store = store
        self.scratch = scratch
        self.retries = False  # whether another attempt may examine more models

    def run(self) -> list[dict[str, Any]]:
        """A result for each model: its record, or the reason of the failure."""
        version = self.programs.version()
        if version != self.batch.version:
            raise UsageError(f"{self.programs.folder}: the programs have version {version}; the "
                             f"plan is for {self.batch.version}: run zoo examine again")
        return [self._result(item) for item in self.batch.items]

    def _result(self, item: Item) -> dict[str, Any]:
        result: dict[str, Any] = {"name": item.model.name, "key": item.key, "seconds": {}}
        record = self.store.get(item.key)
        if record is None:
            begin = time.monotonic()
            try:
                record, result["seconds"] = self._examine(item)
            except Failure as failure:
                self.retries = self.retries or failure.again
                result["failure"] = failure.reason
                print(f"{item.model.name}: {failure.reason}", file=sys.stderr)
            result["seconds"]["total"] = time.monotonic() - begin
        if record is not None:
            result["record"] = record
        return result

    def _examine(self, item: Item) -> tuple[dict[str, Any], dict[str, float]]:
        self.programs.log.clear()
        with scratch_folder(self.scratch) as folder:
            begin = time.monotonic()
            stage(item.model, folder)
            examination = Examination(item.model, self.batch.options, self.programs, folder)
            examination.seconds["stage"] = time.monotonic() - begin
            record = examination.record()
        self.store.put(item.key, record, "\n".join(self.programs.log))
        return record, dict(examination.seconds)


def run_batch(batch: Batch, programs: Programs, store: Store, scratch: pathlib.Path,
              result: pathlib.Path, is_last_attempt: bool) -> int:
    """Writes the results of a batch. If another attempt may help, there is none, and the exit code
    is 1, but all finished models are in the store."""
    job = Job(batch, programs, store, scratch)
    results = job.run()
    if job.retries and not is_last_attempt:
        return 1
    write_file(result, "".join(canonical(r) + "\n" for r in results))
    return 0
