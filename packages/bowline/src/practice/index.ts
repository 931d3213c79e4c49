/**
 * The practice model: what answers `bowline run` when there is no key. It is no LLM but a planner
 * with a grammar of task forms, behind a real server, so that everything round a model is at work
 * from the first minute.
 */
export { taskForms } from "./forms.ts";
export { plan } from "./plan.ts";
export type { PracticeMessage, PracticeReply } from "./request.ts";
export { startPracticeServer } from "./server.ts";
export type { PracticeServer } from "./server.ts";
