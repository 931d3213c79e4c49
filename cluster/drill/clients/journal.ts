/** What the clients of a drill sent and were told. In the drill's process, which is never killed. */
import type { AnsweredApproval, Complaint, SentAbort, SentMessage } from "../evidence.ts";
import { RunStream } from "./run-stream.ts";

export class Journal {
  readonly messages: SentMessage[] = [];
  readonly aborts: SentAbort[] = [];
  readonly answers: AnsweredApproval[] = [];
  readonly complaints: Complaint[] = [];
  /** Counts for people. */
  readonly counts = { moves: 0, resends: 0, lostAnswers: 0, retries: 0 };
  readonly #streams = new Map<string, RunStream>();

  get streams(): readonly RunStream[] {
    return [...this.#streams.values()];
  }

  /** Returns the stream of a client and a run, and begins it if it is new. */
  stream(client: string, session: string, runId: string, isOwn: boolean): RunStream {
    const key = JSON.stringify([client, session, runId]);
    const known = this.#streams.get(key);
    if (known !== undefined) {
      known.isOwn ||= isOwn;
      return known;
    }
    const stream = new RunStream(client, session, runId, isOwn);
    this.#streams.set(key, stream);
    return stream;
  }

  /** Notes something that must not happen to a client. */
  complain(client: string, session: string, text: string): void {
    const isKnown = this.complaints.some(
      (one) => one.client === client && one.session === session && one.text === text,
    );
    if (!isKnown) this.complaints.push({ client, session, text });
  }
}
