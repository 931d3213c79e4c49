/**
 * Measures a process: memory after a garbage collection, processor time, and how long its event
 * loop was blocked.
 */

export interface Measure {
  /** Resident memory, and the scripts' objects and buffers in it, in bytes. */
  readonly rss: number;
  readonly used: number;
  /** Clock time and processor time since the last measurement, in milliseconds. */
  readonly wallMs: number;
  readonly cpuMs: number;
  /**
   * The longest time that the process's own work blocked the event loop, in milliseconds. Waiting
   * for a busy machine does not count.
   */
  readonly heldMs: number;
  /** The highest resident memory so far, in bytes. */
  readonly peakRss: number;
}

const EVERY_MS = 10;

/** Returns a function that takes a measurement. Needs --expose-gc for memory after a collection. */
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
    // Excludes the garbage collection above from the next measurement.
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

/** Counts the script thread only, because the collector's other threads do not block it. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
