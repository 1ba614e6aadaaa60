"""Manifests: the models of a collection, one JSON object a line."""
import dataclasses
import hashlib
import json
import os
import pathlib
import re
from typing import Any, Iterable, Iterator, Optional

from nnzoo.errors import UsageError

# As nnconvert recognizes them in folders.
EXTENSIONS = (".onnx", ".textproto", ".txtpb", ".pbtxt", ".prototxt", ".onnxjson", ".tflite",
              ".mlmodel", ".nnapi", ".nnapi.json")
SCHEMES = ("http://", "https://", "file://")
MEMBERS = {"name", "path", "url", "sha256", "bytes", "license", "shapes", "batch", "beside",
           "digest"}


@dataclasses.dataclass(frozen=True)
class File:
    """A model file, or one with its external data."""
    location: str  # an absolute path or a URL
    sha256: str
    name: str  # as the model refers to it; of the model itself: "model" and its extension


@dataclasses.dataclass(frozen=True)
class Model:
    """A line of a manifest."""
    name: str
    files: tuple[File, ...]  # the model, then the files beside it
    bytes: int  # of all files; 0 if unknown
    license: str = ""
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    batch: Optional[int] = None
    digest: str = ""  # of the outputs, as expected; "": none

    def arguments(self) -> list[str]:
        """The options of the programs that set the shapes."""
        options = [f"--input-shape={name}:{','.join(map(str, shape))}"
                   for name, shape in self.shapes]
        return options + ([f"--batch={self.batch}"] if self.batch is not None else [])


def extension_of(location: str) -> str:
    """The extension by which the programs recognize a format, or ""."""
    name = location.lower()
    return max((e for e in EXTENSIONS if name.endswith(e)), key=len, default="")


def sha256_of(path: pathlib.Path) -> str:
    """The digest of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class _Line:
    """The members of one line, checked; errors name the line and the member."""

    def __init__(self, where: str, folder: pathlib.Path, members: dict[str, Any]) -> None:
        self.where = where
        self.folder = folder
        self.members = members

    def fail(self, text: str) -> UsageError:
        return UsageError(f"{self.where}: {text}")

    def text(self, name: str, members: Optional[dict[str, Any]] = None) -> str:
        value = (self.members if members is None else members).get(name, "")
        if not isinstance(value, str) or any(ord(c) < 32 for c in value):
            raise self.fail(f'"{name}" must be a text without control characters')
        return value

    def count(self, name: str, least: int, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.fail(f'"{name}" must be an integer of at least {least}')
        return value

    def location(self, members: dict[str, Any]) -> str:
        path, url = self.text("path", members), self.text("url", members)
        if bool(path) == bool(url):
            raise self.fail('each file must have either a "path" or a "url"')
        if url and not url.startswith(SCHEMES):
            raise self.fail(f'"url" must begin with one of {", ".join(SCHEMES)}')
        return url or os.path.abspath(self.folder / path)

    def sha256(self, members: dict[str, Any]) -> str:
        digest = self.text("sha256", members).lower()
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise self.fail('"sha256" must be the 64 hexadecimal digits that sha256sum prints')
        return digest

    def files(self) -> tuple[File, ...]:
        location = self.location(self.members)
        extension = extension_of(location.split("?")[0])
        if not extension:
            raise self.fail(f"{location}: the extension is not one of {' '.join(EXTENSIONS)}")
        files = [File(location, self.sha256(self.members), "model" + extension)]
        beside = self.members.get("beside", [])
        if not isinstance(beside, list) or not all(isinstance(b, dict) for b in beside):
            raise self.fail('"beside" must be a list of objects')
        for members in beside:
            location = self.location(members)
            name = self.text("name", members) or location.split("?")[0].rsplit("/", 1)[-1]
            if os.path.isabs(name) or ".." in name.split("/") or name == files[0].name:
                raise self.fail(f'"{name}" is not the name of a file in the folder of the model')
            files.append(File(location, self.sha256(members), name))
        if len({file.name for file in files}) != len(files):
            raise self.fail('two files of "beside" have the same name')
        return tuple(files)

    def shapes(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        shapes = self.members.get("shapes", {})
        if not isinstance(shapes, dict):
            raise self.fail('"shapes" must be an object: {"input": [1, 3, 224, 224]}')
        result = []
        for name, shape in sorted(shapes.items()):
            if not isinstance(shape, list):
                raise self.fail(f'the shape of "{name}" must be a list')
            result.append((name, tuple(self.count("shapes", 0, size) for size in shape)))
        return tuple(result)

    def size(self, files: tuple[File, ...]) -> int:
        """As stated, or else of the files that are paths."""
        if "bytes" in self.members:
            return self.count("bytes", 0, self.members["bytes"])
        sizes = (os.stat(file.location).st_size for file in files if os.path.isfile(file.location))
        return sum(sizes)

    def model(self) -> Model:
        unknown = sorted(self.members.keys() - MEMBERS)
        if unknown:
            raise self.fail(f'unknown member "{unknown[0]}"; known: {", ".join(sorted(MEMBERS))}')
        name = self.text("name")
        if not name:
            raise self.fail('"name" is missing')
        batch = self.members.get("batch")
        digest = self.text("digest")
        if digest and not re.fullmatch("sha256:[0-9a-f]{64}", digest):
            raise self.fail('"digest" must be what nnrun --digest prints')
        files = self.files()
        return Model(name, files, self.size(files), self.text("license"), self.shapes(),
                     None if batch is None else self.count("batch", 1, batch), digest)


def parse(lines: Iterable[str], path: pathlib.Path) -> list[Model]:
    """The models of a manifest, by name. Paths are relative to the folder of the manifest."""
    models: dict[str, Model] = {}
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        where = f"{path}:{number}"
        try:
            members = json.loads(text)
        except ValueError as error:
            raise UsageError(f"{where}: not JSON: {error}") from None
        if not isinstance(members, dict):
            raise UsageError(f"{where}: a line must be an object")
        model = _Line(where, path.parent, members).model()
        if model.name in models:
            raise UsageError(f'{where}: two models have the name "{model.name}"')
        models[model.name] = model
    if not models:
        raise UsageError(f'{path}: the manifest has no models; "zoo manifest FOLDER" writes one')
    return [models[name] for name in sorted(models)]


def read(path: pathlib.Path) -> list[Model]:
    """The models of a manifest file."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file, path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None


def lines_of(folder: pathlib.Path, beside: pathlib.Path) -> Iterator[dict[str, Any]]:
    """The lines of a manifest, in the folder `beside`, with all models below a folder."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and extension_of(p.name)):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        yield {
            "name": str(path.relative_to(folder)),
            "path": os.path.relpath(path, beside),
            "sha256": sha256_of(path),
            "bytes": path.stat().st_size,
        }
