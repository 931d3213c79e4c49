/** How often a vendor's own tools were used, as its usage reports it. */
import { asCount, asRecord } from "../json-value.ts";

/**
 * Reads counts such as `{ web_search_requests: 2 }`, `{ web_search_calls: 2 }` or `{ web_search: {
 * num_requests: 2 } }` as `{ web_search: 2 }`. Returns undefined if no tool was used.
 */
export function toolUses(wire: unknown): Record<string, number> | undefined {
  const uses: Record<string, number> = {};
  for (const [name, value] of Object.entries(asRecord(wire))) {
    const count = asCount(value) ?? asCount(asRecord(value).num_requests);
    if (count) uses[name.replace(/_(?:requests|calls)$/, "")] = count;
  }
  return Object.keys(uses).length > 0 ? uses : undefined;
}
