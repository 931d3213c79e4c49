/**
 * Prepares a server's tools for the client library, which refuses a whole list for one bad tool:
 * keeps the fields that are used, supplies a missing `type`, and takes out what is not a tool.
 */

/** A tool that is not offered, and why. */
export interface McpToolProblem {
  /** The server's name of the tool, or `#3` for the third of a page that has none. */
  readonly tool: string;
  readonly reason: string;
}

const MAX_NAME = 200;
const MAX_SCHEMA = 100_000;
const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/** Changes a list of tools in place, if `message` is one. Reports each tool that it takes out. */
export function mendTools(message: unknown, report: (problem: McpToolProblem) => void): void {
  const result = isRecord(message) ? message.result : undefined;
  if (!isRecord(result) || !Array.isArray(result.tools)) return;
  result.tools = result.tools.flatMap((tool: unknown, at) => {
    const { name } = isRecord(tool) ? tool : {};
    const reason = problemOf(tool);
    if (reason === undefined) return [mended(tool as Record<string, unknown>)];
    report({ tool: typeof name === "string" ? name.slice(0, MAX_NAME) : `#${at + 1}`, reason });
    return [];
  });
}

function problemOf(tool: unknown): string | undefined {
  if (!isRecord(tool)) return "it is not an object";
  const { name, inputSchema } = tool;
  if (typeof name !== "string" || name === "") return "it has no name";
  if (name.length > MAX_NAME) return `its name is longer than ${MAX_NAME} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return "its name has control characters";
  if (!isRecord(inputSchema)) return "its inputSchema is not an object";
  const fault = faultOf({ type: "object", ...inputSchema });
  if (fault !== undefined) return `its inputSchema ${fault}`;
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA)
    return `its inputSchema is longer than ${MAX_SCHEMA} characters`;
  return undefined;
}

/** What the client library would refuse in a schema. */
function faultOf({
  type,
  properties,
  required,
  $schema,
}: Record<string, unknown>): string | undefined {
  if (type !== "object") return "does not describe an object";
  if (properties !== undefined && !isRecord(properties)) return "has properties that are no object";
  if (
    !Array.isArray(required ?? []) ||
    !((required as unknown[]) ?? []).every((name) => typeof name === "string")
  )
    return "has a required that is not a list of names";
  if ($schema !== undefined && typeof $schema !== "string")
    return "has a $schema that is not a text";
  return undefined;
}

function mended(tool: Record<string, unknown>): Record<string, unknown> {
  const { name, inputSchema, outputSchema } = tool;
  const annotations = isRecord(tool.annotations) ? tool.annotations : {};
  return {
    name,
    ...textField("title", tool.title),
    ...textField("description", tool.description),
    inputSchema: { ...(inputSchema as Record<string, unknown>), type: "object" },
    ...(isRecord(outputSchema) && faultOf(outputSchema) === undefined && { outputSchema }),
    annotations: {
      ...textField("title", annotations.title),
      ...Object.fromEntries(
        Object.entries(annotations).filter(
          ([hint, value]) => hints.includes(hint) && typeof value === "boolean",
        ),
      ),
    },
  };
}

function textField(field: string, value: unknown): Record<string, string> {
  return typeof value === "string" ? { [field]: value } : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
