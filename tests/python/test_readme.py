"""The examples of README.md, section "From Python"."""

import doctest
import os
import re

import nnsuite


def test_the_examples_of_readme(golden, tmp_path, monkeypatch):
    source = golden.parent
    section = (source / "README.md").read_text().split("### From Python", 1)[1].split("\n### ", 1)[0]
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", section, re.S))
    assert ">>> " in examples
    os.symlink(golden, tmp_path / "golden")
    monkeypatch.chdir(tmp_path)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = parser.get_doctest(examples, {}, "README.md", "README.md", 0)
    assert runner.run(test).failed == 0


def test_the_examples_of_docstrings(golden, monkeypatch):
    monkeypatch.chdir(golden.parent)
    assert doctest.testmod(nnsuite).failed == 0
