/**
 * `@bowline/cluster`: agents served from any number of processes, and the live events of their runs.
 */
export { createCluster } from "./create-cluster.ts";
export type { Cluster, DrainOptions } from "./create-cluster.ts";
export type {
  ClusterOptions,
  ClusterRestateOptions,
  ClusterRole,
  ClusterWorkerOptions,
} from "./engine/options.ts";
export { connectNats } from "./bus/nats-bus.ts";
export type { NatsOptions } from "./bus/nats-options.ts";
export type { Bus, BusListener, BusMessage } from "./bus/bus.ts";
export { RunPublisher } from "./worker/publisher.ts";
export type { PublisherOptions } from "./worker/publisher.ts";
export type { RunAttempt } from "./worker/run-attempt.ts";
export { Relay } from "./relay/relay.ts";
export type { RelayOptions } from "./relay/relay.ts";
export { readClusterStatus } from "./status/read-status.ts";
export type {
  ClusterParts,
  ClusterStatus,
  NatsStatus,
  PartStatus,
  PostgresStatus,
} from "./status/read-status.ts";
