/** Exact arithmetic on decimal fractions: 0.1 + 0.2 is 0.3, and large integers keep every digit. */
import { Setback } from "./step.ts";

interface Fraction {
  readonly top: bigint;
  /** Above zero, and without a divisor in common with `top`. */
  readonly bottom: bigint;
}

type Operator = readonly [rank: number, apply: (a: Fraction, b: Fraction) => Fraction];

const OPERATORS: Readonly<Record<string, Operator>> = {
  "+": [1, (a, b) => toFraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom)],
  "-": [1, (a, b) => toFraction(a.top * b.bottom - b.top * a.bottom, a.bottom * b.bottom)],
  "*": [2, (a, b) => toFraction(a.top * b.top, a.bottom * b.bottom)],
  "/": [2, (a, b) => toFraction(a.top * b.bottom, a.bottom * b.top)],
  // As in JavaScript and C, the remainder has the sign of the dividend.
  "%": [2, (a, b) => toFraction((a.top * b.bottom) % toDivisor(b.top * a.bottom), a.bottom * b.bottom)],
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
    const token = tokens[position++] ?? "";
    if (token === "+") return expressionOf(SIGN);
    if (token === "-") return negate(expressionOf(SIGN));
    if (token === "(") {
      const inner = expressionOf(0);
      if (tokens[position++] !== ")") throw new Setback("A parenthesis in the calculation is not closed.");
      return inner;
    }
    if (!/\d/.test(token)) throw new Setback(`The calculation has ${token || "its end"} where a number should be.`);
    const [whole = "", decimals = ""] = token.split(".");
    return toFraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  };
  const expressionOf = (lowest: number): Fraction => {
    let left = operand();
    for (;;) {
      const [rank, apply] = OPERATORS[tokens[position] ?? ""] ?? [-1];
      if (apply === undefined || rank < lowest) return left;
      position++;
      // Powers group from the right and take a signed exponent: 2^3^2 is 2^9, 2^-1 is 0.5.
      left = apply(left, expressionOf(rank > SIGN ? SIGN : rank + 1));
    }
  };

  const value = expressionOf(0);
  if (position < tokens.length) throw new Setback(`I did not expect ${tokens[position]} in the calculation.`);
  return toDecimal(value);
}

function toFraction(top: bigint, bottom: bigint): Fraction {
  let [divisor, rest] = [top, toDivisor(bottom)];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  if (divisor < 0n !== bottom < 0n) divisor = -divisor;
  return toBounded({ top: top / divisor, bottom: bottom / divisor }, 1n);
}

function negate({ top, bottom }: Fraction): Fraction {
  return { top: -top, bottom };
}

function raise(base: Fraction, { top, bottom }: Fraction): Fraction {
  if (bottom !== 1n) throw new Setback("I can only raise to whole powers.");
  const times = top < 0n ? -top : top;
  toBounded(base, times);
  const [a, b] = [base.top ** times, base.bottom ** times];
  return top < 0n ? toFraction(b, a) : toFraction(a, b);
}

/** Refuses what would have too many digits once raised. */
function toBounded(value: Fraction, times: bigint): Fraction {
  const bits = value.top.toString(2).replace("-", "").length + value.bottom.toString(2).length - 2;
  if (BigInt(bits) * times > MAX_BITS) throw new Setback("The numbers in this calculation get too large for me.");
  return value;
}

function toDivisor(value: bigint): bigint {
  if (value === 0n) throw new Setback("That divides by zero, which has no result.");
  return value;
}

function toDecimal({ top, bottom }: Fraction): { text: string; isExact: boolean } {
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
  [/(\d)\s*(?:%|percent) of\b/gi, "$1/100*"],
  [/\b(?:multiplied by|times)\b|×|(?<=\d\s?)x(?=\s?\d)/gi, "*"],
  [/\b(?:divided by|over)\b|÷/gi, "/"],
  [/\bto the power of\b|\*\*/gi, "^"],
  [/\bsquared\b/gi, "^2"],
  [/\bplus\b/gi, "+"],
  [/\bminus\b|[−–]/gi, "-"],
  [/\bmod(?:ulo)?\b/gi, "%"],
  [/\b(?:the )?(?:result|answer|number)\b|\bthat\b/gi, "it"],
  [/(?<=\d),(?=\d{3}(?!\d))/g, ""],
];

/** "2 plus 3 times it" → 2 + 3 * it. Undefined if the text is no calculation. */
export function toExpression(text: string): string | undefined {
  const expression = WORDS.reduce((before, [pattern, symbol]) => before.replaceAll(pattern, symbol), text).replace(/\s*=$/, "");
  const isOne = /^(?:it\b|[-+*/%^().\d\s])+$/i.test(expression) && /\d|it/i.test(expression) && /[-+*/%^]/.test(expression);
  return isOne ? expression.trim() : undefined;
}
