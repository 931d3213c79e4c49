/** A WebSocket client that writes arbitrary bytes, which no library does. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawFrame {
  readonly opcode: number;
  readonly payload?: Buffer;
  /** Default true. */
  readonly fin?: boolean;
  /** Reserved bits. Default 0. */
  readonly reserved?: number;
  /** Default true, as clients must. */
  readonly isMasked?: boolean;
  /** The length in the header. Default: the payload's length. */
  readonly length?: number;
}

export function encodeFrame({ opcode, payload = Buffer.alloc(0), ...options }: RawFrame): Buffer {
  const { fin = true, reserved = 0, isMasked = true, length = payload.length } = options;
  const mask = isMasked ? randomBytes(4) : Buffer.alloc(0);
  const bit = isMasked ? 0x80 : 0;
  const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  let header = Buffer.from([first, bit | length]);
  if (length > 125 && length < 65_536) {
    header = Buffer.from([first, bit | 126, 0, 0]);
    header.writeUInt16BE(length, 2);
  } else if (length > 125) {
    header = Buffer.concat([Buffer.from([first, bit | 127]), Buffer.alloc(8)]);
    header.writeBigUInt64BE(BigInt(length), 2);
  }
  const body = isMasked
    ? payload.map((byte, index) => byte ^ (mask[index % 4] as number))
    : payload;
  return Buffer.concat([header, mask, body]);
}

export class RawSocket {
  readonly socket: Socket;
  /** The status line of the handshake response. */
  status = "";
  /** The code of the close frame, or undefined without one. */
  closeCode: number | undefined;
  readonly texts: string[] = [];
  readonly ended: Promise<unknown>;
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {}); // "close" follows
    this.ended = new Promise((resolve) => socket.once("close", resolve)); // also after an error
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  static async open(
    port: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RawSocket> {
    const socket = connect(port, "127.0.0.1");
    const raw = new RawSocket(socket);
    const all = {
      host: `127.0.0.1:${port}`,
      upgrade: "websocket",
      connection: "upgrade",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET / HTTP/1.1\r\n${lines.join("")}\r\n`);
    while (raw.status === "" && !socket.closed)
      await Promise.race([once(socket, "data"), raw.ended]);
    return raw;
  }

  write(bytes: Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  text(text: string): void {
    this.write(encodeFrame({ opcode: 1, payload: Buffer.from(text) }));
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    if (this.status === "") {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end < 0) return;
      this.status = this.#received.subarray(0, this.#received.indexOf("\r\n")).toString();
      this.#received = this.#received.subarray(end + 4);
    }
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
      const { opcode, payload } = frame;
      if (opcode === 1) this.texts.push(payload.toString());
      if (opcode === 8) {
        this.closeCode = payload.length >= 2 ? payload.readUInt16BE() : 1005;
        this.write(encodeFrame({ opcode: 8, payload: payload.subarray(0, 2) }));
      }
    }
  }

  /** Reads one frame. A server's frames are not fragmented and not masked. */
  #next(): { readonly opcode: number; readonly payload: Buffer } | undefined {
    const bytes = this.#received;
    if (bytes.length < 2) return undefined;
    const short = bytes[1] as number;
    const size = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length < size) return undefined;
    const length =
      short === 126
        ? bytes.readUInt16BE(2)
        : short === 127
          ? Number(bytes.readBigUInt64BE(2))
          : short;
    if (bytes.length < size + length) return undefined;
    this.#received = bytes.subarray(size + length);
    return { opcode: (bytes[0] as number) & 15, payload: bytes.subarray(size, size + length) };
  }
}
