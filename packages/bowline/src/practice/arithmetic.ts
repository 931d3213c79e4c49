/** Exact arithmetic on fractions of whole numbers: 0.1 + 0.2 is 0.3, and large integers keep every digit. */
import { Setback } from "./step.ts";

/** Lowest terms; the lower number is above zero. */
type Fraction = readonly [top: bigint, bottom: bigint];

/** Rank (a higher one binds tighter) and function. The remainder has the sign of the dividend, as in C and JavaScript. */
const OPERATORS: Readonly<Record<string, readonly [number, (a: Fraction, b: Fraction) => Fraction]>> = {
  "+": [1, ([a, b], [c, d]) => toFraction(a * d + c * b, b * d)],
  "-": [1, ([a, b], [c, d]) => toFraction(a * d - c * b, b * d)],
  "*": [2, ([a, b], [c, d]) => toFraction(a * c, b * d)],
  "/": [2, ([a, b], [c, d]) => toFraction(a * d, b * toDivisor(c))],
  "%": [2, ([a, b], [c, d]) => toFraction((a * d) % (toDivisor(c) * b), b * d)],
  "^": [4, raise],
};
/** Between products and powers: -2^2 is -4. */
const SIGN = 3;
const MAX_BITS = 8000;

/** The value of an expression in + - * / % ^ and parentheses. `isExact` is false if `text` is rounded. */
export function calculate(expression: string): { readonly text: string; readonly isExact: boolean } {
  const tokens = expression.match(/\d+\.?\d*|\.\d+|\S/g) ?? [];
  if (tokens.length > 400) throw new Setback("This calculation is too long for me.");
  let position = 0;

  const operand = (): Fraction => {
    const token = tokens[position++] ?? "its end";
    if (token === "+") return valueOf(SIGN);
    if (token === "-") {
      const [top, bottom] = valueOf(SIGN);
      return [-top, bottom];
    }
    if (token === "(") {
      const inner = valueOf(0);
      if (tokens[position++] !== ")") throw new Setback("A parenthesis in the calculation is not closed.");
      return inner;
    }
    if (!/\d/.test(token)) throw new Setback(`The calculation has ${token} where a number should be.`);
    const [whole = "", decimals = ""] = token.split(".");
    return toFraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  };
  const valueOf = (lowest: number): Fraction => {
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
  return toDecimal(value);
}

function toFraction(top: bigint, bottom: bigint): Fraction {
  let [divisor, rest] = [top, bottom];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  if (divisor < 0n !== bottom < 0n) divisor = -divisor;
  return toBounded([top / divisor, bottom / divisor], 1n);
}

function raise([top, bottom]: Fraction, [exponent, root]: Fraction): Fraction {
  if (root !== 1n) throw new Setback("I can only raise to whole powers.");
  const times = exponent < 0n ? -exponent : exponent;
  toBounded([top, bottom], times);
  return exponent < 0n ? toFraction(bottom ** times, toDivisor(top) ** times) : [top ** times, bottom ** times];
}

/** Refuses what would have too many digits if it were raised. */
function toBounded(value: Fraction, times: bigint): Fraction {
  const bits = value.map((part) => part.toString(2).replace("-", "").length - 1);
  if (BigInt(Math.max(...bits)) * times > MAX_BITS) throw new Setback("These numbers get too large for me.");
  return value;
}

function toDivisor(value: bigint): bigint {
  if (value === 0n) throw new Setback("That divides by zero, which has no result.");
  return value;
}

function toDecimal([top, bottom]: Fraction): { text: string; isExact: boolean } {
  let places = 0;
  while (places < 30 && 10n ** BigInt(places) % bottom !== 0n) places++;
  const isExact = 10n ** BigInt(places) % bottom === 0n;
  if (!isExact) places = 12;
  const size = (top < 0n ? -top : top) * 10n ** BigInt(places);
  const digits = ((2n * size + bottom) / (2n * bottom)).toString().padStart(places + 1, "0");
  const decimals = digits.slice(digits.length - places).replace(/0+$/, "");
  const text = digits.slice(0, digits.length - places) + (decimals && `.${decimals}`);
  return { text: top < 0n && text !== "0" ? `-${text}` : text, isExact };
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/(\d)\s*(?:%|percent) of\b/gi, "$1/100 *"],
  [/\b(?:multiplied by|times)\b|×|(?<=\d\s?)x(?=\s?\d)/gi, "*"],
  [/\bdivided by\b|÷/gi, "/"],
  [/\bto the power of\b|\*\*/gi, "^"],
  [/\bplus\b/gi, "+"],
  [/\bminus\b|[−–]/gi, "-"],
  [/\b(?:the )?(?:result|answer|number)\b|\bthat\b/gi, "it"],
  [/(?<=\d),(?=\d{3}(?!\d))|\s*=$/g, ""],
];

/** "2 plus 3 times that" → 2 + 3 * it. Undefined if the text is no calculation. */
export function toExpression(text: string): string | undefined {
  const expression = WORDS.reduce((before, [pattern, symbol]) => before.replaceAll(pattern, symbol), text).trim();
  const isOne = /^(?:it\b|[-+*/%^().\d\s])+$/i.test(expression) && /\d|it/i.test(expression);
  return isOne && /[-+*/%^]/.test(expression) ? expression : undefined;
}
