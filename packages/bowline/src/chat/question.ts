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
  /** Returns at most `maxRows`, from 2 on; the choice with the focus is always among them. */
  draw(
    columns: number,
    hasDraft: boolean,
    now: number,
    colours: Colours,
    maxRows: number,
  ): string[];
}
