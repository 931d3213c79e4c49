// What every adapter needs. An adapter is what a careful user of the client's own README writes,
// and nothing more.

export const prompt = "Say it.";
export const parameters = { type: "object", properties: { city: { type: "string" } } };

/** Packages are beside this file, and unknown to the root. */
export function load(name) {
  return import(name);
}

/** A call handed over as text: runnable when it is a JSON object, else visibly broken. */
export function deliver(outcome, name, text) {
  let args;
  try {
    args = JSON.parse(text);
  } catch {
    // counted below
  }
  deliverParsed(outcome, name, args);
}

export function deliverParsed(outcome, name, args) {
  if (typeof args === "object" && args !== null && !Array.isArray(args))
    outcome.calls.push({ name, arguments: args });
  else outcome.refused++;
}

/**
 * What the answer's own stop reason says, a careful user reads: nothing of a cut or failed answer
 * is run, a filtered or failed one is an error. `outcome.ran` says that the client ran the calls by
 * itself: that cannot be taken back.
 */
export function heed(outcome, reason) {
  const said = String(reason ?? "").toLowerCase();
  const isCut = /length|max_tokens|max_output_tokens|context_window/.test(said);
  const isError =
    /filter|refusal|network_error|abort|sensitive|safety|recitation|blocklist|prohibited|spii|malformed|^error$|failed|cancelled|interrupted/.test(
      said,
    );
  if (!isCut && !isError) return;
  if (outcome.ran !== true) {
    outcome.refused += outcome.calls.length;
    outcome.calls = [];
  }
  if (!isError) return;
  outcome.ended = "error";
  outcome.threw = `stop reason ${reason}`;
}
