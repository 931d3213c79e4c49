/**
 * Any provider of seed 003's shape as a stream function, so that it works wherever a model does.
 */
import {
  BowlineError,
  EventStream,
  isBowlineError,
  systemClock,
  toErrorInfo,
  toJsonSchema,
  type AssistantContent,
  type AssistantMessage,
  type AssistantMessageEvent,
  type StreamFn,
} from "@bowline/core";
import { fromTranscript } from "./messages.ts";
import type { ModelProvider } from "./types.ts";

export function toStreamFn(provider: ModelProvider): StreamFn {
  return (
    model,
    { systemPrompt = "", messages, tools = [] },
    { signal, maxTokens, clock = systemClock },
  ) =>
    new EventStream<AssistantMessageEvent, AssistantMessage>(async (push, stop) => {
      const from = {
        api: model.api,
        provider: model.provider,
        model: model.id,
        timestamp: clock.now(),
      };
      const content: AssistantContent[] = [];
      const message: AssistantMessage = {
        role: "assistant",
        content,
        ...from,
        usage: {},
        stopReason: "stop",
      };
      const emit = (event: AssistantMessageEvent): void => push([event]);
      const closeText = (): void => {
        const last = content.at(-1);
        if (last?.type !== "text") return;
        emit({
          type: "text_end",
          attempt: 1,
          contentIndex: content.length - 1,
          content: last.text,
        });
      };
      emit({ type: "start", attempt: 1, ...from });
      try {
        const definitions = tools.map(({ name, description, parameters }) => {
          return { name, description, inputSchema: toJsonSchema(parameters, `tool "${name}"`) };
        });
        const events = provider.chat({
          model: model.id,
          systemPrompt,
          messages: fromTranscript(messages),
          tools: definitions,
          signal: stop,
          ...(maxTokens !== undefined && { maxTokens }),
        });
        let isWhole = false;
        for await (const event of events) {
          if (stop.aborted) throw new BowlineError("aborted", "The request was aborted.");
          if (event.type === "error") throw new BowlineError("server_error", event.message);
          if (event.type === "final") {
            message.usage = { input: event.usage.inputTokens, output: event.usage.outputTokens };
            isWhole = true;
            break;
          }
          if (event.type === "delta") {
            const last = content.at(-1);
            if (last?.type === "text") last.text += event.text;
            else {
              content.push({ type: "text", text: event.text });
              emit({ type: "text_start", attempt: 1, contentIndex: content.length - 1 });
            }
            emit({
              type: "text_delta",
              attempt: 1,
              contentIndex: content.length - 1,
              delta: event.text,
            });
            continue;
          }
          closeText();
          const { callId: id, name, input } = event;
          const toolCall = { type: "toolCall", id, name, arguments: input } as const;
          content.push({ ...toolCall });
          const contentIndex = content.length - 1;
          emit({ type: "toolcall_start", attempt: 1, contentIndex, id, name });
          emit({ type: "toolcall_end", attempt: 1, contentIndex, toolCall: { ...toolCall } });
        }
        if (!isWhole)
          throw new BowlineError("stream_truncated", "The provider ended without a final event.");
        closeText();
        const reason = content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
        message.stopReason = reason;
        emit({ type: "done", attempt: 1, reason, message });
      } catch (thrown) {
        const error = isBowlineError(thrown) ? thrown : failure(thrown, stop);
        const reason = error.code === "aborted" ? "aborted" : "error";
        Object.assign(message, {
          stopReason: reason,
          errorMessage: error.message,
          error: toErrorInfo(error),
        });
        emit({ type: "error", attempt: 1, reason, error: message });
      }
      return message;
    }, signal);
}

function failure(thrown: unknown, { aborted }: AbortSignal): BowlineError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new BowlineError(aborted ? "aborted" : "stream_function_failed", message, {
    cause: thrown,
  });
}
