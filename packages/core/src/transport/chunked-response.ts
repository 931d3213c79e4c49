/** Builds a response from chunks, as if a server had sent it. */

export interface ChunkSource {
  /** Returns the next chunk, or undefined at the end. A rejection breaks the body. */
  next(): Promise<Uint8Array | undefined>;
  leave(reason: unknown): Promise<void>;
}

/**
 * Returns a response without a body if `source` is undefined. Reads chunks one by one, never ahead
 * of the reader.
 */
export function chunkedResponse(
  { status, headers, url }: Pick<Response, "status" | "headers" | "url">,
  source: ChunkSource | undefined,
): Response {
  const body =
    source &&
    new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const chunk = await source.next();
          if (chunk === undefined) controller.close();
          else controller.enqueue(chunk);
        },
        cancel: (reason) => source.leave(reason),
      },
      { highWaterMark: 0 },
    );
  const response = new Response(body ?? null, { status, headers });
  return Object.defineProperty(response, "url", { value: url });
}
