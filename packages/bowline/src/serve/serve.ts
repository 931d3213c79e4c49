/**
 * `bowline serve`: the gateway with its workspace, token and models, configured by options and
 * environment.
 */
import { join } from "node:path";
import { createJsonlStore, makeFolder } from "@bowline/core/session/node";
import { set } from "../defined.ts";
import { sessionsFolder } from "../home.ts";
import { createPage } from "../page/node/page.ts";
import type { Tokens } from "../gateway/access/tokens.ts";
import { holdFolder } from "./hold-folder.ts";
import { tokenOf, tokensOf, type OwnToken } from "./own-token.ts";
import type { GatewayLimits } from "../gateway/protocol/limits.ts";
import { isLoopbackName } from "../gateway/access/origin.ts";
import { createPendingFolder } from "../gateway/runs/pending.ts";
import { secretsOf } from "../secrets.ts";
import { startGateway, type Gateway, type GatewayOptions } from "../gateway/server/server.ts";
import {
  agentsOf,
  inFolder,
  noticesOf,
  openDesk,
  rulesOf,
  settingsOf,
  type WorkspaceOptions,
  type ServeSettings,
} from "./serve-settings.ts";

export interface ServeOptions
  extends WorkspaceOptions, Pick<GatewayOptions, "page" | "version" | "exposed" | "trustProxy"> {
  /** Default: `defaultLimits`. */
  readonly limits?: Partial<GatewayLimits>;
  /** Receives lines for a person. Default: none are written. */
  readonly print?: (line: string) => void;
}

export interface Served extends OwnToken {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Whether other machines can reach the server. */
  readonly isExposed: boolean;
  readonly workspace: string;
  /** Workspace files that were created. */
  readonly made: readonly string[];
  /**
   * Notices about agents, for example that another model answers. For a file such as `.env`,
   * `agent` is the file's name.
   */
  readonly notices: readonly { readonly agent: string; readonly message: string }[];
  close(reason?: string): Promise<void>;
}

/**
 * Starts the server. Rejects with `invalid_argument` for invalid options, and `storage_failed` for
 * an unusable folder or a broken policy file. Rejects with `session_locked` if another server uses
 * the data folder, and with the system's error if the port is in use.
 */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { print = () => {} } = options;
  const settings = await settingsOf(options);
  const { env, home, workspace, host, backends } = settings;
  const made = await openDesk(options, settings);
  const { token, tokenFrom } = await inFolder(home, async () => {
    await makeFolder(home);
    return tokenOf(env, join(home, "token"));
  });
  const tokens = tokensOf(token, set(env.BOWLINE_READ_TOKEN));
  const letGo = await inFolder(home, () => holdFolder(join(home, "running")));
  const leave = async (): Promise<void> => {
    await backends.close();
    await letGo();
  };
  const { gateway, ruleNotices } = await start(options, settings, tokens).catch(
    async (error: unknown) => {
      await leave();
      throw error;
    },
  );
  const { notices, isPractice } = await noticesOf(settings, ruleNotices);
  const served: Served = {
    url: gateway.url,
    host,
    port: gateway.port,
    isExposed: !isLoopbackName(host),
    token,
    tokenFrom,
    workspace,
    made,
    notices,
    async close(reason) {
      await gateway.close(reason);
      await leave();
    },
  };
  greet(served, isPractice, print);
  return served;
}

async function start(
  options: ServeOptions,
  settings: ServeSettings,
  tokens: Tokens,
): Promise<{ readonly gateway: Gateway; readonly ruleNotices: readonly string[] }> {
  const { limits, page = createPage(), version, exposed = false, trustProxy } = options;
  const { env, home, host, port } = settings;
  const { rules, notices: ruleNotices } = await rulesOf(options, settings);
  const gateway = await startGateway({
    ...agentsOf(options, settings, rules),
    tokens,
    store: createJsonlStore(sessionsFolder(env)),
    pending: createPendingFolder(join(home, "pending")),
    secrets: secretsOf(env, [tokens.full, ...(tokens.read === undefined ? [] : [tokens.read])]),
    host,
    exposed,
    ...(trustProxy && { trustProxy }),
    port,
    ...(limits && { limits }),
    page,
    ...(version !== undefined && { version }),
  });
  return { gateway, ruleNotices };
}

function greet(
  { url, isExposed, tokenFrom, token, workspace, made, notices }: Served,
  isPractice: boolean,
  print: (line: string) => void,
): void {
  print(`Listening on ${url}${isExposed ? " (other machines can reach it)" : ""}`);
  print(
    "variable" in tokenFrom
      ? `Token: ${tokenFrom.variable}. Open ${url}/`
      : `Open ${url}/#token=${token}`,
  );
  print(`Workspace: ${workspace}${made.length > 0 ? ` (made ${made.join(", ")})` : ""}`);
  for (const { agent, message } of notices) print(`${agent}: ${message}`);
  if (isPractice)
    print(
      "For a real model set its key, for example in .env, and restart. Or name another model in AGENTS.md.",
    );
}
