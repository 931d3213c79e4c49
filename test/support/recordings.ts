/**
 * Recorded answers of real servers. They are large and not in the repository; BOWLINE_RECORDINGS
 * names their folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export interface Recording {
  readonly protocol: string;
  readonly file: string;
  readonly status: number;
  readonly body: Uint8Array;
}

const folder: string =
  process.env.BOWLINE_RECORDINGS ?? resolve(import.meta.dirname, "../..", "../shared/recordings");

/** Why the recordings are missing, or undefined. */
export const missing: string | undefined = existsSync(join(folder, "index.json"))
  ? undefined
  : `no recordings in ${folder}: set BOWLINE_RECORDINGS to the folder that holds their index.json`;

/**
 * Returns the recordings of one protocol by name, or none when the folder is absent. A file with
 * several answers is returned whole, where only the first answer counts, and each further answer as
 * a separate recording.
 */
export function loadRecordings(protocol: string): Recording[] {
  if (missing !== undefined) return [];
  const index = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")) as {
    readonly protocol: string;
    readonly file: string;
    readonly status: number;
  }[];
  return index
    .filter((entry) => entry.protocol === protocol)
    .flatMap(({ file, status }) => {
      const body = readFileSync(join(folder, protocol, file));
      const further = answersOf(body).slice(1);
      return [
        { protocol, file, status, body },
        ...further.map((answer, n) => ({
          protocol,
          file: `${file} #${n + 2}`,
          status,
          body: answer,
        })),
      ];
    })
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

function answersOf(body: Buffer): Buffer[] {
  const starts: number[] = [];
  for (const first of ["event: message_start\n", "event: response.created\n"]) {
    for (let at = 0; (at = body.indexOf(first, at)) !== -1; at++) starts.push(at);
  }
  return starts.map((start, n) => body.subarray(start, starts[n + 1]));
}
