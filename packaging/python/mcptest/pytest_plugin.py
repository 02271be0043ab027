"""pytest runs suites of mcptest, each case as a test item.

Files called mcptest.yaml or NAME.mcptest.yaml (or .yml) are collected; so is any
YAML file that is named on the command line. The setting mcptest_args has further
arguments of `mcptest run`.
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest

from mcptest import binary


def pytest_addoption(parser):
    parser.addini("mcptest_args", "further arguments of `mcptest run`", type="args", default=[])


def pytest_collect_file(file_path, parent):
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    if file_path.stem == "mcptest" or file_path.stem.endswith(".mcptest") or parent.session.isinitpath(file_path):
        return Suite.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    if isinstance(item, Case):
        item.parent.reached.add(item.name)


def without_filters(args):
    """The arguments without the filters that --list has applied: a second --filter would add cases."""
    return [
        arg for before, arg in zip(["", *args], args)
        if not re.match(r"-k|--(filter|shard)(=|$)", arg) and before not in ("-k", "--filter", "--shard")
    ]


class Suite(pytest.File):
    """A suite. It is run once, when the first of its cases begins."""

    process = None

    def command(self, *args):
        return [binary(), "run", self.path.name, *args]

    def collect(self):
        self.reached = set()  # also by tests that pytest skipped
        try:
            done = subprocess.run(self.command(*self.config.getini("mcptest_args"), "--list"), cwd=self.path.parent, capture_output=True, encoding="utf-8")
        except OSError as err:
            raise self.CollectError(str(err)) from err
        if done.returncode != 0:
            raise self.CollectError(done.stderr or f"mcptest ended with the exit code {done.returncode}")
        self.names = done.stdout.rstrip("\n").split("\n")
        for name in self.names:
            yield Case.from_parent(self, name=name)

    def setup(self):
        chosen = [item.name for item in self.session.items if item.parent is self]
        pattern = "re:^(?:" + "|".join(re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", name) for name in chosen) + ")$"
        every = len(chosen) == len(self.names) or len(pattern) > 100_000
        self.chosen = set(chosen)
        self.places = {name: place for place, name in enumerate(n for n in self.names if every or n in self.chosen)}
        self.results, self.problems, self.failed, self.code = {}, [], False, None
        self.stderr = tempfile.TemporaryFile()
        args = self.config.getini("mcptest_args")
        selection = args if every else [*without_filters(args), "--filter", pattern]
        self.process = subprocess.Popen(
            self.command(*selection, "--reporter", "ndjson", "--stop-at-eof"),  # stdin ends with this process
            cwd=self.path.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, encoding="utf-8",
        )

    def teardown(self):
        """Waits for the end of the run, and fails if something outside every case was wrong."""
        if self.process is None:
            return
        try:
            if self.chosen - self.reached:  # pytest gave up (-x, or an interruption)
                self.process.terminate()
                self.process.communicate()
                return
            self.read(lambda: False)
            code = self.process.wait()
            if self.code is None:
                pytest.fail(self.ended(), pytrace=False)
            if code != self.code or self.problems or (code != 0 and not self.failed):
                pytest.fail("\n".join([f"mcptest ended with the exit code {code}", *self.problems, self.errors()]), pytrace=False)
        finally:
            self.process.stdin.close()
            self.process.stdout.close()
            self.stderr.close()
            self.process = None

    def result(self, name):
        """Waits for the result of a case."""
        place = self.places[name]
        self.read(lambda: place in self.results)
        if place not in self.results:
            self.process.wait()
            pytest.fail(self.ended(), pytrace=False)
        result = self.results[place]
        if result["name"] != name and "\\" not in name:  # names are listed with escapes
            pytest.fail(f"mcptest ran {result['name']!r} in place of this test; mcptest_args must select the same tests each time", pytrace=False)
        return result

    def read(self, enough):
        while not enough() and (line := self.process.stdout.readline()):
            try:
                self.event(json.loads(line))
            except ValueError:
                self.problems.append("not an event: " + line)

    def event(self, event):
        kind = event["event"]
        if kind == "run_started" and event["total"] != len(self.places):
            self.problems.append(f"{event['total']} tests were run, expected {len(self.places)}")
        elif kind == "test_finished":
            self.failed = self.failed or event["test"]["status"] not in ("pass", "skip")
            self.results[event["index"]] = {**event["test"], "explanation": event.get("explanation", "")}
        elif kind == "finding" and event["finding"]["severity"] == "error":
            self.problems.append(event["finding"]["message"])
        elif kind == "finding" and event["finding"]["severity"] == "warning":
            self.warn(pytest.PytestWarning(event["finding"]["message"]))
        elif kind == "phase_finished" and event["phase"]["status"] in ("fail", "error") and event["phase"]["phase"] in ("beforeAll", "setup"):
            phase = event["phase"]
            self.problems.append(f"{phase.get('file')}:{phase.get('line')}: {phase['phase']} {phase['name']}: {phase.get('message')}")
        elif kind == "run_finished":
            self.code = event["exit_code"]

    def ended(self):
        return f"mcptest ended without a result (exit code {self.process.returncode})\n{self.errors()}"

    def errors(self):
        self.stderr.seek(0)
        return self.stderr.read().decode("utf-8", "replace")


class Case(pytest.Item):
    """One case of a suite."""

    line = None

    def runtest(self):
        result = self.parent.result(self.name)
        for warning in result.get("warnings", []):
            self.warn(pytest.PytestWarning(warning))
        self.line = result["line"]
        message = result.get("message", result["status"])
        if result["status"] == "skip":
            pytest.skip(message)
        if result["status"] != "pass":
            pytest.fail(self.describe(result, message), pytrace=False)

    def describe(self, result, message):
        failed = [a for a in result["assertions"] if not a["pass"]]
        place = next((a for a in failed if a.get("line")), result)
        folder = self.parent.path.parent
        try:
            folder = Path(os.path.relpath(folder))
        except ValueError:  # on another drive
            pass
        # What go test shows: the call, the response, the difference, the suite's line.
        explanation = result["explanation"]
        if folder != Path("."):
            explanation = re.sub(r"(?m)^repro  ", lambda _: f"repro  cd {shlex.quote(str(folder))} && ", explanation)
        return f"{folder / place.get('file', result['file'])}:{place['line']}: {message}\n\n{explanation}"

    def reportinfo(self):
        return self.path, (self.line or 1) - 1, self.name
