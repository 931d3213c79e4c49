/**
 * The page's actions: sends requests to the gateway, handles its events and updates the store.
 * Independent of markup.
 */
import { RequestError, type GatewayClient, type RunEvent } from "../gateway/client/client.ts";
import { createKey } from "../gateway/client/create-key.ts";
import type { EventFrame } from "../gateway/protocol/frame.ts";
import type { Approval, Decision, Params } from "../gateway/protocol/protocol.ts";
import { currentRun, type Conversation } from "./state/conversation.ts";
import type { Outgoing, SendMode } from "./state/outgoing.ts";
import type { PageAction, PageState } from "./state/page-state.ts";
import { isOver, type RunView } from "./state/run-view.ts";
import { isReady, type ReadyImage } from "./state/sent-image.ts";
import type { Store } from "./store.ts";
import { WholeMessages } from "./whole-messages.ts";

const LIST_LENGTH = 40;
const MAX_LIST_LENGTH = 500;
const HISTORY_LENGTH = 100;
/** Delay before reloading the list, since changes of sessions come in bursts. */
const LIST_DELAY_MS = 120;

export class Controller {
  readonly #client: GatewayClient;
  readonly #store: Store<PageState, PageAction>;
  readonly #whole: WholeMessages;
  #listTimer: ReturnType<typeof setTimeout> | undefined;
  /** The details of the shown session may be stale. */
  #isShownChanged = false;

  constructor(client: GatewayClient, store: Store<PageState, PageAction>) {
    this.#client = client;
    this.#store = store;
    this.#whole = new WholeMessages(client, store);
  }

  start(): void {
    const { dispatch } = this.#store;
    this.#client.onEvent((frame) => this.#hear(frame));
    this.#client.onState((state) => {
      dispatch({ type: "connection", state, welcome: this.#client.welcome });
      if (state === "open") void this.#load();
      // "ended" is permanent: the token is wrong, perhaps since the server was restarted.
      if (state === "ended") this.#client.ready().catch((error: Error) => this.#refuse(error));
    });
    this.#client.subscribe(this.#key).catch(ignore);
  }

  /** Shows a session, existing or not yet created. */
  open(sessionKey: string): void {
    const before = this.#key;
    if (sessionKey === before) return;
    this.#client.unsubscribe(before).catch(() => {});
    this.#store.dispatch({ type: "opened", sessionKey });
    this.#client.subscribe(sessionKey).catch(ignore);
    void this.#loadHistory();
    this.#isShownChanged = true;
    void this.#findShown();
  }

  send(text: string, mode: SendMode, images: readonly ReadyImage[] = []): void {
    const { agentId, conversation, session } = this.#store.state;
    const { sessionKey } = conversation;
    const isNew =
      agentId !== undefined &&
      session === undefined &&
      conversation.past.length + conversation.live.size === 0;
    const own = { ...(images.length > 0 && { images }), ...(isNew && { agentId }) };
    this.#post({ id: createKey(), sessionKey, mode, text, state: "sending", ...own });
  }

  /** Sends a message again under the same key, so that the server accepts it only once. */
  resend({ problem: _problem, ...message }: Outgoing): void {
    this.#post({ ...message, state: "sending" });
  }

  dismiss({ id }: Outgoing): void {
    this.#store.dispatch({ type: "dismissed", id });
  }

  /** Cancels a queued run. */
  cancel(runId: string): void {
    this.#try(this.#client.request("chat.abort", { sessionKey: this.#key, runId }));
  }

  /** Stops the current run; queued ones follow. */
  stop(): void {
    const run = currentRun(this.#store.state.conversation);
    if (run !== undefined) this.cancel(run.runId);
  }

  /**
   * Sends the run's message again, as a new run. {@link canRetry} tells whether all of it is
   * available.
   */
  retry({ blocks }: RunView): void {
    const asked = blocks.findLast((block) => block.type === "user");
    if (asked !== undefined) this.send(asked.text, "send", asked.images?.filter(isReady));
  }

  answer({ approvalId }: Approval, decision: Decision): void {
    const { dispatch, state } = this.#store;
    if (state.answering.has(approvalId)) return;
    dispatch({ type: "answering", approvalId, isOnTheWay: true });
    this.#client.request("approvals.resolve", { approvalId, decision }).catch((error: Error) => {
      dispatch({ type: "answering", approvalId, isOnTheWay: false });
      dispatch({ type: "problem", message: error.message });
      void this.#loadApprovals();
    });
  }

  search(search: string): void {
    this.#store.dispatch({ type: "search", search });
    this.#listSoon();
  }

  moreSessions(): void {
    void this.#loadSessions(this.#store.state.sessions.cursor);
  }

  reload(): void {
    void this.#loadHistory();
  }

  moreHistory(): void {
    void this.#loadHistory(this.#store.state.conversation.entries[0]?.id);
  }

  rename(sessionKey: string, title: string): void {
    this.#try(this.#client.request("sessions.patch", { sessionKey, title }));
  }

  delete(sessionKey: string): void {
    this.#try(this.#client.request("sessions.delete", { sessionKey }));
  }

  /** Forks the shown session after a run. Resolves like {@link fork}. */
  async forkAfter(runId: string): Promise<string | undefined> {
    const shown = (): Conversation => this.#store.state.conversation;
    const sessionKey = this.#key;
    // The loaded transcript may be missing entries of a run that was followed live.
    if (shown().live.has(runId)) await this.#loadHistory();
    const at = shown().past.find((run) => run.runId === runId)?.lastEntry;
    if (at !== undefined) return this.fork(sessionKey, at);
    this.#store.dispatch({
      type: "problem",
      message: "This part of the conversation could not be found.",
    });
    return undefined;
  }

  /**
   * Forks a whole session, or up to an entry. Resolves with the new session's key, or undefined if
   * it failed.
   */
  async fork(sessionKey: string, at?: string): Promise<string | undefined> {
    const forking = this.#client.request("sessions.fork", {
      sessionKey,
      ...(at !== undefined && { at }),
    });
    this.#try(forking);
    return forking.then(
      ({ session }) => session.sessionKey,
      () => undefined,
    );
  }

  /**
   * Chooses the agent: for the first message of a new session, or from now on for an existing one.
   */
  chooseAgent(agentId: string): void {
    const { session } = this.#store.state;
    if (session === undefined) this.#store.dispatch({ type: "agent_chosen", agentId });
    else this.#try(this.choose({ agentId }));
  }

  /**
   * Changes agent or model of the session and creates it if needed. Rejects with the gateway's
   * error.
   */
  async choose(choice: Pick<Params<"sessions.patch">, "model" | "agentId">): Promise<void> {
    const { agentId, session } = this.#store.state;
    const sessionKey = this.#key;
    if (session === undefined) await this.#create(sessionKey, agentId);
    const { session: changed } = await this.#client.request("sessions.patch", {
      sessionKey,
      ...choice,
    });
    this.#store.dispatch({ type: "session", sessionKey, session: changed });
  }

  forgetProblem(): void {
    this.#store.dispatch({ type: "problem", message: undefined });
  }

  #refuse({ message }: Error): void {
    this.#store.dispatch({ type: "refused", message });
  }

  /** False for users with their own sessions, whose rules apply to these sessions only. */
  get mayAllowAlways(): boolean {
    return this.#store.state.welcome?.sessions === undefined;
  }

  get #key(): string {
    return this.#store.state.conversation.sessionKey;
  }

  #hear(frame: EventFrame): void {
    if ("seq" in frame.data) this.#store.dispatch({ type: "run_event", frame: frame as RunEvent });
    if (frame.event !== "sessions.changed") return;
    this.#listSoon();
    const { sessionKey, change } = frame.data;
    if (sessionKey !== this.#key) return;
    this.#isShownChanged = true;
    if (change !== "reset" && change !== "deleted") return;
    // The transcript was replaced or deleted.
    this.#store.dispatch({ type: "opened", sessionKey });
    void this.#loadHistory();
  }

  #post(message: Outgoing): void {
    const { dispatch } = this.#store;
    const { id, mode, sessionKey, text, agentId, images } = message;
    dispatch({ type: "sending", message });
    const params = {
      sessionKey,
      message: text,
      idempotencyKey: id,
      ...(agentId !== undefined && { agentId }),
      ...(images !== undefined && {
        attachments: images.map(({ mimeType, data }) => ({ mimeType, data })),
      }),
    };
    this.#client.post(mode === "steer" ? "chat.steer" : "chat.send", params).then(
      (result) => dispatch({ type: "sent", id, result }),
      (error: Error) => dispatch({ type: "not_sent", id, problem: error.message }),
    );
  }

  /** Reloads everything that may have changed during a disconnection. */
  async #load(): Promise<void> {
    const { dispatch, state } = this.#store;
    void this.#loadHistory();
    this.#isShownChanged = true;
    void this.#loadSessions().then(() => this.#findShown());
    void this.#loadApprovals();
    this.#findLost(state).catch(ignore);
    await this.#client
      .request("agents.list", {})
      .then(({ agents }) => dispatch({ type: "agents", agents }), ignore);
  }

  async #loadHistory(before?: string): Promise<void> {
    const sessionKey = this.#key;
    const params = { sessionKey, limit: HISTORY_LENGTH, ...(before !== undefined && { before }) };
    try {
      const page = await this.#client.request("chat.history", params);
      this.#store.dispatch({ type: "history", sessionKey, page, before });
      void this.#whole.load(sessionKey, this.#store.state.conversation.entries);
    } catch (error) {
      // A lost connection is restored, and the history is then loaded again.
      if (isLost(error)) return;
      this.#store.dispatch({ type: "history_failed", sessionKey });
    }
  }

  /**
   * Finds runs that were active before the connection was lost and that the server no longer knows.
   */
  async #findLost({ conversation: { live, sessionKey } }: PageState): Promise<void> {
    for (const run of live.values()) {
      const { runId } = run;
      if (isOver(run)) continue;
      const { runs } = await this.#client.request("chat.subscribe", { sessionKey, runId });
      const isUnknown = runs.some((one) => one.runId === runId && one.state === "unknown");
      if (isUnknown) this.#store.dispatch({ type: "run_lost", sessionKey, runId });
    }
  }

  #listSoon(): void {
    clearTimeout(this.#listTimer);
    this.#listTimer = setTimeout(
      () => void this.#loadSessions().then(() => this.#findShown()),
      LIST_DELAY_MS,
    );
  }

  /** Loads the shown session, which may not be in the (filtered or partial) list. */
  async #findShown(): Promise<void> {
    const { dispatch, state } = this.#store;
    const sessionKey = this.#key;
    if (!this.#isShownChanged) return;
    this.#isShownChanged = false;
    if (state.sessions.items.some((one) => one.sessionKey === sessionKey)) return;
    await this.#client.request("sessions.get", { sessionKey }).then(
      ({ session }) => dispatch({ type: "session", sessionKey, session }),
      (error: unknown) =>
        isLost(error) ? undefined : dispatch({ type: "session", sessionKey, session: undefined }),
    );
  }

  async #create(sessionKey: string, agentId: string | undefined): Promise<void> {
    const params = { sessionKey, ...(agentId !== undefined && { agentId }) };
    await this.#client.request("sessions.create", params).catch((error: unknown) => {
      // Another tab, or a message in flight, created the session first.
      if (!(error instanceof RequestError) || error.code !== "conflict") throw error;
    });
  }

  async #loadSessions(cursor?: string): Promise<void> {
    const { dispatch, state } = this.#store;
    const { search, items } = state.sessions;
    // Reload as many entries as the list has now.
    const limit =
      cursor === undefined
        ? Math.min(MAX_LIST_LENGTH, Math.max(LIST_LENGTH, items.length))
        : LIST_LENGTH;
    const params = {
      limit,
      ...(search !== "" && { search }),
      ...(cursor !== undefined && { cursor }),
    };
    await this.#client
      .request("sessions.list", params)
      .then((page) => dispatch({ type: "sessions", search, ...page, after: cursor }), ignore);
  }

  async #loadApprovals(): Promise<void> {
    const { dispatch } = this.#store;
    await this.#client
      .request("approvals.list", {})
      .then((result) => dispatch({ type: "approvals", ...result }), ignore);
  }

  #try(work: Promise<unknown>): void {
    work.catch((error: Error) => this.#store.dispatch({ type: "problem", message: error.message }));
  }
}

/** Ignores an error, because the next connection repeats the request. */
function ignore(): void {}

function isLost(error: unknown): boolean {
  return error instanceof RequestError && error.code === "connection_lost";
}
