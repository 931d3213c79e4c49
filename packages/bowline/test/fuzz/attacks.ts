/**
 * Misbehaving clients, one connection each. Each function returns the faults in the server's
 * reaction.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { closeCodes, errorNumbers, type AuthReply } from "../../src/gateway/protocol/frame.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { expectAfterAuth, type AnyFrame, type Expected } from "../gateway/bad-frames.ts";
import { encodeFrame, RawSocket, type RawFrame } from "./raw-socket.ts";

export interface Target {
  readonly port: number;
  readonly token: string;
  /** Called with every error number of a refusal and every close code. */
  readonly note?: (code: number) => void;
}

interface Answer {
  readonly id?: string | number | null;
  readonly error?: { readonly code: number; readonly message: string };
  readonly event?: string;
}

const PATIENCE_MS = 60_000;
/** A refusal stays shorter than this, in bytes, however long the frame was. */
const MAX_REFUSAL = 20_000;
const documented: ReadonlySet<number> = new Set(Object.values(errorNumbers));

/**
 * Sends frames after authentication. Each must get the right answer, or end the connection with the
 * right code.
 */
export async function afterAuth(target: Target, frames: readonly AnyFrame[]): Promise<string[]> {
  const socket = await enter(target);
  const answers: Answer[] = [];
  const faults: string[] = [];
  let wake = (): void => {};
  socket.on("message", (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as Answer;
    if (answer.event !== undefined) return;
    answers.push(answer);
    if (answer.error !== undefined) target.note?.(answer.error.code);
    if (answer.error !== undefined && data.length > MAX_REFUSAL)
      faults.push(`a refusal of ${data.length} bytes`);
    wake();
  });
  const ended = once(socket, "close").then(([code]) => {
    wake();
    target.note?.(code as number);
    return code as number;
  });
  const expected = expectAfterAuth(frames);
  const end = expected.find(({ kind }) => kind === "close") as
    | Extract<Expected, { kind: "close" }>
    | undefined;
  for (const frame of frames) socket.send(frame);
  const limit = AbortSignal.timeout(PATIENCE_MS);
  limit.addEventListener("abort", () => wake());
  const isDone = (): boolean =>
    socket.readyState === WebSocket.CLOSED ||
    limit.aborted ||
    (end === undefined && answers.length >= expected.length);
  while (!isDone()) await new Promise<void>((resolve) => (wake = resolve));
  const wrong = compare(expected, answers, end === undefined);
  const about = frames.map((frame) => frame.toString().slice(0, 200));
  faults.push(
    ...wrong.map(
      ({ id, what }) => `${what}; sent: ${about.filter((text) => text.includes(id)).join(" ")}`,
    ),
  );
  if (limit.aborted)
    faults.push(
      `${answers.length} of ${expected.length} frames were answered in ${PATIENCE_MS} ms`,
    );
  if (end === undefined && socket.readyState !== WebSocket.OPEN)
    faults.push(`closed with ${await ended}`);
  socket.close();
  const code = await Promise.race([ended, patience()]);
  if (end !== undefined && code !== end.code) faults.push(`closed with ${code}, not ${end.code}`);
  return faults;
}

interface Wrong {
  readonly id: string;
  readonly what: string;
}

/**
 * Matches answers by id, in any order. When the connection ends, slow requests may stay unanswered.
 */
function compare(
  expected: readonly Expected[],
  answers: readonly Answer[],
  isWhole: boolean,
): Wrong[] {
  const wrong: Wrong[] = [];
  const left = Map.groupBy(answers, ({ id }) => JSON.stringify(id));
  const due = Map.groupBy(
    expected.filter((one) => one.kind === "answer"),
    ({ id }) => JSON.stringify(id),
  );
  for (const [id, wanted] of due) {
    const found = [...(left.get(id) ?? [])];
    left.delete(id);
    const add = (what: string): void =>
      void wrong.push({ id, what: `${what} ${JSON.stringify(found).slice(0, 300)}` });
    for (const { error } of wanted) {
      if (error === undefined) continue;
      const at = found.findIndex((answer) => answer.error?.code === error);
      if (at < 0) add(`no ${error}:`);
      else found.splice(at, 1);
    }
    const others = wanted.filter(({ error }) => error === undefined).length;
    if (isWhole ? found.length !== others : found.length > others)
      add(`${found.length} answers, not ${others}:`);
    const isKnown = ({ error }: Answer): boolean =>
      error === undefined || (documented.has(error.code) && error.code !== errorNumbers.internal);
    if (!found.every(isKnown)) add("the server failed:");
  }
  for (const [id, found] of left)
    wrong.push({ id, what: `nobody asked: ${JSON.stringify(found).slice(0, 300)}` });
  return wrong;
}

/** Sends an invalid first frame, which must be refused and closed. Later frames must be ignored. */
export async function beforeAuth(
  { port, note }: Target,
  frames: readonly AnyFrame[],
): Promise<string[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const replies: AuthReply[] = [];
  socket.on(
    "message",
    (data: Buffer) => void replies.push(JSON.parse(data.toString()) as AuthReply),
  );
  socket.on("error", () => {}); // "close" follows
  await once(socket, "open");
  const ended = once(socket, "close") as Promise<[number]>;
  for (const frame of frames) socket.send(frame);
  const [code] = await Promise.race([ended, patience().then(() => ["nothing"] as const)]);
  socket.terminate();
  if (typeof code === "number") note?.(code);
  const [first = ""] = frames;
  const isLarge = Buffer.byteLength(first) > defaultLimits.maxAuthFrameBytes;
  // Everything that arrives together counts: the first frame may be refused before the rest is
  // found to be too much.
  const total = frames.reduce((sum, frame) => sum + Buffer.byteLength(frame) + 8, 0);
  const codes = new Set<unknown>(
    isLarge
      ? [closeCodes.tooLarge]
      : [typeof first === "string" ? closeCodes.unauthorized : closeCodes.unsupported],
  );
  if (total > defaultLimits.maxAuthFrameBytes) codes.add(closeCodes.tooLarge);
  const faults = codes.has(code) ? [] : [`closed with ${code}, not ${[...codes].join(" or ")}`];
  const isNamed =
    replies.length === 1 && replies[0]?.ok === false && documented.has(replies[0].error.code);
  if (code === closeCodes.unauthorized && !isNamed)
    faults.push(`the refusal is ${JSON.stringify(replies)}`);
  if (replies.some(({ ok }) => ok)) faults.push("it was let in");
  return faults;
}

/**
 * Bytes that are not WebSocket frames, or not allowed for a client, with the close code each must
 * cause.
 */
const violations: readonly (readonly [code: number, what: string, frames: readonly RawFrame[]])[] =
  [
    [closeCodes.protocol, "no mask", [{ opcode: 1, payload: Buffer.from("{}"), isMasked: false }]],
    [
      closeCodes.protocol,
      "a reserved bit",
      [{ opcode: 1, payload: Buffer.from("{}"), reserved: 2 }],
    ],
    [closeCodes.protocol, "compressed", [{ opcode: 1, payload: Buffer.from("{}"), reserved: 4 }]],
    [closeCodes.protocol, "an opcode that is none", [{ opcode: 3 }]],
    [closeCodes.protocol, "a control code that is none", [{ opcode: 11 }]],
    [closeCodes.protocol, "a continuation of nothing", [{ opcode: 0, payload: Buffer.from("{}") }]],
    [
      closeCodes.protocol,
      "a text within a text",
      [
        { opcode: 1, fin: false, payload: Buffer.from("{") },
        { opcode: 1, payload: Buffer.from("}") },
      ],
    ],
    [closeCodes.protocol, "a ping in pieces", [{ opcode: 9, fin: false }]],
    [closeCodes.protocol, "a ping too long", [{ opcode: 9, payload: Buffer.alloc(126) }]],
    [closeCodes.protocol, "a close of one byte", [{ opcode: 8, payload: Buffer.alloc(1) }]],
    [
      closeCodes.protocol,
      "a close with a code that is none",
      [{ opcode: 8, payload: Buffer.from([0, 1]) }],
    ],
    [
      closeCodes.encoding,
      "no UTF-8",
      [{ opcode: 1, payload: Buffer.from([0x22, 0xc3, 0x28, 0x22]) }],
    ],
    [
      closeCodes.encoding,
      "no UTF-8 over two pieces",
      [
        { opcode: 1, fin: false, payload: Buffer.from([0x22, 0xe2, 0x82]) },
        { opcode: 0, payload: Buffer.from([0x22]) },
      ],
    ],
    [
      closeCodes.encoding,
      "a reason that is no UTF-8",
      [{ opcode: 8, payload: Buffer.from([0x03, 0xe8, 0xff]) }],
    ],
    [
      closeCodes.unsupported,
      "binary in pieces",
      [{ opcode: 2, fin: false, payload: Buffer.alloc(3) }, { opcode: 0 }],
    ],
    [
      closeCodes.tooLarge,
      "a length beyond the limit",
      [{ opcode: 1, length: defaultLimits.maxFrameBytes + 1 }],
    ],
    [closeCodes.tooLarge, "a length of 2^40", [{ opcode: 1, length: 2 ** 40 }]],
    [
      closeCodes.tooLarge,
      "pieces that are too much together",
      Array.from({ length: 9 }, (_, index) => ({
        opcode: index === 0 ? 1 : 0,
        fin: false,
        payload: Buffer.alloc(128 * 1024, 32),
      })),
    ],
  ];
export const VIOLATIONS = violations.length;

/** Sends one of {@link violations}, before or after authentication. */
export async function breakProtocol(
  { port, token, note }: Target,
  which: number,
  isIn: boolean,
): Promise<string[]> {
  const [code, what, frames] = violations[which % VIOLATIONS] as (typeof violations)[number];
  const raw = await RawSocket.open(port);
  if (isIn) {
    raw.text(JSON.stringify({ type: "auth", token }));
    while (raw.texts.length === 0 && !raw.socket.closed)
      await Promise.race([once(raw.socket, "data"), raw.ended]);
  }
  for (const frame of frames) raw.write(encodeFrame(frame));
  await Promise.race([raw.ended, patience()]);
  raw.socket.destroy();
  if (raw.closeCode !== undefined) note?.(raw.closeCode);
  return raw.closeCode === code ? [] : [`${what}: closed with ${raw.closeCode}, not ${code}`];
}

/**
 * Sends valid requests in one-byte fragments with pings between them. They must be answered
 * normally.
 */
export async function inPieces({ port, token }: Target): Promise<string[]> {
  const raw = await RawSocket.open(port);
  for (const text of [
    JSON.stringify({ type: "auth", token }),
    '{"id":"\u{1F9F5}","method":"health.check"}',
  ]) {
    const before = raw.texts.length;
    const bytes = Buffer.from(text);
    bytes.forEach((byte, index) => {
      const frame = {
        opcode: index === 0 ? 1 : 0,
        fin: index === bytes.length - 1,
        payload: Buffer.from([byte]),
      };
      raw.write(encodeFrame({ opcode: 9, payload: Buffer.from("?") }));
      raw.write(encodeFrame(frame));
    });
    const limit = AbortSignal.timeout(PATIENCE_MS);
    while (raw.texts.length === before && !raw.socket.closed && !limit.aborted) await sleep(1);
  }
  raw.socket.destroy();
  const answer = JSON.parse(raw.texts.at(-1) ?? "{}") as Answer;
  return answer.id === "\u{1F9F5}" && answer.error === undefined
    ? []
    : [`in pieces: ${raw.texts.at(-1)}`];
}

/**
 * Sends requests without reading the answers. The server must drop the client as too slow, or
 * answer when it reads.
 */
export async function flood(target: Target, frames: readonly string[]): Promise<string[]> {
  const socket = await enter(target);
  let answers = 0;
  socket.on("message", (data: Buffer) => {
    if (!("event" in (JSON.parse(data.toString()) as Answer))) answers++;
  });
  const ended = once(socket, "close") as Promise<[number]>;
  socket.pause();
  for (const frame of frames) {
    socket.send(frame);
    if (socket.bufferedAmount > 1024 * 1024) await sleep(1);
    if (socket.readyState !== WebSocket.OPEN) break;
  }
  await sleep(300);
  socket.resume();
  const limit = AbortSignal.timeout(PATIENCE_MS);
  while (answers < frames.length && socket.readyState !== WebSocket.CLOSED && !limit.aborted)
    await sleep(5);
  const isAnswered = answers === frames.length;
  socket.terminate();
  const [code] = await ended;
  target.note?.(code);
  return isAnswered || code === closeCodes.slow || code === 1006
    ? []
    : [`a flood ended with ${code}, ${answers} answers`];
}

/** Disconnects in the middle of the handshake, of a frame, or of a refusal. */
export async function vanish({ port, token }: Target, how: number): Promise<string[]> {
  const headers: Readonly<Record<string, string>>[] = [
    { origin: "https://elsewhere.example" },
    { host: "elsewhere.example" },
    { "sec-websocket-version": "7" },
    { "sec-websocket-key": "short" },
    {},
  ];
  const raw = await Promise.race([RawSocket.open(port, headers[how % headers.length]), patience()]);
  if (raw === undefined) return ["the handshake was not answered"];
  raw.text(JSON.stringify({ type: "auth", token }));
  raw.write(encodeFrame({ opcode: 1, length: 5000, payload: Buffer.from("{") }));
  if (how % 2 === 0) raw.socket.resetAndDestroy();
  else raw.socket.destroy();
  await raw.ended;
  return [];
}

/** Resets the connection before the refusal of its handshake can be written. */
export async function resetAtOnce({ port }: Target): Promise<string[]> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const ended = once(socket, "close");
  const lines = [
    "GET / HTTP/1.1",
    "host: elsewhere.example",
    "upgrade: websocket",
    "connection: upgrade",
    "",
    "",
  ];
  socket.write(lines.join("\r\n"), () => socket.resetAndDestroy());
  await ended;
  return [];
}

async function enter({ port, token }: Target): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  socket.on("error", () => {}); // "close" follows
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "auth", token }));
  await once(socket, "message");
  return socket;
}

function patience(): Promise<undefined> {
  return sleep(PATIENCE_MS, undefined, { ref: false });
}
