/**
 * Returns the processor time of this thread in milliseconds, which does not depend on the machine's
 * load.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
