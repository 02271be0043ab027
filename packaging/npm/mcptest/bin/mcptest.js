#!/usr/bin/env node
// Runs the mcptest program of the optional package for this platform. Also a
// module: binary() returns the path of the program.
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

/** The path of the program: MCPTEST_BINARY, or the one of the package for this platform. */
export function binary() {
  if (process.env.MCPTEST_BINARY) return process.env.MCPTEST_BINARY;
  const name = `@mcptest/${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "mcptest.exe" : "mcptest";
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/${file}`);
  } catch {
    throw new Error(
      `the package ${name} is not installed; either this platform is not supported, ` +
        `or optional dependencies were omitted (install again without --omit=optional and --no-optional)`,
    );
  }
}

function main() {
  let program;
  try {
    program = binary();
  } catch (err) {
    console.error(`mcptest: ${err.message}`);
    process.exit(4);
  }
  const args = process.argv.slice(2);
  // Where Node.js can replace itself with the program, signals, the terminal
  // and the exit code need no help.
  if (process.execve && process.platform !== "win32") {
    process.execve(program, [program, ...args], process.env);
  }
  const child = spawn(program, args, { stdio: "inherit" });
  child.on("error", (err) => {
    console.error(`mcptest: cannot run ${program}: ${err.message}`);
    process.exit(4);
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // The terminal sends Ctrl-C to both processes. Forwarding it would count
      // as a second one, which ends a run without teardown.
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      child.kill(signal);
    });
  }
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main();
