"""Headless Chromium for tests, driven over a pipe (DevTools protocol): what a person does with a page, what it says.

    with Browser(directory) as browser:
        page = browser.open(path, width=390, height=844)
        page.run("document.title"); page.choose("#form select[name=x]", "value"); page.screenshot(png)
        page.problems      # Console errors, exceptions, and every address asked for that is not in the file.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time

from installer.shell import Failed, Unavailable, clean_environment

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE_S = 60
_IN_THE_FILE = ("file:", "data:", "blob:", "about:", "chrome:", "chrome-extension:")


class Browser:
    """A context. Owns: the browser's process and its profile, in directory."""

    def __init__(self, directory):
        self._program = next((found for found in map(shutil.which, _NAMES) if found), None)
        if not self._program:
            raise Unavailable("chromium is missing: apt-get install chromium")
        self._directory = directory
        self._messages, self._buffer, self._next = [], b"", 0
        self.events = []

    def __enter__(self):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The protocol's ends are descriptors 3 and 4; a shell puts them there whatever numbers they have here.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", self._program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--force-color-profile=srgb", f"--user-data-dir={self._directory}/profile",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=clean_environment({"HOME": str(self._directory)}), start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout_s=5)
            self._process.wait(10)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def call(self, method, session=None, timeout_s=_PATIENCE_S, **parameters):
        """Asks the browser, and returns its answer. Raises Failed with its error."""
        self._next += 1
        wanted = self._next
        message = {"id": wanted, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout_s
        while True:
            answer = self._receive(deadline, method)
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self, deadline, what):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._in, 1 << 20) if ready else b""
            if not data:
                raise Failed(f"chromium {'ended' if ready else 'gives no answer'} ({what})")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def open(self, path, width=1280, height=900, dark=False):
        """A page of a file, when it has loaded."""
        return Page(self, path, width, height, dark)


class Page:
    """One tab."""

    def __init__(self, browser, path, width, height, dark):
        self._browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.show_on(width, height, dark)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def show_on(self, width, height, dark=False):
        """A screen of this size, of a person who likes it light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme",
                                                           "value": "dark" if dark else "light"}])

    def run(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in done:
            details = done["exceptionDetails"]
            raise Failed(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return done["result"].get("value")

    def wait(self, expression, timeout_s=_PATIENCE_S):
        deadline = time.monotonic() + timeout_s
        while not self.run(expression):
            if time.monotonic() > deadline:
                raise Failed(f"does not become true: {expression}")
            time.sleep(0.05)

    def choose(self, selector, value):
        """Sets a select or types into a field, as a person's choice."""
        self.run(f"""(() => {{ const it = document.querySelector({json.dumps(selector)}); it.value = {json.dumps(value)};
            if (it.value !== {json.dumps(value)}) throw new Error("no such choice");
            it.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()""")

    def middle_of(self, selector):
        """Where on the screen an element is, once it is there and rests."""
        where = f"""(() => {{ const it = document.querySelector({json.dumps(selector)});
            it.scrollIntoView({{ block: "center", behavior: "instant" }}); const box = it.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        box, before = self.run(where), None
        while box != before:  # A page that still scrolls takes the element away from under the mouse.
            time.sleep(0.1)
            box, before = self.run(where), box
        return box

    def click(self, selector):
        """With the mouse, in the middle of the element."""
        box = self.middle_of(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def screenshot(self, path):
        """Of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path):
        """As it prints."""
        made = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        path.write_bytes(base64.b64decode(made["data"]))

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    @property
    def problems(self):
        self.run("1")  # What was said before is here now.
        said = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            method, of = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                said.append(of["exceptionDetails"].get("exception", {}).get("description", of["exceptionDetails"]["text"]))
            elif method == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning", "assert"):
                said.append(" ".join(str(argument.get("value", argument.get("description"))) for argument in of["args"]))
            elif method == "Log.entryAdded" and of["entry"]["level"] in ("error", "warning"):
                said.append(of["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not of["request"]["url"].startswith(_IN_THE_FILE):
                said.append(f"asks for {of['request']['url'][:200]}")
        return said
