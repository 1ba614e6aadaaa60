"""The report of a run: models.jsonl, and what follows from it."""
import collections
import json
import pathlib
from typing import Any, Iterable

from nnzoo.coverage import coverage_of
from nnzoo.errors import UsageError
from nnzoo.junit import junit
from nnzoo.page import page
from nnzoo.plan import Folder
from nnzoo.rows import row_of
from nnzoo.store import canonical, write_file

REPORT_VERSION = 1

Json = dict[str, Any]


def write(folder: pathlib.Path, head: Json, rows: Iterable[Json]) -> Json:
    """Writes the files of a report, and returns its coverage. models.jsonl has the head in its
    first line and a model in each of the others, by name."""
    ordered = sorted(rows, key=lambda row: str(row["name"]))
    coverage = coverage_of(ordered)
    write_file(folder / "models.jsonl",
               "".join(canonical(line) + "\n" for line in [head, *ordered]))
    write_file(folder / "coverage.json", json.dumps({**head, **coverage}, indent=1, sort_keys=True,
                                                    ensure_ascii=False) + "\n")
    write_file(folder / "junit.xml", junit(ordered))
    write_file(folder / "index.html", page(head, ordered, coverage))
    return coverage


def write_run(folder: Folder) -> Json:
    """Writes the report of a finished run."""
    plan = folder.read_plan()
    rows = []
    seconds: collections.Counter[str] = collections.Counter()
    for name in plan["batches"]:
        results = folder.read_results(name)
        if results is None:
            raise UsageError(f"{folder.result(name)}: not found; run zoo examine again")
        for item, result in zip(folder.read_batch(name).items, results):
            rows.append(row_of(item.model, item.key, result.get("record"),
                               result.get("failure", "")))
            seconds.update(result["seconds"])
    head = {"report": REPORT_VERSION, "version": plan["version"], "manifest": plan["manifest"],
            "shard": plan["shard"], "targets": plan["targets"]}
    write_file(folder.path / "times.json", json.dumps(dict(sorted(seconds.items()))) + "\n")
    return write(folder.report, head, rows)


def read(path: pathlib.Path) -> tuple[Json, list[Json]]:
    """The head and the rows of models.jsonl in a folder of a run."""
    try:
        lines = (path / "report" / "models.jsonl").read_text(encoding="utf-8").splitlines()
        head, *rows = map(json.loads, lines)
        if head["report"] != REPORT_VERSION:
            raise UsageError(f"{path}: its report has version {head['report']}, not "
                             f"{REPORT_VERSION}")
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path}: no report of zoo examine: {error}") from None
    return head, rows


def merge(folder: pathlib.Path, paths: list[pathlib.Path]) -> Json:
    """Writes the report that the run would have without shards, as of a run in `folder`."""
    reports = [read(path) for path in paths]
    head = reports[0][0]
    shards: dict[int, pathlib.Path] = {}
    for path, (other, _) in zip(paths, reports):
        for member in ("version", "manifest", "targets"):
            if other[member] != head[member]:
                raise UsageError(f"{path}: another {member} than {paths[0]}")
        if other["shard"]["count"] != head["shard"]["count"]:
            raise UsageError(f"{path}: one of {other['shard']['count']} shards; {paths[0]} is one "
                             f"of {head['shard']['count']}")
        index = other["shard"]["index"]
        if index in shards:
            raise UsageError(f"{path}: the same shard as {shards[index]}")
        shards[index] = path
    missing = sorted(set(range(1, head["shard"]["count"] + 1)) - shards.keys())
    if missing:
        raise UsageError(f"shard {missing[0]}/{head['shard']['count']} is missing")
    whole = {**head, "shard": {"index": 1, "count": 1}}
    return write(folder / "report", whole, [row for _, rows in reports for row in rows])
