// Reads with the official Gemini client: its stream of chunks, folded here into the expected
// answer. The client has no helper for that.
import { emptyAnswer } from "./answer.mjs";

const stopReasons = { STOP: "stop", OTHER: "stop", MAX_TOKENS: "length", CONTINUATION: "length" };

export function googlePeers({ GoogleGenAI }) {
  // With its automatic continuation the client would request the stream again after an error.
  const config = { automaticContinuation: false };
  const fields = ["text", "thinking", "calls", "blocks", "stop", "usage", "id", "model"];
  const read = (url) =>
    readChunks(
      new GoogleGenAI({
        apiKey: "dummy",
        httpOptions: { baseUrl: url },
      }).models.generateContentStream({
        model: "recorded",
        contents: "Say it again.",
        config,
      }),
    );
  return [{ name: "google raw", isRaw: true, fields, read }];
}

async function readChunks(stream) {
  const answer = emptyAnswer();
  let reason;
  try {
    for await (const chunk of await stream) {
      const candidate = chunk.candidates?.[0];
      for (const part of candidate?.content?.parts ?? []) addPart(answer, part);
      if (chunk.usageMetadata) answer.usage = normalUsage(chunk.usageMetadata);
      answer.id ??= chunk.responseId;
      answer.model ??= chunk.modelVersion;
      reason = candidate?.finishReason ?? chunk.promptFeedback?.blockReason ?? reason;
    }
  } catch (error) {
    answer.failed = error.message;
  }
  // An unknown reason does not prove that the calls are complete.
  if (reason === "OTHER" && answer.calls.length > 0) answer.failed ??= "the reason says nothing";
  const stop = answer.failed === undefined ? (stopReasons[reason] ?? "error") : "error";
  answer.stop = stop === "stop" && answer.calls.length > 0 ? "toolUse" : stop;
  return answer;
}

/** Appends text to the open part, unless a signature has ended that part. */
function addPart(answer, part) {
  const { text, thought, functionCall: call, thoughtSignature: signature } = part;
  const last = answer.blocks.at(-1);
  if (call !== undefined) {
    const { id, name, args = {} } = call;
    answer.calls.push({ id, name, arguments: args });
    answer.blocks.push({ name, args, id, signature });
  } else if (text === undefined) answer.blocks.push(part);
  else {
    const kind = thought === true ? "thought" : "text";
    answer[kind === "text" ? "text" : "thinking"] += text;
    if (signature !== undefined && text.trim() === "") {
      // The signature of blank text gets a block of its own, since it cannot be sent back with
      // blank text.
      if (text !== "") addText(answer, kind, text);
      answer.blocks.push({
        ...(kind === "thought" && { thought: true }),
        text: "",
        thoughtSignature: signature,
      });
    } else if (signature !== undefined) answer.blocks.push({ [kind]: text, signature });
    else if (text !== "") addText(answer, kind, text, last);
  }
}

function addText(answer, kind, text) {
  const last = answer.blocks.at(-1);
  const isOpen =
    typeof last?.[kind] === "string" &&
    last.signature === undefined &&
    last.thoughtSignature === undefined;
  if (isOpen) last[kind] += text;
  else answer.blocks.push({ [kind]: text });
}

/**
 * The last counts cover the whole answer. Our counts differ: input excludes cached tokens and
 * includes server tools, and output includes thoughts.
 */
function normalUsage({ promptTokenCount: prompt, cachedContentTokenCount: cacheRead, ...counts }) {
  const {
    candidatesTokenCount: said,
    thoughtsTokenCount: reasoning,
    toolUsePromptTokenCount: tools = 0,
  } = counts;
  return {
    input: prompt - (cacheRead ?? 0) + tools,
    ...((said ?? reasoning) !== undefined && { output: (said ?? 0) + (reasoning ?? 0) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(reasoning !== undefined && { reasoning }),
  };
}
