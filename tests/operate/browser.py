#!/usr/bin/env python3
"""The page in Chromium, as users have it: browser.py switch|tree URL PROFILE [SCREENSHOT]. Meanwhile a job must run: at a switch one whose rank 3 is late, in a tree one
of ranks 0 and 1 at the switch 10.77.0.251 below this one, whose link loses what it sends up.

Chromium is told what to do by two pipes (--remote-debugging-pipe): messages of JSON, each ends with a zero byte."""
import base64
import json
import os
import subprocess
import sys
import time
from pathlib import Path

WHAT, URL, PROFILE = sys.argv[1:4]
PATIENCE_S = 300  # ends what hangs


class Browser:
    def __init__(self):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def places():  # it reads from 3 and writes to 4
            read, write = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={PROFILE}", "--remote-debugging-pipe"],
                                        preexec_fn=places, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.reader, self.writer = ours_in, ours_out
        self.bytes, self.last, self.session, self.asked = b"", 0, None, set()
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def message(self):
        while b"\0" not in self.bytes:
            piece = os.read(self.reader, 1 << 20)
            if not piece:
                sys.exit("Chromium has ended")
            self.bytes += piece
        line, _, self.bytes = self.bytes.partition(b"\0")
        return json.loads(line)

    def do(self, method, **parameters):
        self.last += 1
        request = {"id": self.last, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.writer, json.dumps(request).encode() + b"\0")
        while (answer := self.message()).get("id") != self.last:
            if answer.get("method") == "Network.requestWillBeSent":
                self.asked.add(answer["params"]["request"]["url"])
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']}")
        return answer["result"]

    def value(self, expression):
        return self.do("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def until(self, what, expression):
        end = time.monotonic() + PATIENCE_S
        while not self.value(expression):
            if time.monotonic() > end:
                sys.exit(f"{what}: it never is; the page: {self.value('document.body.innerText')}")
            time.sleep(0.2)

    def press(self, key, code):
        for kind in ("rawKeyDown", "char", "keyUp"):
            self.do("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text="\r" if key == "Enter" else "")


def expect(what, is_so, said):
    if not is_so:
        sys.exit(f"{what}: {said}")


def look_at_tree(browser):
    browser.until("the switch below, and its ranks", "/^10.77.0.251below.*train: ranks 0, 1/.test(document.querySelector('#below .card')?.textContent)")
    browser.until("what its link loses", "/lost up [1-9]/.test(document.querySelector('#below .card').textContent)")
    browser.until("in words", "[...document.querySelectorAll('.told')].some(t => /switch 10.77.0.251 (loses|is waited for)/.test(t.textContent))")
    browser.until("pages of the others", "document.querySelector('#peers a').href == 'http://10.77.0.251:9273/'")


def look_at_switch(browser):
    browser.until("no tree", "document.querySelector('#tree').hidden")
    browser.until("ports", "document.querySelectorAll('#ports .card[data-state=up]').length == 4")
    browser.until("who is late", "[...document.querySelectorAll('.told')].some(t => /rank 3 .* is waited for/.test(t.textContent))")
    browser.until("what is summed", "[...document.querySelectorAll('summary .num')].some(n => /^[1-9].*bit/.test(n.textContent))")

    browser.press("Tab", 9)
    browser.press("Enter", 13)
    browser.until("a job that the keyboard opens", "document.querySelector('details[open] tr.worst td').textContent == '3'")
    browser.until("it stays open, and has the focus, when there is news",
                  "(window.seen ||= document.querySelector('details')) != document.querySelector('details') && document.querySelector('details').open"
                  " && document.activeElement.tagName == 'SUMMARY'")

    light = browser.value("getComputedStyle(document.body).backgroundColor")
    browser.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = browser.value("getComputedStyle(document.body).backgroundColor")
    expect("light and dark", light != dark, (light, dark))
    browser.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.do("Emulation.setDeviceMetricsOverride", width=360, height=640, deviceScaleFactor=2, mobile=True)
    width = browser.value("document.documentElement.scrollWidth")
    expect("a phone's width", width <= 360, width)
    browser.do("Emulation.setDeviceMetricsOverride", width=900, height=720, deviceScaleFactor=1, mobile=False)


def main():
    browser = Browser()
    browser.do("Network.enable")
    browser.do("Emulation.setDeviceMetricsOverride", width=900, height=720, deviceScaleFactor=1, mobile=False)
    browser.do("Page.navigate", url=URL)
    {"switch": look_at_switch, "tree": look_at_tree}[WHAT](browser)

    elsewhere = {url for url in browser.asked if not url.startswith(URL)}
    expect("requests to elsewhere", browser.asked and not elsewhere, elsewhere)
    if len(sys.argv) > 4:
        time.sleep(20)  # for the curve
        Path(sys.argv[4]).write_bytes(base64.b64decode(browser.do("Page.captureScreenshot", format="png")["data"]))
    browser.session = None
    browser.do("Browser.close")
    browser.process.wait(PATIENCE_S)


main()
