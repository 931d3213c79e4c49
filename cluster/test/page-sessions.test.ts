/** The page in Chromium against a cluster: its list of sessions, tabs and questions, as in one process. */
// oxlint-disable import/no-unassigned-import -- these files define their tests when they are imported
import "../kit/use-clusters.ts";
import "../../packages/bowline/test/browser/question.test.ts";
import "../../packages/bowline/test/browser/sessions.test.ts";
import "../../packages/bowline/test/browser/tabs.test.ts";
