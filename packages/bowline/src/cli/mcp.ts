/** `bowline mcp list`: starts the MCP servers that a run here would have, and shows how they stand. */
import { join } from "node:path";
import { configFolder } from "../home.ts";
import { serverLines } from "../mcp/server-lines.ts";
import { Servers } from "../mcp/servers.ts";
import { loadProject } from "../project/project.ts";
import { oneLine, printableJson } from "../terminal.ts";
import { exitCode } from "./exit.ts";
import { mcpHelp } from "./help.ts";
import { parseMcpOptions } from "./mcp-options.ts";

/** A server that does not start within its own limit of 60 s has failed by then. */
const WAIT_MS = 65_000;

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function mcp(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const { help, json } = parseMcpOptions(args);
  const { stdout, stderr, env } = host;
  if (help) {
    stdout.write(mcpHelp());
    return exitCode.done;
  }
  const project = await loadProject({ directory: host.cwd(), env, now: new Date() });
  for (const notice of project.notices) stderr.write(`bowline: ${oneLine(notice, 1000)}\n`);
  const { root, directory } = project;
  const servers = new Servers({
    settings: project.servers,
    env,
    root,
    directory,
    ownSettings: join(configFolder(env), "bowline.json"),
    tell: () => {}, // the list below has all of it
  });
  try {
    if (project.servers.length > 0)
      stderr.write(`bowline: starting ${project.servers.length} MCP servers…\n`);
    await servers.settled(WAIT_MS);
    const listed = servers.list();
    if (json) for (const server of listed) stdout.write(`${printableJson(server)}\n`);
    else if (listed.length === 0) stderr.write("bowline: there are no MCP servers here\n");
    else stdout.write(`${serverLines(listed).join("\n")}\n`);
    const isGood = listed.every(({ status }) => status === "ready" || status === "off");
    return isGood ? exitCode.done : exitCode.failed;
  } finally {
    await servers.close();
  }
}
