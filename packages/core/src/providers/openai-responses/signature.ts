/**
 * Stores item fields that must be sent back unchanged as JSON in the part's signature: ids,
 * encrypted reasoning, phases, citations.
 */
import { asRecord, parseJson } from "../../json-value.ts";

type Json = Record<string, unknown>;

/** Returns the non-empty fields as JSON, or undefined if there are none. */
export function toSignature(fields: Json): string | undefined {
  const kept = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept));
}

/** Returns the fields of a signature, or an empty object if another wire wrote it. */
export function fromSignature(signature: string | undefined): Json {
  return asRecord(parseJson(signature));
}

/**
 * Returns an id if the server would recognise it. A proxy's id may be a long blob that changes with
 * each event.
 */
// Q187, Q193
export function itemId(id: unknown, prefix: "fc_" | "msg_" | "rs_"): string | undefined {
  const isUsable =
    typeof id === "string" && id.startsWith(prefix) && /^[A-Za-z0-9_-]{1,64}$/.test(id);
  return isUsable ? id : undefined;
}
