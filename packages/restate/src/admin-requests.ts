/** Requests to Restate's admin interface. */
import { toClientError, toStatusError } from "./client-error.ts";

export interface AdminRequestsOptions {
  /** Without a slash at the end. */
  readonly admin: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number;
}

export type Row = Readonly<Record<string, string>>;

export class AdminRequests {
  readonly #options: AdminRequestsOptions;

  constructor(options: AdminRequestsOptions) {
    this.#options = options;
  }

  /** Runs a query over the server's own tables. */
  async query(sql: string): Promise<readonly Row[]> {
    const { rows } = (await this.send("POST", "/query", { query: sql })) as {
      readonly rows: readonly Row[];
    };
    return rows;
  }

  async send(method: string, path: string, body?: object): Promise<unknown> {
    const { admin, headers, timeoutMs } = this.#options;
    let response: Response;
    try {
      response = await fetch(`${admin}${path}`, {
        method,
        headers: { accept: "application/json", "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (error) {
      throw toClientError(error);
    }
    const text = await response.text();
    if (!response.ok) throw toStatusError(response.status, text);
    return text === "" ? undefined : JSON.parse(text);
  }
}
