/** The conversation as its commands and its parts see it. */
import type { UserMessage } from "@bowline/core";
import type { Session, Store } from "@bowline/core/session";
import type { Servers } from "../mcp/servers.ts";
import type { Discovered, Wanted } from "../models/discover.ts";
import type { Permissions } from "../policy/permissions.ts";
import type { ToolRule } from "../project/tool-rules.ts";
import type { Project } from "../project/project.ts";
import type { Colours } from "../screen/colours.ts";
import type { Draft } from "../screen/editor/draft.ts";
import type { Screen } from "../screen/screen.ts";
import type { NoticeLevel } from "./block.ts";
import type { ChatOptions } from "./options.ts";
import type { Runtime } from "./runtime.ts";
import type { Action, ChatState } from "./state.ts";
import type { Work } from "./work.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a conversation stands on. It is loaded after the first frame. */
export interface World {
  readonly directory: string;
  readonly env: Environment;
  readonly store: Store;
  readonly project: Project;
  readonly permissions: Permissions;
  readonly servers: Servers;
  /**
   * Returns the message as hooks leave it, with the files that it mentions. Rejects if a hook
   * refuses it.
   */
  submitted(message: UserMessage, draft: Draft, signal: AbortSignal): Promise<UserMessage>;
  /** Returns whether {@link submitted} may change or refuse the message of a draft. */
  checks(draft: Draft): boolean;
  /** Waits for what a run needs, at most some seconds, or until the signal fires. */
  ready(signal: AbortSignal): Promise<void>;
  readonly options: ChatOptions;
  /** Finds a model and how to reach it. */
  connect(wanted: Wanted): Promise<Discovered>;
  /** The server and the model that options and settings name, for a new or a stored session. */
  wanted(session?: Session): Promise<Wanted>;
  /** Makes an agent for a session, or for one that the first message creates. */
  open(connection: Discovered, session?: Session): Promise<Runtime>;
  close(): Promise<void>;
}

export type QueueControl = Pick<
  Work,
  "items" | "edit" | "hold" | "release" | "replace" | "remove" | "move"
>;

export interface Chat {
  readonly state: ChatState;
  readonly screen: Screen;
  readonly colours: Colours;
  readonly world: World;
  readonly runtime: Runtime;
  /** The messages that wait. */
  readonly queue: QueueControl;
  /** Whether a run, a shell line or a compaction works. */
  readonly isBusy: boolean;
  dispatch(action: Action): void;
  notice(text: string, level?: NoticeLevel): void;
  /** Writes a control sequence that moves nothing, such as one for the clipboard. */
  control(sequence: string): void;
  /**
   * Sends a draft as if it had been typed. `only` are the calls to which its run may lead; it needs
   * a conversation that is not busy.
   */
  send(draft: Draft | string, only?: readonly ToolRule[]): void;
  setDraft(draft: Draft | string): void;
  /** Does work that an interrupt stops. Other work waits meanwhile. */
  work(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Goes on with a run that was interrupted or failed. */
  goOn(): void;
  /** Ends this conversation and opens another. Nothing changes if `open` throws. */
  change(open: () => Promise<Session | undefined>): Promise<void>;
  setPlan(isOn: boolean): void;
  leave(): void;
}
