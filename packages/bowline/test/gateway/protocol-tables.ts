/** The protocol's schemas as tables for docs/gateway.md. */
import type { JsonSchema } from "@bowline/core";
import { events, methods } from "../../src/gateway/protocol/schema.ts";

export function methodTable(): string {
  const rows = Object.entries(methods).map(([name, { summary, readOnly, params, result }]) =>
    row(`\`${name}\``, fieldsOf(params), fieldsOf(result), `${summary}${readOnly ? "" : " ✎"}`),
  );
  return [
    row("Method", "Params", "Result", "What it does"),
    row("---", "---", "---", "---"),
    ...rows,
  ].join("\n");
}

export function eventTable(): string {
  const rows = Object.entries(events).map(([name, { summary, data }]) =>
    row(`\`${name}\``, fieldsOf(data), summary),
  );
  return [row("Event", "Data", "When"), row("---", "---", "---"), ...rows].join("\n");
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** `name`, `name?` where it may be absent. */
function fieldsOf({ properties, required }: JsonSchema): string {
  const needed = new Set(required as readonly string[]);
  const names = Object.keys(properties as object).map(
    (name) => `\`${name}${needed.has(name) ? "" : "?"}\``,
  );
  return names.join(", ") || "none";
}
