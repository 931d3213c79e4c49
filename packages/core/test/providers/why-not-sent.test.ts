import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FileContent } from "../../src/llm/message.ts";
import type { Model } from "../../src/llm/model.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { whyNotSent } from "../../src/providers/why-not-sent.ts";

const claude: Model = getModel("anthropic", "claude-sonnet-4-5");
const pdf: FileContent = { type: "file", data: "JVBERi0=", mimeType: "application/pdf" };
const song: FileContent = { type: "file", data: "SUQz", mimeType: "audio/mpeg", name: "horn.mp3" };

describe("whyNotSent()", () => {
  it("returns undefined for a part that the wire takes, and for a text file", () => {
    assert.equal(whyNotSent(claude, pdf), undefined);
    assert.equal(
      whyNotSent(claude, { type: "file", data: "aGk=", mimeType: "text/csv" }),
      undefined,
    );
  });

  it("names the wire and the part that the wire refuses", () => {
    assert.match(whyNotSent(claude, song) ?? "", /anthropic-messages cannot send the file horn/);
  });

  it("reports a part that a note would replace", () => {
    assert.match(
      whyNotSent({ ...claude, input: ["text"] }, pdf) ?? "",
      /the model reads text only/,
    );
  });

  it("reports data that is not base64, and accepts a data: URL", () => {
    for (const data of ["not base64!", "", "data:application/pdf,%25PDF"])
      assert.equal(whyNotSent(claude, { ...pdf, data }), "Its data is not base64.", data);
    const data = `data:application/pdf;base64,${pdf.data}`;
    assert.equal(whyNotSent(claude, { ...pdf, data }), undefined);
  });

  it("knows nothing of a wire of your own", () => {
    assert.equal(whyNotSent({ ...claude, api: "mine" }, song), undefined);
  });
});
