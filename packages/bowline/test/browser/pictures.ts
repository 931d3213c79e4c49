/** Generated image files. */
import { deflateSync, crc32 } from "node:zlib";

export interface Picture {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** A PNG of noise is as large as its pixels. A PNG of one colour is very small. */
export function png(name: string, width: number, height: number, isNoise = false): Picture {
  const rows = Buffer.alloc(height * (1 + width * 3), 120);
  let seed = 1;
  for (let at = 0; at < rows.length; at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    if (at % (1 + width * 3) === 0) rows[at] = 0;
    else if (isNoise) rows[at] = seed >>> 16;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(rows, { level: 1 });
  const buffer = Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return { name, mimeType: "image/png", buffer };
}

/** One pixel followed by `padding` bytes. */
export function gif(name: string, padding = 0): Picture {
  const pixel = Buffer.from("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "base64");
  return { name, mimeType: "image/gif", buffer: Buffer.concat([pixel, Buffer.alloc(padding)]) };
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
