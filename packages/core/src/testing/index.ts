/** For tests of agents. Nothing in the library imports this. */
export { createScriptedModel, scriptedToolCall } from "./scripted-model.ts";
export type {
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedStep,
} from "./scripted-model.ts";
