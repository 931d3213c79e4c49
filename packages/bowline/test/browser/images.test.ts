import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Locator, Page } from "playwright-core";
import { assertStayed, pageGateway, said, skip, useBrowser, write } from "./browser.ts";
import { house } from "./house.ts";
import { gif, png, type Picture } from "./pictures.ts";

const openTab = useBrowser();

const chosen = (page: Page): Locator => page.getByRole("list", { name: "Images to send" });
const choose = (page: Page, pictures: readonly Picture[]): Promise<void> =>
  page.locator("input[type=file]").setInputFiles([...pictures]);
const message = (page: Page): Locator => page.getByLabel("Message", { exact: true });

/** Passes files to the page as the browser does. */
async function give(
  page: Page,
  type: "paste" | "drop",
  pictures: readonly Picture[],
  text?: string,
): Promise<boolean> {
  const files = pictures.map(({ name, mimeType, buffer }) => ({
    name,
    mimeType,
    data: buffer.toString("base64"),
  }));
  return page.evaluate(
    ({ type: kind, files: all, text: plain }) => {
      const transfer = new DataTransfer();
      for (const { name, mimeType, data } of all) {
        const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type: mimeType }));
      }
      if (plain !== undefined) transfer.setData("text/plain", plain);
      const own = { bubbles: true, cancelable: true };
      const place = document.querySelector(kind === "paste" ? "#message" : ".scroller") as Element;
      if (kind === "paste")
        return place.dispatchEvent(new ClipboardEvent(kind, { ...own, clipboardData: transfer }));
      place.dispatchEvent(new DragEvent("dragover", { ...own, dataTransfer: transfer }));
      return place.dispatchEvent(new DragEvent(kind, { ...own, dataTransfer: transfer }));
    },
    { type, files, text },
  );
}

describe("images with a message", { skip }, () => {
  it("can be chosen, pasted or dropped, previewed, removed and sent, and are listed as sent", async () => {
    const { seen, options } = house(["Seen.", "Again."]);
    await using server = await pageGateway([], options);
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    const [red, blue, spot] = [png("red.png", 40, 30), png("blue.png", 60, 60), gif("spot.gif")];
    await choose(page, [red]);
    await chosen(page).getByText("red.png", { exact: true }).waitFor();
    assert.equal(
      await page.getByRole("button", { name: "Send" }).isDisabled(),
      true,
      "there is nothing said yet",
    );
    assert.equal(await give(page, "paste", [blue]), false);
    await chosen(page).getByText("blue.png", { exact: true }).waitFor();
    assert.equal(
      await give(page, "paste", [blue], "a table"),
      true,
      "text with a picture of it is text",
    );
    assert.equal(await give(page, "drop", [spot, { ...spot, name: "other.gif" }]), false);
    await chosen(page).getByText("other.gif", { exact: true }).waitFor();
    await page.waitForFunction(() => {
      const all = [...document.querySelectorAll("canvas")];
      const empty = Object.assign(document.createElement("canvas"), {
        width: 112,
        height: 112,
      }).toDataURL();
      return all.length === 4 && all.every((one) => one.width === 112 && one.toDataURL() !== empty);
    });
    await page.getByRole("button", { name: "Remove other.gif" }).click();
    await chosen(page).getByText("other.gif", { exact: true }).waitFor({ state: "detached" });
    await write(page, "What is this?");
    await said(page, "Seen.").waitFor();
    assert.equal(await chosen(page).count(), 0);
    assert.deepEqual(seen(), [
      { type: "image", mimeType: "image/png", data: red.buffer.toString("base64") },
      { type: "image", mimeType: "image/png", data: blue.buffer.toString("base64") },
      { type: "image", mimeType: "image/gif", data: spot.buffer.toString("base64") },
    ]);
    const sent = page.getByRole("list", { name: "Attached images" });
    const lines = async (): Promise<string[]> =>
      (await sent.getByRole("listitem").allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, " ").trim(),
      );
    const size = ({ buffer }: Picture): string => `${buffer.length} bytes`;
    assert.deepEqual(
      await lines(),
      [red, blue, spot].map((one) => `${one.name} ${size(one)}`),
    );
    assert.equal(await page.locator(".asked p").textContent(), "What is this?");
    await page.reload();
    await sent.waitFor();
    assert.deepEqual(
      await lines(),
      [red, blue, spot].map((one) => `${one.mimeType} ${size(one)}`),
    );
    assert.equal(await page.locator(".asked p").textContent(), "What is this?");
    assert.deepEqual(tab.faults, []);
    assertStayed(tab.requests, server.gateway.url);
  });

  it("are checked against the server's limits before sending: large ones shrink, others are left out with a reason", async () => {
    const limits = { maxAttachments: 3, maxAttachmentBytes: 120_000 };
    const { seen, options } = house(["Seen."]);
    await using server = await pageGateway([], { ...options, limits });
    await using tab = await openTab(server.gateway.url);
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    const problem = page.locator(".composer [role=alert]");
    const fake = {
      name: "fake.png",
      mimeType: "image/png",
      buffer: Buffer.from("<svg onload=alert(1)></svg>"),
    };
    await choose(page, [fake]);
    await problem.getByText("fake.png is not a PNG, JPEG, GIF or WebP image.").waitFor();
    await choose(page, [
      { ...png("cut.png", 9, 9), buffer: png("cut.png", 9, 9).buffer.subarray(0, 20) },
    ]);
    await problem.getByText("cut.png cannot be read as an image.").waitFor();
    await choose(page, [gif("film.gif", 130_000)]);
    await problem.getByText("film.gif is too large: images can have 120 kB together.").waitFor();
    assert.equal(await chosen(page).count(), 0);

    const small = png("small.png", 20, 20);
    // Its name says JPEG, its content does not.
    const wrong = { ...png("wrong.jpg", 300, 200, true), mimeType: "image/jpeg" };
    await choose(page, [small, wrong, png("noise.png", 700, 500, true)]);
    await chosen(page).locator("li").nth(2).waitFor();
    await page.getByText("made smaller").nth(1).waitFor();
    await choose(page, [small]);
    await problem.getByText("A message can have at most 3 images.").waitFor();
    await write(page, "Look");
    await said(page, "Seen.").waitFor();
    const parts = seen();
    assert.deepEqual(
      parts.map(({ mimeType }) => mimeType),
      ["image/png", "image/jpeg", "image/jpeg"],
    );
    const sizes = parts.map(({ data = "" }) => Buffer.from(data, "base64").length);
    assert.equal(sizes[0], small.buffer.length);
    assert.ok(
      sizes.reduce((sum, bytes) => sum + bytes, 0) <= limits.maxAttachmentBytes,
      sizes.join(),
    );
    assert.ok(
      Math.min(...sizes.slice(1)) > 15_000,
      `no smaller than they have to be: ${sizes.join()}`,
    );
    assert.deepEqual(tab.faults, []);
  });

  it("come back with the text and the reason when the model takes none; another model takes them", async () => {
    const { asked, seen, options } = house(["Seen."]);
    await using server = await pageGateway([], options);
    const client = await server.client();
    await client.call("sessions.create", { sessionKey: "s" });
    await client.call("sessions.patch", { sessionKey: "s", model: "house/blind" });
    await using tab = await openTab(server.gateway.url, {
      hash: "token=the-token-of-this-test&session=s",
    });
    const { page } = tab;
    await page.getByText("What shall we do?").waitFor();
    const picture = png("face.png", 30, 30);
    await choose(page, [picture]);
    await chosen(page).getByText("face.png", { exact: true }).waitFor();
    await write(page, "Who is it?");
    await page.locator(".composer [role=alert]").getByText("house/blind takes no images").waitFor();
    assert.equal(await message(page).inputValue(), "Who is it?");
    await chosen(page).getByText("face.png", { exact: true }).waitFor();
    assert.equal(await page.locator(".waiting li").count(), 0);
    await page.getByRole("button", { name: /^Answers here/ }).click();
    await page.getByLabel("Model").fill("house/seeing");
    await page.keyboard.press("Enter");
    await page.getByText("assistant · house/seeing").waitFor();
    // A text written in another session belongs to that session.
    await page.keyboard.press("Alt+N");
    await chosen(page).waitFor({ state: "detached" });
    assert.equal(await message(page).inputValue(), "");
    await page.goBack();
    await chosen(page).getByText("face.png", { exact: true }).waitFor();
    await message(page).focus();
    await page.keyboard.press("Enter");
    await said(page, "Seen.").waitFor();
    assert.deepEqual(asked, ["seeing"]);
    assert.equal(seen()[0]?.data, picture.buffer.toString("base64"));
    assert.equal(await page.locator(".image-problem").count(), 0);
  });
});
