/** Findings on how an answer is streamed. */
import type { Examination } from "./examination.ts";
import type { Finding } from "./finding.ts";
import type { Reply } from "./reply.ts";

export function noteStreaming(server: Examination, reply: Reply): void {
  for (const finding of streamingFindings(reply)) server.note({ ...finding, area: "streaming" });
}

/** Finds differences in an answer that Bowline could read. Pure. */
export function streamingFindings({
  wire,
  exchange,
}: Pick<Reply, "wire" | "exchange">): Omit<Finding, "area">[] {
  const { format, chunks } = wire;
  if (format !== "events") {
    const says = `${format === "json" ? "one JSON answer" : `an answer as ${format}`} instead of a stream`;
    const means = "Bowline reads it, but the text appears all at once";
    return [{ id: "stream", mark: "differs", says, means }];
  }
  const contentType = (exchange?.contentType ?? "").split(";")[0]?.trim() ?? "";
  const findings: Omit<Finding, "area">[] = [
    { id: "stream", mark: "ok", says: `streams in ${chunks.length} events` },
  ];
  const differs = (id: string, says: string, means = "Bowline supports it"): void =>
    void findings.push({ id, mark: "differs", says, means });
  if (contentType !== "text/event-stream")
    differs(
      "content-type",
      `the stream is labelled ${contentType === "" ? "with no type" : contentType}`,
    );
  if (wire.space !== "always")
    differs("data-space", `"data:" is ${wire.space} followed by a space`);
  if (wire.lineEnds.join() !== "LF")
    differs("line-ends", `lines end with ${wire.lineEnds.join(" and ")}`);
  if (wire.comments > 0)
    findings.push({ id: "comments", mark: "ok", says: "comment lines keep the connection alive" });
  if (wire.broken > 0)
    differs(
      "broken",
      `${wire.broken} events are not JSON`,
      "Bowline treats such a stream as broken",
    );
  if (!wire.done)
    differs("done", "no [DONE] at the end", "the end is known from the finish reason alone");
  const burst = isBurst(exchange?.arrivals ?? [], chunks.length);
  if (burst)
    differs(
      "burst",
      "all events come at once, after a wait",
      "a proxy may be holding the stream back",
    );
  return findings;
}

/**
 * Returns true if everything arrived at once, after a wait in which a streaming server would have
 * sent something.
 */
export function isBurst(arrivals: readonly number[], events: number): boolean {
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  return (
    first !== undefined && last !== undefined && events >= 5 && first > 300 && last - first < 20
  );
}
