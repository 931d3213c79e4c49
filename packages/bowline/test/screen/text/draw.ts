import {
  MarkdownStream,
  type MarkdownStreamOptions,
} from "../../../src/screen/text/markdown-stream.ts";
import { plain } from "./styles.ts";

export type DrawOptions = Partial<Omit<MarkdownStreamOptions, "columns">> & {
  readonly columns?: number;
};

export function createStream({ columns = 60, ...options }: DrawOptions = {}): MarkdownStream {
  return new MarkdownStream({
    colours: plain,
    linkStyle: "text",
    ...options,
    columns: () => columns,
  });
}

export function draw(text: string, options?: DrawOptions): string[] {
  const stream = createStream(options);
  return [...stream.push(text), ...stream.end()];
}

export function drawParts(parts: readonly string[], options?: DrawOptions): string[] {
  const stream = createStream(options);
  return [...parts.flatMap((part) => stream.push(part)), ...stream.end()];
}
