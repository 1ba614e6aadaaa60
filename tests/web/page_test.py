#!/usr/bin/env python3
"""The page in Chromium: every button on twelve models, against the native programs.

page_test.py PAGE PROGRAMS [SCREENSHOTS]

PROGRAMS is the folder of the native programs and of make_model. Exit code 77: skipped.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from webdriver import KEYS, Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ["cnn.onnx", "mobile_quant.tflite", "superres.mlmodel", "squeeze.nnapi"]
GRAPHS = [("attention", "onnx"), ("shuffle", "onnx"), ("ssd", "onnx"), ("unet", "tflite"),
          ("mobile", "tflite"), ("tagger", "mlmodel"), ("mobile", "mlmodel"), ("unet", "nnapi")]
TARGETS = [".onnx", ".tflite", ".mlmodel", ".nnapi"]

checks = failures = 0


def check(condition, what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print(f"FAILED: {what}", flush=True)


class Native:
    """The native programs, in a folder with the model only."""

    def __init__(self, programs, work):
        self._path, self._work = programs, work

    def run(self, command, model):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self._work))
        shutil.copy(model, folder)
        words = shlex.split(command)
        result = subprocess.run([str(self._path / words[0]), *words[1:]], cwd=folder,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        files = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != model.name}
        shutil.rmtree(folder)
        return result, files


class PageTest:
    def __init__(self, browser, native, downloads):
        self.browser, self.native, self.downloads = browser, native, downloads

    def act(self, action):
        """Does what starts a program, and waits for its end; the exit code."""
        self.browser.run("document.getElementById('status').textContent = ''")
        action()
        text = self.browser.wait(
            "const s = document.getElementById('status');"
            "return (/exit code/.test(s.textContent) || s.classList.contains('failed')) && "
            "s.textContent", "a program")
        return int(text.split("exit code ")[1].split(",")[0]) if "exit code" in text else text

    def text(self, id):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", id)

    def open(self, model):
        return self.act(lambda: self.browser.type("#file", str(model)))

    def load(self, page):
        self.browser.open(page.as_uri())
        self.browser.wait("return document.getElementById('status').textContent === 'Ready.'", "module")

    def check_output(self, model, code):
        """The view shows what the native program prints."""
        command = self.text("command")
        result, _ = self.native.run(command, model)
        check(code == result.returncode, f"{command}: exit code {code}, native {result.returncode}: {result.stderr}")
        check(self.text("text") == result.stdout.decode(), f"{command}: output")
        check(self.text("errors") == result.stderr.decode(), f"{command}: messages")

    def check_download(self, model, label):
        for old in self.downloads.iterdir():
            old.unlink()
        selector = f"#downloads button:nth-child({label})"
        code = self.act(lambda: self.browser.click(selector))
        command = self.text("command")
        result, files = self.native.run(command, model)
        check(code == result.returncode, f"{command}: exit code {code}, native {result.returncode}: {result.stderr}")
        end = time.monotonic() + 30
        while set(os.listdir(self.downloads)) != set(files) and time.monotonic() < end:
            time.sleep(0.02)
        found = {p.name: p.read_bytes() for p in self.downloads.iterdir()}
        check(set(found) == set(files), f"{command}: files {sorted(found)}, native {sorted(files)}")
        for name, data in files.items():
            check(found.get(name) == data, f"{command}: {name} differs from the native program's")
        return len(files)

    def check_model(self, model):
        compared = 0
        code = self.open(model)
        self.check_output(model, code)
        for tab in ["summary", "graph", "findings", "cost", "run", "convert"]:
            click = lambda: self.browser.click(f"#tab-{tab}")
            if tab == "convert":
                click()
                for target in TARGETS:
                    self.browser.run("document.getElementById('target').value = arguments[0]", target)
                    self.check_output(model, self.act(lambda: self.browser.click("#run")))
                    compared += self.check_download(model, 1)
                continue
            code = self.act(click)
            if tab == "graph":
                check(code == 0 and self.browser.run(
                    "return !document.getElementById('graph').hidden"), f"{model.name}: no graph")
            else:
                self.check_output(model, code)
                self.check_output(model, self.act(lambda: self.browser.click("#run")))
            count = self.browser.run("return document.getElementById('downloads').children.length")
            for i in range(count):
                compared += self.check_download(model, i + 1)
        return compared

    def check_options(self, model):
        """Options are words of a command line; wrong ones are errors of the program."""
        self.open(model)
        self.act(lambda: self.browser.click("#help"))
        check("Usage: nninspect" in self.text("text"), "help")
        self.browser.type("#options", "--nodes --format csv")
        self.check_output(model, self.act(lambda: self.browser.click("#run")))
        self.browser.clear("#options")
        self.browser.type("#options", "--no-such-option")
        code = self.act(lambda: self.browser.click("#run"))
        check(code == 2, "an unknown option is an error")
        self.check_output(model, code)
        self.browser.clear("#options")
        self.act(lambda: self.browser.click("#tab-run"))
        self.browser.clear("#seed")
        self.browser.type("#seed", "7")
        self.check_output(model, self.act(lambda: self.browser.click("#run")))

    def check_keyboard(self, model):
        """Tabs follow the arrow keys; what is operable has a name for screen readers."""
        self.open(model)
        self.act(lambda: self.browser.type("#tab-summary", KEYS["right"]))
        focused = "return document.activeElement.id"
        check(self.browser.run(focused) == "tab-graph", "the arrow key moves the focus")
        selected = "return document.querySelector('[aria-selected=true]').id"
        check(self.browser.run(selected) == "tab-graph", "the arrow key selects a tab")
        self.act(lambda: self.browser.type("#tab-graph", KEYS["home"]))
        check(self.browser.run(selected) == "tab-summary", "Home selects the first tab")
        nodes = self.browser.command("Accessibility.getFullAXTree")["nodes"]
        operable = [n for n in nodes if not n.get("ignored") and n["role"]["value"] in
                    ("button", "tab", "textbox", "spinbutton", "combobox", "tabpanel")]
        check(len(operable) > 10, f"{len(operable)} operable elements")
        for node in operable:
            check(node.get("name", {}).get("value"), f"a {node['role']['value']} has no name")

    def check_isolation(self):
        """The policy of the page forbids every connection."""
        for script in ("fetch('https://example.org/')", "fetch('data:,x')",
                       "new Image().src = 'https://example.org/x.png'"):
            blocked = self.browser.run(
                "return new Promise((resolve) => { addEventListener('securitypolicyviolation', "
                "(e) => resolve(e.violatedDirective), { once: true }); "
                f"Promise.resolve({script}).catch(() => 0); setTimeout(() => resolve(''), 3000); }})")
            check(blocked in ("connect-src", "img-src"), f"{script} is not blocked")

    def take_screenshots(self, page, model, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, scheme, size in [("light", "light", (1200, 900)), ("dark", "dark", (1200, 900)),
                                   ("phone", "light", (390, 844))]:
            self.browser.command("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-color-scheme", "value": scheme}])
            self.browser.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                                 deviceScaleFactor=1, mobile=name == "phone")
            self.load(page)  # frames that exist keep the other screen
            self.open(model)
            for tab in ["summary", "graph", "findings"]:
                self.act(lambda: self.browser.click(f"#tab-{tab}"))
                if tab == "graph":
                    time.sleep(3)  # until it is drawn
                    self.browser.run("document.getElementById('graph').scrollIntoView()")
                self.browser.screenshot(folder / f"{name}-{tab}.png")
            check(self.browser.run("return document.documentElement.scrollWidth <= innerWidth"),
                  f"{name}: the page is wider than the window")


def main():
    page, programs = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    for tool in ("chromedriver", "chromium"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed (scripts/setup wasm)")
            return 77
    if not (programs / "make_model").exists():
        print(f"skipped: {programs} has no native programs (cmake --build --preset release)")
        return 77
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        models = [ROOT / "golden" / name for name in GOLDEN]
        for graph, extension in GRAPHS:
            models.append(work / f"{graph}.{extension}")
            subprocess.run([programs / "make_model", ROOT / f"tests/golden/graphs/{graph}.graph",
                            models[-1]], check=True)
        downloads = work / "downloads"
        downloads.mkdir()
        browser = Browser(str(downloads))
        try:
            test = PageTest(browser, Native(programs, work), downloads)
            test.load(page)
            paint = browser.wait("return performance.getEntriesByName('first-contentful-paint')[0]"
                                 "?.startTime", "the first paint")
            print(f"first paint {paint:.0f} ms")
            check(paint < 1000, "the first paint takes a second")
            for model in models:
                print(f"{model.name}: {test.check_model(model)} downloads compared", flush=True)
            test.check_options(models[0])
            test.check_keyboard(models[0])
            check(browser.errors() == [], "errors in the console")
            test.check_isolation()
            if len(sys.argv) > 3:
                test.take_screenshots(page, models[0], pathlib.Path(sys.argv[3]))
        finally:
            browser.close()
    print(f"{checks} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
