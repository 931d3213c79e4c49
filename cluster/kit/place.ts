/** Where a process of the kit runs: on loopback, or on a host with an address of its own. */
export interface Place {
  /** The address on which it listens. */
  readonly address: string;
  /** Comes before its command, such as `ip netns exec <name>`. */
  readonly prefix: readonly string[];
}

export const loopback: Place = { address: "127.0.0.1", prefix: [] };
