"""A client of chromedriver: what the tests of the page need of the WebDriver protocol."""

import base64
import json
import re
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"right": "\ue014", "end": "\ue010", "home": "\ue011"}


class Browser:
    """Chromium without a window, whose downloads go to a folder."""

    def __init__(self, downloads, size=(1200, 900)):
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self._driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self._base = f"http://127.0.0.1:{found[1]}/session"
                break
        else:
            raise RuntimeError("chromedriver did not start")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={size[0]},{size[1]}"]
        options = {"args": arguments, "prefs": {"download.default_directory": downloads}}
        answer = self._post("", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self._base += "/" + answer["sessionId"]
        self._post("/timeouts", {"script": 120000})

    def close(self):
        try:
            self._request("DELETE", "", None)
        finally:
            self._driver.terminate()
            self._driver.wait()

    def _request(self, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def _post(self, path, body):
        return self._request("POST", path, body)

    def open(self, url):
        self._post("/url", {"url": url})

    def run(self, script, *arguments):
        return self._post("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, what, seconds=120):
        """What the script returns, as soon as that is true."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise RuntimeError(f"timeout: {what}")
            time.sleep(0.02)
        return value

    def find(self, selector):
        return self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self._post(f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self._post(f"/element/{self.find(selector)}/value", {"text": text})

    def clear(self, selector):
        self._post(f"/element/{self.find(selector)}/clear", {})

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self._post("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def errors(self):
        """Messages of the console that are errors."""
        return [e["message"] for e in self._post("/se/log", {"type": "browser"})
                if e["level"] == "SEVERE"]

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self._request("GET", "/screenshot", None)))
