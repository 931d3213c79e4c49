/** One reader under load without a socket: the runs of a session as server-sent events, each checked to its end. */
import { Agent, get, type IncomingMessage } from "node:http";
import { isWide, type LoadOptions } from "./load-client.ts";
import { WatchedRun, type RunFrame } from "./watched-run.ts";

export class StreamReader {
  readonly runs = new Map<string, WatchedRun>();
  readonly #options: LoadOptions;
  /** One connection, kept from run to run, as browsers do. */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get isDone(): boolean {
    return [...this.runs.values()].every(({ isEnded }) => isEnded);
  }

  /** All of a run that has begun. */
  read(sessionKey: string, runId: string): void {
    const { url, token, shape, counts, late } = this.#options;
    const fault = (what: string): void => this.#options.fault(`${sessionKey}, over HTTP: ${what}`);
    const run = new WatchedRun(shape, isWide(sessionKey, shape) ? shape.wideWidth : shape.width, fault);
    this.runs.set(runId, run);
    const path = `/api/runs/${encodeURIComponent(runId)}/events?seq=-1&sessionKey=${encodeURIComponent(sessionKey)}`;
    const headers = { authorization: `Bearer ${token}` };
    const asked = get(`${url.replace(/^ws/, "http")}${path}`, { headers, agent: this.#agent });
    asked.on("error", (error) => fault(String(error)));
    asked.on("response", (response: IncomingMessage) => {
      if (response.statusCode !== 200) fault(`${response.statusCode}`);
      let rest = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        const blocks = (rest + chunk).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) if (!block.startsWith(":")) run.take(parse(block), counts, late);
      });
      response.on("close", () => {
        if (!run.isEnded) fault("the stream ended before the run");
      });
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function parse(block: string): RunFrame {
  const [, event, data = ""] = /^id: -?\d+\nevent: (.+)\ndata: (.+)$/.exec(block) ?? [];
  return { event, data: JSON.parse(data) as unknown } as RunFrame;
}
