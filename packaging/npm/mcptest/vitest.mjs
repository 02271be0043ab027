// Vitest runs a suite of mcptest, each case as a test:
//
//   import { mcptest } from "mcptest/vitest";
//   mcptest("suite.yaml");
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, test } from "vitest";
import { binary } from "./bin/mcptest.js";

/** Declares a test for each case of a suite, which is run when the first of them begins. */
export function mcptest(file, { args = [], cwd = process.cwd() } = {}) {
  const suite = file instanceof URL ? fileURLToPath(file) : file;
  const command = ["run", suite, ...args];
  const list = spawnSync(binary(), [...command, "--list"], { cwd, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (list.error || list.status !== 0) {
    throw new Error(`mcptest ${command.join(" ")} --list: ${list.error?.message ?? list.stderr}`);
  }
  const names = list.stdout.trimEnd().split("\n");
  describe(path.basename(suite), () => {
    let run;
    beforeAll(function () {
      // The suite is the first argument up to Vitest 4.0 and the second since 4.1,
      // which allows no named parameter in place of its fixtures.
      const { tasks } = [...arguments].find((a) => a?.tasks);
      // Vitest has skipped the tests that its own filters leave out.
      const selected = tasks.filter((t) => t.mode !== "skip" && t.mode !== "todo");
      run = new Run(suite, args, cwd, names, selected);
    }, 0);
    for (const name of names) {
      test(name, async (context) => verdict(context, await run.result(name), cwd), 0);
    }
    afterAll(() => run?.finish(), 0);
  });
}

/** Ends a test as its case ended. */
function verdict(context, result, cwd) {
  for (const warning of result.warnings ?? []) console.warn(`mcptest: warning: ${warning}`);
  if (result.status === "pass") return;
  if (result.status === "skip") return context.skip(result.message ?? "skipped");
  const failed = result.assertions.filter((a) => !a.pass);
  const place = failed.find((a) => a.line) ?? result;
  const at = `${path.resolve(cwd, place.file ?? result.file)}:${place.line}:${place.column ?? 1}`;
  const lines = [result.message ?? result.status, `${place.file ?? result.file}:${place.line}`];
  // What go test shows: the call, the response, the difference, the suite's line.
  if (result.explanation) lines.push("", result.explanation.replace(/^repro {2}mcptest /m, "repro  npx mcptest "));
  const error = new Error(lines.join("\n"));
  error.stack = `Error: ${error.message}\n    at ${at}`;
  throw error;
}

/** The arguments without the filters that --list has applied: a second --filter would add cases. */
function withoutFilters(args) {
  return args.filter((a, i) => !/^(-k|--(filter|shard)(=|$))/.test(a) && !/^(-k|--filter|--shard)$/.test(args[i - 1]));
}

/** Checks that a result is that of a case; names are listed with escapes (\x1b). */
function checked(result, name) {
  if (result.name === name || name.includes("\\")) return result;
  throw new Error(`mcptest ran ${JSON.stringify(result.name)} in place of this test; the arguments of mcptest() must select the same tests each time`);
}

/** One run of the program: the results of its cases as they come, and how it ended. */
class Run {
  #results = new Map(); // of the cases, by place
  #waiting = new Map();
  #problems = []; // outside every case
  #stderr = "";
  #end; // why no more results come
  #failed = false;
  #code; // that the last event announces

  constructor(suite, args, cwd, names, selected) {
    const tasks = new Map(selected.map((t) => [t.name, t]));
    const chosen = names.filter((n) => tasks.has(n));
    const pattern = `re:^(?:${chosen.map((n) => n.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")).join("|")})$`;
    const all = chosen.length === names.length || pattern.length > 100_000;
    this.places = new Map((all ? names : chosen).map((n, i) => [n, i]));
    this.unread = tasks;
    const selection = all ? args : [...withoutFilters(args), "--filter", pattern];
    // Its standard input is a pipe that ends with this process.
    this.child = spawn(binary(), ["run", suite, ...selection, "--reporter", "ndjson", "--stop-at-eof"], { cwd });
    // A worker process outlives Vitest for a while if Vitest is killed.
    const stop = () => this.child.kill();
    process.once("disconnect", stop);
    this.child.stderr.setEncoding("utf8").on("data", (text) => (this.#stderr += text));
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#event(line));
    this.ended = new Promise((resolve) => {
      this.child.on("error", (err) => resolve(err.message));
      this.child.on("close", (code, signal) => resolve(signal ? `it was ended by ${signal}` : `exit code ${code}`));
    }).then((how) => {
      process.off("disconnect", stop);
      this.#end = `mcptest ended without a result (${how})\n${this.#stderr}`;
      for (const { reject } of this.#waiting.values()) reject(new Error(this.#end));
    });
  }

  #event(line) {
    let e;
    try {
      e = JSON.parse(line);
    } catch {
      this.#problems.push(`not an event: ${line}`);
      return;
    }
    if (e.event === "run_started" && e.total !== this.places.size) {
      this.#problems.push(`${e.total} tests were run, expected ${this.places.size}`);
    } else if (e.event === "test_finished") {
      this.#failed ||= e.test.status !== "pass" && e.test.status !== "skip";
      const result = { ...e.test, explanation: e.explanation };
      this.#results.set(e.index, result);
      this.#waiting.get(e.index)?.resolve(result);
    } else if (e.event === "finding" && e.finding.severity === "error") {
      this.#problems.push(e.finding.message);
    } else if (e.event === "finding" && e.finding.severity === "warning") {
      console.warn(`mcptest: warning: ${e.finding.message}`);
    } else if (e.event === "phase_finished" && /fail|error/.test(e.phase.status) && /^(beforeAll|setup)$/.test(e.phase.phase)) {
      this.#problems.push(`${e.phase.file}:${e.phase.line}: ${e.phase.phase} ${e.phase.name}: ${e.phase.message}`);
    } else if (e.event === "run_finished") {
      this.#code = e.exit_code;
    }
  }

  /** Waits for the result of a case. */
  result(name) {
    this.unread.delete(name);
    const place = this.places.get(name);
    const known = this.#results.get(place);
    if (known) return checked(known, name);
    if (this.#end) throw new Error(this.#end);
    return new Promise((resolve, reject) => this.#waiting.set(place, { resolve, reject })).then((result) => checked(result, name));
  }

  /** Waits for the end of the run, and fails if something outside every case was wrong. */
  async finish() {
    // A test that a hook skipped or failed has a result. One without was not reached: Vitest gave up (--bail, or an interruption).
    if ([...this.unread.values()].some((t) => !t.result?.pending && t.result?.state !== "fail")) {
      this.child.kill();
      return this.ended;
    }
    await this.ended;
    if (this.#code === undefined) throw new Error(this.#end);
    const code = this.child.exitCode;
    if (code !== this.#code || this.#problems.length > 0 || (code !== 0 && !this.#failed)) {
      throw new Error([`mcptest ended with the exit code ${code}`, ...this.#problems, this.#stderr].join("\n"));
    }
  }
}
