// The official Gemini client: its stream of chunks, put together here by the reference. It has
// nothing that does so itself.
import { emptyAnswer } from "./answer.mjs";

const stopReasons = { STOP: "stop", OTHER: "stop", MAX_TOKENS: "length", CONTINUATION: "length" };

export function googlePeers({ GoogleGenAI }) {
  // With its own continuation a stream that an error ended would be asked for again.
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
  // An unknown reason proves no call.
  if (reason === "OTHER" && answer.calls.length > 0) answer.failed ??= "the reason says nothing";
  const stop = answer.failed === undefined ? (stopReasons[reason] ?? "error") : "error";
  answer.stop = stop === "stop" && answer.calls.length > 0 ? "toolUse" : stop;
  return answer;
}

/** Text goes on as the part that is open, unless a signature stands between. */
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
      // Blank text is written, and its signature stands apart: it cannot be sent back with blank
      // text.
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
 * The last counts are those of the whole. Ours counts the cache apart from the input, server tools
 * into it, thoughts into the output.
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
