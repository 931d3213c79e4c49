import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { deepEqual, ok } from "node:assert/strict";
import { textWidth } from "../../../src/screen/width.ts";
import { SOFT_END } from "../../../src/screen/text/cell-flow.ts";
import { draw, drawParts } from "./draw.ts";
import { bare, leftOpen, styled } from "./styles.ts";

/** Recorded answers of model servers, by protocol: not part of the repository. */
const folder = process.env.BOWLINE_RECORDINGS ?? "";
const root = join(import.meta.dirname, "../../../../..");

/** Returns the pieces of text in a recorded stream of server-sent events. */
function deltasOf(stream: string): string[] {
  return stream.split("\n").flatMap((line) => {
    if (!line.startsWith("data: {")) return [];
    return textsIn(JSON.parse(line.slice(6)) as Record<string, unknown>);
  });
}

function textsIn(event: Record<string, unknown>): string[] {
  if (event.type === "response.output_text.delta") return [String(event.delta)];
  const found: string[] = [];
  const walk = (value: unknown, key: string): void => {
    if (typeof value === "string") {
      if (key === "text" || key === "content") found.push(value);
    } else if (typeof value === "object" && value !== null)
      for (const [name, inner] of Object.entries(value))
        walk(inner, Array.isArray(value) ? key : name);
  };
  for (const name of ["delta", "choices", "candidates"]) walk(event[name], name);
  return found;
}

function checkText(deltas: readonly string[]): void {
  const text = deltas.join("");
  for (const columns of [20, 40, 100]) {
    const options = { columns, colours: styled };
    const rows = drawParts(deltas, options);
    deepEqual(rows, draw(text, options));
    for (const row of rows) {
      ok(textWidth(row) <= columns, row);
      deepEqual(leftOpen(row), []);
    }
    const drawn = rows
      .map((row) => bare(row.replace(SOFT_END, "")))
      .join("")
      .replaceAll(/[^\p{L}\p{N}]/gu, "");
    const prose = text.replaceAll(/\]\([^)]*\)|<[^>]*>|&\w+;|\\\w+/g, " ");
    for (const [word] of prose.matchAll(/\p{L}{4,}/gu))
      ok(drawn.includes(word), `${word} is missing`);
  }
}

describe("MarkdownStream, with recorded answers", () => {
  const skip = !existsSync(folder) && "BOWLINE_RECORDINGS names no folder with recorded answers";
  it(
    "draws the same rows for any deltas, within the columns, without losing a word",
    { skip },
    () => {
      let count = 0;
      for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".sse")) continue;
        const deltas = deltasOf(readFileSync(join(folder, file), "utf8"));
        if (deltas.length > 0) count++;
        checkText(deltas);
      }
      ok(count > 10);
    },
  );
});

describe("MarkdownStream, with this project's documents", () => {
  for (const file of ["README.md", "CHANGELOG.md", "docs/tools.md", "docs/project/contributing.md"])
    it(
      `draws ${file} within the columns, without losing a word`,
      { skip: !existsSync(join(root, file)) && "no such file" },
      () => {
        const text = readFileSync(join(root, file), "utf8");
        checkText(text.match(/[^]{1,7}/g) ?? []);
      },
    );
});
