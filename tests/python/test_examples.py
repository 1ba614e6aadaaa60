"""The examples of the documentation and of docstrings."""

import doctest
import os
import re

import nnsuite


def test_the_examples_of_the_reference(golden, tmp_path, monkeypatch):
    source = golden.parent
    os.symlink(golden, tmp_path / "golden")
    monkeypatch.chdir(tmp_path)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    count = 0
    for page in [source / "README.md", *sorted((source / "docs/pages/reference").glob("*.md"))]:
        examples = "\n".join(re.findall(r"```pycon\n(.*?)```", page.read_text(), re.S))
        test = parser.get_doctest(examples, {}, page.name, page.name, 0)
        count += len(test.examples)
        assert runner.run(test).failed == 0
    assert count > 10


def test_the_examples_of_docstrings(golden, monkeypatch):
    monkeypatch.chdir(golden.parent)
    assert doctest.testmod(nnsuite).failed == 0
