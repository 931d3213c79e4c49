/**
 * The practice model, which answers `bowline run` when there is no key. It is not an LLM but a
 * planner with a grammar of task forms. It runs behind a real server, so that everything else works
 * from the first minute.
 */
export { taskForms } from "./forms.ts";
export { plan } from "./plan.ts";
export type { PracticeMessage, PracticeReply } from "./request.ts";
export { startPracticeServer } from "./server.ts";
export type { PracticeServer } from "./server.ts";
