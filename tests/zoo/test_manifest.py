"""nnzoo.manifest"""
import json
import pathlib
import unittest

from support import FolderTest
from nnzoo import manifest
from nnzoo.errors import UsageError
from nnzoo.examine import Options, key_of

DIGEST = "ab" * 32
LINE = {"name": "m", "path": "m.onnx", "sha256": DIGEST}


def parse(*lines: dict) -> list[manifest.Model]:
    return manifest.parse(map(json.dumps, lines), pathlib.Path("/zoo/all.jsonl"))


class ParseTest(unittest.TestCase):
    def test_members(self) -> None:
        url = {"name": "b", "url": "https://zoo/x.tflite?v=1", "sha256": DIGEST.upper(), "bytes": 7,
               "license": "MIT", "shapes": {"y": [1, 2], "x": []}, "batch": 2,
               "digest": "sha256:" + DIGEST}
        a, b = parse(url, {**LINE, "name": "a", "beside": [
            {"path": "w.bin", "sha256": DIGEST},
            {"url": "file:///w/2", "sha256": DIGEST, "name": "d/w"}]})
        self.assertEqual([(f.location, f.name) for f in a.files],
                         [("/zoo/m.onnx", "model.onnx"), ("/zoo/w.bin", "w.bin"),
                          ("file:///w/2", "d/w")])
        self.assertEqual(b.files[0],
                         manifest.File("https://zoo/x.tflite?v=1", DIGEST, "model.tflite"))
        self.assertEqual((b.bytes, b.license, b.digest), (7, "MIT", "sha256:" + DIGEST))
        self.assertEqual(b.arguments(), ["--input-shape=x:", "--input-shape=y:1,2", "--batch=2"])

    def test_errors_name_the_line_and_the_member(self) -> None:
        for change, message in (
                ({"name": ""}, '"name" is missing'),
                ({"name": "a\nb"}, "control characters"),
                ({"path": 1}, '"path" must be a text'),
                ({"url": "https://zoo/m.onnx"}, 'either a "path" or a "url"'),
                ({"path": "", "url": "ftp://zoo/m.onnx"}, '"url" must begin with'),
                ({"path": "m.bin"}, "the extension is not one of .onnx"),
                ({"sha256": "12"}, "64 hexadecimal digits"),
                ({"bytes": -1}, '"bytes" must be an integer of at least 0'),
                ({"batch": True}, '"batch" must be an integer'),
                ({"shapes": [1]}, '"shapes" must be an object'),
                ({"shapes": {"x": 1}}, 'the shape of "x" must be a list'),
                ({"shapes": {"x": ["n"]}}, '"shapes" must be an integer'),
                ({"beside": {}}, '"beside" must be a list'),
                ({"beside": [{"path": "w", "sha256": DIGEST, "name": "../w"}]}, "in the folder"),
                ({"beside": [{"path": "w", "sha256": DIGEST, "name": "model.onnx"}]},
                 "in the folder"),
                ({"beside": [{"path": "w", "sha256": DIGEST}] * 2}, "the same name"),
                ({"digest": DIGEST}, "nnrun --digest"),
                ({"licence": "MIT"}, 'unknown member "licence"'),
        ):
            with self.subTest(change), self.assertRaises(UsageError) as caught:
                parse({**LINE, "name": "first"}, {**LINE, **change})
            self.assertIn("/zoo/all.jsonl:2: ", str(caught.exception))
            self.assertIn(message, str(caught.exception))

    def test_lines(self) -> None:
        for lines, message in ((["{"], "not JSON"), (["[]"], "must be an object"),
                               ([" "], "no models"),
                               ([json.dumps(LINE)] * 2, 'two models have the name "m"')):
            with self.subTest(lines), self.assertRaises(UsageError) as caught:
                manifest.parse(lines, pathlib.Path("/zoo/all.jsonl"))
            self.assertIn(message, str(caught.exception))
        with self.assertRaises(UsageError):
            manifest.read(pathlib.Path("/nowhere.jsonl"))


class KeyTest(unittest.TestCase):
    def test_depends_on_files_options_and_version(self) -> None:
        key = key_of(parse(LINE)[0], Options(), "1")
        same = {**LINE, "name": "n", "path": "sub/other.onnx", "license": "MIT", "bytes": 3,
                "digest": "sha256:" + DIGEST}
        self.assertEqual(key_of(parse(same)[0], Options(threads=4), "1"), key)
        others = [key_of(parse({**LINE, **change})[0], Options(), "1") for change in (
            {"sha256": "0" * 64}, {"path": "m.textproto"}, {"batch": 1}, {"shapes": {"x": [1]}},
            {"beside": [{"path": "w", "sha256": DIGEST}]})]
        others += [key_of(parse(LINE)[0], Options(), "2"),
                   key_of(parse(LINE)[0], Options(targets=("nnapi",)), "1"),
                   key_of(parse(LINE)[0], Options(memory_mib=1), "1"),
                   key_of(parse(LINE)[0], Options(work=1), "1")]
        self.assertEqual(len({key, *others}), len(others) + 1)


class FolderManifestTest(FolderTest):
    def test_models_below_a_folder(self) -> None:
        for name in ("b/m.onnx", "a.tflite", "a.txt", ".hidden/m.onnx", "b/.m.onnx",
                     "n.nnapi.json"):
            self.write(f"models/{name}", name)
        lines = list(manifest.lines_of(self.folder / "models", self.folder / "other"))
        self.assertEqual([line["name"] for line in lines], ["a.tflite", "b/m.onnx", "n.nnapi.json"])
        self.assertEqual(lines[0]["path"], "../models/a.tflite")
        models = manifest.parse(map(json.dumps, lines), self.folder / "other" / "all.jsonl")
        self.assertEqual([m.bytes for m in models], [8, 8, 12])
        self.assertEqual(models[0].files[0].location, str(self.folder / "models/a.tflite"))
        self.assertEqual(models[0].files[0].sha256,
                         manifest.sha256_of(self.folder / "models/a.tflite"))


if __name__ == "__main__":
    unittest.main()
