/** The kit of effects over a session in files. */
import { describePart } from "./effects-parts.ts";
import { createFilesHarness } from "./files-harness.ts";

describePart("approvals", "the effects of a session in files", createFilesHarness, {
  replays: false,
});
