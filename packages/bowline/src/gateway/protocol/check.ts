/** Validates requests: frames by hand, params by their schema. */
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
/** Longest path in an issue; a client can send paths of any length. */
const MAX_PATH = 200;

/** Throws `parse` if the text is not JSON. */
export function parseFrame(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new GatewayError("parse", "The frame is not JSON.");
  }
}

/** Returns the id for the response, also for an error response. */
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
    throw new GatewayError(
      "bad_request",
      "A request needs an id: a number or a string of up to 200 characters.",
    );
  if (typeof method !== "string")
    throw new GatewayError("bad_request", "A request needs a method.");
  if (!isMethod(method)) {
    throw new GatewayError(
      "unknown_method",
      `There is no method ${JSON.stringify(method.slice(0, 100))}. The welcome frame lists all methods.`,
    );
  }
  assertParams(method, params, `The params of ${method} do`);
  return { id, method, params };
}

/** Throws `bad_params` with a message that begins with `what`. */
export function assertParams(method: MethodName, params: unknown, what: string): void {
  const wrong = issuesOf(methods[method].params, params);
  const given = asJson(params);
  const issues = wrong.length > 0 ? wrong : [...wrongIds(method, given), ...empty(method, given)];
  const [first] = issues;
  if (first === undefined) return;
  const message = `${what} not fit: ${first.path === "" ? "" : `${first.path}: `}${first.message}.`;
  throw new GatewayError("bad_params", message, { issues });
}

/**
 * Checks ids of sessions and runs for lone surrogates: ids are used in file names and URLs. JSON
 * Schema cannot express this, and stores count the length in UTF-16 code units.
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

/** Checks that a message says something or has attachments. */
function empty(method: MethodName, { message, attachments }: Json): Issue[] {
  if (!("message" in methods[method].refersTo) || message !== "") return [];
  const wanted = "expected at least 1 character, or attachments";
  return attachments === undefined ? [{ path: "message", message: wanted }] : [];
}

function isSessionId(text: string): boolean {
  try {
    checkSessionId(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the issues of a value. Does not coerce values, as it would for a model. */
export function issuesOf(schema: Json, value: unknown): readonly Issue[] {
  const checked = checkJson(schema, value);
  if (checked.issues !== undefined)
    return checked.issues.map(({ path, message }) => ({ path: path.slice(0, MAX_PATH), message }));
  return checked.value === value ? [] : [firstChange(value, checked.value, "")];
}

export const authShape =
  'The first frame must be {"type":"auth","token":"…"}. Optional: "events" ("all" or a list of names) and "client" (a string).';

/** Returns undefined if the frame is not a valid auth frame. */
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

/** Finds the first value that the check had to coerce, and its path. */
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
