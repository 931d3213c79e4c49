/** How much load, and the text by which a client sees that nothing of it was lost. */

export interface Shape {
  /** Clients that read as fast as they can; each follows one session. */
  readonly sockets: number;
  /** Readers of server-sent events beside them, each of one session. */
  readonly streams: number;
  /** Sessions, each with one run after the other: as many go on at the same time. */
  readonly runs: number;
  /**
   * Clients that do not; each follows all the wide sessions. Half of them read now and then, the
   * others not at all.
   */
  readonly slow: number;
  /**
   * Readers of server-sent events that do not either, each of one wide session. Half read now and
   * then; the others leave in the middle of a run and come back with the last number they have.
   */
  readonly slowStreams: number;
  readonly seconds: number;
  /** Of a run, one every so many milliseconds. */
  readonly deltas: number;
  readonly paceMs: number;
  /** Characters of a delta. */
  readonly width: number;
  /** Sessions with long deltas, which fill the buffers of who does not read. */
  readonly wideRuns: number;
  readonly wideWidth: number;
  /** A slow reader looks away for this long, then reads for a tenth of it. */
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

/** The same in small, for every commit. */
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

/** Microseconds of the machine's own clock, the same for all processes. */
export function stamp(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** What the model says in its delta of this number; the first part of the message names the run. */
export function wordOf(label: string, index: number, at: number, width: number): string {
  return `${label}.${index}@${at}`.padEnd(width - 1, "-").concat(" ");
}

export interface Word {
  readonly index: number;
  readonly at: number;
}

/** The words of a text that has only whole ones; undefined for anything else. */
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
