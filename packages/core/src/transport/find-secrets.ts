/**
 * Finds secrets in a text that comes in pieces, each character looked at once: given ones by a
 * trie with failure links (Aho and Corasick, 1975), and what looks like a vendor's key.
 */

/** From `start` to before `end`, counted from the beginning of all that was read. */
export interface SecretSpan {
  start: number;
  end: number;
}

/** How vendors' keys begin. No beginning ends with another one. */
const keyBeginnings = ["sk-", "gsk_", "xai-", "AIza"];
/** So many characters of a word have to follow. */
const MIN_KEY_BODY = 16;
const ROOT = 0;
/** Edges of all nodes are in one map: by node and character. */
const CODES = 0x10000;
/** The longest beginning of a key, with the two characters before it that count. */
const BEFORE_KEY = 6;

/** The texts to look for. Node 0 is the root; a node stands for the text that leads to it. */
export class SecretTrie {
  readonly #edges = new Map<number, number>();
  /** Whether a text begins with this ASCII character. Most do not, and skip the map. */
  readonly #begins = new Uint8Array(128);
  readonly #nodes: Node[] = [{ depth: 0, failure: ROOT, found: 0, foundKey: 0, open: 0 }];

  constructor(texts: readonly string[]) {
    for (const text of texts) if (text !== "") this.#add(text).found = text.length;
    for (const beginning of keyBeginnings) this.#add(beginning).foundKey = beginning.length;
    this.#link();
  }

  /** The node for the longest beginning of a text that ends with this character. */
  next(from: number, code: number): number {
    if (from === ROOT && this.#begins[code] === 0) return ROOT;
    for (let node = from; ; node = this.at(node).failure) {
      const next = this.#edges.get(node * CODES + code);
      if (next !== undefined || node === ROOT) return next ?? ROOT;
    }
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

  /** By depth, since what a node falls back to is less deep. */
  #link(): void {
    const byDepth: (readonly [edge: number, node: number])[][] = [];
    for (const [edge, node] of this.#edges) {
      (byDepth[this.at(node).depth] ??= []).push([edge, node]);
      // Until it is known to lead on, nothing of it is open.
      const above = this.#nodes[Math.floor(edge / CODES)] as Node;
      above.open = above.depth;
    }
    for (const [edge, node] of byDepth.flat()) {
      const above = Math.floor(edge / CODES);
      const own = this.#nodes[node] as Node;
      if (above !== ROOT) own.failure = this.next(this.at(above).failure, edge % CODES);
      const behind = this.at(own.failure);
      own.found ||= behind.found;
      own.foundKey ||= behind.foundKey;
      own.open ||= behind.open;
    }
  }
}

/** Lengths, each of an end of the text that leads to the node. */
interface Node {
  depth: number;
  /** The node of the longest end that another text begins with. */
  failure: number;
  /** The longest end that is a text to look for, 0 for none. */
  found: number;
  /** The longest that a key begins with. */
  foundKey: number;
  /** The longest that may be the beginning of more. */
  open: number;
}

/** One text, as far as it was read. */
export class SecretScan {
  /** Where secrets are, in order; those that overlap are one. The reader may take some out. */
  readonly spans: SecretSpan[] = [];
  readonly #trie: SecretTrie;
  #node = ROOT;
  #length = 0;
  /** Where a key may stand that goes on, and where its body begins. */
  #key: { readonly start: number; readonly body: number } | undefined;
  /** Where a part of the text begins: before it stands nothing. */
  #partFrom = 0;
  /** What was read last. */
  #tail = "";

  constructor(trie: SecretTrie) {
    this.#trie = trie;
  }

  get length(): number {
    return this.#length;
  }

  /** What comes after this may complete a secret that begins here; before, all is known. */
  get openFrom(): number {
    const open = this.#length - this.#trie.at(this.#node).open;
    return this.#key === undefined || this.#isKey ? open : Math.min(open, this.#key.start);
  }

  /** A key may begin with what comes next, whatever stood before, and one that stood there ends. */
  beginPart(): void {
    this.#partFrom = this.#length;
    if (this.#isKey) this.#key = undefined;
  }

  read(text: string): void {
    const known = this.#tail + text;
    for (let at = this.#tail.length; at < known.length; at++) this.#read(known, at);
    this.#tail = known.slice(-BEFORE_KEY);
  }

  /** One character, which stands at `at` in what is known. */
  #read(known: string, at: number): void {
    const code = known.charCodeAt(at);
    const end = ++this.#length;
    if (this.#key !== undefined) this.#readKey(code);
    this.#node = this.#trie.next(this.#node, code);
    if (this.#node === ROOT) return;
    const { found, foundKey } = this.#trie.at(this.#node);
    if (found > 0) this.#add(end - found, end);
    // Of several in one word the first is the longest.
    if (foundKey === 0 || this.#key !== undefined) return;
    const start = end - foundKey;
    if (start <= this.#partFrom || mayStandBefore(known, at - foundKey))
      this.#key = { start, body: end };
  }

  #readKey(code: number): void {
    if (!isOfKey(code)) this.#key = undefined;
    else if (this.#key !== undefined && this.#isKey) this.#add(this.#key.start, this.#length);
  }

  /** Whether what may be a key is one. */
  get #isKey(): boolean {
    return this.#key !== undefined && this.#length - this.#key.body >= MIN_KEY_BODY;
  }

  /** It ends where all does that was read: what it overlaps is before it. */
  #add(from: number, end: number): void {
    let start = from;
    for (let last = this.spans.at(-1); last && last.end > start; last = this.spans.at(-1)) {
      start = Math.min(start, last.start);
      this.spans.pop();
    }
    this.spans.push({ start, end });
  }
}

/** Before a key stands no letter, but for the letter of a JSON escape such as `\n`. */
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
