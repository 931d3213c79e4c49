/**
 * A PostgreSQL server for tests, in a folder and on a socket of its own. It ends with the tests' process,
 * also when that is killed. `initdb` refuses root, so root runs it as the user `postgres`.
 */
import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const PORT = 5432;
const START_MS = 30_000;

export interface PostgresServer extends AsyncDisposable {
  /** The folder of the Unix socket, which is also a host for clients. */
  readonly socket: string;
  /** A connection string for a database, without a password. Default: `postgres`. */
  url(database?: string): string;
  /** Creates an empty database and returns its connection string. */
  createDatabase(name?: string): Promise<string>;
  /** Runs SQL as the owner of the server. Returns its rows as unaligned text. */
  sql(text: string, database?: string): Promise<string>;
  /** The process id of the server. Undefined while it is not running. */
  readonly pid: number | undefined;
  /** The last part of its log. */
  readonly log: string;
  /** Sends a signal to the server and all its processes, such as SIGSTOP. */
  signal(name: NodeJS.Signals): void;
  /** Kills the server and all its processes with SIGKILL, as a crash would. */
  crash(): Promise<void>;
  /** Starts the server again after `crash`. */
  start(): Promise<void>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** Lines of postgresql.conf, such as `fsync = off`. */
  readonly settings?: readonly string[];
  /** Comes before the command that starts the server, such as `ip netns exec <name>`. */
  readonly prefix?: readonly string[];
  /** Lines of pg_hba.conf, before the one that trusts everybody on the socket. */
  readonly access?: readonly string[];
  /** A port of 127.0.0.1 on which it listens too. Default: none, only the socket. */
  readonly port?: number;
  /** Default: no TLS. */
  readonly tls?: ServerTls;
}

/** Paths of PEM files. */
interface ServerTls {
  /** The server's certificate. */
  readonly cert: string;
  readonly key: string;
  /** The authority of the clients' certificates. Default: clients need none. */
  readonly clientCa?: string;
}

/** The folder of the server's programs, or undefined where PostgreSQL is not installed. */
export function postgresPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root)
    ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...versions.map((version) => join(root, version, "bin")),
    "/usr/bin",
    "/usr/local/bin",
  ];
  return folders.find((folder) =>
    ["initdb", "postgres"].every((name) => existsSync(join(folder, name))),
  );
}

/** The reason to skip tests of a database, or false. */
export function postgresIsMissing(): string | false {
  if (postgresPrograms() === undefined)
    return "PostgreSQL is not installed (apt-get install postgresql)";
  if (process.getuid?.() === 0 && idOf("postgres") === undefined)
    return "there is no user postgres, and PostgreSQL refuses to run as root";
  return false;
}

/** Starts a server. Without `settings`, commits are not synced to the disk, which is faster. */
export async function startPostgres({
  settings = ["fsync = off"],
  access = [],
  port,
  tls,
  prefix = [],
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error(String(postgresIsMissing()));
  const folder = mkdtempSync(join(tmpdir(), "bowline-pg-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    chmodSync(folder, 0o755); // the socket is reached by this user
    giveTo(folder);
    const data = join(folder, "data");
    const owner = ownerOf();
    await execute(
      ...as(join(programs, "initdb"), [
        "-D",
        data,
        "-U",
        owner,
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
      ]),
    );
    const lines = [
      `unix_socket_directories = '${folder}'`,
      `listen_addresses = '${port === undefined ? "" : "127.0.0.1"}'`,
      `port = ${port ?? PORT}`,
      "max_connections = 200",
      "shared_buffers = 32MB",
      ...(tls === undefined ? [] : tlsSettings(tls, folder)),
      ...settings,
    ];
    await writeFile(join(data, "postgresql.conf"), `${lines.join("\n")}\n`);
    await writeFile(
      join(data, "pg_hba.conf"),
      `${[...access, "local all all trust"].join("\n")}\n`,
    );
    const server = new Server({
      programs,
      folder,
      data,
      owner,
      port: port ?? PORT,
      prefix,
      remove,
    });
    await server.start();
    return server;
  } catch (error) {
    remove();
    throw error;
  }
}

/** Copies the files, because the server refuses a key that its user does not own. */
function tlsSettings({ cert, key, clientCa }: ServerTls, folder: string): string[] {
  const files = {
    ssl_cert_file: cert,
    ssl_key_file: key,
    ...(clientCa !== undefined && { ssl_ca_file: clientCa }),
  };
  const lines = Object.entries(files).map(([name, from]) => {
    const to = join(folder, `${name}.pem`);
    copyFileSync(from, to);
    chmodSync(to, 0o600);
    giveTo(to);
    return `${name} = '${to}'`;
  });
  return ["ssl = on", ...lines];
}

interface Place {
  readonly programs: string;
  readonly folder: string;
  readonly data: string;
  readonly owner: string;
  readonly prefix: readonly string[];
  readonly port: number;
  readonly remove: () => void;
}

class Server implements PostgresServer {
  readonly #place: Place;
  #process: ChildProcess | undefined;
  #databases = 0;
  #log = "";
  readonly #onExit = (): void => {
    this.#kill();
    this.#place.remove();
  };

  constructor(place: Place) {
    this.#place = place;
    process.once("exit", this.#onExit);
  }

  get socket(): string {
    return this.#place.folder;
  }

  get log(): string {
    return this.#log;
  }

  url(database = "postgres"): string {
    const { owner, folder, port } = this.#place;
    return `postgresql://${owner}@/${database}?host=${encodeURIComponent(folder)}&port=${port}`;
  }

  async createDatabase(name = `test_${++this.#databases}`): Promise<string> {
    await this.sql(`create database ${name}`);
    return this.url(name);
  }

  async sql(text: string, database = "postgres"): Promise<string> {
    const { folder, owner, port } = this.#place;
    const where = ["-h", folder, "-p", String(port), "-U", owner, "-d", database];
    const { stdout } = await execute("psql", [
      ...where,
      "-X",
      "-q",
      "-A",
      "-t",
      "-v",
      "ON_ERROR_STOP=1",
      "-c",
      text,
    ]);
    return stdout.trim();
  }

  async start(): Promise<void> {
    const { programs, data, folder, prefix } = this.#place;
    // The wrapper ends the server and removes its files when its standard input ends without a word,
    // as when this process is killed.
    const own = as("/bin/sh", [
      "-c",
      `"$0" -D "$1" </dev/null & pid=$!; read -r word; kill -QUIT $pid; wait $pid; [ "$word" = keep ] || rm -rf "$2"`,
      join(programs, "postgres"),
      data,
      folder,
    ]);
    const [command = "", ...args] = [...prefix, own[0], ...own[1]];
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      // A Ctrl-C of the terminal is for the tests' process alone.
      detached: true,
    });
    this.#process = child;
    child.stderr
      .setEncoding("utf8")
      .on("data", (text: string) => (this.#log = (this.#log + text).slice(-4000)));
    child.stdout.resume();
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr])
      (stream as unknown as { unref?(): void }).unref?.();
    const deadline = performance.now() + START_MS;
    while (!(await this.#answers())) {
      if (performance.now() > deadline || child.exitCode !== null)
        throw new Error(`PostgreSQL did not start: ${this.#log}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async crash(): Promise<void> {
    const child = this.#process;
    this.#kill();
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    await once(child, "exit");
  }

  async stop(): Promise<void> {
    process.removeListener("exit", this.#onExit);
    await this.crash();
    this.#place.remove();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #answers(): Promise<boolean> {
    try {
      return (await this.sql("select 1")) === "1";
    } catch {
      return false;
    }
  }

  /** Kills the server and the processes that it started. */
  #kill(): void {
    this.signal("SIGKILL");
    this.#process?.stdin?.end("keep\n");
    this.#process = undefined;
  }

  signal(name: NodeJS.Signals): void {
    const { pid } = this;
    for (const one of pid === undefined ? [] : [pid, ...childrenOf(pid)]) signal(one, name);
  }

  /** The first line of the postmaster's file. */
  get pid(): number | undefined {
    if (this.#process === undefined) return undefined;
    try {
      const text = readFileSync(join(this.#place.data, "postmaster.pid"), "utf8");
      return Number(text.split("\n", 1)[0]) || undefined;
    } catch {
      return undefined; // it has ended
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)])
      .toString()
      .split("\n")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended
  }
}

/** The user that the server runs as. */
function ownerOf(): string {
  return process.getuid?.() === 0 ? "postgres" : execFileSync("id", ["-un"]).toString().trim();
}

/** Root runs a program as the user `postgres`. */
function as(program: string, args: readonly string[]): [string, string[]] {
  return process.getuid?.() === 0
    ? ["runuser", ["-u", "postgres", "--", program, ...args]]
    : [program, [...args]];
}

/** Gives a path to the user that the server runs as. */
function giveTo(path: string): void {
  const ids = process.getuid?.() === 0 ? idOf("postgres") : undefined;
  if (ids !== undefined) chownSync(path, ids.uid, ids.gid);
}

function idOf(user: string): { readonly uid: number; readonly gid: number } | undefined {
  try {
    const id = (flag: string): number =>
      Number(execFileSync("id", [flag, user], { stdio: ["ignore", "pipe", "ignore"] }));
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return undefined;
  }
}
