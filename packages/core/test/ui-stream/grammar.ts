/** The grammar of a UI message stream, as the client of the AI SDK expects it. */
import assert from "node:assert/strict";
import type { UIMessageChunk } from "../../src/ui-stream/index.ts";

/**
 * Throws unless the chunks are a response: one `start`, steps that do not nest, parts that are
 * opened before they grow and closed once, calls that are known before anything is said of them,
 * and nothing after `finish`. `known` are the ids of the calls that the page has already.
 */
export function checkGrammar(
  chunks: readonly UIMessageChunk[],
  known: readonly string[] = [],
): void {
  const calls = new Set(known);
  let inStep = known.length > 0;
  let stepCalls = new Set<string>();
  let open = new Set<string>();
  let opened = new Set<string>();
  const approvals = new Set<string>();
  assert.equal(chunks[0]?.type, "start");
  assert.equal(chunks.at(-1)?.type, "finish");
  for (const [index, chunk] of chunks.entries()) {
    const where = `chunk ${index}: ${JSON.stringify(chunk)}`;
    switch (chunk.type) {
      case "start":
        assert.equal(index, 0, where);
        break;
      case "finish":
        assert.equal(index, chunks.length - 1, where);
        assert.ok(!inStep, where);
        break;
      case "start-step":
        assert.ok(!inStep, where);
        inStep = true;
        stepCalls = new Set();
        break;
      case "finish-step":
        assert.ok(inStep, where);
        assert.deepEqual([...open], [], where);
        inStep = false;
        break;
      case "reset-step":
        assert.ok(inStep, where);
        for (const id of stepCalls) calls.delete(id);
        for (const id of open) opened.delete(id);
        open = new Set();
        opened = new Set([...opened].filter((id) => !id.startsWith("step:")));
        break;
      case "text-start":
      case "reasoning-start":
        assert.ok(inStep && !opened.has(`step:${chunk.id}`), where);
        open.add(chunk.id);
        opened.add(`step:${chunk.id}`);
        break;
      case "text-delta":
      case "reasoning-delta":
        assert.ok(open.has(chunk.id) && chunk.delta !== "", where);
        break;
      case "text-end":
      case "reasoning-end":
        assert.ok(open.delete(chunk.id), where);
        break;
      case "tool-input-start":
      case "tool-input-available":
      case "tool-input-error":
        assert.ok(inStep && chunk.dynamic, where);
        calls.add(chunk.toolCallId);
        stepCalls.add(chunk.toolCallId);
        break;
      case "tool-approval-request":
        approvals.add(chunk.approvalId);
        assert.ok(calls.has(chunk.toolCallId), where);
        break;
      case "tool-approval-response":
        assert.ok(approvals.has(chunk.approvalId), where);
        break;
      case "tool-input-delta":
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
        assert.ok(inStep && calls.has(chunk.toolCallId), where);
        break;
      case "source-url":
      case "source-document":
      case "file":
        assert.ok(inStep, where);
        break;
      case "steering-message":
        assert.ok(!inStep, where);
        break;
      case "message-metadata":
      case "error":
      case "abort":
        assert.ok(!inStep, where);
        break;
      default:
        assert.match(chunk.type, /^data-[\w-]+$/, where);
    }
  }
}
