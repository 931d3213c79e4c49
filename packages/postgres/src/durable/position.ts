/** Where the next page of a list begins. */
import { invalid } from "../options.ts";

/** Returns the position after a row, from the columns that order the list. */
export function positionOf(...columns: readonly unknown[]): string {
  return columns.map(String).join(" ");
}

/**
 * Returns the columns of a position: a time and then whole numbers. Undefined: before all rows. Throws
 * `invalid_argument` for another text.
 */
export function readPosition(position: string | undefined, count: number): readonly string[] {
  if (position === undefined) return ["-Infinity", ...Array.from({ length: count - 1 }, () => "0")];
  const columns = position.split(" ");
  const [at = "", ...numbers] = columns;
  const isValid =
    columns.length === count &&
    at !== "" &&
    !Number.isNaN(Number(at)) &&
    numbers.every((column) => /^\d+$/.test(column));
  if (!isValid) throw invalid("The position is invalid. Pass that of the last message.");
  return columns;
}
