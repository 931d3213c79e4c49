/** `bowline serve --cluster` and other commands, run from source. */
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answersOk } from "./answers-ok.ts";
import { Service } from "./service.ts";

const program = join(import.meta.dirname, "../../packages/bowline/src/cli/main.ts");
/** The command from source. The program is `node`. */
export const commandLine = [
  "--disable-warning=ExperimentalWarning",
  "--conditions=@bowline/source",
  program,
];
const environment = {
  BOWLINE_DISCOVERY: "off",
  NODE_COMPILE_CACHE: join(tmpdir(), "bowline-cluster-cache"),
};

export interface ServingOptions {
  readonly name: string;
  readonly role: "both" | "gateway" | "worker";
  /** The file of the cluster. */
  readonly config: string;
  readonly port: number;
  /** Its working directory, which also has its data. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class Serving extends Service {
  readonly url: string;

  constructor({ name, role, config, port, folder, env = {} }: ServingOptions) {
    const url = `http://127.0.0.1:${port}`;
    const args = ["serve", "--cluster", config, "--role", role, "--port", String(port)];
    super({
      kind: role === "worker" ? "worker" : "gateway",
      process: {
        name,
        command: process.execPath,
        args: [...commandLine, ...args],
        env: { ...environment, BOWLINE_HOME: join(folder, `${name}-data`), ...env },
        folder,
      },
      isReady: () => answersOk(`${url}/ready`),
    });
    this.url = url;
  }
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export function bowline(
  args: readonly string[],
  { folder, env = {} }: { readonly folder: string; readonly env?: Record<string, string> },
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...environment, ...env },
      timeout: 60_000,
    };
    execFile(process.execPath, [...commandLine, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
      resolve({ code, stdout, stderr });
    });
  });
}
