/** A session as JSON, Markdown and HTML: complete, readable, and harmless for any content. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  createMemoryStore,
  createSession,
  sessionToHtml,
  sessionToJson,
  sessionToMarkdown,
  type EntryBody,
  type Session,
} from "../../src/session/index.ts";
import type { AssistantContent } from "../../src/llm/message.ts";
import { collect, say, user } from "./support.ts";
import { sweep } from "../../../../test/support/sweep.ts";

function newSession(): Promise<Session> {
  let ids = 0;
  const clock = { now: () => Date.UTC(2026, 10, 22), setTimer: () => () => {} };
  return createSession(createMemoryStore(), { id: "a `b`", clock, createId: () => `e${ids++}` });
}

const assistant = (content: AssistantContent[], more: object = {}): EntryBody => ({
  type: "message",
  message: {
    role: "assistant",
    content,
    api: "a",
    provider: "p",
    model: "some-model",
    usage: {},
    stopReason: "stop",
    timestamp: 1,
    ...more,
  },
});

/** A session with one entry of each kind that is shown. */
async function everything(): Promise<Session> {
  const session = await newSession();
  await say(session, "Mend *the* roof");
  await session.append({ type: "run_start", runId: "r" });
  await session.append(
    assistant([
      { type: "thinking", thinking: "A roof.\nOf tiles." },
      { type: "text", text: "I look." },
      { type: "toolCall", id: "c", name: "read", arguments: { path: "roof.txt" } },
      { type: "opaque", protocol: "x", raw: {} },
    ]),
  );
  await session.append({
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: "c",
      toolName: "read",
      content: [
        { type: "text", text: "```\nfenced\n```" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
      ],
      isError: true,
      timestamp: 1,
    },
  });
  await session.append({ type: "compaction", summary: "So far so good.", firstKeptId: null });
  await session.append({
    type: "message",
    message: { role: "weather", sky: "blue" } as { role: string },
  });
  await session.append(assistant([], { stopReason: "error", errorMessage: "overloaded" }));
  const error = { code: "overloaded", message: "overloaded, again", retryable: true } as const;
  await session.append({ type: "run_end", runId: "r", reason: "error", error });
  return session;
}

describe("a session as Markdown", () => {
  it("reads as a document", async () => {
    const expected = `# Mend *the* roof

Session \`\` a \`b\` \`\`, started 2026-11-22T00:00:00.000Z

## User

Mend *the* roof

## Assistant (some-model)

> A roof.
> Of tiles.

I look.

### Call of \`read\`

\`\`\`json
{
  "path": "roof.txt"
}
\`\`\`

### Result of \`read failed\`

\`\`\`\`
\`\`\`
fenced
\`\`\`
\`\`\`\`

*An image (image/png, 3 bytes)*

## Earlier messages were summarised for the model

So far so good.

## weather

\`\`\`json
{
  "role": "weather",
  "sky": "blue"
}
\`\`\`

## Assistant (some-model)

> Error: overloaded

## The run ended: error

> Error: overloaded, again
`;
    assert.equal(await sessionToMarkdown(await everything()), expected);
  });

  it("ends at a given entry", async () => {
    assert.match(
      await sessionToMarkdown(await everything(), "e0"),
      /## User\n\nMend \*the\* roof\n$/,
    );
  });
});

describe("a session as HTML", () => {
  it("shows the same as the Markdown", async () => {
    const html = await sessionToHtml(await everything());
    for (const part of [
      "<title>Mend *the* roof</title>",
      "<summary>Thinking</summary><p>A roof.\nOf tiles.</p>",
      "&quot;path&quot;: &quot;roof.txt&quot;",
      "<h2>Result of read failed</h2>",
      '<img alt="" src="data:image/png;base64,aGk=">',
      '<p class="error">overloaded, again</p>',
    ]) {
      assert.ok(html.includes(part), part);
    }
  });

  it("contains no element, attribute or address from a message", async () => {
    const hostile = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</title><svg onload=x>",
        "'&<>\"",
      ),
    );
    const said = fc.record({
      text: hostile,
      name: hostile,
      mimeType: hostile,
      data: hostile,
      role: hostile,
    });
    const show = async ({
      text,
      name,
      role,
      ...image
    }: Record<"text" | "name" | "role" | "mimeType" | "data", string>) => {
      const session = await newSession();
      await session.rename(text);
      await session.append(user(text));
      const call = { type: "toolCall", id: "c", name, arguments: { [text]: text } } as const;
      await session.append(assistant([{ type: "text", text }, call], { model: name }));
      const content = [{ type: "image", ...image }];
      await session.append({
        type: "message",
        message: { role: "user", content } as { role: string },
      });
      await session.append({ type: "message", message: { role: `custom ${role}` } });
      return (await sessionToHtml(session)).match(/<[^>]*>/g);
    };
    const plain = await show({ text: "x", name: "x", role: "x", mimeType: "text/x", data: "x" });
    const property = fc.asyncProperty(said, async (one) =>
      assert.deepEqual(await show(one), plain),
    );
    await fc.assert(property, { numRuns: sweep({ long: 100, short: 30 }) });
    const image = { mimeType: "image/png", data: 'aGk="><img src=x onerror=alert(1)>' };
    assert.deepEqual(await show({ text: "x", name: "x", role: "x", ...image }), plain);
  });

  it("forbids the browser to run or load anything", async () => {
    const html = await sessionToHtml(await everything());
    assert.match(
      html,
      /Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"/,
    );
    assert.doesNotMatch(html, /<script|<link|<iframe|\son\w+=|https?:/i);
  });
});

describe("a session as JSON", () => {
  it("contains every entry", async () => {
    const session = await everything();
    await session.rewind("e0");
    await session.append({ type: "from tomorrow", odd: [1.5, null] } as unknown as EntryBody);
    const { header, entries } = JSON.parse(await sessionToJson(session)) as {
      header: unknown;
      entries: unknown[];
    };
    assert.deepEqual(header, session.header);
    assert.deepEqual(entries, await collect(session.entries()));
    const empty = JSON.parse(await sessionToJson(await newSession())) as { entries: unknown[] };
    assert.deepEqual(empty.entries, []);
  });
});

describe("text that a program added to a message", () => {
  const added = async (): Promise<Session> => {
    const session = await newSession();
    const content = [
      { type: "text" as const, text: "A note.", shownAs: "a note `for` the <model>" },
      { type: "text" as const, text: "Mend it" },
      { type: "text" as const, text: "```\nlet a;", shownAs: "the file a.ts" },
    ];
    const message = { role: "user" as const, content, timestamp: 1 };
    await session.append({ type: "message", message });
    return session;
  };

  it("is no part of the title", async () => {
    const session = await added();
    assert.match(await sessionToMarkdown(session), /^# Mend it\n/);
  });

  it("stands apart from what the person wrote, under its label", async () => {
    const session = await added();
    const markdown = await sessionToMarkdown(session);
    assert.ok(
      markdown.includes(
        "*Added:* `` a note `for` the <model> ``\n\n```\nA note.\n```\n\nMend it\n",
      ),
      markdown,
    );
    assert.ok(markdown.includes("*Added:* `the file a.ts`\n\n````\n```\nlet a;\n````"), markdown);
    const html = await sessionToHtml(session);
    assert.ok(
      html.includes(
        "<details><summary>Added: a note `for` the &lt;model&gt;</summary><pre>A note.</pre></details><p>Mend it</p>",
      ),
      html,
    );
  });
});
