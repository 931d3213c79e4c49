/** The protocol's schemas as tables for docs/gateway.md. */
import type { JsonSchema } from "@bowline/core";
import type { MethodSchema, Reference } from "../../src/gateway/protocol/define-method.ts";
import { events, methods } from "../../src/gateway/protocol/schema.ts";

export function methodTable(): string {
  const rows = Object.entries(methods).map(
    ([name, { summary, access, refersTo, params, result }]) =>
      row(`\`${name}\``, access, heldOf(refersTo), fieldsOf(params), fieldsOf(result), summary),
  );
  return [
    row("Method", "Access", "Has to be the caller's", "Params", "Result", "What it does"),
    row("---", "---", "---", "---", "---", "---"),
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

/** The params that are checked for a user with a session prefix. */
function heldOf(refersTo: MethodSchema["refersTo"]): string {
  const free: ReadonlySet<Reference> = new Set(["entry", "agent", "text"]);
  const names = Object.entries(refersTo).flatMap(([name, reference]) =>
    free.has(reference) ? [] : [`\`${name}\``],
  );
  return names.join(", ");
}

/** Returns `name`, or `name?` for an optional field. */
function fieldsOf({ properties, required }: JsonSchema): string {
  const needed = new Set(required as readonly string[]);
  const names = Object.keys(properties as object).map(
    (name) => `\`${name}${needed.has(name) ? "" : "?"}\``,
  );
  return names.join(", ") || "none";
}
