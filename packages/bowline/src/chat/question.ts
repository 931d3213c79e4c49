/** A question that the live area shows above the draft. */
import type { Colours } from "../screen/colours.ts";
import type { Input } from "../screen/input.ts";

export interface Question {
  /** With "pass", the key belongs to the draft, after `typed`. */
  input(
    input: Input,
    now: number,
    hasDraft: boolean,
  ): { readonly type: "used" } | { readonly type: "pass"; readonly typed: string };
  /** `isTight`: there is no room for the names of the keys. */
  draw(
    columns: number,
    hasDraft: boolean,
    now: number,
    colours: Colours,
    isTight: boolean,
  ): string[];
}
