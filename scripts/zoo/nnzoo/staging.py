"""Folders for the files of one model, in fast storage of the machine."""
import contextlib
import fcntl
import hashlib
import http.client
import os
import pathlib
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from typing import BinaryIO, Iterator

from nnzoo.errors import Failure
from nnzoo.manifest import File, Model, SCHEMES

PREFIX = "nnzoo-"
DOWNLOADS = 3  # attempts
BLOCK = 1 << 20


def _remove_abandoned(parent: pathlib.Path) -> None:
    """Removes the folders of killed processes: those whose lock nobody holds."""
    for path in parent.glob(PREFIX + "*.lock"):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.with_suffix(""), ignore_errors=True)
            path.unlink()


@contextlib.contextmanager
def _new_lock(parent: pathlib.Path) -> Iterator[pathlib.Path]:
    """A new file that this process holds a lock of, and removes at the end."""
    while True:
        handle, name = tempfile.mkstemp(dir=parent, prefix=PREFIX, suffix=".lock")
        with open(handle, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Until then, another process may have taken it for an abandoned one.
            if not os.path.exists(name):
                continue
            try:
                yield pathlib.Path(name)
            finally:
                os.unlink(name)
        return


@contextlib.contextmanager
def scratch_folder(parent: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder below `parent` that is removed at the end, or by a later call if this process is
    killed."""
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    with _new_lock(parent) as lock:
        folder = lock.with_suffix("")
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def _copy(source: BinaryIO, path: pathlib.Path) -> str:
    """Copies to a file, and returns the digest."""
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        while block := source.read(BLOCK):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _open(location: str) -> BinaryIO:
    if not location.startswith(SCHEMES):
        return open(location, "rb")
    response: BinaryIO = urllib.request.urlopen(location, timeout=60)
    return response


def _fetch(file: File, path: pathlib.Path) -> None:
    """Copies a path or downloads a URL, up to DOWNLOADS times, and checks the digest."""
    is_url = file.location.startswith(SCHEMES)
    again = True
    reason = ""
    for attempt in range(DOWNLOADS if is_url else 1):
        time.sleep(attempt)
        try:
            with _open(file.location) as source:
                digest = _copy(source, path)
            if digest == file.sha256:
                return
            reason, again = f"the digest is sha256:{digest}, not that of the manifest", is_url
        except urllib.error.HTTPError as error:
            reason, again = str(error), error.code >= 500 or error.code in (408, 429)
        except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
            reason, again = str(error.strerror), False
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error)
        if not again:
            break
    raise Failure(f"{file.location}: {reason}", again)


def stage(model: Model, folder: pathlib.Path) -> None:
    """Copies the files of a model into a folder, and checks their digests."""
    for file in model.files:
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(file, path)
