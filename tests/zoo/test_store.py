"""nnzoo.store"""
import errno
import os
import unittest
from unittest import mock

from support import FolderTest
from nnzoo.store import Store, canonical, digest_of, write_file

KEY = "ab" + "0" * 62
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class StoreTest(FolderTest):
    def test_keeps_records(self) -> None:
        store = Store(self.folder / "store")
        self.assertIsNone(store.get(KEY))
        store.put(KEY, {"a": [1, "é"]}, "log\n")
        self.assertEqual(Store(self.folder / "store").get(KEY), {"a": [1, "é"]})
        self.assertEqual(store.path(KEY, ".log").read_text(), "log\n")

    def test_damaged_entries_are_none(self) -> None:
        store = Store(self.folder)
        store.put(KEY, {"a": 1}, "")
        text = store.path(KEY).read_text()
        for damaged in ("", text[:-5], text.replace('"a":1', '"a":2'), "[]", '{"record":{}}',
                        "\0" * 9):
            with self.subTest(damaged):
                store.path(KEY).write_text(damaged)
                self.assertIsNone(store.get(KEY))

    def test_a_full_disk_leaves_the_old_file_and_nothing_else(self) -> None:
        path = self.write("file", "old")
        for function in ("os.fsync", "os.replace"):
            with self.subTest(function), mock.patch(function, side_effect=FULL):
                with self.assertRaises(OSError):
                    write_file(path, "new")
            self.assertEqual([p.name for p in self.folder.iterdir()], ["file"])
            self.assertEqual(path.read_text(), "old")
        write_file(path, "new")
        self.assertEqual(path.read_text(), "new")

    def test_equal_values_have_one_form(self) -> None:
        self.assertEqual(canonical({"b": 1, "a": [2]}), '{"a":[2],"b":1}')
        self.assertEqual(digest_of({"b": 1, "a": 2}), digest_of({"a": 2, "b": 1}))
        self.assertNotEqual(digest_of({"a": 1}), digest_of({"a": "1"}))


if __name__ == "__main__":
    unittest.main()
