// Shared code of the adapters. An adapter contains what a careful user of the client's README would
// write, and nothing more.

export const prompt = "Say it.";
export const parameters = { type: "object", properties: { city: { type: "string" } } };

/** Loads a package of this folder, which the root package does not know. */
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
 * Applies the stop reason, as a careful user would. Runs no calls of a truncated or failed answer,
 * and reports a filtered or failed one as an error. `outcome.ran` means that the client ran the
 * calls itself, which cannot be undone.
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
