/**
 * What a process uses: memory after a collection, processor time, and how long its event loop was
 * held.
 */

export interface Measure {
  /** Resident memory, and what of it the scripts' objects and buffers are, in bytes. */
  readonly rss: number;
  readonly used: number;
  /** Since the last measure: milliseconds of the clock and of the processor. */
  readonly wallMs: number;
  readonly cpuMs: number;
  /**
   * The longest time, in milliseconds, that the loop was held by work of its own: waits for a busy
   * machine do not count.
   */
  readonly heldMs: number;
  /** The highest resident memory that was seen. */
  readonly peakRss: number;
}

const EVERY_MS = 10;

/** Call it whenever a measure is wanted. Needs --expose-gc for memory after a collection. */
export function startMeter(): () => Measure {
  let cpu = process.cpuUsage();
  let from = performance.now();
  let heldMs = 0;
  let peakRss = 0;
  let last = { at: performance.now(), cpu: threadMs() };
  let ticks = 0;
  setInterval(() => {
    const now = { at: performance.now(), cpu: threadMs() };
    heldMs = Math.max(heldMs, Math.min(now.at - last.at - EVERY_MS, now.cpu - last.cpu));
    last = now;
    if (ticks++ % 20 === 0) peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }, EVERY_MS).unref();
  return () => {
    const used = process.cpuUsage(cpu);
    const wallMs = performance.now() - from;
    const held = heldMs;
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    const measure = {
      rss,
      used: heapUsed + external,
      wallMs,
      cpuMs: (used.user + used.system) / 1000,
      heldMs: held,
      peakRss: Math.max(rss, peakRss),
    };
    // The collection just made is nobody's work.
    [cpu, from, heldMs, peakRss, last] = [
      process.cpuUsage(),
      performance.now(),
      0,
      0,
      { at: performance.now(), cpu: threadMs() },
    ];
    return measure;
  };
}

/** Of the thread that runs scripts; the collector's others hold nobody up. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
