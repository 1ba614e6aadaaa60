"""A folder of results by key, which any number of processes and machines may share."""
import hashlib
import json
import os
import pathlib
import tempfile
from typing import Any, Optional


def canonical(value: Any) -> str:
    """JSON with one form for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(value: Any) -> str:
    """The SHA-256 of a JSON value, in hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def write_file(path: pathlib.Path, text: str) -> None:
    """Writes a file completely or, if that fails or the process is killed, not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


class Store:
    """Records by key. A damaged entry is the same as none."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def path(self, key: str, suffix: str = ".json") -> pathlib.Path:
        return self.folder / key[:2] / (key + suffix)

    def get(self, key: str) -> Optional[dict[str, Any]]:
        try:
            text = self.path(key).read_text(encoding="utf-8")
            entry = json.loads(text)
            record = entry["record"]
            intact = entry["sha256"] == digest_of(record)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return record if intact and isinstance(record, dict) else None

    def put(self, key: str, record: dict[str, Any], log: str) -> None:
        """The log first: whoever finds a record finds its log, too."""
        write_file(self.path(key, ".log"), log)
        entry = {"sha256": digest_of(record), "record": record}
        write_file(self.path(key), canonical(entry) + "\n")
