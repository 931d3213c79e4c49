/** Arithmetic on numbers, by precedence; no eval. */
import { Setback } from "./step.ts";

/** Rank (a higher one binds tighter) and function. The remainder has the sign of the dividend, as in C and JavaScript. */
const OPERATORS: Readonly<Record<string, readonly [number, (a: number, b: number) => number]>> = {
  "+": [1, (a, b) => a + b],
  "-": [1, (a, b) => a - b],
  "*": [2, (a, b) => a * b],
  "/": [2, (a, b) => a / b],
  "%": [2, (a, b) => a % b],
  "^": [4, (a, b) => a ** b],
};
/** Between products and powers: -2^2 is -4. */
const SIGN = 3;

/** The value of an expression in + - * / % ^ and parentheses, rounded to twelve significant digits. */
export function calculate(expression: string): string {
  const tokens = expression.match(/\d+\.?\d*|\.\d+|\S/g) ?? [];
  if (tokens.length > 400) throw new Setback("This calculation is too long for me.");
  let position = 0;

  const operand = (): number => {
    const token = tokens[position++] ?? "its end";
    if (token === "-") return -valueOf(SIGN);
    if (token === "(") {
      const inner = valueOf(0);
      if (tokens[position++] !== ")") throw new Setback("A parenthesis in the calculation is not closed.");
      return inner;
    }
    if (!/\d/.test(token)) throw new Setback(`The calculation has ${token} where a number should be.`);
    return Number(token);
  };
  const valueOf = (lowest: number): number => {
    for (let left = operand(); ;) {
      const [rank, apply] = OPERATORS[tokens[position] ?? ""] ?? [-1];
      if (apply === undefined || rank < lowest) return left;
      position++;
      // Powers group from the right and take a signed exponent: 2^3^2 is 2^9, 2^-1 is 0.5.
      left = apply(left, valueOf(rank > SIGN ? SIGN : rank + 1));
    }
  };

  const value = valueOf(0);
  if (position < tokens.length) throw new Setback(`I did not expect ${tokens[position]} in the calculation.`);
  if (!Number.isFinite(value)) throw new Setback("That divides by zero or gets too large: it has no result for me.");
  return String(Number(value.toPrecision(12)));
}
