// Tests the packed command as users install it: `npm install -g` of core and the command together, and
// of the command alone. The installed `bowline` must then work in an empty folder, against a model
// server on loopback. `node scripts/published-command.mjs <core.tgz> <mcp.tgz> <bowline.tgz>`. npm takes
// dependencies from its cache, else from its registry.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { startPracticeServer } from "../packages/bowline/dist/practice/index.js";
import { startRegistry } from "./registry.mjs";
import { createFolder } from "./unpack.mjs";

const execute = promisify(execFile);
/** The time limit of one command, also on a busy machine. */
const TIME_LIMIT_MS = 60_000;
const INSTALL_LIMIT_MS = 300_000;

const [core, mcp, bowline] = process.argv.slice(2).map((tarball) => resolve(tarball));
const folder = createFolder("command");
const registry = await startRegistry(core, mcp);
const model = await startPracticeServer({ paceMs: 0 });
const layouts = { together: [core, bowline], alone: [bowline] };
try {
  const all = Object.entries(layouts).map(([name, tarballs]) => check(name, tarballs));
  const failures = (await Promise.all(all)).flat();
  for (const failure of failures) console.error(failure);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  registry.close();
  await model.close();
  folder.remove();
}

/** Resolves to the failure of one layout, if any. */
async function check(layout, tarballs) {
  const prefix = join(folder.path, layout);
  const home = join(prefix, "home");
  mkdirSync(home, { recursive: true });
  const failed = (what) => (error) =>
    `installed ${layout}: ${what}: ${error.stderr || error.stdout || error.message}`;
  try {
    await install(prefix, tarballs);
  } catch (error) {
    return [failed("npm install -g")(error)];
  }
  const outcomes = await Promise.all(
    Object.entries(checks(join(prefix, "bin", "bowline"), home)).map(([what, work]) =>
      work().then(() => [], failed(what)),
    ),
  );
  return outcomes.flat();
}

async function install(prefix, tarballs) {
  const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const args = ["install", "--global", "--prefix", prefix, ...quiet];
  // npm gets the command's dependencies on packages of this repository from this registry.
  const scope = `--@bowline:registry=${registry.url}`;
  await execute("npm", [...args, scope, ...tarballs], { timeout: INSTALL_LIMIT_MS });
}

function checks(program, home) {
  const environment = {
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    HOME: home,
    BOWLINE_DISCOVERY: "off",
    NO_COLOR: "1",
  };
  const limits = { timeout: TIME_LIMIT_MS, killSignal: "SIGKILL" };
  const options = { cwd: home, env: environment, ...limits };
  const expect = async (args, pattern) => {
    const running = execute(program, args, options);
    running.child.stdin.end();
    const { stdout, stderr } = await running;
    if (!pattern.test(stdout)) throw new Error(`printed ${stdout}${stderr}`);
  };
  return {
    "--version": () => expect(["--version"], /^\d+\.\d+\.\d+\n$/),
    run: () => expect(["run", "what is 2 + 3?"], /^2 \+ 3 = 5\n$/),
    "run at a server": () =>
      expect(["run", "--base-url", model.baseUrl, "what is 2 + 3?"], /^2 \+ 3 = 5\n$/),
    doctor: () => expect(["doctor", model.baseUrl], /works with Bowline/),
    serve: () => serve(program, options),
  };
}

/** Starts a server, checks its health, and stops it. */
async function serve(program, options) {
  const child = spawn(program, ["serve", "--port", "0", "--json"], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { url } = JSON.parse(line);
      const signal = AbortSignal.timeout(TIME_LIMIT_MS);
      const { status } = await fetch(new URL("/health", url), { signal });
      if (status !== 200) throw new Error(`/health answers ${status}`);
      child.kill("SIGTERM");
      const [code, killedBy] = await ended;
      if (code !== 0) throw new Error(`serve ended by ${code ?? killedBy}`);
      return;
    }
    throw new Error("serve ended before it was ready");
  } catch (error) {
    error.stderr = `${error.message}\n${stderr}`;
    throw error;
  } finally {
    child.kill("SIGKILL");
  }
}
