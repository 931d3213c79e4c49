/** The size of a load, and the text that shows a client that nothing was lost. */

export interface Shape {
  /** Clients that read as fast as they can. Each follows one session. */
  readonly sockets: number;
  /** Readers of server-sent events besides them, each of one session. */
  readonly streams: number;
  /** Sessions with one run after the other, which is the number of concurrent runs. */
  readonly runs: number;
  /**
   * Slow clients that follow all wide sessions. Half of them read now and then, the others not at
   * all.
   */
  readonly slow: number;
  /**
   * Slow readers of server-sent events, each of one wide session. Half read now and then. The
   * others leave in the middle of a run and resume with their last number.
   */
  readonly slowStreams: number;
  readonly seconds: number;
  /** Deltas per run, and the time between them in milliseconds. */
  readonly deltas: number;
  readonly paceMs: number;
  /** Characters per delta. */
  readonly width: number;
  /** Sessions with long deltas, which fill the buffers of slow readers. */
  readonly wideRuns: number;
  readonly wideWidth: number;
  /** How long a slow reader pauses, in milliseconds, before it reads for a tenth of that time. */
  readonly awayMs: number;
}

export const full: Shape = {
  sockets: 1000,
  streams: 100,
  runs: 200,
  slow: 50,
  slowStreams: 16,
  seconds: 60,
  deltas: 200,
  paceMs: 50,
  width: 40,
  wideRuns: 8,
  wideWidth: 4000,
  awayMs: 10_000,
};

/** A smaller load for every commit. */
export const quick: Shape = {
  ...full,
  sockets: 100,
  streams: 20,
  runs: 20,
  slow: 6,
  slowStreams: 8,
  seconds: 3,
  deltas: 100,
  paceMs: 8,
  wideRuns: 4,
  wideWidth: 16_000,
  awayMs: 900,
};

/** Returns microseconds of the monotonic clock, which all processes share. */
export function stamp(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Returns the delta with this index. `label`, the first part of the message, names the run. */
export function wordOf(label: string, index: number, at: number, width: number): string {
  return `${label}.${index}@${at}`.padEnd(width - 1, "-").concat(" ");
}

export interface Word {
  readonly index: number;
  readonly at: number;
}

/** Returns the words of a text, or undefined unless it consists of complete words. */
export function wordsOf(text: string, width: number): Word[] | undefined {
  const words: Word[] = [];
  for (let from = 0; from < text.length; from += width) {
    const word = text.slice(from, from + width);
    const [, label = "", index = "", at = ""] = /^([^.]+)\.(\d+)@(\d+)-* $/.exec(word) ?? [];
    if (word !== wordOf(label, Number(index), Number(at), width)) return undefined;
    words.push({ index: Number(index), at: Number(at) });
  }
  return words;
}
