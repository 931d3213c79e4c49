import { bench, group } from "mitata";
import { SseReader } from "../packages/core/src/transport/sse.ts";

const event = (index: number): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", choices: [{ index: 0, delta: { content: `token ${index}` } }] })}\n\n`;
const body = new TextEncoder().encode(
  Array.from({ length: 1000 }, (_, index) => event(index)).join(""),
);

function cut(size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
    body.subarray(index * size, (index + 1) * size),
  );
}

group("1000 server-sent events", () => {
  for (const size of [64, 1024, 16_384]) {
    const chunks = cut(size);
    bench(`in chunks of ${size} bytes`, () => {
      let length = 0;
      const reader = new SseReader({ event: (data) => void (length += data.length) });
      for (const chunk of chunks) reader.push(chunk);
      reader.end();
      return length;
    });
  }
});
