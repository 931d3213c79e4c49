// Checks random requests of our encoders against the request types of the official clients, with
// the compiler. Sends nothing.
import * as fc from "fast-check";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anthropicMessages } from "@bowline/core/anthropic-messages";
import { googleGenerate } from "@bowline/core/google-generate";
import { openaiCompatible } from "@bowline/core/openai-chat";
import { openaiResponses } from "@bowline/core/openai-responses";
import * as messages from "../packages/core/test/providers/anthropic-messages/transcripts.ts";
import * as responses from "../packages/core/test/providers/openai-responses/transcripts.ts";
import { asRead } from "../packages/core/test/support.ts";
import * as any from "../packages/core/test/providers/transcripts.ts";
import { own as ownTools } from "../packages/core/test/providers/provider-tools/values.ts";

const here = import.meta.dirname;
const root = join(here, "..");
const reasoning = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/**
 * Google's types are those of its client, which has enums where the wire has their texts. On the
 * wire the fields of `config` are fields of the body.
 */
const googleTypes = `
type Words<T> = unknown extends T ? T : T extends string ? \`\${T}\` : T extends (infer E)[] ? Words<E>[] : T extends object ? { [K in keyof T]: Words<T[K]> } : T;
export interface Body { contents: Words<T.Content>[]; systemInstruction?: Words<T.Content>; tools?: Words<T.Tool>[]; toolConfig?: Words<T.ToolConfig>; generationConfig?: Words<T.GenerationConfig> }`;

/**
 * `exempt` removes fields from a body that the types lack: documented ones, and those of a server's
 * dialect.
 */
const wires = {
  "openai-chat": {
    protocol: openaiCompatible,
    file: join(here, "node_modules/openai/resources/chat/completions/completions.d.ts"),
    types: ["T.ChatCompletionCreateParamsStreaming", "T.ChatCompletionCreateParamsNonStreaming"],
    asked: ofModels(any.models("openai", "m")),
    exempt(body, { thinkingFormat, cacheKeyField, replayReasoning }) {
      if (thinkingFormat !== "reasoning_effort") delete body[thinkingFormat];
      if (cacheKeyField === "session_id") delete body.session_id;
      for (const message of body.messages) {
        if (replayReasoning && message.role === "assistant")
          for (const field of reasoning) delete message[field];
        for (const call of message.tool_calls ?? []) delete call.extra_content; // Gemini's signature (Q089)
      }
    },
  },
  "anthropic-messages": {
    protocol: anthropicMessages,
    file: join(here, "node_modules/@anthropic-ai/sdk/resources/messages/messages.d.ts"),
    types: ["T.MessageCreateParamsStreaming", "T.MessageCreateParamsNonStreaming"],
    tools: {
      file: join(here, "node_modules/@anthropic-ai/sdk/resources/beta/messages/messages.d.ts"),
      type: "T.BetaToolUnion",
    },
    asked: fc.oneof(
      ofModels(any.models("anthropic", "m")),
      fc.record({
        model: messages.models,
        context: filed(messages.contexts),
        options: messages.options,
      }),
    ),
    exempt(body) {
      // the types are of API version 2026-10-21; our requests use 2023-06-01, which has the field
      delete body.temperature;
    },
  },
  "openai-responses": {
    protocol: openaiResponses,
    file: join(here, "node_modules/openai/resources/responses/responses.d.ts"),
    types: ["T.ResponseCreateParamsStreaming", "T.ResponseCreateParamsNonStreaming"],
    tools: { type: "T.Tool" },
    asked: fc.record({
      model: responses.models,
      context: filed(responses.contexts),
      options: responses.options,
    }),
    // Items that the server does not store have no ids:
    // https://github.com/openai/openai-openapi/issues/565
    exempt(body) {
      for (const item of body.input) {
        if (item.type === "reasoning") item.id ??= "rs_1";
        if (item.role === "assistant") Object.assign(item, { id: "msg_1", status: "completed" });
      }
    },
  },
  "google-generate": {
    protocol: googleGenerate,
    file: join(root, "conformance/node_modules/@google/genai/dist/genai.d.ts"),
    types: ["Body", "Body"],
    more: googleTypes,
    tools: { type: "Words<T.Tool>" },
    asked: fc
      .constantFrom("gemini-2.5-flash", "gemini-3-flash-preview")
      .chain((id) =>
        ofModels(any.models("google", id).map((model) => ({ ...model, api: "google-generate" }))),
      ),
    exempt() {},
  },
};

/**
 * Returns true if the compiler accepted all requests. `protocol` limits the check to one protocol.
 */
export function checkRequests({ runs, seed, protocol }) {
  let isGood = true;
  for (const [name, wire] of Object.entries(wires)) {
    if (protocol !== undefined && protocol !== name) continue;
    if (!existsSync(wire.file)) {
      console.log(`skipped: no requests of ${name} (npm run conformance installs its client)`);
      continue;
    }
    const started = performance.now();
    const report = (what, complaints) => {
      const outcome = complaints === "" ? "ok" : `DIFFERENT\n${complaints}`;
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${name.padEnd(19)} ${what}: ${outcome}, ${seconds} s`);
      isGood &&= complaints === "";
    };
    const [streaming, whole] = wire.types;
    const bodies = bodiesOf(wire, { numRuns: runs, seed });
    const typed = bodies.map((body) => [body.stream === true ? streaming : whole, body]);
    report(`${runs} random requests, seed ${seed}`, compile(wire, typed));
    if (wire.tools === undefined) continue;
    const entries = ownTools[name].map(([, entry]) => [wire.tools.type, entry]);
    report(`${entries.length} of its own tools`, compile({ ...wire, ...wire.tools }, entries));
  }
  return isGood;
}

/** A transcript with a file in its last message, which the wire may refuse, and a tool result. */
function withFile(context, part) {
  const before = context.messages.map((message) =>
    message.role === "toolResult" ? { ...message, content: [...message.content, part] } : message,
  );
  const asked = { role: "user", content: [part, { type: "text", text: "Read it." }], timestamp: 0 };
  return { ...context, messages: [...before, asked] };
}

function filed(contexts) {
  return fc.oneof(
    contexts,
    fc.tuple(contexts, any.wireFiles).map((drawn) => withFile(...drawn)),
  );
}

function ofModels(models) {
  return models
    .chain((model) =>
      fc.record({
        model: fc.constant(model),
        context: filed(any.contexts(model)),
        options: any.options,
      }),
    )
    .filter(({ context: { tools }, options: { toolChoice: choice } }) => {
      return typeof choice !== "object" || tools.some(({ name }) => name === choice.name);
    });
}

function bodiesOf({ protocol, asked, exempt }, parameters) {
  return fc.sample(asked, parameters).flatMap(({ model, context, options }) => {
    try {
      const body = asRead(protocol.encode(model, ownPartsOnly(context), options).body);
      exempt(body, model.compat ?? {});
      return [body];
    } catch (error) {
      if (error.code === "invalid_argument") return []; // nothing to send
      throw error;
    }
  });
}

/**
 * Removes the blocks and citations that the generators invented. They are sent back unchanged, and
 * no server sent them.
 */
function ownPartsOnly(context) {
  const own = (content) =>
    content.flatMap(({ textSignature, ...part }) => {
      if (part.type === "opaque") return [];
      const isKept = textSignature !== undefined && !/citation/.test(textSignature);
      return [isKept ? { ...part, textSignature } : part];
    });
  const owned = (message) =>
    message.role === "assistant" ? { ...message, content: own(message.content) } : message;
  return { ...context, messages: context.messages.map(owned) };
}

/**
 * Returns the first lines of the compiler's errors, or undefined. The values are literals of a
 * type, so that unknown fields are errors.
 */
function compile({ file, more = "" }, typed) {
  const folder = mkdtempSync(join(tmpdir(), "bowline-requests-"));
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable", "esnext.disposable"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  const literals = typed.map(([type, value], index) => {
    return `export const value${index}: ${type} = ${JSON.stringify(value)};`;
  });
  try {
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["bodies.ts"] }),
    );
    const head = `import type * as T from ${JSON.stringify(file.replace(/\.d\.ts$/, ".js"))};${more}`;
    writeFileSync(join(folder, "bodies.ts"), [head, ...literals].join("\n"));
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"],
      { encoding: "utf8", maxBuffer: 1 << 28 },
    );
    return status === 0 ? "" : (stdout + stderr).split("\n").slice(0, 20).join("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
