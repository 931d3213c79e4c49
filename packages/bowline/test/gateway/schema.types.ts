/**
 * Checks that a method without its declaration does not compile. Only the compiler reads this file.
 */
import { defineMethod } from "../../src/gateway/protocol/define-method.ts";
import type { MethodName } from "../../src/gateway/protocol/protocol.ts";
import { methods, type MethodSchema } from "bowline/gateway";

const { params, result } = methods["chat.abort"];
const schemas = { params, result };

export const whole = defineMethod<"chat.abort">("Ends a run", {
  ...schemas,
  access: "write",
  refersTo: { sessionKey: "session", runId: "run" },
});

// @ts-expect-error Who may call it is not told.
defineMethod<"chat.abort">("Ends a run", {
  ...schemas,
  refersTo: { sessionKey: "session", runId: "run" },
});

// @ts-expect-error What its texts refer to is not told.
defineMethod<"chat.abort">("Ends a run", { ...schemas, access: "write" });

defineMethod<"chat.abort">("Ends a run", {
  ...schemas,
  access: "write",
  // @ts-expect-error One of them is not.
  refersTo: { sessionKey: "session" },
});

defineMethod<"chat.abort">("Ends a run", {
  ...schemas,
  access: "write",
  // @ts-expect-error There is no such param.
  refersTo: { sessionKey: "session", runId: "run", otherKey: "session" },
});

defineMethod<"chat.abort">("Ends a run", {
  ...schemas,
  access: "write",
  // @ts-expect-error Nothing is known of such a reference.
  refersTo: { sessionKey: "session", runId: "job" },
});

// @ts-expect-error A method that has no schema.
export const missing: Readonly<Record<MethodName, MethodSchema>> = { "chat.abort": whole };
