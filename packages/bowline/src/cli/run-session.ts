/**
 * The session of `bowline run`. It is found before the model is chosen, created if new, and closed
 * at the end.
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
import { findOrNew, findSession, latestOf } from "./find-session.ts";
import { sessionStore } from "../home.ts";
import { keptWrites, type Through } from "../record/kept-writes.ts";
import type { Keep } from "./run-options.ts";
import type { ServerChoice, ServerOptions } from "../settings/server-choice.ts";
import { oneLine, shellWord, styleFor, type Style } from "../terminal.ts";

export interface RunSession {
  /** The id of the earlier session that is continued. */
  readonly earlierId: string | undefined;
  /** A run that an earlier process did not finish. */
  readonly interrupted: RunState | undefined;
  /** The last run if it ended without an answer: by an error, an abort or its budget. */
  readonly unanswered: RunState | undefined;
  /** The session's previous model, unless the options name another. */
  wanted(): Wanted;
  /**
   * Returns the session and creates it if it is new. Returns undefined with `--no-session`, or,
   * after a warning, when it cannot be created.
   */
  begin(model: Model): Promise<Session | undefined>;
  /** Sets the function that every write passes through from now on. */
  through(through: Through): void;
  /** Closes the session and prints how to continue it. */
  end(): Promise<void>;
}

/** What a session needs of the options: the model server that they and the settings name. */
export interface RunSessionOptions extends ServerOptions {
  readonly keep: Keep;
  readonly isQuiet?: boolean;
  /** Options and settings joined. */
  readonly server: ServerChoice;
}

/** Throws `CommandError` when the requested session cannot be opened. */
export async function openRunSession(
  options: RunSessionOptions,
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
    earlierId: session?.id,
    interrupted: run?.reason === undefined && run?.hasBegun === true ? run : undefined,
    unanswered: isUnanswered ? run : undefined,
    wanted: () => wantedAfter(options, session, state),
    async begin(model) {
      isBegun = true;
      if (session !== undefined || keep === "none") return session;
      const metadata = metadataOf(model, options.server, directory);
      const id = typeof keep === "object" ? { id: keep.id } : {};
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
      if (!isBegun || options.isQuiet === true) return;
      const { dim } = styleFor(stderr, env);
      const id = shellWord(session.id);
      stderr.write(`${dim(`continue with: bowline run --session ${id}${task}`)}\n`);
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
  const kept = savedTo === undefined ? "" : ` The damaged part was saved to ${savedTo}.`;
  return oneLine(`${message}${kept}`, 1000);
}

/** Returns true if the model can be called again without a new message. */
async function lacksAnswer(session: Session | undefined): Promise<boolean> {
  const last = (await session?.contextMessages())?.at(-1);
  if (last === undefined) return false;
  if (last.role !== "assistant") return true;
  const { stopReason } = last as AssistantMessage;
  return stopReason === "error" || stopReason === "aborted";
}

/** Formats the warning. It is shown with the reason at the start, and without it at the end. */
function lossNotice({ red, bold }: Style, error?: unknown): string {
  const why = error instanceof Error ? ` ${error.message}` : "";
  const advice =
    "It cannot be continued. Set BOWLINE_HOME to another folder, or pass --no-session.";
  return bold(red(`THIS RUN IS NOT SAVED in a session.${why}${why === "" ? "" : ` ${advice}`}`));
}

async function openEarlier(
  store: Store,
  keep: Exclude<Keep, "new" | "none">,
  directory: string,
): Promise<Session | undefined> {
  const id =
    keep === "latest"
      ? await latestOf(store, directory)
      : keep.canBeNew
        ? await findOrNew(store, keep.id, directory)
        : await findSession(store, keep.id, directory);
  return id === undefined ? undefined : openSession(store, id);
}

/**
 * Returns the data for `bowline sessions` and for finding the model again. Never contains a key.
 */
export function metadataOf(
  model: Model,
  { apiKeyEnv, profile, isKeyless }: ServerChoice,
  directory: string,
): Record<string, unknown> {
  const usual = vendors.find(({ id }) => id === model.provider)?.baseUrl;
  return {
    cwd: directory,
    model: `${model.provider}/${model.id}`,
    ...(model.provider !== "practice" &&
      model.baseUrl !== usual && { baseUrl: withoutSecrets(model.baseUrl) }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    ...(isKeyless === true && { isKeyless }),
    ...(profile !== undefined && { profile: resolve(directory, profile) }),
  };
}

function withoutSecrets(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

/**
 * Chooses the model of a continued session. A conversation stays with its model: one held with a
 * local model must not go to a vendor because a key is set. The practice model does not count,
 * because the user did not choose it.
 */
export function wantedAfter(
  options: ServerOptions & { readonly server: ServerChoice },
  session: Session | undefined,
  { model: last }: SessionState,
): Wanted {
  const isNamed = (options.model ?? options.baseUrl ?? options.profile) !== undefined;
  if (isNamed || session === undefined || last === undefined || last.provider === "practice")
    return options.server;
  const { metadata = {} } = session.header;
  const text = (name: string): string | undefined => {
    const value = metadata[name];
    return typeof value === "string" ? value : undefined;
  };
  const reference = `${last.provider}/${last.model}`;
  const model = last.provider === "custom" ? last.model : reference;
  const apiKeyEnv = options.apiKeyEnv ?? text("apiKeyEnv");
  const wanted = {
    model,
    origin: "from the session",
    // The address came from a project: it still gets no key.
    ...(metadata.isKeyless === true
      ? { isKeyless: true }
      : apiKeyEnv !== undefined && { apiKeyEnv }),
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
    `The address of the session's model ${from} is unknown. Pass it with --base-url.`,
  );
}
