/**
 * The session of `bowline run`: found before a model is chosen, made if it is new, let go when all
 * is done.
 */
import { resolve } from "node:path";
import { vendors, type AssistantMessage, type Model } from "@bowline/core";
import {
  createSession,
  openSession,
  type RunState,
  type Session,
  type SessionDamage,
  type SessionState,
  type Store,
} from "@bowline/core/session";
import type { Wanted } from "../models/discover.ts";
import { CommandError, explained } from "../command-error.ts";
import { findOrNew, latestOf } from "./find-session.ts";
import { sessionStore } from "../home.ts";
import { keptWrites, type Through } from "../record/kept-writes.ts";
import type { RunOptions } from "./options.ts";
import { oneLine, shellWord, styleFor, type Style } from "../terminal.ts";

export interface RunSession {
  /** The run that a process before did not finish. */
  readonly interrupted: RunState | undefined;
  /** The last run when it ended without an answer, by an error, an abort or its budget. */
  readonly unanswered: RunState | undefined;
  /** The model that was asked before, unless another is named. */
  wanted(): Wanted;
  /**
   * The session; made if it is new. Undefined when none is wanted, or, with a loud warning, when
   * none can be kept.
   */
  begin(model: Model): Promise<Session | undefined>;
  /** What each write goes through from now on. */
  through(through: Through): void;
  /** Lets the session go, and says how to go on with it. */
  end(): Promise<void>;
}

/** Throws `CommandError` when the session that was asked for cannot be had. */
export async function openRunSession(
  options: RunOptions,
  directory: string,
  { stderr, env }: NodeJS.Process,
): Promise<RunSession> {
  const { keep } = options;
  let write: Through = (work) => work();
  let told = 0;
  let isLost = false;
  let isBegun = false;
  const openStore = (): Store => keptWrites(sessionStore(env), () => write);
  let session =
    keep === "none" || keep === "new"
      ? undefined
      : await explained(() => openEarlier(openStore(), keep, directory));
  tellDamage();
  const state = (await session?.state()) ?? {};
  const { run } = state;
  const isUnanswered = run?.reason !== undefined && (await lacksAnswer(session));
  if (session === undefined && typeof keep === "object")
    say(`session ${oneLine(keep.id, 100)} is new`);

  return {
    interrupted: run?.reason === undefined && run?.hasBegun === true ? run : undefined,
    unanswered: isUnanswered ? run : undefined,
    wanted: () => wantedAfter(options, session, state),
    async begin(model) {
      isBegun = true;
      if (session !== undefined || keep === "none") return session;
      const metadata = metadataOf(model, options, directory);
      const id = typeof keep === "object" ? keep : {};
      try {
        session = await explained(async () => createSession(openStore(), { ...id, metadata }));
      } catch (error) {
        if (keep !== "new") throw error;
        isLost = true;
        say(lossNotice(styleFor(stderr, env), error));
      }
      return session;
    },
    through(through) {
      write = through;
    },
    async end() {
      if (isLost) say(lossNotice(styleFor(stderr, env)));
      if (session === undefined) return;
      let task = "";
      try {
        if (!(await lacksAnswer(session))) task = ' "<task>"';
      } finally {
        await explained(async () => session?.close());
      }
      tellDamage();
      if (!isBegun) return;
      const { dim } = styleFor(stderr, env);
      const id = shellWord(session.id);
      stderr.write(`${dim(`session ${id}; go on with: bowline run --session ${id}${task}`)}\n`);
    },
  };

  function say(text: string): void {
    stderr.write(`bowline: ${text}\n`);
  }

  function tellDamage(): void {
    for (const damage of session?.damage.slice(told) ?? []) {
      say(damageText(damage));
      told++;
    }
  }
}

function damageText({ message, savedTo }: SessionDamage): string {
  const kept = savedTo === undefined ? "" : ` What was there is kept in ${savedTo}.`;
  return oneLine(`${message}${kept}`, 1000);
}

/** Whether the model can be asked once more without a new message. */
async function lacksAnswer(session: Session | undefined): Promise<boolean> {
  const last = (await session?.contextMessages())?.at(-1);
  if (last === undefined) return false;
  if (last.role !== "assistant") return true;
  const { stopReason } = last as AssistantMessage;
  return stopReason === "error" || stopReason === "aborted";
}

/** At the beginning with the reason; at the end once more, where the session would be named. */
function lossNotice({ red, bold }: Style, error?: unknown): string {
  const why = error instanceof Error ? ` ${error.message}` : "";
  const advice =
    "It cannot be continued. BOWLINE_HOME names another folder; --no-session says that none is wanted.";
  return bold(red(`NO SESSION IS KEPT of this run.${why}${why === "" ? "" : ` ${advice}`}`));
}

async function openEarlier(
  store: Store,
  keep: "latest" | { readonly id: string },
  directory: string,
): Promise<Session | undefined> {
  const id =
    keep === "latest"
      ? await latestOf(store, directory)
      : await findOrNew(store, keep.id, directory);
  return id === undefined ? undefined : openSession(store, id);
}

/** What `bowline sessions` shows, and what finds the model again. Never a key. */
function metadataOf(
  model: Model,
  { apiKeyEnv, profile }: RunOptions,
  directory: string,
): Record<string, unknown> {
  const usual = vendors.find(({ id }) => id === model.provider)?.baseUrl;
  return {
    cwd: directory,
    model: `${model.provider}/${model.id}`,
    ...(model.provider !== "practice" &&
      model.baseUrl !== usual && { baseUrl: withoutSecrets(model.baseUrl) }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    ...(profile !== undefined && { profile: resolve(directory, profile) }),
  };
}

function withoutSecrets(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

/**
 * A conversation stays with the model that it was held with, so that none with a model on this
 * machine goes to a vendor because a key is set. The practice model is none that anyone chose.
 */
function wantedAfter(
  options: RunOptions,
  session: Session | undefined,
  { model: last }: SessionState,
): Wanted {
  const isNamed = (options.model ?? options.baseUrl ?? options.profile) !== undefined;
  if (isNamed || session === undefined || last === undefined || last.provider === "practice")
    return options;
  const { metadata = {} } = session.header;
  const text = (name: string): string | undefined => {
    const value = metadata[name];
    return typeof value === "string" ? value : undefined;
  };
  const reference = `${last.provider}/${last.model}`;
  const model = last.provider === "custom" ? last.model : reference;
  const apiKeyEnv = options.apiKeyEnv ?? text("apiKeyEnv");
  const wanted = {
    ...options,
    model,
    origin: "from the session",
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
  };
  if (text("model") === reference) {
    const [baseUrl, profile] = [text("baseUrl"), text("profile")];
    const at = baseUrl === undefined ? {} : { baseUrl };
    if (profile !== undefined) return { ...wanted, ...at, model: last.model, profile };
    if (baseUrl !== undefined) return { ...wanted, ...at };
    const usual = vendors.find(({ id }) => id === last.provider)?.baseUrl;
    if (usual !== undefined) return { ...wanted, vendorUrl: usual };
  }
  if (last.provider !== "custom") return wanted;
  const from = oneLine(JSON.stringify(last.model), 200);
  throw new CommandError(
    `The session's model ${from} has an address that is not known here: name one with --base-url.`,
  );
}
