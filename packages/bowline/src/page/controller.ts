/**
 * What the page does: asks the gateway, hears its events, and tells the store. It knows no markup.
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
/** Changes of sessions come in bursts: the list is asked for once they have paused. */
const LIST_DELAY_MS = 120;

export class Controller {
  readonly #client: GatewayClient;
  readonly #store: Store<PageState, PageAction>;
  readonly #whole: WholeMessages;
  #listTimer: ReturnType<typeof setTimeout> | undefined;
  /** The session that is shown is another than what is known of it. */
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
      // For good: the token is wrong, perhaps since the server was started anew.
      if (state === "ended") this.#client.ready().catch((error: Error) => this.#refuse(error));
    });
    this.#client.subscribe(this.#key).catch(ignore);
  }

  /** Shows a session, whether it is there or will come to be with its first message. */
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

  /** The same message under the same key: it is taken once, however often it is sent. */
  resend({ problem: _problem, ...message }: Outgoing): void {
    this.#post({ ...message, state: "sending" });
  }

  dismiss({ id }: Outgoing): void {
    this.#store.dispatch({ type: "dismissed", id });
  }

  /** A run that waits. */
  cancel(runId: string): void {
    this.#try(this.#client.request("chat.abort", { sessionKey: this.#key, runId }));
  }

  /** The run that goes on; what waits behind it has its turn. */
  stop(): void {
    const run = currentRun(this.#store.state.conversation);
    if (run !== undefined) this.cancel(run.runId);
  }

  /** The run's own message again, as a new run. {@link canRetry} says whether all of it is here. */
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

  /**
   * A new session that begins as the one that is shown did, up to the end of a run. As {@link
   * fork}.
   */
  async forkAfter(runId: string): Promise<string | undefined> {
    const shown = (): Conversation => this.#store.state.conversation;
    const sessionKey = this.#key;
    // Of a run that was followed the transcript may have more by now than was read of it.
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
   * All of it, or up to an entry. Resolves with the new session's key, or undefined when it did not
   * work.
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

  /** For the first message; a session that is there already has another from now on. */
  chooseAgent(agentId: string): void {
    const { session } = this.#store.state;
    if (session === undefined) this.#store.dispatch({ type: "agent_chosen", agentId });
    else this.#try(this.choose({ agentId }));
  }

  /**
   * Who answers in the session from now on; one that is not there yet comes to be with it. Rejects
   * with what the gateway says.
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

  /** Of who has sessions of their own an allowance holds in these. */
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
    // Its transcript is another now, or none.
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

  /** Everything that may have changed while there was no connection. */
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
      // A connection that was lost is looked for again, and then the history is, too.
      if (isLost(error)) return;
      this.#store.dispatch({ type: "history_failed", sessionKey });
    }
  }

  /** Runs that went on before the connection was lost, and that the server does not know now. */
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

  /** The list may be narrowed, or end before the session that is shown. */
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
      // A tab that is not this one was faster, or the message that is on its way.
      if (!(error instanceof RequestError) || error.code !== "conflict") throw error;
    });
  }

  async #loadSessions(cursor?: string): Promise<void> {
    const { dispatch, state } = this.#store;
    const { search, items } = state.sessions;
    // Of a list that was made longer, all is asked for again.
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

/** For what is asked again with the next connection. */
function ignore(): void {}

function isLost(error: unknown): boolean {
  return error instanceof RequestError && error.code === "connection_lost";
}
