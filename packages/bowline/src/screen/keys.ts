/** The keys of a terminal and the sequences that stand for them. */

export type Input =
  | { readonly type: "text"; readonly text: string }
  | Key
  | {
      readonly type: "paste";
      /** The whole paste, with line feeds as line ends. It may hold control characters. */
      readonly text: string;
      /** True if the end is missing: the paste was too long or never ended. */
      readonly isCut?: true;
    };

export interface Key {
  readonly type: "key";
  readonly name: KeyName;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

/** A named key, or the character that was typed together with Ctrl or Alt, in lower case. */
export type KeyName = NamedKey | `f${number}` | (string & {});

type NamedKey =
  | "enter"
  | "tab"
  | "escape"
  | "backspace"
  | "delete"
  | "up"
  | "down"
  | "left"
  | "right"
  | "home"
  | "end"
  | "pageUp"
  | "pageDown"
  | "insert"
  | "space";

type Modifiers = Partial<Pick<Key, "ctrl" | "alt" | "shift">>;

export function key(name: KeyName, modifiers: Modifiers = {}): Key {
  return { type: "key", name, ctrl: false, alt: false, shift: false, ...modifiers };
}

/** Returns the key of a control character. Ctrl-J is not Enter: terminals send CR for Enter. */
export function controlKey(code: number): Key {
  switch (code) {
    case 0x00:
      return key("space", { ctrl: true });
    case 0x08:
    case 0x7f:
      return key("backspace");
    case 0x09:
      return key("tab");
    case 0x0d:
      return key("enter");
    case 0x1b:
      return key("escape");
    default:
      return key(String.fromCharCode(code + 0x40).toLowerCase(), { ctrl: true });
  }
}

const BY_LETTER: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  Z: "tab",
  "[A": "f1",
  "[B": "f2",
  "[C": "f3",
  "[D": "f4",
  "[E": "f5",
};

const BY_NUMBER: Readonly<Record<number, KeyName>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageUp",
  6: "pageDown",
  7: "home",
  8: "end",
  ...numbered(11, 1, 5),
  ...numbered(17, 6, 10),
  ...numbered(23, 11, 14),
  ...numbered(28, 15, 16),
  ...numbered(31, 17, 20),
};

/** Kitty's numbers: control characters by their code, the keypad from 57399. */
const BY_CODE: Readonly<Record<number, KeyName>> = {
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageUp",
  57422: "pageDown",
  57423: "home",
  57424: "end",
  57425: "insert",
  57426: "delete",
};

/** The characters of the keypad: from 57399 in kitty's numbers. */
const KEYPAD = "0123456789./*-+";

/**
 * Returns the input of a CSI sequence, or of an SS3 sequence, whose letter comes with "O" before
 * it. Undefined for what is no key: answers of the terminal, released keys, the mouse.
 */
export function sequenceKey(parameters: string, final: string): Input | undefined {
  const [first = "", second = "", third = ""] = parameters.split(";");
  const [modifiers, event] = second.split(":");
  if (event === "3") return undefined; // released
  const held = modifiersOf(modifiers ?? "");
  const number = Number.parseInt(first, 10);
  if (final === "u") return characterKey(first.split(":"), held);
  if (final === "~" && number === 27) return characterKey([third], held); // modifyOtherKeys
  if (final === "~") return named(BY_NUMBER[number], held);
  if (final === "OM") return key("enter");
  if (final.startsWith("O") && final >= "Oj" && final <= "Oy") return keypadText(final);
  if (first !== "" && number !== 1) return undefined; // the answer to a question, no F3
  if (final === "Z") return key("tab", { ...held, shift: true });
  return named(BY_LETTER[final.replace(/^O/, "")], held);
}

function named(name: KeyName | undefined, held: Modifiers): Key | undefined {
  return name === undefined ? undefined : key(name, held);
}

/** Returns the key with a character's number; text if only Shift is held. */
function characterKey([code = "", shifted = ""]: string[], held: Modifiers): Input | undefined {
  const number = Number.parseInt(code, 10);
  const name = BY_CODE[number];
  if (name !== undefined) return key(name, held);
  const char = KEYPAD[number - 57399] ?? characterOf(number);
  if (char === undefined) return undefined;
  if (held.ctrl === true || held.alt === true)
    return key(char === " " ? "space" : char.toLowerCase(), held);
  const upper = characterOf(Number.parseInt(shifted, 10)) ?? char.toUpperCase();
  return { type: "text", text: held.shift === true ? upper : char };
}

/** The private area from 57344 holds kitty's keys without a character: Caps Lock, Shift, media. */
function characterOf(code: number): string | undefined {
  const isText =
    code >= 0x20 &&
    !(code >= 0x7f && code <= 0x9f) &&
    !(code >= 0xd800 && code <= 0xf8ff) &&
    code <= 0x10ffff;
  return isText ? String.fromCodePoint(code) : undefined;
}

function keypadText(final: string): Input | undefined {
  const text = "*+,-./0123456789"[final.charCodeAt(1) - 0x6a];
  return text === undefined ? undefined : { type: "text", text };
}

/** The number is one more than the sum of Shift 1, Alt 2 and Ctrl 4. */
function modifiersOf(text: string): Required<Modifiers> {
  const bits = Math.max(0, Number.parseInt(text || "1", 10) - 1);
  return { shift: (bits & 1) !== 0, alt: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 };
}

function numbered(first: number, from: number, to: number): Record<number, KeyName> {
  const keys: Record<number, KeyName> = {};
  for (let f = from; f <= to; f += 1) keys[first + f - from] = `f${f}`;
  return keys;
}
