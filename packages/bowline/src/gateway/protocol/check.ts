/** Requests as they must be: frames by hand, params by their schema. */
import { checkJson } from "@bowline/core";
import { checkSessionId } from "@bowline/core/session";
import type { AuthFrame, Issue } from "./frame.ts";
import { GatewayError } from "./gateway-error.ts";
import type { MethodName } from "./protocol.ts";
import { methods } from "./schema.ts";

export interface ParsedRequest {
  readonly id: string | number;
  readonly method: MethodName;
  readonly params: unknown;
}

type Json = Readonly<Record<string, unknown>>;

const MAX_ID_LENGTH = 200;
const MAX_TOKEN_LENGTH = 4096;
/** Of the path to what is wrong, which a client makes as long as it likes. */
const MAX_PATH = 200;

/** Throws `parse` for what is no JSON. */
export function parseFrame(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new GatewayError("parse", "The frame is no JSON.");
  }
}

/** The id that an answer, also a refusal, has to have. */
export function idOf(frame: unknown): string | number | null {
  const { id } = asJson(frame);
  if (typeof id === "number" && Number.isFinite(id)) return id;
  return typeof id === "string" && id.length <= MAX_ID_LENGTH ? id : null;
}

/** Throws `bad_request`, `unknown_method` or `bad_params`. */
export function toRequest(frame: unknown): ParsedRequest {
  const id = idOf(frame);
  const { method, params = {} } = asJson(frame);
  if (id === null)
    throw new GatewayError("bad_request", "A request has an id: a text (up to 200) or a number.");
  if (typeof method !== "string")
    throw new GatewayError("bad_request", "A request names its method.");
  if (!isMethod(method)) {
    throw new GatewayError(
      "unknown_method",
      `There is no method ${JSON.stringify(method.slice(0, 100))}: the greeting names those there are.`,
    );
  }
  assertParams(method, params, `The params of ${method} do`);
  return { id, method, params };
}

/** Throws `bad_params`, which says what is wrong in a sentence that begins with `what`. */
export function assertParams(method: MethodName, params: unknown, what: string): void {
  const wrong = issuesOf(methods[method].params, params);
  const issues = wrong.length > 0 ? wrong : wrongIds(method, asJson(params));
  const [first] = issues;
  if (first === undefined) return;
  const message = `${what} not fit: ${first.path === "" ? "" : `${first.path}: `}${first.message}.`;
  throw new GatewayError("bad_params", message, { issues });
}

/**
 * Sessions and runs are found again by their ids, in files and in addresses, where half of a
 * character has no place. A schema cannot say it, nor does it count as stores do: in units of
 * UTF-16.
 */
function wrongIds(method: MethodName, params: Json): Issue[] {
  return Object.entries(methods[method].refersTo).flatMap(([path, reference]) => {
    const value = params[path];
    if (typeof value !== "string" || reference === "text") return [];
    const isKey = reference === "session" || reference === "newSession";
    if (isKey && !isSessionId(value))
      return [{ path, message: "expected well-formed Unicode of 1 to 512 units of UTF-16" }];
    return /\p{Surrogate}/u.test(value) ? [{ path, message: "expected well-formed Unicode" }] : [];
  });
}

function isSessionId(text: string): boolean {
  try {
    checkSessionId(text);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with a value; nothing is mended, as it would be for a model. */
export function issuesOf(schema: Json, value: unknown): readonly Issue[] {
  const checked = checkJson(schema, value);
  if (checked.issues !== undefined)
    return checked.issues.map(({ path, message }) => ({ path: path.slice(0, MAX_PATH), message }));
  return checked.value === value ? [] : [firstChange(value, checked.value, "")];
}

export const authShape =
  'The first frame must be {"type":"auth","token":"…"}; with it may come "events", "all" or a list of names, and "client", a text.';

/** Undefined for what is no auth frame. */
export function toAuthFrame(frame: unknown): AuthFrame | undefined {
  const { type, token, events, client } = asJson(frame);
  if (type !== "auth" || typeof token !== "string" || token.length > MAX_TOKEN_LENGTH)
    return undefined;
  const isList =
    Array.isArray(events) &&
    events.length <= 100 &&
    events.every((name) => typeof name === "string");
  if (events !== undefined && events !== "all" && !isList) return undefined;
  if (client !== undefined && (typeof client !== "string" || client.length > MAX_ID_LENGTH))
    return undefined;
  return frame as AuthFrame;
}

function isMethod(name: string): name is MethodName {
  return Object.hasOwn(methods, name);
}

function asJson(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Json)
    : {};
}

/** What had to be mended, down to where it is. */
function firstChange(before: unknown, after: unknown, path: string): Issue {
  const [expected, received] = [kindOf(after), kindOf(before)];
  if (expected !== received || typeof before !== "object" || before === null)
    return { path: path.slice(0, MAX_PATH), message: `expected ${expected}, received ${received}` };
  const [old, made] = [before as Json, after as Json];
  const key = Object.keys(old).find((name) => old[name] !== made[name]) ?? "";
  const inside = Array.isArray(before) ? `[${key}]` : path === "" ? key : `.${key}`;
  return firstChange(old[key], made[key], path + inside);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return value === null ? "null" : "nothing";
  return Array.isArray(value) ? "array" : typeof value;
}
