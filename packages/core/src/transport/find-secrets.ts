/**
 * Finds secrets in text that arrives in pieces, looking at each character once. Given secrets are
 * matched by a trie with failure links (Aho and Corasick, 1975). Vendors' keys are recognised by
 * their prefix.
 */

/** From `start` up to, not including, `end`, counted from the start of the whole text. */
export interface SecretSpan {
  start: number;
  end: number;
}

/** The prefixes of vendors' keys. No prefix ends with another one. */
const keyBeginnings = ["sk-", "gsk_", "xai-", "AIza"];
/** How many key characters must follow the prefix. */
const MIN_KEY_BODY = 16;
const ROOT = 0;
/** The failure link of the root, which leads to no node. */
const NONE = -1;
/** All edges are in one map, keyed by node and character. */
const CODES = 0x10000;
/** The length of the longest prefix, plus the two preceding characters that matter. */
const BEFORE_KEY = 6;

/**
 * The texts to search for. Node 0 is the root; each node represents the prefix that leads to it.
 */
export class SecretTrie {
  readonly #edges = new Map<number, number>();
  /**
   * Whether any text begins with this ASCII character. Most characters begin none and skip the map.
   */
  readonly #begins = new Uint8Array(128);
  readonly #nodes: Node[] = [{ depth: 0, failure: NONE, found: 0, foundKey: 0, open: 0 }];

  constructor(texts: readonly string[]) {
    for (const text of texts) this.#add(text).found = text.length;
    for (const beginning of keyBeginnings) this.#add(beginning).foundKey = beginning.length;
    this.#link();
  }

  /** Returns the node for the longest prefix of a text that ends with this character. */
  next(from: number, code: number): number {
    if (from === ROOT && this.#begins[code] === 0) return ROOT;
    for (let node = from; node !== NONE; node = this.at(node).failure) {
      const next = this.#edges.get(node * CODES + code);
      if (next !== undefined) return next;
    }
    return ROOT;
  }

  at(node: number): Readonly<Node> {
    return this.#nodes[node] as Node;
  }

  #add(text: string): Node {
    let node = ROOT;
    this.#begins[text.charCodeAt(0)] = 1;
    for (let at = 0; at < text.length; at++) {
      const edge = node * CODES + text.charCodeAt(at);
      node = this.#edges.get(edge) ?? this.#addNode(edge, at + 1);
    }
    return this.#nodes[node] as Node;
  }

  #addNode(edge: number, depth: number): number {
    const node = this.#nodes.push({ depth, failure: ROOT, found: 0, foundKey: 0, open: 0 }) - 1;
    this.#edges.set(edge, node);
    return node;
  }

  /** Links nodes in order of depth, since a failure link always leads to a shallower node. */
  #link(): void {
    const byDepth: (readonly [edge: number, node: number])[][] = [];
    for (const [edge, node] of this.#edges) {
      (byDepth[this.at(node).depth] ??= []).push([edge, node]);
      // A node with a child is a prefix of a longer text. Leaves keep 0.
      const above = this.#nodes[Math.floor(edge / CODES)] as Node;
      above.open = above.depth;
    }
    for (const [edge, node] of byDepth.flat()) {
      const above = Math.floor(edge / CODES);
      const own = this.#nodes[node] as Node;
      own.failure = this.next(this.at(above).failure, edge % CODES);
      const behind = this.at(own.failure);
      own.found ||= behind.found;
      own.foundKey ||= behind.foundKey;
      own.open ||= behind.open;
    }
  }
}

/** The lengths count characters back from the end of the node's prefix. */
interface Node {
  depth: number;
  /** The node of the longest suffix that is also a prefix of a text. */
  failure: number;
  /** The length of the longest suffix that is a text to find; 0 for none. */
  found: number;
  /** The length of the longest suffix that is a key prefix. */
  foundKey: number;
  /** The length of the longest suffix that may be the start of a longer match. */
  open: number;
}

/** The scan of one text, as far as it was read. */
export class SecretScan {
  /**
   * The secrets found, in order; overlapping ones are merged. The caller may remove spans from the
   * list.
   */
  readonly spans: SecretSpan[] = [];
  readonly #trie: SecretTrie;
  #node = ROOT;
  #length = 0;
  /** A possible key that is still being read: where it starts, and where its body starts. */
  #key: { readonly start: number; readonly body: number } | undefined;
  /**
   * Where the current part of the text starts. Text of earlier parts does not count as preceding.
   */
  #partFrom = 0;
  /** The last characters read. */
  #tail = "";

  constructor(trie: SecretTrie) {
    this.#trie = trie;
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Text from this position on may belong to a secret that is not complete yet. Text before it is
   * final.
   */
  get openFrom(): number {
    const open = this.#length - this.#trie.at(this.#node).open;
    return this.#key === undefined || this.#isKey ? open : Math.min(open, this.#key.start);
  }

  /** Starts a new part: a key may start here whatever text preceded, and a key in progress ends. */
  beginPart(): void {
    this.#partFrom = this.#length;
    if (this.#isKey) this.#key = undefined;
  }

  read(text: string): void {
    const known = this.#tail + text;
    for (let at = this.#tail.length; at < known.length; at++) this.#read(known, at);
    this.#tail = known.slice(-BEFORE_KEY);
  }

  /** Reads the character at index `at` of `known`. */
  #read(known: string, at: number): void {
    const code = known.charCodeAt(at);
    const end = ++this.#length;
    if (this.#key !== undefined) this.#readKey(code);
    this.#node = this.#trie.next(this.#node, code);
    if (this.#node === ROOT) return;
    const { found, foundKey } = this.#trie.at(this.#node);
    if (found > 0) this.#add(end - found, end);
    // If several prefixes occur in one word, the first gives the longest match.
    if (foundKey === 0 || this.#key !== undefined) return;
    const start = end - foundKey;
    if (start <= this.#partFrom || mayStandBefore(known, at - foundKey))
      this.#key = { start, body: end };
  }

  #readKey(code: number): void {
    if (!isOfKey(code)) this.#key = undefined;
    else if (this.#key !== undefined && this.#isKey) this.#add(this.#key.start, this.#length);
  }

  /** Whether enough characters have followed the key prefix. */
  get #isKey(): boolean {
    return this.#key !== undefined && this.#length - this.#key.body >= MIN_KEY_BODY;
  }

  /**
   * Adds a span that ends at the last character read. Merges it with the spans that it overlaps.
   */
  #add(from: number, end: number): void {
    let start = from;
    for (let last = this.spans.at(-1); last && last.end > start; last = this.spans.at(-1)) {
      start = Math.min(start, last.start);
      this.spans.pop();
    }
    this.spans.push({ start, end });
  }
}

/** A key must not follow a letter or digit, except the letter of a JSON escape such as `\n`. */
function mayStandBefore(text: string, at: number): boolean {
  if (!isAlphanumeric(text.charCodeAt(at))) return true;
  return text[at - 1] === "\\" && "bfnrt".includes(text[at] as string);
}

function isOfKey(code: number): boolean {
  return isAlphanumeric(code) || code === 0x5f || code === 0x2d;
}

function isAlphanumeric(code: number): boolean {
  const letter = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x7a);
}
