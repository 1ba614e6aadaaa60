"""nnzoo.staging"""
import fcntl
import hashlib
import http.server
import subprocess
import sys
import threading
import unittest
from unittest import mock

from support import ZOO, FolderTest
from nnzoo import staging
from nnzoo.errors import Failure
from nnzoo.manifest import File, Model
from nnzoo.staging import scratch_folder, stage

CONTENT = b"content"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """/CODE answers with that code once, and then with the content; /short with less."""
    seen: list[str] = []

    def do_GET(self) -> None:
        code = int(self.path[1:4]) if self.path[1:4].isdigit() else 200
        is_first = self.path not in self.seen
        self.seen.append(self.path)
        if is_first and code != 200:
            self.send_error(code)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:3] if is_first and "short" in self.path else CONTENT)

    def log_message(self, *_: object) -> None:
        pass


def model(location: str, sha256: str = DIGEST, name: str = "model.onnx") -> Model:
    return Model("m", (File(location, sha256, name),), 0)


class StageTest(FolderTest):
    def test_files_are_copied_and_checked(self) -> None:
        source = self.write("source/m.onnx", "content")
        stage(Model("m", (File(str(source), DIGEST, "model.onnx"),
                          File(source.as_uri(), DIGEST, "data/w.bin")), 0), self.folder)
        self.assertEqual((self.folder / "model.onnx").read_bytes(), CONTENT)
        self.assertEqual((self.folder / "data/w.bin").read_bytes(), CONTENT)

    def test_failures_of_paths_are_final(self) -> None:
        source = self.write("m.onnx", "other")
        for location, reason in ((str(source), "not that of the manifest"),
                                 (str(self.folder / "none.onnx"), "No such file or directory"),
                                 (str(self.folder), "Is a directory")):
            with self.subTest(location), self.assertRaises(Failure) as caught:
                stage(model(location), self.folder / "stage")
            self.assertFalse(caught.exception.again)
            self.assertIn(location, caught.exception.reason)
            self.assertIn(reason, caught.exception.reason)

    def test_downloads_are_repeated(self) -> None:
        Handler.seen.clear()
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, \
                mock.patch.object(staging.time, "sleep"):
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_address[1]}"
            for path in ("/m", "/503", "/429", "/short"):
                with self.subTest(path):
                    stage(model(url + path), self.folder)
                    self.assertEqual((self.folder / "model.onnx").read_bytes(), CONTENT)
            for path, sha256, again, attempts in (("/404", DIGEST, False, 1),
                                                  ("/other", "0" * 64, True, staging.DOWNLOADS)):
                with self.subTest(path), self.assertRaises(Failure) as caught:
                    stage(model(url + path, sha256), self.folder)
                self.assertEqual(caught.exception.again, again)
                self.assertEqual(Handler.seen.count(path), attempts)
            server.shutdown()


class ScratchTest(FolderTest):
    def test_folders_are_removed(self) -> None:
        with scratch_folder(self.folder / "s") as a, scratch_folder(self.folder / "s") as b:
            self.assertNotEqual(a, b)
            (a / "file").touch()
            self.assertTrue(b.is_dir())
        self.assertEqual(list((self.folder / "s").iterdir()), [])

    def test_processes_do_not_disturb_each_other(self) -> None:
        script = ("import sys, pathlib; sys.path.insert(0, sys.argv[1])\n"
                  "from nnzoo.staging import scratch_folder\n"
                  "for i in range(200):\n"
                  "    with scratch_folder(pathlib.Path(sys.argv[2])) as folder:\n"
                  "        (folder / 'file').touch()\n"
                  "        assert len(list(folder.iterdir())) == 1\n")
        children = [subprocess.Popen([sys.executable, "-c", script, ZOO, self.folder])
                    for _ in range(4)]
        self.assertEqual([child.wait() for child in children], [0] * 4)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_those_of_killed_processes_are_removed_by_the_next(self) -> None:
        for name in ("abandoned", "held"):
            self.write(f"{staging.PREFIX}{name}.lock", "")
            self.write(f"{staging.PREFIX}{name}/file", "")
        with open(self.folder / f"{staging.PREFIX}held.lock", "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with scratch_folder(self.folder):
                pass
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         [f"{staging.PREFIX}held", f"{staging.PREFIX}held.lock"])


if __name__ == "__main__":
    unittest.main()
