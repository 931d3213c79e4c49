/** Each kind of entry and content in the exports for people, as both formats show it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createMemoryStore,
  createSession,
  sessionToHtml,
  sessionToMarkdown,
  type EntryBody,
} from "../../src/session/index.ts";
import type { AssistantContent, UserContent } from "../../src/llm/message.ts";

/** Returns the sections of a session with this entry, without the time in HTML. */
async function shown(entry: EntryBody): Promise<{ markdown: string; html: string }> {
  const clock = { now: () => 0, setTimer: () => () => {} };
  const session = await createSession(createMemoryStore(), { id: "s", clock });
  await session.append(entry);
  const markdown = (await sessionToMarkdown(session)).split("\n\n").slice(2).join("\n\n");
  const [, html = ""] = (await sessionToHtml(session)).split("</p>\n");
  return {
    markdown: markdown.trimEnd(),
    html: html.replace("\n</body>\n</html>\n", "").replaceAll(/<time.*?<\/time>/g, ""),
  };
}

const answer = (...content: AssistantContent[]): EntryBody => ({
  type: "message",
  message: {
    role: "assistant",
    content,
    api: "a",
    provider: "p",
    model: "m",
    usage: {},
    stopReason: "stop",
    timestamp: 1,
  },
});

const question = (...content: UserContent[]): EntryBody => ({
  type: "message",
  message: { role: "user", content, timestamp: 1 },
});

const note = (heading: string): [string, string] => [
  `## ${heading}`,
  `<section class="note"><h2>${heading}</h2></section>`,
];
const nothing: [string, string] = ["", ""];
const model = { type: "model_change", provider: "p", model: "m" } as const;

const entries: readonly [string, EntryBody, [string, string]][] = [
  ["a run that is done", { type: "run_end", runId: "r", reason: "done" }, nothing],
  [
    "an aborted run",
    { type: "run_end", runId: "r", reason: "aborted" },
    note("The run ended: aborted"),
  ],
  ["a compaction of tool results", { type: "compaction", summary: "", firstKeptId: null }, nothing],
  [
    "a withdrawn compaction",
    { type: "compaction_undo", compactionId: "c" },
    note("The summary was withdrawn: the model gets the earlier messages again"),
  ],
  ["a model", model, note("The model is now p/m")],
  ["a model of an agent", { ...model, agent: "x" }, note("The model is now p/m")],
  ["an agent", { ...model, model: "", agent: "x" }, note("The agent is now x")],
  [
    "an answer to an approval",
    { type: "approval_answer", approvalId: "a", decision: "allow" },
    note("Approval: allow"),
  ],
  [
    "a person's answer to an approval",
    { type: "approval_answer", approvalId: "a", decision: "deny", by: "Ada" },
    note("Approval: deny by Ada"),
  ],
  ["an abort", { type: "abort", runId: "r" }, nothing],
  ["an entry of a newer version", { type: "from tomorrow" } as never, nothing],
];

const link = (url: string): string => `<a rel="noreferrer" href="${url}">${url}</a>`;
const png = { type: "image", mimeType: "image/png" } as const;
const pdf = { type: "file", mimeType: "application/pdf" } as const;
const call = { type: "toolCall", id: "c", name: "f", arguments: { a: 1 } } as const;

const answers: readonly [string, AssistantContent, string, string][] = [
  ["empty thinking", { type: "thinking", thinking: "" }, "", ""],
  ["a call", call, '### Call of `f`\n\n```json\n{\n  "a": 1\n}\n```', "{\n  &quot;a&quot;: 1\n}"],
  [
    "a call whose arguments are not JSON",
    { ...call, arguments: {}, argumentsText: '{"a"', argumentsError: "cut" },
    '### Call of `f`\n\n```json\n{"a"\n```',
    "{&quot;a&quot;",
  ],
  [
    "a source",
    { type: "source", url: "https://x.test/a" },
    "*Source: `https://x.test/a`*",
    link("https://x.test/a"),
  ],
  [
    "a source with a title",
    { type: "source", title: "T", url: "https://x.test/a" },
    "*Source: `T`, `https://x.test/a`*",
    `T ${link("https://x.test/a")}`,
  ],
  [
    "a source whose title is its address",
    { type: "source", title: "http://x.test", url: "http://x.test" },
    "*Source: `http://x.test`*",
    link("http://x.test"),
  ],
  ["a source with a name", { type: "source", name: "a.pdf" }, "*Source: `a.pdf`*", "a.pdf "],
  [
    "a source that a browser should not open",
    { type: "source", url: "file:a" },
    "*Source: `file:a`*",
    "Source: file:a",
  ],
];

const media: readonly [string, UserContent, string, string][] = [
  [
    "an image",
    { ...png, data: "aGk=" },
    "*An image (image/png, 3 bytes)*",
    '<img alt="" src="data:image/png;base64,aGk=">',
  ],
  [
    "an image at an address",
    { ...png, url: "https://x.test/a" },
    "*An image (image/png, https://x.test/a)*",
    `An image (image/png): ${link("https://x.test/a")}`,
  ],
  [
    "an image at an address that a browser should not open",
    { ...png, url: "file:a" },
    "*An image (image/png, file:a)*",
    "An image (image/png): file:a",
  ],
  [
    "an image that may run scripts",
    { ...png, mimeType: "image/svg+xml", data: "aGk=" },
    "*An image (image/svg+xml, 3 bytes)*",
    "<p>An image (image/svg+xml)</p>",
  ],
  [
    "an image that is not Base64",
    { ...png, data: "a b" },
    "*An image (image/png, 3 bytes)*",
    "<p>An image (image/png)</p>",
  ],
  [
    "a file with a name",
    { ...pdf, name: "a.pdf", data: "aGk=" },
    "*A file (a.pdf, application/pdf, 3 bytes)*",
    '<a download="a.pdf" href="data:application/octet-stream;base64,aGk=">A file (a.pdf, application/pdf)</a>',
  ],
  [
    "a file without a name",
    { ...pdf, data: "aGk=" },
    "*A file (application/pdf, 3 bytes)*",
    '<a download="" href="data:application/octet-stream;base64,aGk=">A file (application/pdf)</a>',
  ],
];

describe("an export shows", () => {
  for (const [title, entry, [markdown, html]] of entries)
    it(`${markdown === "" ? "nothing of " : ""}${title}`, async () =>
      assert.deepEqual(await shown(entry), { markdown, html }));

  for (const [title, part, markdown, html] of answers)
    it(`${markdown === "" ? "nothing of " : ""}${title}`, async () => {
      const both = await shown(answer(part));
      assert.equal(both.markdown, `## Assistant (m)${markdown && `\n\n${markdown}`}`);
      const head = '<section class="assistant"><h2>Assistant (m)</h2>';
      const own = both.html.slice(head.length, -"</section>".length);
      assert.ok(html === "" ? own === "" : own.includes(html), own);
    });

  for (const [title, part, markdown, html] of media)
    it(title, async () => {
      const both = await shown(question(part));
      assert.equal(both.markdown, `## User\n\n${markdown}`);
      assert.ok(both.html.includes(html), both.html);
    });

  it("a successful result of a tool as text, without its failure", async () => {
    const content = [{ type: "text", text: "ok" }] as const;
    const about = { toolCallId: "c", toolName: "f", isError: false, timestamp: 1 } as const;
    const message = { role: "toolResult", content: [...content], ...about } as const;
    const both = await shown({ type: "message", message });
    assert.equal(both.markdown, "### Result of `f`\n\n```\nok\n```");
    assert.match(both.html, /<h2>Result of f<\/h2><pre>ok<\/pre>/);
  });

  it("a text with backticks in a longer fence", async () => {
    const both = await shown(answer({ ...call, name: "a``b" }));
    assert.match(both.markdown, /### Call of ``` a``b ```\n/);
  });

  it("a time that is no date as its number", async () => {
    const clock = { now: () => 1e20, setTimer: () => () => {} };
    const session = await createSession(createMemoryStore(), { id: "s", clock });
    assert.match(await sessionToMarkdown(session), /started 100000000000000000000\n/);
  });
});
