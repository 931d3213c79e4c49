/** A fixture: the exact bytes of one answer, and the result that a client must produce. */
export type ProtocolName =
  | "openai-chat"
  | "anthropic-messages"
  | "openai-responses"
  | "google-generate";

export interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

export interface Expectation {
  /**
   * `error`: the client must report a failure. `any`: both endings are valid, and only the calls
   * that must never run are checked.
   */
  readonly ends: "done" | "error" | "any";
  /**
   * The whole text. For a failed answer, the text received before the failure. Not checked if
   * absent.
   */
  readonly text?: string;
  readonly thinking?: string;
  /**
   * The calls that may run, in order. Default none: any other call that is handed over as runnable
   * is unsafe.
   */
  readonly calls?: readonly Call[];
  /** Calls that must be reported as not runnable, for the model to try again. */
  readonly refusedCalls?: number;

  // The fields below are checked for Bowline only.
  readonly stopReason?: "stop" | "length" | "toolUse";
  readonly rawStopReason?: string;
  /** Any one of these codes. */
  readonly errorCode?: readonly string[];
  readonly errorMessage?: RegExp;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | null;
  /** The expected values of the named fields; `undefined` means that the field must be absent. */
  readonly usage?: Readonly<Record<string, number | undefined>>;
  /** Opaque data that the message must contain somewhere, for the next request. */
  readonly keeps?: readonly string[];
  /** Every call must have a different id. */
  readonly uniqueIds?: boolean;
}

export interface Fixture {
  /** The entry of the catalogue, such as Q031. Several fixtures may share one. */
  readonly id: string;
  readonly title: string;
  readonly protocol: ProtocolName;
  readonly body: string | Uint8Array;
  /** Default 200. */
  readonly status?: number;
  /** Default: an event stream. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The server's action on the socket after the body. Default `close`. */
  readonly after?: "close" | "reset" | "hold";
  /**
   * The tools declared, each with one optional string parameter `city`. Default `get_weather` and
   * `get_time`.
   */
  readonly tools?: readonly string[];
  readonly expect: Expectation;
  /** Why the expectation is arguable. */
  readonly note?: string;
}

export const defaultTools: readonly string[] = ["get_weather", "get_time"];

/** Returns a unique name. Fixtures of the same entry have different titles. */
export function nameOf({ id, title }: Fixture): string {
  return `${id} ${title}`;
}

/** Creates fixtures of one protocol. */
export function fixtures(
  protocol: ProtocolName,
  rows: readonly (Omit<Fixture, "protocol"> & { readonly protocol?: ProtocolName })[],
): Fixture[] {
  return rows.map((row) => ({ protocol, ...row }));
}

export const oslo: Call = { name: "get_weather", arguments: { city: "Oslo" } };
export const rome: Call = { name: "get_weather", arguments: { city: "Rome" } };
/** The same arguments as JSON text, as most wires carry them. */
export const osloText = '{"city":"Oslo"}';
export const romeText = '{"city":"Rome"}';

export const done = { ends: "done" } as const;
export const hello = { ends: "done", text: "Hello.", stopReason: "stop" } as const;
export const runsOslo = { ends: "done", calls: [oslo], stopReason: "toolUse" } as const;
export const runsBoth = {
  ends: "done",
  calls: [oslo, rome],
  stopReason: "toolUse",
  uniqueIds: true,
} as const;
export const truncated = {
  ends: "error",
  errorCode: ["stream_truncated"],
  retryable: true,
} as const;
