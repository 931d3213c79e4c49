/** Where clients of the system's parts find them. */
export interface Addresses {
  /** A connection string of the database. */
  readonly postgres: string;
  /** Restate's ingress, whichever nodes run. */
  readonly ingress: string;
  /** Restate's admin, whichever nodes run. */
  readonly admin: string;
  readonly nats: readonly string[];
  /** The deployment: a worker, whichever run. */
  readonly worker: string;
  /** A gateway, whichever run. */
  readonly gateway: string;
}
