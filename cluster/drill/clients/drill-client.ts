/** What the drill needs of a client. One is the library's, the other follows the protocol's page. */
import type { MethodName, Params, Result } from "bowline/client";

export type SendMethod = "chat.send" | "chat.steer" | "chat.followUp";
export type SendParams = Params<"chat.send"> & { readonly idempotencyKey: string };

export interface DrillClient {
  readonly name: string;
  /** Sends a message until it is answered, under the same key. */
  post(method: SendMethod, params: SendParams): Promise<Result<"chat.send">>;
  /** Follows a session's events from now on. */
  subscribe(session: string): Promise<void>;
  /** Follows a run from its beginning, or with a snapshot. */
  expect(session: string, runId: string): void;
  /** Makes a request once. Rejects with a {@link Refusal}, also when the connection is lost. */
  request<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  /** Loses the connection, and goes to the next gateway. */
  move(): void;
  close(): void;
}

/** An error of a gateway, or a lost connection. */
export class Refusal extends Error {
  readonly code: string;
  readonly isRetryable: boolean;

  constructor(code: string, message: string, isRetryable: boolean) {
    super(`${code}: ${message}`);
    this.code = code;
    this.isRetryable = isRetryable;
  }
}
