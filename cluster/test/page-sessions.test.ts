/** The page in Chromium against a cluster: its list of sessions, tabs and questions, as in one process. */
import { definePageTests } from "../kit/page-tests.ts";

await definePageTests(["tabs", "question", "sessions"]);
