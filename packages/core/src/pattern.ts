/**
 * Regular expressions that match in linear time: all alternatives are followed at once, without
 * backtracking. Neither the `pattern` of a schema nor the text of a model is trusted.
 */
export interface Pattern {
  /**
   * Returns whether the pattern matches anywhere in the text. Throws a `RangeError` when the match
   * takes too many steps.
   */
  test(text: string): boolean;
}

/**
 * A state of the automaton. With `set` it consumes one character. With `open` it passes without
 * consuming, if the test holds.
 */
interface State {
  readonly set?: RegExp;
  readonly open?: (text: Text, at: number) => boolean;
  readonly next: State[];
}

/** A text and the number of steps left for matching it. */
interface Text {
  readonly chars: readonly string[];
  steps: number;
}

/** Builds the states of a part of the pattern, given the state that follows. */
type Part = (next: State) => State;

const end: State = { next: [] };

/** Limit on a pattern's states, with counted repeats expanded. */
const MAX_STATES = 20_000;
/**
 * Limit on a match's steps. A match takes a few per character, and more where many positions look
 * ahead.
 */
const MAX_STEPS = 20_000_000;

const tokens =
  /\\(?:[pPu]\{[^}]*\}|u[\da-fA-F]{4}|x..|c.|[^])|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:<(?![=!])[^>]*>|[:=!]))?|[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]/gu;

/**
 * Compiles an ECMAScript pattern. Throws for an invalid pattern, a backreference, a lookbehind, or
 * inline flags. `\A`, `\Z` and `\z` of other languages match the beginning and the end.
 */
export function compilePattern(source: string): Pattern {
  const pattern = source.replace(/\\([^])/g, (escape, letter: string) =>
    letter === "A" ? "^" : /[zZ]/.test(letter) ? "$" : escape,
  );
  const flags = flagsOf(pattern);
  const start = new Reader(pattern, flags).choice()(end);
  return {
    test(text) {
      const chars = flags === "" ? text.split("") : Array.from(text);
      return matches(start, { chars, steps: MAX_STEPS }, 0, true);
    },
  };
}

/** Returns "u" if the pattern is valid with that flag, otherwise no flags (the older syntax). */
function flagsOf(pattern: string): string {
  try {
    return new RegExp(pattern, "u").flags;
  } catch {
    return new RegExp(pattern).flags;
  }
}

class Reader {
  readonly #pattern: string;
  readonly #flags: string;
  readonly #words: readonly string[];
  #place = 0;
  #size = 0;

  constructor(pattern: string, flags: string) {
    this.#pattern = pattern;
    this.#flags = flags;
    this.#words = pattern.match(tokens) ?? [];
  }

  /** Reads alternatives up to the end of the group. */
  choice(): Part {
    const ways: Part[] = [];
    do ways.push(this.#sequence());
    while (this.#words[this.#place++] === "|");
    return (next) => this.#state(ways.map((way) => way(next)));
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (!/^[|)]?$/.test(this.#words[this.#place] ?? "")) parts.push(this.#repeated());
    return (next) => parts.reduceRight((behind, part) => part(behind), next);
  }

  #repeated(): Part {
    const part = this.#atom(this.#words[this.#place++] as string);
    const [, sign, from, comma, to] =
      /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(this.#words[this.#place] ?? "") ?? [];
    if (!sign && !from) return part;
    this.#place++;
    const low = from ? Number(from) : Number(sign === "+");
    const high = sign === "?" ? 1 : to ? Number(to) : comma === "" ? low : Infinity;
    return (next) => {
      let built = next;
      if (high === Infinity) {
        built = this.#state([next]);
        built.next.push(part(built));
      } else for (let count = high; count > low; count--) built = this.#state([part(built), next]);
      for (let count = 0; count < low; count++) built = this.#state([part(built)]);
      return built;
    };
  }

  #atom(word: string): Part {
    if (word.startsWith("(")) return this.#group(word);
    if (/^\\[1-9k]/.test(word)) throw this.#refusal("has a backreference");
    if (word === "^") return this.#where((_, at) => at === 0);
    if (word === "$") return this.#where((text, at) => at === text.chars.length);
    if (/^\\b$/i.test(word))
      return this.#where(
        ({ chars }, at) => (isWord(chars[at - 1]) !== isWord(chars[at])) === (word === "\\b"),
      );
    const set = new RegExp(`^(?:${/^[\]{}]$/.test(word) ? `\\${word}` : word})$`, this.#flags);
    return (next) => this.#state([next], { set });
  }

  #group(word: string): Part {
    if (this.#words[this.#place]?.startsWith("?"))
      throw this.#refusal("has a lookbehind or inline flags");
    const inner = this.choice();
    if (!/[=!]$/.test(word)) return inner;
    const start = inner(end);
    return this.#where((text, at) => matches(start, text, at, false) === (word === "(?="));
  }

  #where(open: State["open"] & {}): Part {
    return (next) => this.#state([next], { open });
  }

  #state(next: State[], about: Omit<State, "next"> = {}): State {
    if (++this.#size > MAX_STATES) throw this.#refusal("repeats too often");
    return { ...about, next };
  }

  #refusal(why: string): Error {
    return new Error(`"pattern" ${this.#pattern} ${why}: use a Standard Schema library for it`);
  }
}

/** Returns whether the text matches from `begin` on, or with `anywhere` from any later position. */
function matches(start: State, text: Text, begin: number, anywhere: boolean): boolean {
  let now = new Set<State>();
  for (let at = begin; ; at++) {
    if (at === begin || anywhere) enter(now, [start], text, at);
    const char = text.chars[at];
    if (now.has(end) || char === undefined || (now.size === 0 && !anywhere)) return now.has(end);
    const then = new Set<State>();
    for (const { set, next } of now) if (set?.test(char)) enter(then, [...next], text, at + 1);
    now = then;
  }
}

/** Adds states, and all states that they reach without consuming a character. */
function enter(states: Set<State>, waiting: State[], text: Text, at: number): void {
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    if (states.has(one) || one.open?.(text, at) === false) continue;
    if (--text.steps < 0) throw new RangeError("The text is too long for its pattern.");
    states.add(one);
    if (!one.set) waiting.push(...one.next);
  }
}

function isWord(char = ""): boolean {
  return /\w/.test(char);
}
