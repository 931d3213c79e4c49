/**
 * What of an item must go back as it came, as JSON in its part's signature: ids, encrypted
 * reasoning, phases, citations.
 */
import { asRecord, parseJson } from "../../json-value.ts";

type Json = Record<string, unknown>;

/** The fields that have a value; undefined when none has. */
export function toSignature(fields: Json): string | undefined {
  const kept = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept));
}

/** The fields of a signature; none of one that somebody else wrote. */
export function fromSignature(signature: string | undefined): Json {
  return asRecord(parseJson(signature));
}

/**
 * An id that the server would know again: a proxy's may be a long blob, and another in each event.
 */
// Q187, Q193
export function itemId(id: unknown, prefix: "fc_" | "msg_" | "rs_"): string | undefined {
  const isUsable =
    typeof id === "string" && id.startsWith(prefix) && /^[A-Za-z0-9_-]{1,64}$/.test(id);
  return isUsable ? id : undefined;
}
