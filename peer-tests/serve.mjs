// Serves the recordings on loopback: POST /<protocol>/<file>/<the protocol's own path> answers with
// the file's bytes.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";

const folder =
  process.env.BOWLINE_RECORDINGS ?? resolve(import.meta.dirname, "..", "../shared/recordings");
const paths = { "openai-chat": "chat/completions", "anthropic-messages": "v1/messages" };
/** Bytes per write. Events and multi-byte characters are therefore split between writes. */
const PIECE = 617;

/**
 * Returns the recordings of the compared protocols. Returns undefined and prints a notice if there
 * are none.
 */
export function loadRecordings() {
  const index = join(folder, "index.json");
  if (!existsSync(index)) {
    console.log(`skipped: no recordings in ${folder} (set BOWLINE_RECORDINGS)`);
    return undefined;
  }
  return JSON.parse(readFileSync(index, "utf8"))
    .filter(({ protocol }) => protocol in paths)
    .flatMap(({ protocol, file, status }) =>
      answersOf(readFileSync(join(folder, protocol, file))).map((body, n) => ({
        protocol,
        file: n === 0 ? file : `${file}.${n + 1}`,
        status,
        body,
      })),
    )
    .toSorted((a, b) => (`${a.protocol} ${a.file}` < `${b.protocol} ${b.file}` ? -1 : 1));
}

/**
 * Splits a file into its answers. The official client does not accept a stream of several answers.
 */
function answersOf(body) {
  const starts = [0];
  for (let at = 1; (at = body.indexOf("event: message_start\n", at)) !== -1; at++) starts.push(at);
  return starts.map((start, n) => body.subarray(start, starts[n + 1]));
}

/**
 * Starts the server. `checks` are the strict request checks by protocol. A request that fails its
 * check gets status 400.
 */
export async function serve(recordings, checks) {
  const byPath = new Map(
    recordings.map((recording) => [
      `/${recording.protocol}/${recording.file}/${paths[recording.protocol]}`,
      recording,
    ]),
  );
  const answer = async (request, response) => {
    const recording = byPath.get(request.url);
    if (recording === undefined || request.method !== "POST") return response.writeHead(404).end();
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const problems = checks[recording.protocol](JSON.parse(text));
    if (problems.length > 0) {
      const type = { "content-type": "application/json" };
      return response
        .writeHead(400, type)
        .end(JSON.stringify({ error: { message: problems.join("; ") } }));
    }
    response.writeHead(recording.status, { "content-type": "text/event-stream; charset=utf-8" });
    for (let at = 0; at < recording.body.length; at += PIECE) {
      if (!response.write(recording.body.subarray(at, at + PIECE))) await nextTick();
    }
    return response.end();
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    /** Returns the base URL of one recording for the official clients. */
    url: ({ protocol, file }) => `${origin}/${protocol}/${file}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
