// Reads with the official openai client on Chat Completions: its raw stream, folded here into the
// expected answer, and its own stream helper.
import { emptyAnswer, parseArguments } from "./answer.mjs";

const request = { model: "recorded", messages: [{ role: "user", content: "Say it again." }] };
const stopReasons = {
  stop: "stop",
  length: "length",
  tool_calls: "toolUse",
  content_filter: "error",
};

export function openaiPeers({ default: OpenAI }) {
  const client = (url) => new OpenAI({ apiKey: "dummy", baseURL: url, maxRetries: 0 });
  return [
    {
      name: "openai raw",
      isRaw: true,
      fields: ["text", "thinking", "calls", "stop", "usage", "id", "model"],
      read: (url) => readRaw(client(url)),
    },
    {
      name: "openai helper",
      // The helper drops reasoning, and usage in the places where servers other than OpenAI put it.
      fields: ["text", "calls", "stop", "id", "model"],
      read: (url) => readHelper(client(url)),
    },
  ];
}

async function readRaw(client) {
  const answer = emptyAnswer();
  const calls = [];
  let reason;
  let refusal = "";
  try {
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      const choice = chunk.choices?.[0];
      const usage = chunk.usage ?? choice?.usage ?? chunk.x_groq?.usage;
      if (usage) answer.usage = normalUsage(usage);
      answer.id ||= chunk.id || undefined;
      answer.model ||= chunk.model || undefined;
      const delta = choice?.delta ?? {};
      answer.thinking += reasoningOf(delta);
      answer.text += textOf(delta.content);
      refusal += delta.refusal ?? "";
      if (delta.function_call) addCall(calls, { index: 0, function: delta.function_call });
      for (const call of delta.tool_calls ?? []) addCall(calls, call);
      reason ||= choice?.finish_reason;
    }
  } catch (error) {
    answer.failed = error.message;
  }
  answer.model ??= request.model;
  answer.text += refusal;
  answer.calls = calls.map(({ id, name, text }) => ({ id, name, arguments: parseArguments(text) }));
  answer.stop = stopOf(reason, refusal, answer);
  return answer;
}

function addCall(calls, { index, id, function: fn }) {
  const call = (calls[index] ??= { id, name: "", text: "" });
  call.name ||= fn?.name ?? "";
  call.text += fn?.arguments ?? "";
}

async function readHelper(client) {
  const answer = emptyAnswer();
  try {
    const { id, model, choices } = await client.chat.completions
      .stream(request)
      .finalChatCompletion();
    const { message, finish_reason: reason } = choices[0];
    Object.assign(answer, { id, model });
    // The helper joins Mistral's parts as if they were strings. Their content is compared on the
    // raw stream.
    answer.text =
      textOf(message.content).replaceAll("[object Object]", "") + (message.refusal ?? "");
    const old = message.function_call ? [{ function: message.function_call }] : [];
    answer.calls = (message.tool_calls ?? old).map(({ id: own, function: fn }) => ({
      id: own,
      name: fn.name,
      arguments: parseArguments(fn.arguments),
    }));
    answer.stop = stopOf(reason, message.refusal, answer);
  } catch (error) {
    answer.failed = error.message;
  }
  return answer;
}

/**
 * A stream that ended with [DONE] and no reason is complete. Calls are run for every benign reason.
 */
function stopOf(reason, refusal, { failed, calls }) {
  if (failed !== undefined || refusal) return "error";
  if (reason === "length" || reason === "content_filter") return stopReasons[reason];
  if (calls.length > 0) return "toolUse";
  return reason ? stopReasons[reason] : "stop";
}

/** Mistral sends content as parts. */
function textOf(content) {
  if (!Array.isArray(content)) return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/**
 * Returns the reasoning, which the client passes through in unknown fields. Uses one field if a
 * server fills two.
 */
function reasoningOf({ reasoning_content: own, reasoning, reasoning_details: details, content }) {
  if (own || reasoning) return own || reasoning;
  if (details) return details.map(({ text, summary }) => text ?? summary ?? "").join("");
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part) => (part.type === "thinking" ? part.thinking.map(({ text }) => text) : []))
    .join("");
}

/** Our input count excludes cached tokens, and our output count includes reasoning. */
function normalUsage({ prompt_tokens: prompt, completion_tokens: completion, ...usage }) {
  const cached =
    usage.prompt_tokens_details?.cached_tokens ??
    usage.prompt_cache_hit_tokens ??
    usage.cached_tokens;
  const written = usage.prompt_tokens_details?.cache_write_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? usage.reasoning_tokens;
  return {
    input: prompt - (cached ?? 0) - (written ?? 0),
    output: (reasoning ?? 0) > completion ? completion + reasoning : completion,
    ...(cached != null && { cacheRead: cached }),
    ...(written != null && { cacheWrite: written }),
    ...(reasoning != null && { reasoning }),
  };
}
