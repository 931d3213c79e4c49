/** Reads a top-level field of JSON files. */
import { readPages } from "./contents.ts";
import { Setback } from "./step.ts";
import type { Answer, Play, Step } from "./step.ts";
import { enumerate, fence } from "./wording.ts";

export function readField(field: string, refs: readonly string[]): Step {
  return function* (subject): Play<Answer> {
    const pages = yield* readPages(subject, refs, () => ({}));
    const found = pages.map(({ path, whole }) => ({ path, value: valueOf(path, whole, field) }));
    const texts = found.map(({ path, value }) =>
      /[\n{[]/.test(value)
        ? `The ${field} in ${path} is:\n\n${fence(value)}`
        : `The ${field} in ${path} is ${value}.`,
    );
    const value = found.map((each) => each.value).join("\n");
    return { text: texts.join("\n\n"), paths: pages.map(({ path }) => path), value };
  };
}

function valueOf(path: string, text: string | undefined, field: string): string {
  if (text === undefined) throw new Setback(`${path} is too large for me to read a field of it.`);
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    throw new Setback(`${path} is not JSON, so I cannot read a field of it.`);
  }
  const entries = Object.entries(typeof fields === "object" && fields !== null ? fields : {});
  const [, value] = entries.find(([key]) => key.toLowerCase() === field.toLowerCase()) ?? [];
  if (value === undefined) {
    const names = entries.length === 0 ? "none" : enumerate(entries.map(([key]) => key));
    throw new Setback(`${path} has no field “${field}” at its top level; it has ${names}.`);
  }
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
