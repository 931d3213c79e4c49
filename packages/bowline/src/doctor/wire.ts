/** Reads one chat answer strictly, byte for byte, unlike Bowline's tolerant reader. Pure. */

export type Json = Record<string, unknown>;

type LineEnd = "LF" | "CRLF" | "CR";

export interface WireAnswer {
  /** The format of the body. */
  readonly format: "events" | "json" | "json lines" | "html" | "text" | "empty";
  /** True if a space follows `data:`. Absent if the body is not an event stream. */
  readonly space?: "always" | "never" | "sometimes";
  readonly lineEnds: readonly LineEnd[];
  readonly done: boolean;
  readonly comments: number;
  /** Number of payloads that are not JSON. */
  readonly broken: number;
  readonly chunks: readonly Json[];
  /** Finish reasons as the server wrote them, without duplicates. */
  readonly finishReasons: readonly string[];
  /** True if there are several chunks with a choice and each has a finish reason. */
  readonly finishOnEvery: boolean;
  /** Where the token counts are. */
  readonly usage: "nowhere" | "own chunk" | "last chunk" | "every chunk" | "choice" | "x_groq";
  /** The fields that contain reasoning. */
  readonly reasoning: readonly string[];
  readonly text: string;
  /** The entries of `tool_calls`, in order. */
  readonly calls: readonly Json[];
  /** True if calls used the old `function_call` form. */
  readonly legacyCalls: boolean;
}

const reasoningFields = [
  "reasoning_content",
  "reasoning",
  "reasoning_text",
  "thinking",
  "reasoning_details",
];

export function readWire(body: string): WireAnswer {
  const framing = readFraming(body);
  const { chunks } = framing;
  const choices = chunks.flatMap(choicesOf);
  const deltas = choices.map((choice) => record(choice.delta ?? choice.message));
  const finishes = choices
    .map(({ finish_reason: reason }) => reason)
    .filter((reason) => (reason ?? "") !== "");
  const calls = deltas.flatMap(({ tool_calls: list }) =>
    Array.isArray(list) ? list.map(record) : [],
  );
  return {
    ...framing,
    finishReasons: [...new Set(finishes.map(asText))],
    finishOnEvery: choices.length > 1 && finishes.length === choices.length,
    usage: findUsage(chunks),
    reasoning: reasoningFields.filter((field) => deltas.some((delta) => isFilled(delta[field]))),
    text: deltas.map(({ content }) => (typeof content === "string" ? content : "")).join(""),
    calls,
    legacyCalls: deltas.some(
      ({ function_call: call }) => typeof call === "object" && call !== null,
    ),
  };
}

type Framing = Pick<
  WireAnswer,
  "format" | "space" | "lineEnds" | "done" | "comments" | "broken" | "chunks"
>;

function readFraming(body: string): Framing {
  const nothing = { lineEnds: [], done: false, comments: 0, broken: 0, chunks: [] };
  const trimmed = body.trim();
  if (trimmed === "") return { ...nothing, format: "empty" };
  if (/^(?:data|event|id|retry)?:/m.test(trimmed)) return readEvents(body);
  if (trimmed.startsWith("<")) return { ...nothing, format: "html" };
  const whole = parse(trimmed);
  if (whole !== undefined)
    return {
      ...nothing,
      format: "json",
      chunks: (Array.isArray(whole) ? whole : [whole]).map(record),
    };
  const lines = trimmed.split(/\r?\n/).map(parse);
  if (lines.every((line) => line !== undefined))
    return { ...nothing, format: "json lines", chunks: lines.map(record) };
  return { ...nothing, format: "text" };
}

function readEvents(body: string): Framing {
  const lines = body.split(/\r\n|\r|\n/);
  const data = lines.filter((line) => line.startsWith("data:"));
  const spaced = data.filter((line) => line.startsWith("data: ")).length;
  const payloads = readPayloads(lines);
  const isDone = (payload: string): boolean => payload.trim().toLowerCase() === "[done]";
  const values = payloads.filter((payload) => !isDone(payload)).map(parse);
  const ends: readonly (readonly [LineEnd, RegExp])[] = [
    ["CRLF", /\r\n/],
    ["LF", /(?:^|[^\r])\n/],
    ["CR", /\r(?!\n)/],
  ];
  return {
    format: "events",
    space: spaced === data.length ? "always" : spaced === 0 ? "never" : "sometimes",
    lineEnds: ends.filter(([, pattern]) => pattern.test(body)).map(([name]) => name),
    done: payloads.some(isDone),
    comments: lines.filter((line) => line.startsWith(":")).length,
    broken: values.filter((value) => value === undefined).length,
    chunks: values.filter((value) => value !== undefined).map(record),
  };
}

/**
 * Returns the data of each event. Consecutive lines that are each JSON count as separate events,
 * even without blank lines between them.
 */
function readPayloads(lines: readonly string[]): string[] {
  const payloads: string[] = [];
  let open: string[] = [];
  for (const line of [...lines, ""]) {
    if (line.startsWith("data:")) open.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    if (line !== "" || open.length === 0) continue;
    const joined = open.join("\n");
    if (open.length === 1 || parse(joined) !== undefined) payloads.push(joined);
    else payloads.push(...open);
    open = [];
  }
  return payloads.filter((payload) => payload.trim() !== "");
}

function findUsage(chunks: readonly Json[]): WireAnswer["usage"] {
  const holders = chunks.filter(({ usage }) => isFilled(usage));
  const withChoices = chunks.filter((chunk) => choicesOf(chunk).length > 0);
  if (holders.length > 1 && holders.length >= withChoices.length) return "every chunk";
  if (holders.some((chunk) => choicesOf(chunk).length === 0)) return "own chunk";
  if (holders.length > 0) return "last chunk";
  if (chunks.some((chunk) => choicesOf(chunk).some(({ usage }) => isFilled(usage))))
    return "choice";
  return chunks.some((chunk) => isFilled(record(chunk.x_groq).usage)) ? "x_groq" : "nowhere";
}

function choicesOf({ choices }: Json): Json[] {
  return Array.isArray(choices) ? choices.map(record) : [];
}

function isFilled(value: unknown): boolean {
  return typeof value === "object" ? Object.keys(value ?? {}).length > 0 : (value ?? "") !== "";
}

export function record(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Json)
    : {};
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Returns undefined if the text is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
