export { taskForms } from "./forms.ts";
export type { TaskForm } from "./forms.ts";
export { plan } from "./plan.ts";
export type { PracticeMessage, PracticeReply, PracticeRequest, PracticeToolCall } from "./request.ts";
export { startPracticeServer } from "./server.ts";
export type { PracticeServer, PracticeServerOptions } from "./server.ts";
