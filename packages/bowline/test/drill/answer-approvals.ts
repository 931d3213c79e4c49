/**
 * Allows every approval request: those announced, and on each new connection those announced while
 * it was disconnected.
 */
import type { GatewayClient } from "../../src/gateway/client/client.ts";

export function answerApprovals(client: GatewayClient): void {
  // Another client may have answered first, or the connection is lost. In that case the request is
  // listed again.
  const answer = (approvalId: string): void =>
    void client
      .request("approvals.resolve", { approvalId, decision: "allow-once" })
      .catch(() => {});
  const answerAll = (): void =>
    void client.request("approvals.list", {}).then(
      ({ approvals }) => approvals.forEach(({ approvalId }) => answer(approvalId)),
      () => {},
    );
  client.onEvent(({ event, data }) => {
    if (event === "exec.approval_request") answer(data.approvalId);
  });
  client.onState((state) => {
    if (state === "open") answerAll();
  });
  if (client.state === "open") answerAll();
}
