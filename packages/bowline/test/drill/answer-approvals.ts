/**
 * Allows whatever a person is asked: when it is announced, and on each connection what was
 * announced while nobody was there.
 */
import type { GatewayClient } from "../../src/gateway/client/client.ts";

export function answerApprovals(client: GatewayClient): void {
  // Another may have been faster, or the connection is lost: then it is asked again.
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
