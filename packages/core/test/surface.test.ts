/**
 * The public surface as a list. A change here is a change for users and belongs in the changelog.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as agent from "../src/agent/index.ts";
import * as customPrices from "../src/custom-prices.ts";
import { errorCodes } from "../src/errors.ts";
import * as main from "../src/index.ts";
import * as partial from "../src/partial/index.ts";
import * as prices from "../src/prices.ts";
import * as anthropicMessages from "../src/providers/anthropic-messages/index.ts";
import * as googleGenerate from "../src/providers/google-generate/index.ts";
import * as openaiResponses from "../src/providers/openai-responses/index.ts";
import * as openaiChat from "../src/providers/openai-chat/index.ts";
import * as proxy from "../src/providers/proxy/index.ts";
import * as session from "../src/session/index.ts";
import * as sessionNode from "../src/session/node/index.ts";
import * as testing from "../src/testing/index.ts";
import * as uiStream from "../src/ui-stream/index.ts";
import * as undici from "../src/transport/node/undici.ts";

const names = (entry: object): string[] => Object.keys(entry).toSorted();

describe("the public surface", () => {
  it("has these entries", async () => {
    const manifest = JSON.parse(
      await readFile(join(import.meta.dirname, "../package.json"), "utf8"),
    ) as {
      exports: object;
    };
    assert.deepEqual(Object.keys(manifest.exports), [
      ".",
      "./agent",
      "./openai-chat",
      "./anthropic-messages",
      "./openai-responses",
      "./google-generate",
      "./proxy",
      "./partial",
      "./session",
      "./session/node",
      "./ui-stream",
      "./testing",
      "./undici",
      "./prices",
      "./custom-prices",
      "./package.json",
    ]);
  });

  it("has these values in the main entry", () => {
    assert.deepEqual(names(main), [
      "Agent",
      "BowlineError",
      "CompletionError",
      "EventStream",
      "addUsage",
      "agentLoop",
      "agentLoopContinue",
      "applyEvent",
      "billedUsage",
      "checkJson",
      "complete",
      "contextTokens",
      "createAgentTool",
      "createBudget",
      "createCompaction",
      "createFailover",
      "createLlmFilter",
      "createMemoryEffects",
      "createProgressGuard",
      "createRecorder",
      "createRedactor",
      "defineTool",
      "dropImages",
      "dropThinking",
      "errorCodes",
      "estimateTokens",
      "getModel",
      "isBowlineError",
      "isEventOf",
      "isLlmMessage",
      "isTerminal",
      "keepLastTurns",
      "messageText",
      "parseModelRef",
      "reduceEvents",
      "requireApproval",
      "runAgentLoop",
      "runAgentLoopContinue",
      "runLoop",
      "shortenToolResults",
      "streamByProtocol",
      "streamProxy",
      "supportsOutput",
      "systemClock",
      "textResult",
      "toErrorInfo",
      "toJsonSchema",
      "toResponseEvent",
      "toolCallsOf",
      "vendors",
      "whyNotSent",
      "withJsonSchema",
    ]);
  });

  it("has these values in the others", () => {
    assert.deepEqual(names(agent), [
      "Agent",
      "AgentStream",
      "agentLoop",
      "agentLoopContinue",
      "checkAgentOptions",
      "checkLoopConfig",
      "checkNames",
      "contextTokens",
      "createAgentTool",
      "createBudget",
      "createCompaction",
      "createLlmFilter",
      "createMemoryEffects",
      "createOutputRun",
      "createProgressGuard",
      "defineTool",
      "dropImages",
      "dropThinking",
      "estimateTokens",
      "isEventOf",
      "keepLastTurns",
      "requireApproval",
      "runAgentLoop",
      "runAgentLoopContinue",
      "runLoop",
      "shortenToolResults",
      "textResult",
      "toResponseEvent",
    ]);
    assert.deepEqual(names(openaiChat), [
      "openaiChat",
      "openaiCompatible",
      "streamOpenaiChat",
      "streamOpenaiCompatible",
    ]);
    assert.deepEqual(names(anthropicMessages), [
      "anthropic",
      "anthropicMessages",
      "streamAnthropicMessages",
    ]);
    assert.deepEqual(names(openaiResponses), [
      "openai",
      "openaiResponses",
      "streamOpenaiResponses",
    ]);
    assert.deepEqual(names(googleGenerate), ["google", "googleGenerate", "streamGoogleGenerate"]);
    assert.deepEqual(names(partial), [
      "anyOutput",
      "applyIncrement",
      "partialArguments",
      "partialOutput",
    ]);
    assert.deepEqual(names(proxy), ["createStreamProxyHandler", "streamProxy"]);
    assert.deepEqual(names(session), [
      "addToSummary",
      "attachSession",
      "checkSequence",
      "checkSessionId",
      "createMemoryStore",
      "createSession",
      "entriesOfEvent",
      "inJson",
      "isKnownEntry",
      "isStoredFile",
      "openSession",
      "pageOf",
      "putBackFiles",
      "resumeSession",
      "sessionExists",
      "sessionLocked",
      "sessionNotFound",
      "sessionToHtml",
      "sessionToJson",
      "sessionToMarkdown",
      "storedFilesIn",
      "summaryOf",
      "takeOutFiles",
      "toJson",
      "unansweredResults",
      "unknownOutcome",
      "unwritable",
    ]);
    assert.deepEqual(names(sessionNode), ["createJsonlStore", "makeFolder"]);
    assert.deepEqual(names(undici), ["createUndiciFetch"]);
    assert.deepEqual([prices, customPrices].map(names), [["withPrices"], ["withPrices"]]);
    assert.deepEqual(names(uiStream), [
      "ChatRuns",
      "fromUIMessages",
      "openChats",
      "toUIMessageResponse",
      "toUIMessageStream",
      "toUIMessages",
    ]);
    assert.deepEqual(names(testing), [
      "checkChatRequest",
      "checkMessagesRequest",
      "createJournalHarness",
      "createScriptedModel",
      "effectsConformance",
      "scriptedToolCall",
      "storeConformance",
    ]);
  });

  it("has these error codes", () => {
    assert.deepEqual(
      [...errorCodes],
      [
        "invalid_argument",
        "invalid_state",
        "aborted",
        "timeout",
        "connection_failed",
        "authentication_failed",
        "permission_denied",
        "not_found",
        "invalid_request",
        "request_too_large",
        "context_overflow",
        "rate_limited",
        "quota_exceeded",
        "overloaded",
        "server_error",
        "unexpected_response",
        "stream_truncated",
        "stream_corrupt",
        "empty_response",
        "refusal",
        "content_filtered",
        "budget_exceeded",
        "no_progress",
        "invalid_output",
        "listener_failed",
        "hook_failed",
        "reader_too_slow",
        "stream_function_failed",
        "session_locked",
        "storage_failed",
        "internal_error",
      ],
    );
  });

  it("has these vendors", () => {
    assert.deepEqual(
      main.vendors.map(({ id, keyVariable }) => [id, keyVariable]),
      [
        ["anthropic", "ANTHROPIC_API_KEY"],
        ["openai", "OPENAI_API_KEY"],
        ["google", "GEMINI_API_KEY"],
        ["openrouter", "OPENROUTER_API_KEY"],
        ["groq", "GROQ_API_KEY"],
        ["deepseek", "DEEPSEEK_API_KEY"],
        ["mistral", "MISTRAL_API_KEY"],
        ["xai", "XAI_API_KEY"],
        ["together", "TOGETHER_API_KEY"],
        ["fireworks", "FIREWORKS_API_KEY"],
        ["cerebras", "CEREBRAS_API_KEY"],
        ["moonshot", "MOONSHOT_API_KEY"],
        ["zai", "ZAI_API_KEY"],
        ["dashscope", "DASHSCOPE_API_KEY"],
        ["azure", "AZURE_OPENAI_API_KEY"],
        ["copilot", "COPILOT_TOKEN"],
        ["ollama", undefined],
        ["lmstudio", undefined],
        ["llamacpp", undefined],
        ["vllm", undefined],
        ["litellm", undefined],
        ["sglang", undefined],
      ],
    );
  });
});

describe("a model reference", () => {
  it("is split at the first slash, so that ids may contain slashes", () => {
    assert.deepEqual(main.parseModelRef("openrouter/anthropic/claude"), {
      provider: "openrouter",
      model: "anthropic/claude",
    });
  });

  it("needs both halves", () => {
    for (const bad of ["", "gpt", "/gpt", "openai/", " / "])
      assert.throws(() => main.parseModelRef(bad), /provider\/model/, bad);
  });

  it("of an unknown provider needs a base URL", () => {
    assert.throws(() => main.getModel("acme", "m"), /Unknown provider "acme"/);
    assert.equal(
      main.getModel("acme", "m", { baseUrl: "http://127.0.0.1:1/v1" }).api,
      "openai-chat",
    );
    assert.throws(
      () => main.getModel("azure", "m"),
      /Azure OpenAI has no default address: give a base URL/,
    );
    const azure = main.getModel("azure", "m", { baseUrl: "https://me.openai.azure.com/openai/v1" });
    const { headers } = openaiChat.openaiChat.encode(
      azure,
      { messages: [{ role: "user", content: "Hi", timestamp: 1 }] },
      { apiKey: "k" },
    );
    assert.deepEqual([headers["api-key"], headers.authorization], ["k", undefined]);
  });
});
