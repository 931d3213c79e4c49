/** Requests as they must be: frames by hand, params by their schema. */
import { checkJson } from "@bowline/core";
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
  if (id === null) throw new GatewayError("bad_request", "A request has an id: a text (up to 200) or a number.");
  if (typeof method !== "string") throw new GatewayError("bad_request", "A request names its method.");
  if (!isMethod(method)) {
    throw new GatewayError("unknown_method", `There is no method ${JSON.stringify(method.slice(0, 100))}.`);
  }
  const issues = issuesOf(methods[method].params, params);
  if (issues.length > 0) {
    const [first] = issues;
    const message = `The params of ${method} do not fit: ${first?.path === "" ? "they" : first?.path} ${first?.message}.`;
    throw new GatewayError("bad_params", message, { issues });
  }
  return { id, method, params };
}

/** What is wrong with a value; nothing is mended, as it would be for a model. */
export function issuesOf(schema: Json, value: unknown): readonly Issue[] {
  const checked = checkJson(schema, value);
  if (checked.issues !== undefined)
    return checked.issues.map(({ path, message }) => ({ path: path.slice(0, MAX_PATH), message }));
  return checked.value === value ? [] : [{ path: firstChange(value, checked.value), message: "has another type" }];
}

/** Undefined for what is no auth frame. */
export function toAuthFrame(frame: unknown): AuthFrame | undefined {
  const { type, token, events, client } = asJson(frame);
  if (type !== "auth" || typeof token !== "string" || token.length > MAX_TOKEN_LENGTH) return undefined;
  const isList = Array.isArray(events) && events.length <= 100 && events.every((name) => typeof name === "string");
  if (events !== undefined && events !== "all" && !isList) return undefined;
  if (client !== undefined && (typeof client !== "string" || client.length > MAX_ID_LENGTH)) return undefined;
  return frame as AuthFrame;
}

function isMethod(name: string): name is MethodName {
  return Object.hasOwn(methods, name);
}

function asJson(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function firstChange(before: unknown, after: unknown): string {
  const [old, made] = [asJson(before), asJson(after)];
  return Object.keys(old).find((name) => old[name] !== made[name]) ?? "";
}
