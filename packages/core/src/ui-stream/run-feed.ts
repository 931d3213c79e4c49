/** A run as chunks for any number of readers, each of which may join at any time. */
import { sleep } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { AgentEvent } from "../agent/contract/event.ts";
import type { UIMessageChunk } from "./chunk.ts";
import { MessageFold } from "./message-fold.ts";
import type { ShownMessage } from "./shown-message.ts";
import { settingsOf, type UIMessageStreamOptions, type UIStreamSettings } from "./options.ts";

/**
 * How long an approval is open before responses end. A program that answers at once takes a moment,
 * because a session records the answer.
 */
const PAUSE_MS = 100;

/** What one reader has not taken yet. */
interface Reader {
  chunks: UIMessageChunk[];
  /** Number of chunks that may wait. What a page needs to catch up does not count. */
  room: number;
  wake: () => void;
  /** The last wait for an answer to the approvals that were asked for until then. */
  pause?: { isDue: boolean; readonly asked: number };
  failure: { readonly error: unknown } | undefined;
}

export class RunFeed {
  readonly settings: UIStreamSettings;
  readonly fold: MessageFold;
  readonly #readers = new Set<Reader>();
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: UIMessageStreamOptions) {
    const { maxHeldChunks = 1 } = options;
    if (!Number.isInteger(maxHeldChunks) || maxHeldChunks < 1)
      throw new BowlineError(
        "invalid_argument",
        `maxHeldChunks must be a positive integer, not ${String(maxHeldChunks)}.`,
      );
    this.settings = settingsOf(options);
    this.fold = new MessageFold(this.settings);
  }

  get message(): ShownMessage {
    return this.fold.message;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether nobody reads. */
  get isLeft(): boolean {
    return this.#readers.size === 0;
  }

  /** Applies an event. An option that throws fails the readers and ends the feed. */
  push(event: AgentEvent): void {
    if (this.#isOver) return;
    try {
      const chunks = this.fold.push(event);
      for (const reader of this.#readers) this.#give(reader, chunks);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the feed. Readers reject if the run has not ended. */
  end(): void {
    if (this.message.isOver) this.#close();
    else
      this.fail(new BowlineError("stream_truncated", "The run's events ended without agent_end."));
  }

  /** Ends the feed. Readers reject with `error` after the last chunk. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#failure = { error };
    this.#close();
  }

  /**
   * Returns the chunks from the message's first, in batches; or after these approvals, for a page
   * that has the message up to there. Chunks are held for the reader from now on.
   */
  read(after?: readonly string[]): AsyncGenerator<readonly UIMessageChunk[], void, undefined> {
    const chunks = after === undefined ? this.message.replay() : this.message.replayAfter(after);
    const room = chunks.length + this.settings.maxHeldChunks;
    const reader: Reader = { chunks, room, wake: () => {}, failure: undefined };
    this.#readers.add(reader);
    return this.#batches(reader);
  }

  /** Like {@link read}, but holds nothing before the first batch is asked for. */
  async *readLater(
    after?: readonly string[],
  ): AsyncGenerator<readonly UIMessageChunk[], void, undefined> {
    yield* this.read(after);
  }

  async *#batches(reader: Reader): AsyncGenerator<readonly UIMessageChunk[], void, undefined> {
    try {
      for (;;) {
        if (reader.failure) throw reader.failure.error;
        if (reader.chunks.length > 0) {
          reader.room = this.settings.maxHeldChunks;
          yield reader.chunks.splice(0);
        } else if (this.#isOver) {
          if (this.#failure) throw this.#failure.error;
          return;
        } else if (
          this.#mustPause &&
          reader.pause?.isDue &&
          reader.pause.asked === this.message.asked
        ) {
          yield this.message.pause();
          return;
        } else {
          if (this.#mustPause && reader.pause?.asked !== this.message.asked)
            reader.pause = this.#pauseSoon(reader);
          await new Promise<void>((resolve) => (reader.wake = resolve));
        }
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  #pauseSoon(reader: Reader): NonNullable<Reader["pause"]> {
    const pause = { isDue: false, asked: this.message.asked };
    void sleep(this.settings.clock, PAUSE_MS).then(() => {
      pause.isDue = true;
      reader.wake();
    });
    return pause;
  }

  get #mustPause(): boolean {
    return this.settings.approvals === "end" && this.message.isAsking;
  }

  #give(reader: Reader, chunks: readonly UIMessageChunk[]): void {
    reader.chunks.push(...chunks);
    if (reader.chunks.length > reader.room) {
      reader.chunks = [];
      const { maxHeldChunks } = this.settings;
      const why = `The reader is more than ${maxHeldChunks} chunks behind. Read faster, or raise maxHeldChunks.`;
      reader.failure = { error: new BowlineError("reader_too_slow", why) };
      this.#readers.delete(reader);
    }
    reader.wake();
  }

  #close(): void {
    this.#isOver = true;
    for (const reader of this.#readers) reader.wake();
  }
}
