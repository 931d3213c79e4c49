/** Pending approvals in the page's state. */
import type { RunEvent } from "../../gateway/client/client.ts";
import type { Approval } from "../../gateway/protocol/protocol.ts";
import type { ActionOf, PageState } from "./page-state.ts";

export function withApprovals(state: PageState, action: ActionOf<"approvals">): PageState {
  const { approvals } = action;
  return { ...state, approvals, calls: withCalls(state.calls, approvals) };
}

export function withAnswering(state: PageState, action: ActionOf<"answering">): PageState {
  const answering = new Set(state.answering);
  if (action.isOnTheWay) answering.add(action.approvalId);
  else answering.delete(action.approvalId);
  return { ...state, answering };
}

/** Adds a requested approval. Removes answered ones and those of ended runs. */
export function withApprovalEvent(state: PageState, { event, data }: RunEvent): PageState {
  const { approvals, calls, answering } = state;
  if (event === "exec.approval_request") {
    const { seq: _seq, ...approval } = data;
    const others = approvals.filter(({ approvalId }) => approvalId !== approval.approvalId);
    return { ...state, approvals: [...others, approval], calls: withCalls(calls, [approval]) };
  }
  if (event === "exec.approval_resolved")
    return {
      ...state,
      approvals: approvals.filter(({ approvalId }) => approvalId !== data.approvalId),
      answering: new Set([...answering].filter((id) => id !== data.approvalId)),
    };
  if (event === "chat.final" || event === "chat.error" || event === "chat.aborted")
    return { ...state, approvals: approvals.filter(({ runId }) => runId !== data.runId) };
  return state;
}

function withCalls(
  calls: ReadonlyMap<string, string>,
  approvals: readonly Approval[],
): ReadonlyMap<string, string> {
  return new Map([
    ...calls,
    ...approvals.map(({ approvalId, toolCallId }) => [approvalId, toolCallId] as const),
  ]);
}
