/** The output list at the end of an answer, matched with the items that arrived before. */
// Q184
import { asRecord, asText, list } from "../../json-value.ts";

type Json = Record<string, unknown>;

export class OutputList {
  readonly #all: readonly Json[];
  readonly #rest: Set<Json>;
  /** By call id and item id. */
  readonly #byId = new Map<string, Json>();

  constructor(output: unknown) {
    this.#all = list(output).map(asRecord);
    this.#rest = new Set(this.#all);
    for (const raw of this.#all)
      for (const key of keysOf(raw)) if (!this.#byId.has(key)) this.#byId.set(key, raw);
  }

  get all(): readonly Json[] {
    return this.#all;
  }

  /** The entries that no item matched. */
  get rest(): ReadonlySet<Json> {
    return this.#rest;
  }

  /**
   * Returns the entry that matches an item by its ids, or else by its position. Returns each entry
   * once.
   */
  take(raw: Json, position: unknown): Json | undefined {
    const samePlace = typeof position === "number" ? this.#all[position] : undefined;
    const found = [...keysOf(raw).map((key) => this.#byId.get(key)), samePlace].find(
      (entry) => entry !== undefined && this.#rest.has(entry) && entry.type === raw.type,
    );
    if (found !== undefined) this.#rest.delete(found);
    return found;
  }
}

function keysOf({ call_id, id }: Json): string[] {
  return [asText(call_id) && `call ${asText(call_id)}`, asText(id) && `item ${asText(id)}`].filter(
    (key) => key !== "",
  );
}
