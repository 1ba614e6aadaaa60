"""nnzoo.rows, coverage, junit, page and report"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from support import FolderTest, row
from nnzoo import report
from nnzoo.coverage import coverage_of, general
from nnzoo.errors import UsageError
from nnzoo.junit import junit
from nnzoo.manifest import File, Model
from nnzoo.page import page
from nnzoo.rows import row_of

HEAD = {"report": 1, "version": "1", "manifest": "m", "shard": {"index": 1, "count": 1},
        "targets": ["nnapi"]}
RUN = {"outcome": "ok", "digest": "sha256:0", "outputs": []}
UNSUPPORTED = {"NNAPI": {"outcome": "unsupported", "unsupported": [
    {"operator": "Conv", "reason": 'NNAPI has no "a" [1, 2]', "count": 2}]}}


def converted(**members: object) -> dict:
    return {"NNAPI": {"outcome": "converted", "run": RUN, "digests": "equal", **members}}


class RowTest(unittest.TestCase):
    def test_status(self) -> None:
        for members, status in (
                ({}, "ok"),
                ({"inspect": {"outcome": "error", "reason": "r"}}, "invalid"),
                ({"inspect": {"outcome": "unsupported", "reason": "r"}}, "refused"),
                ({"inspect": {"outcome": "crash", "reason": "r"}}, "defect"),
                ({"validate": {"outcome": "failed", "reason": "r"}}, "invalid"),
                ({"run": {"outcome": "limit", "reason": "r"}}, "refused"),
                ({"run": {"outcome": "crash", "reason": "r"}}, "defect"),
                ({"targets": UNSUPPORTED}, "refused"),
                ({"targets": {"NNAPI": {"outcome": "refuted", "reason": "r"}}}, "defect"),
                ({"targets": converted(digests="tolerance")}, "ok"),
                ({"targets": converted(digests="differ")}, "defect"),
                ({"targets": converted(run={"outcome": "crash", "reason": "r"})}, "defect"),
                ({"expected": "ok"}, "ok"),
                ({"expected": "differ"}, "defect"),
        ):
            with self.subTest(members):
                self.assertEqual(row("m", **members)["status"], status)

    def test_row_of_a_model(self) -> None:
        model = Model("m", (File("/secret/m.onnx", "d", "model.onnx"),), 0, "MIT", (("x", (1,)),),
                      2, "sha256:0")
        got = row_of(model, "k", {"inspect": {"outcome": "ok"}, "validate": {"outcome": "ok"},
                                  "run": RUN, "targets": {}}, "")
        want = {"license": "MIT", "shapes": {"x": [1]}, "batch": 2, "expected": "ok", "status": "ok"}
        self.assertEqual({name: got[name] for name in want}, want)
        self.assertNotIn("secret", json.dumps(got))
        got = row_of(model, "k", None, "no network")
        self.assertEqual((got["failure"], got["status"]), ("no network", "failure"))


class CoverageTest(unittest.TestCase):
    def test_operators_and_reasons(self) -> None:
        coverage = coverage_of([row("a"), row("b", targets=UNSUPPORTED), row("c", failure="disk")])
        self.assertEqual(coverage["statuses"], {"failure": 1, "refused": 1, "ok": 1})
        self.assertEqual(coverage["steps"]["to NNAPI"], {"ok": 1, "unsupported": 1})
        self.assertEqual(coverage["digests"], {"NNAPI": {"equal": 1}})
        conv, relu = coverage["operators"][:2]
        self.assertEqual((conv["operator"], conv["models"], conv["nodes"], conv["run"]),
                         ("Conv", 2, 4, 2))
        self.assertEqual(conv["targets"]["NNAPI"], {"models": 2, "converted": 1,
                                                    "refused_models": 1, "refused_nodes": 2})
        self.assertEqual(relu["targets"]["NNAPI"]["refused_models"], 0)
        self.assertEqual(coverage["reasons"], [
            {"step": "stage", "outcome": "failure", "reason": "disk", "models": 1, "nodes": 1},
            {"step": "to NNAPI", "outcome": "unsupported", "models": 1, "nodes": 2,
             "reason": 'Conv: NNAPI has no "..." [...]'}])

    def test_general_reasons_have_no_names_and_shapes(self) -> None:
        self.assertEqual(general('add "n" (operator 12 (Add)): "y" is f32[1, n], not f32[2]'),
                         'add "..." (Add): "..." is f32[...], not f32[...]')


class JunitTest(unittest.TestCase):
    def test_elements(self) -> None:
        rows = [row('a"<&\1'), row("b", targets=UNSUPPORTED), row("c", failure="disk"),
                row("d", validate={"outcome": "failed", "reason": "r"}),
                row("e", targets=converted(digests="differ"))]
        root = xml.etree.ElementTree.fromstring(junit(rows))
        self.assertEqual({k: v for k, v in root.attrib.items() if k != "name"},
                         {"tests": "17", "failures": "1", "errors": "2", "skipped": "1"})
        self.assertEqual([suite.get("name") for suite in root], ['a"<&?', "b", "c", "d", "e"])
        found = [(case.get("classname"), case.get("name"), case[0].tag)
                 for case in root.iter("testcase") if len(case)]
        self.assertEqual(found, [("b", "to NNAPI", "skipped"), ("c", "stage", "error"),
                                 ("d", "validate", "failure"), ("e", "to NNAPI", "error")])
        for suite in root:
            self.assertEqual(int(suite.get("tests", "")), len(suite))


class PageTest(unittest.TestCase):
    def test_data(self) -> None:
        rows = [row("</script><b>", license="MIT"), row("b", targets=UNSUPPORTED)]
        text = page(HEAD, rows, coverage_of(rows))
        self.assertEqual(text.count("</script>"), 2)
        self.assertNotRegex(text, "https?://")
        found = re.search('<script id="data" type="application/json">(.*)</script>', text)
        assert found is not None
        data = json.loads(found[1])
        self.assertEqual(data["models"][0]["name"], "</script><b>")
        self.assertEqual(data["models"][0]["steps"]["to NNAPI"], ["ok", ""])
        self.assertEqual(data["models"][0]["digests"], {"NNAPI": "equal"})
        # The filter of a reason finds the models that it counts.
        for reason in data["reasons"]:
            name = f"{reason['step']}: {reason['reason']}"
            self.assertEqual(sum(name in m["reasons"] for m in data["models"]), reason["models"])


CHROMIUM = shutil.which("chromium")
# Sets filters, and counts the models that are shown.
SCRIPT = """<pre id="result"></pre><script>
const shown = (filters) => {
  form.reset();
  for (const [name, value] of Object.entries(filters)) form.elements[name].value = value;
  show();
  return byId("models").children.length;
};
const counts = [{}, {name: "B"}, {status: "refused"}, {license: "MIT"}, {operator: "Relu"},
                {step: "to NNAPI", outcome: "equal"}, {outcome: "unsupported"},
                {reason: data.reasons[0].step + ": " + data.reasons[0].reason}].map(shown);
byId("reasons").querySelector("button").click();
counts.push(byId("models").children.length);
byId("result").textContent = JSON.stringify(counts);
</script></body>"""


@unittest.skipUnless(CHROMIUM, "chromium is not installed: scripts/setup browser")
class BrowserTest(FolderTest):
    def test_filters(self) -> None:
        rows = [row("a", license="MIT"), row("b", targets=UNSUPPORTED), row("c", failure="disk")]
        text = page(HEAD, rows, coverage_of(rows))
        path = self.write("page.html", text.replace("</body>", SCRIPT))
        result = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder}/profile", "--enable-logging=stderr", "--dump-dom",
             path.as_uri()], check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=120, env={**os.environ, "HOME": str(self.folder)})
        self.assertNotIn("Uncaught", result.stderr)
        found = re.search('<pre id="result">(.*)</pre>', result.stdout)
        assert found is not None
        self.assertEqual(json.loads(found[1]), [3, 1, 1, 1, 2, 1, 1, 1, 1])


class MergeTest(FolderTest):
    def shard(self, index: int, count: int, *names: str, **head: object) -> pathlib.Path:
        path = self.folder / f"{index}-{count}-{len(head)}-{head.get('version')}"
        report.write(path / "report", {**HEAD, "shard": {"index": index, "count": count}, **head},
                     map(row, names))
        return path

    def test_merged_shards_are_the_report_of_the_whole(self) -> None:
        report.write(self.folder / "whole", HEAD, map(row, "abcd"))
        report.merge(self.folder / "merged",
                     [self.shard(2, 2, "d", "a"), self.shard(1, 2, "b", "c")])
        names = sorted(p.name for p in (self.folder / "whole").iterdir())
        self.assertEqual(names, ["coverage.json", "index.html", "junit.xml", "models.jsonl"])
        for name in names:
            self.assertEqual((self.folder / "merged" / "report" / name).read_bytes(),
                             (self.folder / "whole" / name).read_bytes())

    def test_what_does_not_belong_together_is_refused(self) -> None:
        one = self.shard(1, 2, "a")
        for paths, message in (
                ([one], "shard 2/2 is missing"),
                ([one, one], "the same shard"),
                ([one, self.shard(2, 3, "b")], "one of 3 shards"),
                ([one, self.shard(2, 2, "b", version="2")], "another version"),
                ([one, self.shard(2, 2, "b", manifest="n")], "another manifest"),
                ([one, self.folder / "none"], "no report"),
        ):
            with self.subTest(message), self.assertRaises(UsageError) as caught:
                report.merge(self.folder / "merged", paths)
            self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
