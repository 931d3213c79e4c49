/** Evaluates arithmetic by precedence, without `eval`. */
import { Setback } from "./step.ts";
import type { Answer } from "./step.ts";

/**
 * Precedence (higher binds tighter) and function. The remainder has the sign of the dividend, as in
 * C and JavaScript.
 */
const OPERATORS: Readonly<Record<string, readonly [number, (a: number, b: number) => number]>> = {
  "+": [1, (a, b) => a + b],
  "-": [1, (a, b) => a - b],
  "*": [2, (a, b) => a * b],
  "/": [2, (a, b) => a / b],
  "%": [2, (a, b) => a % b],
};

/** Evaluates an expression of + - * / % and parentheses. Rounds to twelve significant digits. */
export function calculate(expression: string): Answer {
  const tokens = expression.match(/\d+\.?\d*|\.\d+|\S/g) ?? [];
  let position = 0;

  const operand = (): number => {
    const token = tokens[position++] ?? "its end";
    if (token === "-") return -operand();
    if (token === "(") {
      const inner = valueOf(0);
      if (tokens[position++] !== ")")
        throw new Setback("A parenthesis in the calculation is not closed.");
      return inner;
    }
    if (!/\d/.test(token))
      throw new Setback(`The calculation has ${token} where a number should be.`);
    return Number(token);
  };
  const valueOf = (lowest: number): number => {
    for (let left = operand(); ;) {
      const [rank, apply] = OPERATORS[tokens[position] ?? ""] ?? [-1];
      if (apply === undefined || rank < lowest) return left;
      position++;
      left = apply(left, valueOf(rank + 1));
    }
  };

  const result = valueOf(0);
  if (position < tokens.length)
    throw new Setback(`I did not expect ${tokens[position]} in the calculation.`);
  if (!Number.isFinite(result))
    throw new Setback("That divides by zero or gets too large: it has no result for me.");
  const value = String(Number(result.toPrecision(12)));
  return { text: `${expression} = ${value}`, value };
}
