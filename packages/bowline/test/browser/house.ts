/** Models and agents to choose from. */
import { BowlineError, type ImageContent } from "@bowline/core";
import { createScriptedModel, type ScriptedStep } from "@bowline/core/testing";
import type { TestOptions } from "../gateway/gateway.ts";

export interface House {
  /** The models called, in order. */
  readonly asked: string[];
  /** The images of the message that was sent last. */
  readonly seen: () => readonly ImageContent[];
  readonly options: TestOptions;
}

/**
 * `house/…` answers, `house/dear` has no key, `house/blind` accepts no images, and other providers
 * do not exist.
 */
export function house(script: readonly ScriptedStep[]): House {
  const asked: string[] = [];
  const { model, streamFn, calls } = createScriptedModel(script);
  const backendFor: TestOptions["backendFor"] = ({ model: reference }) => {
    const [provider = "", id = ""] = reference.split("/");
    if (provider !== "house")
      throw new BowlineError("invalid_argument", `${reference} names no provider.`);
    const message = `${reference} has no key (HOUSE_KEY is not set)`;
    return {
      model: { ...model, provider, id, input: id === "blind" ? ["text"] : ["text", "image"] },
      streamFn: (...call) => {
        asked.push(call[0].id);
        return streamFn(...call);
      },
      isPractice: false,
      ...(id === "dear" && { notice: { code: "practice_model", message } }),
    };
  };
  return {
    asked,
    seen() {
      const content = calls.at(-1)?.context.messages.at(-1)?.content ?? [];
      return typeof content === "string"
        ? []
        : content.filter((part): part is ImageContent => part.type === "image");
    },
    options: {
      agents: () => [
        { id: "assistant", model: "house/small", description: "Helps." },
        { id: "writer", model: "house/fine", description: "Writes." },
      ],
      backendFor,
    },
  };
}
