// The official openai client: its raw stream, put together here by the reference, and its own stream helper.
import { emptyAnswer, parseArguments } from "./answer.mjs";

const request = { model: "recorded", messages: [{ role: "user", content: "Say it again." }] };
const stopReasons = { stop: "stop", length: "length", tool_calls: "toolUse" };

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
      // It keeps neither reasoning nor where servers other than OpenAI put usage.
      fields: ["text", "calls", "stop", "model"],
      read: (url) => readHelper(client(url)),
    },
  ];
}

async function readRaw(client) {
  const answer = emptyAnswer();
  const calls = [];
  let reason;
  try {
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      const choice = chunk.choices?.[0];
      const usage = chunk.usage ?? choice?.usage ?? chunk.x_groq?.usage;
      if (usage) answer.usage = normalUsage(usage);
      const delta = choice?.delta ?? {};
      answer.thinking += reasoningOf(delta);
      answer.text += textOf(delta.content);
      for (const { index, function: fn } of delta.tool_calls ?? []) {
        calls[index] ??= { name: "", arguments: "" };
        calls[index].name ||= fn?.name ?? "";
        calls[index].arguments += fn?.arguments ?? "";
      }
      reason ||= choice?.finish_reason;
    }
  } catch (error) {
    answer.failed = error.message;
  }
  answer.calls = calls.map(({ name, arguments: text }) => ({ name, arguments: parseArguments(text) }));
  answer.stop = stopOf(reason, answer);
  return answer;
}

async function readHelper(client) {
  const answer = emptyAnswer();
  try {
    const { choices } = await client.chat.completions.stream(request).finalChatCompletion();
    const { message, finish_reason: reason } = choices[0];
    // It joins Mistral's parts as if they were strings; what was in them is compared on the raw stream.
    answer.text = textOf(message.content).replaceAll("[object Object]", "");
    answer.calls = (message.tool_calls ?? []).map(({ function: fn }) => ({
      name: fn.name,
      arguments: parseArguments(fn.arguments),
    }));
    answer.stop = stopOf(reason, answer);
  } catch (error) {
    answer.failed = error.message;
  }
  return answer;
}

/** A stream that ended by [DONE] without a reason is complete; calls are run whatever the benign reason. */
function stopOf(reason, { failed, calls }) {
  if (failed !== undefined) return "error";
  if (reason === "length") return "length";
  if (calls.length > 0) return "toolUse";
  return reason ? stopReasons[reason] : "stop";
}

/** Mistral sends parts. */
function textOf(content) {
  if (!Array.isArray(content)) return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Reasoning in the fields that the client hands through without knowing them; one of them, where a server fills two. */
function reasoningOf({ reasoning_content: own, reasoning, reasoning_details: details, content }) {
  if (own || reasoning) return own || reasoning;
  if (details) return details.map(({ text, summary }) => text ?? summary ?? "").join("");
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (part.type === "thinking" ? part.thinking.map(({ text }) => text) : [])).join("");
}

/** Ours counts the cache apart from the input, and reasoning into the output. */
function normalUsage({ prompt_tokens: prompt, completion_tokens: completion, ...usage }) {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  const written = usage.prompt_tokens_details?.cache_write_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? usage.reasoning_tokens ?? 0;
  return {
    input: prompt - (cached ?? 0) - (written ?? 0),
    output: reasoning > completion ? completion + reasoning : completion,
    ...(cached != null && { cacheRead: cached }),
    ...(written != null && { cacheWrite: written }),
  };
}
