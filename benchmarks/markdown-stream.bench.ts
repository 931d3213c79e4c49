import { bench, group } from "mitata";
import { colours } from "../packages/bowline/src/screen/colours.ts";
import { MarkdownStream } from "../packages/bowline/src/screen/text/markdown-stream.ts";

const section = `## A heading with *emphasis*

A paragraph of some length with \`code\`, **bold text** and a [link](https://example.org/path). It goes on. And on.
It has a second line.

- an item
- [ ] another one, **bold**
  1. nested

\`\`\`ts
export function add(a: number, b: number): number {
  return a + b; // a comment
}
\`\`\`

| Name | Value |
|------|------:|
| one  | 1     |
| two  | 2     |

`;

const styled = colours({ isTTY: true, write: () => undefined }, { TERM: "xterm-kitty" });

group("Markdown in deltas of 4 characters", () => {
  for (const size of [10_000, 100_000, 1_000_000]) {
    const text = section.repeat(Math.ceil(size / section.length)).slice(0, size);
    bench(`${size / 1000} kB`, () => {
      const stream = new MarkdownStream({ colours: styled, columns: () => 100, linkStyle: "osc8" });
      let rows = 0;
      for (let at = 0; at < text.length; at += 4)
        rows += stream.push(text.slice(at, at + 4)).length;
      return rows + stream.end().length;
    });
  }
});
