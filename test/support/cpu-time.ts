/**
 * Milliseconds of the processor that this thread has used: what work costs, however much else the
 * machine has to do.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
