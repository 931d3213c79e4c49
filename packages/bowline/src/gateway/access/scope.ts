/** What a caller who may only read is refused: sending, approving, and whatever else changes something. */
import type { Scope } from "../protocol/frame.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { MethodName } from "../protocol/protocol.ts";
import { methods } from "../protocol/schema.ts";

/** Throws `forbidden`. */
export function assertScope(scope: Scope, method: MethodName): void {
  if (scope === "read" && !methods[method].readOnly)
    throw new GatewayError("forbidden", `The token is for reading only: ${method} is not.`);
}
