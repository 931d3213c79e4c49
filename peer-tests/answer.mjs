// What is compared: an answer with everything that two clients name differently brought to one
// form.

/** An answer with nothing in it. `failed` holds why a client gave up. */
export function emptyAnswer() {
  const whole = {
    id: undefined,
    model: undefined,
    stop: undefined,
    usage: undefined,
    failed: undefined,
  };
  return { text: "", thinking: "", calls: [], blocks: [], ...whole };
}

/**
 * The fields in which two answers differ, each with both values. `fields` are those that the peer
 * knows at all.
 */
export function differences(peer, ours, fields) {
  const found = [];
  for (const field of fields) {
    const [theirs, mine] = [canonical(peer[field]), canonical(ours[field])];
    if (theirs !== mine) found.push(`${field}: peer ${clip(theirs)}, ours ${clip(mine)}`);
  }
  return found;
}

/**
 * Arguments as a program reads them. Empty text and `null` are no arguments; text that is no JSON object stays
 * text.
 */
export function parseArguments(text) {
  if (typeof text !== "string") return text;
  if (["", "null"].includes(text.trim())) return {};
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // said below
  }
  return { unparsed: text };
}

/**
 * JSON with sorted keys and without absent fields. A number that JavaScript rounds is a text of its
 * digits with us, and rounded with the others.
 */
function canonical(value) {
  return JSON.stringify(value, (_key, item) => {
    if (
      typeof item === "string" &&
      /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(item) &&
      Math.abs(Number(item)) > Number.MAX_SAFE_INTEGER
    )
      return Number(item);
    return typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  });
}

/** Where they part is what matters, and seldom at the start. */
function clip(text) {
  if (text === undefined) return "nothing";
  return text.length > 160 ? `${text.slice(0, 60)} … ${text.slice(-90)}` : text;
}
