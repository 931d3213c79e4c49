/**
 * Packs what is sent back with a call to its model: its signature, and whether the server assigned
 * its id, since only such ids are sent back. Both share the part's one opaque field, which no other
 * model receives.
 */
// Q205, Q200
import { asRecord, parseJson } from "../../json-value.ts";

export interface CallOrigin {
  readonly signature?: string;
  readonly hasId: boolean;
}

/**
 * Returns the plain signature or, for a call with the server's id, JSON. A signature is base64, so
 * the two cannot be confused.
 */
export function packOrigin(signature: string, hasId: boolean): string | undefined {
  const own = signature === "" ? undefined : signature;
  return hasId ? JSON.stringify({ hasId, signature: own }) : own;
}

export function unpackOrigin(packed: string | undefined): CallOrigin {
  if (packed === undefined || packed === "") return { hasId: false };
  if (!packed.startsWith("{")) return { signature: packed, hasId: false };
  // Both are absent if another wire wrote it.
  const { hasId, signature } = asRecord(parseJson(packed));
  return { hasId: hasId === true, ...(typeof signature === "string" && { signature }) };
}
