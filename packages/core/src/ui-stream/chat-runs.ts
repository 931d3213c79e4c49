/**
 * The routes of a chat for `useChat`: posts, reloads and stops, over the runs that are going on in
 * this process.
 */
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import { BowlineError, isBowlineError } from "../errors.ts";
import { ChatRun, firstAnswer, type ChatSession, type ChattingAgent } from "./chat-run.ts";
import { fromUIMessages, type FromUIMessagesOptions, type PostedChat } from "./from-ui-messages.ts";
import type { UIMessageStreamOptions } from "./options.ts";
import { chunkResponse, type UIMessageResponseOptions } from "./to-ui-message-stream.ts";
import { toUIMessages, type UIMessage } from "./to-ui-messages.ts";

/** A chat's agent, with its session if it has one. */
export interface ChatAgent {
  readonly agent: ChattingAgent;
  /** What `attachSession` gave. A run that an earlier process left is then resumed. */
  readonly session?: ChatSession | undefined;
}

/**
 * Returns the agent of a chat, the same each time as long as it lives. Called for each request.
 * `openChats` makes such functions and checks the caller. In one of your own, check that the caller may
 * use this chat: the id comes from the page. A throw passes through.
 */
export type OpenChat = (chatId: string) => ChatAgent | Promise<ChatAgent>;

export interface ChatRunsOptions
  extends Omit<UIMessageStreamOptions, "messageId">, Pick<UIMessageResponseOptions, "headers"> {
  /** Bounds of what a page may post. */
  readonly posted?: FromUIMessagesOptions | undefined;
  /**
   * Number of chats whose last run is held. Default 1,000. Runs that are over make room; while all
   * are going on, another is refused with 503.
   */
  readonly maxRuns?: number | undefined;
}

export class ChatRuns {
  readonly #options: ChatRunsOptions;
  readonly #runs = new Map<string, ChatRun>();

  constructor(options: ChatRunsOptions = {}) {
    this.#options = options;
  }

  /**
   * Answers a `POST` of `useChat`, given the parsed body. Starts a run for a message and for
   * another answer; continues the waiting run for answers to approvals. The client that leaves does
   * not abort the run. Refuses with 400 what {@link fromUIMessages} refuses and a message that the
   * chat's agent cannot take, and with 409 a message during a run, another answer in a chat with a
   * session, and answers to approvals that this chat did not ask for.
   */
  async post(body: unknown, open: OpenChat): Promise<Response> {
    let posted: PostedChat;
    try {
      posted = fromUIMessages(body, this.#options.posted);
    } catch (error) {
      return refusal(400, error);
    }
    const chat = await open(posted.chatId);
    try {
      return this.#respond(...(await this.#take(posted, chat)));
    } catch (error) {
      return refusal(409, error);
    }
  }

  /**
   * Answers `GET …/<chat>/stream`, which a page asks after a reload: the whole message of the run
   * that is going on, and then the rest as it comes. 204 when no run is going on.
   */
  async resume(chatId: string, open: OpenChat): Promise<Response> {
    const chat = await open(chatId);
    const run = this.#running(chatId) ?? this.#revive(chatId, chat);
    return run && !run.isOver ? this.#respond(run) : new Response(null, { status: 204 });
  }

  /** Resolves with the messages that a page begins with. The run going on comes by {@link resume}. */
  async messages(chatId: string, open: OpenChat): Promise<UIMessage[]> {
    const { agent, session } = await open(chatId);
    const { messages } = agent.state;
    const run = this.#running(chatId);
    const left = session?.interrupted;
    const count = run ? run.earlier : left ? firstAnswer(messages, left) : messages.length;
    return toUIMessages(
      [...messages.slice(0, count), ...promptsAt(messages, count)],
      this.#options,
    );
  }

  /**
   * Aborts the run that is going on, also one that an earlier process left or that is elsewhere.
   * Resolves with false when there is none, and before the run has ended.
   */
  async stop(chatId: string, open: OpenChat, reason?: unknown): Promise<boolean> {
    const chat = await open(chatId);
    const run = this.#running(chatId) ?? this.#revive(chatId, chat);
    await run?.abort(reason);
    return run !== undefined;
  }

  async #take(
    posted: PostedChat,
    chat: ChatAgent,
  ): Promise<[run: ChatRun, after?: readonly string[]]> {
    const { chatId } = posted;
    const { agent, session } = chat;
    switch (posted.kind) {
      case "message":
        return [this.#start(chatId, chat, () => agent.prompt([posted.message]))];
      case "regenerate": {
        if (session) throw invalid("This chat is kept, and its answers stay. Send a new message.");
        const asked = agent.state.messages.findLastIndex(({ role }) => role === "user");
        if (asked < 0) throw invalid("The chat has no message to answer.");
        return [
          this.#start(chatId, chat, () => agent.continue(), {
            messages: agent.state.messages.slice(0, asked + 1),
          }),
        ];
      }
      case "approvals": {
        const held = this.#runs.get(chatId);
        // A run that is over here is not the one that asks, if another one goes on elsewhere.
        const isOld = held?.isOver === true && chat.session?.interrupted !== undefined;
        const run = isOld ? this.#revive(chatId, chat) : (held ?? this.#revive(chatId, chat));
        if (run === undefined) throw invalid("This chat does not ask for an approval.");
        await run.caughtUp;
        run.answer(posted.answers);
        return [run, posted.answers.map(({ approvalId }) => approvalId)];
      }
    }
  }

  #start(
    chatId: string,
    { agent }: ChatAgent,
    start: () => Promise<unknown>,
    from: { messages?: AgentMessage[]; left?: ChatSession } = {},
  ): ChatRun {
    if (this.#running(chatId) || agent.state.isStreaming)
      throw invalid("A run is going on. Wait for its end, answer its approval, or stop it.");
    this.#makeRoom(chatId);
    if (from.messages) agent.state.messages = from.messages;
    const run = new ChatRun(agent, start, this.#options, from.left);
    this.#runs.set(chatId, run);
    return run;
  }

  /** Resumes the run that an earlier process left. */
  #revive(chatId: string, chat: ChatAgent): ChatRun | undefined {
    const { session: left } = chat;
    if (left?.interrupted === undefined) return undefined;
    return this.#start(chatId, chat, () => left.resume(), { left });
  }

  #running(chatId: string): ChatRun | undefined {
    const run = this.#runs.get(chatId);
    return run?.isOver ? undefined : run;
  }

  #makeRoom(chatId: string): void {
    this.#runs.delete(chatId);
    const { maxRuns = 1_000 } = this.#options;
    if (this.#runs.size < maxRuns) return;
    const [oldest] = [...this.#runs].find(([, run]) => run.isOver) ?? [];
    if (oldest === undefined)
      throw new BowlineError("overloaded", "Too many runs are going on. Try again later.");
    this.#runs.delete(oldest);
  }

  #respond(run: ChatRun, after?: readonly string[]): Response {
    const { feed } = run;
    const { headers } = this.#options;
    // Servers answer HEAD with GET, and drop the body without a word.
    return chunkResponse(feed.readLater(after), feed.settings, { headers, isLazy: true });
  }
}

function promptsAt(messages: readonly AgentMessage[], count: number): AgentMessage[] {
  const rest = messages.slice(count);
  const end = rest.findIndex(({ role }) => role === "assistant");
  return end < 0 ? rest : rest.slice(0, end);
}

function invalid(why: string): BowlineError {
  return new BowlineError("invalid_state", why);
}

/** The messages of these errors are of this folder or of a remote chat, and name nothing of the server. */
function refusal(status: number, error: unknown): Response {
  if (!isBowlineError(error)) throw error;
  const { code, message } = error;
  const own = code === "overloaded" ? 503 : code === "invalid_argument" ? 400 : status;
  return Response.json({ error: { code, message } }, { status: own });
}
