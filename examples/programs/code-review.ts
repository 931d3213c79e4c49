// node code-review.ts main: reviews what this branch changed, with a look at the files around it.
import { execFileSync } from "node:child_process";
import { Agent, getModel } from "@bowline/core";
import { createTools } from "bowline/tools";
import { z } from "zod";

const diff = execFileSync("git", ["diff", process.argv[2] ?? "main"], { encoding: "utf8" });
const findings = z.object({
  findings: z.array(
    z.object({
      file: z.string(),
      line: z.number().int(),
      severity: z.enum(["bug", "risk", "style"]),
      message: z.string(),
    }),
  ),
});

const agent = new Agent({
  model: getModel("anthropic", "claude-sonnet-5", { baseUrl: process.env.MODEL_URL }),
  systemPrompt: "You review changes. Read the files around a change before you judge it.",
  tools: createTools({ root: process.cwd(), only: ["read", "grep", "glob"] }),
  budget: { maxTurns: 20, maxTokens: 200_000 },
});
const { output, error } = await agent.prompt(diff, { output: findings });
if (error) throw error;
for (const { file, line, severity, message } of output?.findings ?? [])
  console.log(`${file}:${line} ${severity}: ${message}`);
process.exitCode = output?.findings.some(({ severity }) => severity === "bug") ? 1 : 0;
