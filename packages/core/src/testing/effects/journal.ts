/**
 * The record of a run: the calls of the loop in their order, and what they resolved with, in the
 * order of delivery. A medium in memory; everything in it is JSON.
 */
import { isJson } from "../../json-value.ts";

/** A settled call: its JSON value, or that a wait has timed out. */
export type Outcome = { readonly value?: string } | { readonly isTimeout: true };

export type Delivery =
  | { readonly call: number; readonly outcome: Outcome; readonly at: number }
  | { readonly abort: true; readonly at: number };

export class Journal {
  /** The names of calls. */
  readonly calls: string[] = [];
  readonly deliveries: Delivery[] = [];

  /** Records a call, or checks that it is the one recorded here. */
  begin(index: number, name: string): void {
    const known = this.calls[index];
    if (known === undefined) this.calls.push(name);
    else if (known !== name)
      throw new Error(`The record has "${known}" as call ${index}, and the loop made "${name}".`);
  }
}

/** Returns the value as JSON. Throws for a value that JSON does not represent completely. */
export function toRecord(name: string, value: unknown): Outcome {
  if (value === undefined) return {};
  if (!isJson(value)) throw new Error(`The result of "${name}" is not JSON.`);
  return { value: JSON.stringify(value) };
}

export function fromRecord({ value }: { readonly value?: string }): unknown {
  return value === undefined ? undefined : JSON.parse(value);
}
