// Runs test files in this one process, for scripts/test.mjs. `node --test --test-isolation=none`
// does the same, but follows each promise of the tests to know which test an uncaught error comes
// from. That is a third of its time. Here an uncaught error still fails the run and is printed with
// its stack; `npm test -- words of a path` names its test.
import { createHook } from "node:async_hooks";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const [timeout, ...files] = process.argv.slice(2);
followNoPromises();
process.on("unhandledRejection", (reason) => console.error("unhandled rejection:", reason));
process.on("uncaughtExceptionMonitor", (error) => console.error("uncaught exception:", error));

const running = new Map();
const keyOf = ({ file, line, column, name }) => [file, line, column, name].join(":");
const tests = run({ files, isolation: "none", timeout: Number(timeout) });
tests.on("test:dequeue", (test) => running.set(keyOf(test), test));
tests.on("test:complete", (test) => running.delete(keyOf(test)));
tests.on("test:summary", ({ success }) => {
  if (!success) process.exitCode = 1;
});
tests.compose(spec).pipe(process.stdout);

// scripts/test.mjs sends it to a suite that hangs.
process.once("SIGTERM", () => {
  for (const { name, file, line } of running.values())
    console.error(`still running: ${name} (${file}:${line})`);
  process.exit(1);
});

/**
 * Makes the runner's hook, the next one that is enabled, follow resources and no promises. Node has
 * `trackPromises` for that and no option of the runner. If Node marks such a hook differently one
 * day, this changes nothing, and the tests take longer.
 */
function followNoPromises() {
  const light = createHook({ trackPromises: false });
  const usual = createHook({});
  const marks = Object.getOwnPropertySymbols(light).filter(
    (key) => light[key] === true && usual[key] === false,
  );
  const prototype = Object.getPrototypeOf(light);
  const { enable } = prototype;
  prototype.enable = function enableOnce() {
    prototype.enable = enable;
    for (const mark of marks) this[mark] = true;
    return this.enable();
  };
}
