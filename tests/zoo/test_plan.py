"""nnzoo.plan"""
import unittest

from support import FolderTest
from nnzoo.errors import UsageError
from nnzoo.examine import Options
from nnzoo.manifest import File, Model
from nnzoo.plan import Batch, Folder, Item, Shard, batches_of
from nnzoo.store import digest_of


def model(index: int, size: int = 0) -> Model:
    return Model(f"m{index}", (File(f"/m{index}.onnx", digest_of(index), "model.onnx"),), size,
                 shapes=(("x", (1, 2)),), batch=3)


MODELS = [model(i) for i in range(100)]


class BatchesTest(unittest.TestCase):
    def test_no_batch_exceeds_the_work_except_of_one_model(self) -> None:
        items = [Item(str(i), model(i, size))
                 for i, size in enumerate([10, 20, 10**10, 5, 10**8] * 20)]
        batches = batches_of(items, Options(), "1", 5)
        self.assertEqual(sorted(i.key for b in batches for i in b.items),
                         sorted(map(str, range(100))))
        for batch in batches:
            self.assertTrue(len(batch.items) == 1 or sum(i.seconds for i in batch.items) <= 5)
        self.assertEqual([len(b.items) for b in batches if b.items[0].model.bytes == 10**10],
                         [1] * 20)
        self.assertEqual(batches_of(reversed(items), Options(), "1", 5), batches)

    def test_json(self) -> None:
        batch = Batch((Item("k", MODELS[0]),), Options(targets=("nnapi",), memory_mib=5), "1")
        self.assertEqual(Batch.from_json(batch.to_json()), batch)


class ShardTest(unittest.TestCase):
    def test_each_model_is_in_one_shard(self) -> None:
        for count in (1, 2, 7):
            shards = [Shard(index, count) for index in range(1, count + 1)]
            for m in MODELS:
                self.assertEqual(sum(shard.holds(m) for shard in shards), 1)
            self.assertTrue(all(any(shard.holds(m) for m in MODELS) for shard in shards))

    def test_parse(self) -> None:
        self.assertEqual(Shard.parse("2/3"), Shard(2, 3))
        for text in ("", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2"):
            with self.subTest(text), self.assertRaises(UsageError):
                Shard.parse(text)


class FolderPlanTest(FolderTest):
    def test_unchanged_batches_keep_their_files(self) -> None:
        folder = Folder(self.folder)
        names = folder.write(MODELS, Shard(), Options(), "1", 2)
        written = {name: folder.batch(name).stat().st_mtime_ns for name in names}
        self.assertGreater(len(names), 10)
        self.assertEqual(folder.read_plan()["batches"], names)
        self.assertEqual(sum(len(folder.read_batch(name).items) for name in names), len(MODELS))
        # Another model changes the batches behind it only.
        more = folder.write(MODELS + [model(999)], Shard(), Options(), "1", 2)
        self.assertGreaterEqual(len(set(names) & set(more)), len(names) - 1)
        for name, time in written.items():
            self.assertEqual(folder.batch(name).stat().st_mtime_ns, time)
        # Another version changes all.
        self.assertFalse(set(names) & set(folder.write(MODELS, Shard(), Options(), "2", 2)))

    def test_an_unfinished_batch_has_no_results(self) -> None:
        folder = Folder(self.folder)
        self.assertIsNone(folder.read_results("x"))
        self.write("batches/x.jsonl", '{"a":1}\n{"b":2}\n')
        self.assertEqual(folder.read_results("x"), [{"a": 1}, {"b": 2}])


if __name__ == "__main__":
    unittest.main()
