/**
 * Learns from a server that refuses a field by name: the request is changed and retried at once,
 * and later requests are changed too.
 */
// Q105, Q106, Q112, Q113, Q134
import type { Compat, Model } from "../../llm/model.ts";
import type { Protocol } from "../protocol.ts";

/** Phrases by which servers refuse a field or its value. */
const refusals =
  /unsupported|n.t (?:support|permit|allow)|unknown|unrecogni|extra|unexpected|instead|incompatible|only (?:\S+ is|allowed)|must be one of/i;

/**
 * The refused field, in lower case, and the switch that avoids it. If a field has two lessons, the
 * second applies when the first did not help.
 */
const lessons = [
  ["stream_options", "streamUsage", false],
  ["max_tokens", "maxTokensField", "max_completion_tokens"],
  ["max_completion_tokens", "maxTokensField", "max_tokens"],
  ["temperature", "noTemperature", true],
  ["metadata", "noMetadata", true],
  ["effort", "plainEfforts", true],
  ["effort", "thinkingFormat", "none"],
  ["tool_choice", "toolChoice", "auto"],
] as const;

/**
 * Sets switches of the model's `compat`, each once. Lessons are remembered as long as the model
 * object lives.
 */
export function createLearning(): Required<Pick<Protocol, "asLearned" | "learn">> {
  const learned = new WeakMap<Model, Compat>();
  const withCompat = (model: Model, known: Compat): Model => ({
    ...model,
    compat: { ...model.compat, ...known },
  });
  return {
    asLearned(model) {
      const known = learned.get(model);
      return known ? withCompat(model, known) : model;
    },
    learn(model, asked, { code, message }) {
      if (code !== "invalid_request" || !refusals.test(message)) return undefined;
      const words = message.toLowerCase();
      const lesson = lessons.find(
        // A learned switch is not changed back, or two refusals would alternate for ever.
        ([name, key, value]) =>
          words.includes(name) && asked.compat?.[key] !== value && !isLearned(key),
      );
      if (lesson === undefined) return undefined;
      const known = { ...learned.get(model), [lesson[1]]: lesson[2] };
      learned.set(model, known);
      return withCompat(model, known);

      function isLearned(key: keyof Compat): boolean {
        return asked.compat?.[key] !== model.compat?.[key];
      }
    },
  };
}
