/**
 * Announces finished answers and questions to screen readers. Answers are announced once, when
 * complete.
 */
import type { VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { html } from "htm/preact";
import type { PageState } from "../state/page-state.ts";
import { isOver, type RunView } from "../state/run-view.ts";
import { stateWords } from "../text/wording.ts";

const MAX_LENGTH = 1200;

export function Announcer({
  state: { conversation, approvals },
}: {
  readonly state: PageState;
}): VNode {
  const { sessionKey, live } = conversation;
  const working = useRef(new Set<string>());
  const asked = useRef(new Set<string>());
  const [said, say] = useSaying();
  const [urgent, sayAtOnce] = useSaying();
  useEffect(() => {
    for (const run of live.values()) {
      if (!isOver(run)) working.current.add(run.runId);
      else if (working.current.delete(run.runId)) say(endText(run));
    }
  }, [live]);
  useEffect(() => {
    const waiting = approvals.filter((one) => one.sessionKey === sessionKey);
    const news = waiting.filter(({ approvalId }) => !asked.current.has(approvalId));
    for (const { approvalId } of news) asked.current.add(approvalId);
    const [first] = news;
    if (first !== undefined)
      sayAtOnce(`May this run? ${first.summary}. Alt and A goes to the question.`);
    else if (waiting.length === 0) sayAtOnce("");
  }, [approvals, sessionKey]);
  return html`<div class="offscreen">
    <div aria-live="polite" data-said="answers">${said}</div>
    <div aria-live="assertive" data-said="questions">${urgent}</div>
  </div>`;
}

/** Each announcement is a new element, so that a repeated text is announced again. */
function useSaying(): [VNode | null, (text: string) => void] {
  const [{ text, count }, set] = useState({ text: "", count: 0 });
  const say = useCallback(
    (next: string) => set((before) => ({ text: next, count: before.count + 1 })),
    [],
  );
  return [text === "" ? null : html`<span key=${count}>${text}</span>`, say];
}

function endText({ state, blocks, failure }: RunView): string {
  const last = blocks.findLast((block) => block.type === "text");
  if (state !== "final") return `${stateWords[state]}. ${failure?.message ?? ""}`.trim();
  const text = last?.text.replaceAll(/[`*#>|_~]+/g, "").trim() ?? "";
  return text.length > MAX_LENGTH
    ? `${text.slice(0, MAX_LENGTH)}… The rest is in the conversation.`
    : text;
}
