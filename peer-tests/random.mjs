// Compares the official clients and ours on random valid streams, and ours with itself on the same
// bytes in random pieces.
import * as fc from "fast-check";
import { createServer } from "node:http";
import { differences } from "./answer.mjs";
import { framing, plainFraming, writeStream } from "./grammar/framing.mjs";
import { messagesStream } from "./grammar/anthropic-messages.mjs";
import { generateStream } from "./grammar/google-generate.mjs";
import { chatStream } from "./grammar/openai-chat.mjs";
import { responsesStream } from "./grammar/openai-responses.mjs";
import { toolNames } from "./grammar/values.mjs";
import { askOurs, toAnswer } from "./ours.mjs";

const streams = {
  "openai-chat": fc.record({ events: chatStream, how: framing }),
  "anthropic-messages": fc.record({ events: messagesStream, how: framing }),
  "openai-responses": fc.record({ events: responsesStream, how: framing }),
  "google-generate": fc.record({ events: generateStream, how: plainFraming }),
};
const cuts = fc.array(fc.array(fc.nat(99_999), { maxLength: 40 }), { minLength: 1, maxLength: 3 });
const tools = toolNames.map((name) => ({
  name,
  description: name,
  parameters: { type: "object" },
}));
const headers = { "content-type": "text/event-stream; charset=utf-8" };

/**
 * Returns true if all answers were equal. `peers` has the clients of each protocol to compare.
 * `path` is the path of fast-check at which the run of a seed starts.
 */
export async function compareRandom(peers, { runs, seed, path }) {
  const server = await serveOne();
  let isEqual = true;
  try {
    for (const [protocol, clients] of Object.entries(peers)) {
      const started = performance.now();
      const property = fc.asyncProperty(
        streams[protocol],
        cuts,
        async ({ events, how }, places) => {
          const found = await compareOne(
            protocol,
            clients,
            server,
            writeStream(events, how),
            places,
          );
          if (found.length > 0) throw new Error(found.join("\n"));
        },
      );
      const result = await fc.check(property, {
        seed,
        numRuns: runs,
        ...(path !== undefined && { path }),
      });
      if (result.failed) {
        isEqual = false;
        report(protocol, result);
      }
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const outcome = result.failed ? "DIFFERENT" : "ok, equal";
      console.log(
        `${protocol.padEnd(19)} ${result.numRuns} random streams, seed ${seed}: ${outcome}, ${seconds} s`,
      );
    }
  } finally {
    server.close();
  }
  return isEqual;
}

/**
 * Returns the differences between our answer and each client's, and between our answers to
 * different pieces.
 */
async function compareOne(protocol, clients, server, stream, places) {
  const body = new TextEncoder().encode(stream);
  server.body = body;
  const message = await askCut(protocol, body, []);
  const ours = withoutMadeIds(toAnswer(message));
  const found = [];
  for (const offsets of places) {
    const other = JSON.stringify(await askCut(protocol, body, offsets));
    if (other !== JSON.stringify(message))
      found.push(`cut: whole ${JSON.stringify(message)}, cut ${other}`);
  }
  for (const client of clients) {
    const theirs = await client.read(server.url);
    found.push(...compare(client, theirs, ours).map((text) => `${client.name}: ${text}`));
  }
  return found;
}

/** Removes ids that our client created, since the other clients create none. */
function withoutMadeIds(answer) {
  const calls = answer.calls.map(({ id, ...call }) => ({
    ...call,
    ...(!id.includes("made_") && { id }),
  }));
  return { ...answer, calls };
}

/**
 * Compares two answers. For a refusal or a filter, the peers return an answer and our client
 * returns a failure with the same content. Other failures must occur in both; a helper that fails
 * returns no content.
 */
function compare(client, theirs, ours) {
  if (theirs.failed !== undefined && ours.failed === undefined)
    return [`only the peer failed: ${theirs.failed}`];
  if (theirs.failed !== undefined && !client.isRaw) return [];
  // Our client reports an answer that is only thoughts as an error.
  if (ours.failed?.startsWith("empty_response: The model returned thinking") && theirs.text === "")
    return [];
  const known = (theirs.stop === "length" ? client.fieldsWhenCut : undefined) ?? client.fields;
  // Our client has no call yet if the stream broke off before its arguments, since its name may be
  // incomplete.
  const fields = ours.failed === undefined ? known : known.filter((field) => field !== "calls");
  const found = differences(theirs, client.normalize?.(ours) ?? ours, fields);
  const isAlone = ours.failed !== undefined && theirs.stop !== "error";
  return isAlone ? [`only ours failed: ${ours.failed}`, ...found] : found;
}

/** Returns our message for a body that arrives in these pieces. */
async function askCut(protocol, body, places) {
  const offsets = [...new Set(places.map((place) => place % body.length))].toSorted(
    (a, b) => a - b,
  );
  const ends = [...offsets, body.length];
  const stream = ReadableStream.from(ends.map((end, n) => body.subarray(ends[n - 1] ?? 0, end)));
  let ids = 0;
  const message = await askOurs(
    protocol,
    "http://127.0.0.1",
    { fetch: async () => new Response(stream, { headers }), createId: () => `made_${++ids}` },
    tools,
  );
  return { ...message, timestamp: 0 };
}

/** A server on loopback that answers every request with `body`. */
async function serveOne() {
  const own = { body: new Uint8Array(), url: "", close: () => server.close() };
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200, headers).end(own.body));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  own.url = `http://127.0.0.1:${server.address().port}`;
  own.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return own;
}

function report(protocol, { seed, counterexample, counterexamplePath: path, errorInstance }) {
  const [{ events, how }, places] = counterexample;
  console.log(
    `${writeStream(events, how)}\ncut at ${JSON.stringify(places)}\n${errorInstance?.message}`,
  );
  console.log(
    `again: npm run peers -- --random --protocol ${protocol} --seed ${seed} --path ${path}`,
  );
}
