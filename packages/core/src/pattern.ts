/**
 * Regular expressions whose time grows with the text and no faster: all ways to match are followed
 * at once, none is tried after another. A `pattern` is somebody else's, and the text a model's.
 */
export interface Pattern {
  /** Throws a `RangeError` for a text that takes too long. */
  test(text: string): boolean;
}

/** What may come next: a character of the set, or what follows at once where the way is open. */
interface State {
  readonly set?: RegExp;
  readonly open?: (text: Text, at: number) => boolean;
  readonly next: State[];
}

/** A text, and how many steps may still be taken in it. */
interface Text {
  readonly chars: readonly string[];
  steps: number;
}

/** Builds the states of a part before those of what follows it. */
type Part = (next: State) => State;

const end: State = { next: [] };

/** What a pattern may come to when what it counts is written out. */
const MAX_STATES = 20_000;
/** A few for each character, except where a pattern looks ahead from many. */
const MAX_STEPS = 20_000_000;

const tokens =
  /\\(?:[pPu]\{[^}]*\}|u[\da-fA-F]{4}|x..|c.|[^])|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:<(?![=!])[^>]*>|[:=!]))?|[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]/gu;

/**
 * Takes what ECMAScript does, but for references back and what looks behind: throws for those, and
 * for a pattern that is none. `\A`, `\Z` and `\z`, as other languages have them, are the beginning
 * and the end.
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

/** Of the syntax that the pattern is in: today's, or the older one. */
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

  /** Up to the end of the group. */
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
    if (/^\\[1-9k]/.test(word)) throw this.#refusal("refers back");
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
      throw this.#refusal("looks behind, or has flags of its own");
    const inner = this.choice();
    if (!/[=!]$/.test(word)) return inner;
    const start = inner(end);
    return this.#where((text, at) => matches(start, text, at, false) === (word === "(?="));
  }

  #where(open: State["open"] & {}): Part {
    return (next) => this.#state([next], { open });
  }

  #state(next: State[], about: Omit<State, "next"> = {}): State {
    if (++this.#size > MAX_STATES) throw this.#refusal("counts too much");
    return { ...about, next };
  }

  #refusal(why: string): Error {
    return new Error(`"pattern" ${this.#pattern} ${why}: use a Standard Schema library for it`);
  }
}

/** Whether a way leads from a state to the end; `anywhere` lets it begin later, too. */
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

/** Adds states, and those that nothing stands before. */
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
