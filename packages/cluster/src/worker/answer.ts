/** Answers a gateway that asks for the events of a session's runs. */
import type { GatewayLimits } from "bowline/gateway";
import type { RunFeed, RunFrame } from "bowline/engine";
import { toAsk, toReply, type AnsweredRun } from "../wire/messages.ts";
import type { Parcel } from "../wire/parcel.ts";

/**
 * Returns the reply, with this id. Returns undefined for what is no question, such as a queued
 * message.
 */
export function answerAsk(
  feeds: readonly RunFeed[],
  payload: Uint8Array,
  { id, maxBufferedBytes }: Pick<GatewayLimits, "maxBufferedBytes"> & { readonly id: string },
): Parcel | undefined {
  const ask = toAsk(payload);
  if (ask === undefined) return undefined;
  if ("queued" in ask) {
    feeds
      .find(({ runId, info }) => runId === ask.runId && info.state === "running")
      ?.queued(ask.queued);
    return undefined;
  }
  // The requested run, and the open one, of which the asker has nothing unless it is the requested.
  const runs = feeds.flatMap((feed): AnsweredRun[] => {
    const isAsked = feed.runId === ask.runId;
    const isOpen = feed.info.state === "running";
    if (!isAsked && !isOpen) return [];
    return [
      toAnswer(feed, isAsked || ask.runId === undefined ? ask.seq : undefined, maxBufferedBytes),
    ];
  });
  return toReply(id, runs);
}

function toAnswer(feed: RunFeed, seq: number | undefined, maxBytes: number): AnsweredRun {
  const { runId, attempt } = feed;
  const all = feed.since(seq);
  // A snapshot has a limit; the events after a number may be more than a reply can hold.
  const told = isWithin(all, maxBytes) ? all : feed.since(undefined);
  const { state, seq: last } = feed.info;
  return {
    runId,
    attempt,
    state: state as AnsweredRun["state"],
    seq: last,
    frames: told.map(({ frame, event }) => ({
      runId,
      attempt,
      seq: frame.seq ?? -1,
      frame,
      event,
    })),
  };
}

function isWithin(told: readonly RunFrame[], maxBytes: number): boolean {
  return told.reduce((sum, { frame }) => sum + frame.json.length, 0) <= maxBytes;
}
