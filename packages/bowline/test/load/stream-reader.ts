/**
 * One HTTP client under load: it reads the runs of a session as server-sent events and checks each
 * to its end.
 */
import { Agent, get, type ClientRequest, type IncomingMessage } from "node:http";
import { isWide, type LoadOptions } from "./load-client.ts";
import { WatchedRun, type RunFrame } from "./watched-run.ts";

export interface StreamReaderOptions extends LoadOptions {
  /**
   * Whether it pauses, opens a connection for each unfinished run, and reconnects for the rest.
   * Default false.
   */
  readonly isSlow?: boolean;
}

export class StreamReader {
  readonly runs = new Map<string, WatchedRun>();
  /** How often it left a run, and how often the server cut it off. */
  left = 0;
  cutOff = 0;
  readonly #options: StreamReaderOptions;
  /** One connection that is reused from run to run, as browsers do. */
  readonly #agent: Agent;
  readonly #open = new Map<ClientRequest, IncomingMessage | undefined>();
  readonly #leaving = new Set<ClientRequest>();
  #isAway = false;

  constructor(options: StreamReaderOptions) {
    this.#options = options;
    this.#agent =
      options.isSlow === true ? new Agent() : new Agent({ keepAlive: true, maxSockets: 1 });
  }

  get isDone(): boolean {
    return [...this.runs.values()].every(({ isEnded }) => isEnded);
  }

  /** Reads a run from its beginning. */
  read(sessionKey: string, runId: string): void {
    const { shape } = this.#options;
    const fault = (what: string): void => this.#options.fault(`${sessionKey}, over HTTP: ${what}`);
    const run = new WatchedRun(
      shape,
      isWide(sessionKey, shape) ? shape.wideWidth : shape.width,
      fault,
    );
    this.runs.set(runId, run);
    this.#ask(sessionKey, runId, run, fault);
  }

  look(away: boolean): void {
    this.#isAway = away;
    for (const response of this.#open.values()) response?.[away ? "pause" : "resume"]();
  }

  /** Disconnects without a close, and reconnects later. */
  leave(): void {
    for (const request of this.#open.keys()) {
      this.#leaving.add(request);
      request.destroy();
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Requests the events after the last one it has. */
  #ask(sessionKey: string, runId: string, run: WatchedRun, fault: (what: string) => void): void {
    const { url, token, counts, late, isSlow = false } = this.#options;
    const path = `/api/runs/${encodeURIComponent(runId)}/events?sessionKey=${encodeURIComponent(sessionKey)}`;
    const headers = { authorization: `Bearer ${token}`, "last-event-id": String(run.seq) };
    const asked = get(`${url.replace(/^ws/, "http")}${path}`, { headers, agent: this.#agent });
    this.#open.set(asked, undefined);
    const closed = (): void => {
      if (!this.#open.delete(asked) || run.isEnded) return;
      if (!isSlow) return fault("the stream ended before the run");
      if (this.#leaving.delete(asked)) this.left++;
      else this.cutOff++;
      if (this.left + this.cutOff < MAX_BACK) this.#ask(sessionKey, runId, run, fault);
      else fault("it came back in vain");
    };
    asked.on("error", (error) => {
      if (!isSlow) fault(String(error));
    });
    asked.on("response", (response: IncomingMessage) => {
      this.#open.set(asked, response);
      if (response.statusCode !== 200) fault(`${response.statusCode}`);
      let rest = "";
      response.on("error", () => {}); // "close" follows
      response.setEncoding("utf8").on("data", (chunk: string) => {
        const blocks = (rest + chunk).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks)
          if (!block.startsWith(":")) run.take(parse(block), counts, late);
      });
      response.on("close", closed);
      if (this.#isAway) response.pause();
    });
    asked.on("close", () => {
      if (this.#open.get(asked) === undefined) closed();
    });
  }
}

/** Limit of reconnections, in case the server accepts none. */
const MAX_BACK = 1000;

function parse(block: string): RunFrame {
  const [, event, data = ""] = /^id: -?\d+\nevent: (.+)\ndata: (.+)$/.exec(block) ?? [];
  return { event, data: JSON.parse(data) as unknown } as RunFrame;
}
