/**
 * What a server refuses by its name is said otherwise at once, and from then on.
 */
// Q105, Q106, Q112, Q113, Q134
import type { Compat, Model } from "../../llm/model.ts";
import type { Protocol } from "../protocol.ts";

/** Words for a field, or a value of it, that a server does not take. */
const refusals =
  /unsupported|n.t (?:support|permit|allow)|unknown|unrecogni|extra|unexpected|instead|incompatible|only (?:\S+ is|allowed)|must be one of/i;

/**
 * What is refused, in lower case, and the switch that keeps it back; of two for the same, the
 * second when the first was no help.
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
 * Sets a switch of the model's `compat`, once each. What was learned is kept for as long as the
 * model object is.
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
        // A switch that was learned is not unlearned, or two refusals would go on for ever.
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
