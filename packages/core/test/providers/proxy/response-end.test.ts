/** The end of a proxy's response, read with a bounded number of reads. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { within } from "../../../../../test/support/within.ts";
import { post, serve, smallBody } from "./rig.ts";

it("has a comment and the events of the call, then ends and leaves no timer", async () => {
  const clock = new ManualClock();
  const { handler } = serve(["Hello."], { clock });
  const reader = (await handler(post(smallBody))).body?.getReader();
  assert.ok(reader);
  let text = "";
  let hasEnded = false;
  for (let reads = 0; reads < 20 && !hasEnded; reads++) {
    const { done, value } = await within("the next chunk or the end", reader.read());
    hasEnded = done;
    text += new TextDecoder().decode(value);
  }
  assert.equal(hasEnded, true);
  assert.match(text, /^: keep-alive\n\ndata: \{"type":"start".*Hello.*"type":"done"[^\n]*\n\n$/s);
  assert.equal(clock.pending, 0);
});
