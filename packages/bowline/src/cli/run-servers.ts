/** The MCP servers of `bowline run`: their lines, and the wait for them. */
import { join } from "node:path";
import { configFolder } from "../home.ts";
import { isTrouble, newsLine, type ServerNews } from "../mcp/news.ts";
import { Servers } from "../mcp/servers.ts";
import type { Project } from "../project/project.ts";
import { oneLine, styleFor } from "../terminal.ts";
import type { Deadline } from "./find-model.ts";
import type { RunOptions } from "./run-options.ts";
import type { SideLog } from "./side-log.ts";
import { StatusLine } from "./status-line.ts";

/** The longest that a run waits for servers before it begins, in milliseconds. */
const WAIT_MS = 30_000;
/** A wait shorter than this is not shown, in milliseconds. */
const SILENT_MS = 1_000;

/** Starts the servers in the background. */
export function startServers(
  { isQuiet }: Pick<RunOptions, "isQuiet">,
  project: Project,
  log: SideLog,
  { env }: NodeJS.Process,
): Servers {
  const tell = (news: ServerNews): void => {
    log.add(news);
    if (!isQuiet || isTrouble(news)) log.say(newsLine(news));
  };
  return new Servers({
    settings: project.servers,
    env,
    root: project.root,
    directory: project.directory,
    ownSettings: join(configFolder(env), "bowline.json"),
    tell,
  });
}

/** Waits for the servers, at most 30 s or the rest of the run's time, and shows what it waits for. */
export async function waitForServers(
  servers: Servers,
  deadline: Deadline | undefined,
  log: SideLog,
  { stderr, env }: NodeJS.Process,
): Promise<void> {
  const limitMs = Math.min(WAIT_MS, Math.max(0, deadline?.leftMs() ?? WAIT_MS));
  if ((await servers.settled(Math.min(SILENT_MS, limitMs))).length === 0) return;
  const line = new StatusLine(stderr, env);
  log.through((said) => {
    line.clear();
    stderr.write(`${said}\n`);
  });
  const since = Date.now();
  const text = (): string =>
    `… waiting for MCP servers: ${servers.starting.join(", ")}, ${Math.round((Date.now() - since + SILENT_MS) / 1000)} s (limit ${limitMs / 1000} s)`;
  if (!line.isOn) stderr.write(`bowline: ${oneLine(text(), 500)}\n`);
  const show = (): void => line.show(text(), styleFor(stderr, env).dim);
  const timer = setInterval(show, SILENT_MS);
  const missing = await servers.settled(Math.max(0, limitMs - SILENT_MS));
  clearInterval(timer);
  line.clear();
  if (missing.length > 0)
    log.say(
      `the run begins without the tools of ${missing.join(", ")}, which did not start within ${Math.round(limitMs / 1000)} s; they join when they are ready`,
    );
}
