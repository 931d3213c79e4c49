/**
 * What goes back with a call to the model that made it: its signature, and whether the
 * server had given it an id, since only such an id is sent back. Both ride in the part's one
 * opaque field, which no other model is shown.
 */
// Q205, Q200
import { asRecord, parseJson } from "../../json-value.ts";

export interface CallOrigin {
  readonly signature?: string;
  readonly hasId: boolean;
}

/**
 * The signature as it came or, of a call with the server's id, JSON; a signature is base64 and
 * cannot be taken for that.
 */
export function packOrigin(signature: string, hasId: boolean): string | undefined {
  const own = signature === "" ? undefined : signature;
  return hasId ? JSON.stringify({ hasId, signature: own }) : own;
}

export function unpackOrigin(packed: string | undefined): CallOrigin {
  if (packed === undefined || packed === "") return { hasId: false };
  if (!packed.startsWith("{")) return { signature: packed, hasId: false };
  const { hasId, signature } = asRecord(parseJson(packed)); // neither, of somebody else's
  return { hasId: hasId === true, ...(typeof signature === "string" && { signature }) };
}
