/** Helpers for tests of agents. Nothing in the library imports this entry. */
export { createScriptedModel, scriptedToolCall } from "./scripted-model.ts";
export type {
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedStep,
} from "./scripted-model.ts";
export { checkChatRequest } from "./strict-chat.ts";
export { checkMessagesRequest } from "./strict-messages.ts";
export { storeConformance } from "./store-conformance.ts";
export type { ConformanceCase, StoreFixture } from "./store-conformance.ts";
export { effectsConformance } from "./effects-conformance.ts";
export type { EffectsConformanceOptions, EffectsException } from "./effects-conformance.ts";
export { createJournalHarness } from "./effects/journal-harness.ts";
export type { JournalOptions } from "./effects/journal-harness.ts";
export type { AttemptSetup, EffectsHarness } from "./effects/harness.ts";
