// The form in which answers are compared: fields that two clients name differently have one name.

/** Returns an empty answer. `failed` is the reason for which a client failed. */
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
 * Returns the fields in which two answers differ, each with both values. `fields` are the fields
 * that the peer supports.
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
 * Parses arguments as a program would. An empty text and `null` mean no arguments. A text that is
 * not a JSON object stays a text.
 */
export function parseArguments(text) {
  if (typeof text !== "string") return text;
  if (["", "null"].includes(text.trim())) return {};
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // reported below
  }
  return { unparsed: text };
}

/**
 * Returns JSON with sorted keys and without undefined fields. For a number that JavaScript rounds,
 * our client has a text of the digits and the others have the rounded number; both count as equal.
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

/** Shortens a text in the middle: differences are seldom at its start. */
function clip(text) {
  if (text === undefined) return "nothing";
  return text.length > 160 ? `${text.slice(0, 60)} … ${text.slice(-90)}` : text;
}
