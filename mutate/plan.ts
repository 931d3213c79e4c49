/**
 * Chooses the mutants of a stream to try: single mutations and pairs, with all kinds equally often.
 */
import type { Wire } from "./acceptors/accept.ts";
import { applyMutation, dataOf, formatMutation, type Mutation } from "./mutation.ts";
import { Random } from "./random.ts";
import { endsOf, placesOf, targets } from "./targets.ts";

export interface Mutant {
  /** The text form of the mutations, in the order in which they are applied. */
  readonly how: string;
  readonly mutations: readonly Mutation[];
  readonly events: readonly Uint8Array[];
}

/** How many failed attempts in a row end the plan. */
const MAX_MISSES = 400;

/** Yields up to `count` mutants, all different from each other and from the stream itself. */
export function* planMutants(
  wire: Wire,
  events: readonly Uint8Array[],
  count: number,
  seed: string,
): Generator<Mutant> {
  const planner = new Planner(wire, new Random(seed));
  const seen = new Set([keyOf(events)]);
  for (let made = 0, misses = 0; made < count && misses < MAX_MISSES; misses++) {
    const first = planner.mutate(events);
    if (first === undefined) continue;
    const mutations = [first];
    let mutated = applyMutation(wire, events, first);
    // A mutation after a cut would have no effect.
    const isSingle = made % 2 === 0 || first.kind === "cut";
    const second = isSingle ? undefined : planner.mutate(mutated);
    if (second !== undefined) {
      mutations.push(second);
      mutated = applyMutation(wire, mutated, second);
    }
    const key = keyOf(mutated);
    if (seen.has(key)) continue;
    seen.add(key);
    made++;
    misses = 0;
    yield { how: mutations.map(formatMutation).join(","), mutations, events: mutated };
  }
}

function keyOf(events: readonly Uint8Array[]): string {
  return Buffer.concat(events).toString("latin1");
}

class Planner {
  readonly #wire: Wire;
  readonly #random: Random;
  /** Cached facts about events, by their bytes: the streams of one plan share most events. */
  readonly #facts = new Map<Uint8Array, Facts>();
  /** The values of indices and ids in the whole stream, by path. */
  readonly #values = new Map<string, Set<string>>();

  constructor(wire: Wire, random: Random) {
    this.#wire = wire;
    this.#random = random;
  }

  /** Returns one mutation, or undefined if the chosen kind does not apply here. */
  mutate(events: readonly Uint8Array[]): Mutation | undefined {
    if (events.length === 0) return undefined;
    const random = this.#random;
    const at = this.#choose(events);
    switch (random.below(12)) {
      case 0:
      case 1:
        return { kind: "lose", at };
      case 2:
        return { kind: "double", at, to: at };
      case 3:
        return { kind: "double", at, to: random.below(events.length + 1) };
      case 4:
        return at + 1 < events.length ? { kind: "swap", at, to: at + 1 } : undefined;
      case 5:
        return { kind: "swap", at, to: this.#choose(events) };
      case 6:
      case 7:
        return this.#move(events);
      case 8:
        return { kind: "cut", at, bytes: 0 };
      case 9:
        return { kind: "cut", at, bytes: random.below(events[at]?.length ?? 1) };
      case 10: {
        const kinds = ["error-object", "error-json", "error-text"] as const;
        return { kind: kinds[random.below(3)] ?? "error-object", at };
      }
      default:
        return this.#end(events);
    }
  }

  /**
   * Chooses an event. Consecutive events of one shape count as one, since an answer is mostly
   * deltas.
   */
  #choose(events: readonly Uint8Array[]): number {
    const rows: number[][] = [];
    let shape: string | undefined;
    for (const [n, event] of events.entries()) {
      const own = this.#factsOf(event).shape;
      if (own === shape) rows.at(-1)?.push(n);
      else rows.push([n]);
      shape = own;
    }
    return this.#random.pick(this.#random.pick(rows) ?? []) ?? 0;
  }

  #move(events: readonly Uint8Array[]): Mutation | undefined {
    for (const event of events) this.#factsOf(event);
    const at = this.#random.pick(
      events.flatMap((event, n) => (this.#factsOf(event).places.length > 0 ? [n] : [])),
    );
    if (at === undefined) return undefined;
    const event = events[at];
    const place = event && this.#random.pick(this.#factsOf(event).places);
    if (place === undefined) return undefined;
    const others = [...(this.#values.get(place.name) ?? [])].filter((one) => one !== place.value);
    const made = place.value.startsWith('"')
      ? [`${place.value.slice(0, -1)}x"`]
      : [String(Number(place.value) + 1), "0", "1"].filter((one) => one !== place.value);
    const value = this.#random.pick([...others.slice(0, 4), ...made]);
    return value === undefined ? undefined : { kind: "move", at, path: place.path, value };
  }

  #end(events: readonly Uint8Array[]): Mutation | undefined {
    const at = this.#random.pick(
      events.flatMap((event, n) => (this.#factsOf(event).ends.length > 0 ? [n] : [])),
    );
    const event = at === undefined ? undefined : events[at];
    const path = event && this.#random.pick(this.#factsOf(event).ends);
    const word = this.#random.pick(targets[this.#wire].unknownEnds);
    if (at === undefined || path === undefined || word === undefined) return undefined;
    if (path === "") return { kind: "end", at, path, value: "[END]" };
    const value = JSON.stringify(word);
    return { kind: this.#random.below(2) === 0 ? "end" : "end-after", at, path, value };
  }

  #factsOf(event: Uint8Array): Facts {
    let facts = this.#facts.get(event);
    if (facts === undefined) {
      const data = dataOf(event);
      const places = placesOf(this.#wire, data).map(({ path, node }) => {
        const value = data.slice(node.start, node.end);
        return { path, value, name: path.replaceAll(/\b\d+\b/g, "*") };
      });
      const ends = data === "[DONE]" ? [""] : endsOf(this.#wire, data).map(({ path }) => path);
      facts = { shape: shapeOf(data), places, ends };
      this.#facts.set(event, facts);
      for (const { name, value } of places)
        this.#values.set(name, (this.#values.get(name) ?? new Set()).add(value));
    }
    return facts;
  }
}

interface Facts {
  readonly shape: string;
  readonly places: readonly { path: string; value: string; name: string }[];
  /** Paths of finish reasons; "" stands for the whole data. */
  readonly ends: readonly string[];
}

/** Removes what differs between deltas: numbers, and strings that are not types. */
function shapeOf(data: string): string {
  return data.replaceAll(
    /("type":"[^"]*")|"(?:[^"\\]|\\.)*"(?!\s*:)|[\d.]+/g,
    (_, type) => type ?? "",
  );
}
