/** Help, made from the option tables. docs/cli.md is generated from the same functions. */
import { optionLines, runOptions } from "./options.ts";

export function mainHelp(version: string): string {
  return `bowline ${version}: an agent that works in the current directory

Usage:
  bowline run [options] "<task>"    do a task and print the answer
  bowline --help | --version

Without a key or a local model server the practice model answers, which is no LLM; see bowline run --help.
`;
}

export function runHelp(): string {
  return `Usage: bowline run [options] "<task>"

Does the task in the current directory with the tools read, write, edit, bash, grep and glob. The answer goes to standard
output, everything else to standard error. Text on standard input is added to the task.

File tools cannot leave the directory. bash starts there and is not confined: it can do whatever you can, so it, write and
edit ask first. Without a terminal to ask on they are denied; --yes allows them.

Options:
${optionLines(runOptions)}

Which model, the first of:
  --model or BOWLINE_MODEL
  a key in the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, GROQ_API_KEY,
  DEEPSEEK_API_KEY, MISTRAL_API_KEY, XAI_API_KEY
  a model server on this machine: Ollama (11434), LM Studio (1234), llama.cpp (8080), vLLM (8000)
  the practice model: no LLM, a small planner that needs no key; BOWLINE_DISCOVERY=off goes straight to it

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 budget or timeout used up, 130 aborted
`;
}
