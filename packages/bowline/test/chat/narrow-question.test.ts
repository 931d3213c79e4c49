/** Questions in windows that have no room for all of their rows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApprovalDialog } from "../../src/chat/approval-dialog.ts";
import { colours } from "../../src/screen/colours.ts";
import { key } from "../../src/screen/keys.ts";
import { textWidth } from "../../src/screen/width.ts";

const plain = colours({ isTTY: false, write: () => true }, {});
const asked = {
  approvalId: "a",
  toolCallId: "c",
  toolName: "edit",
  args: { path: "a/long/path/to/a/file/in/a/deep/folder.txt" },
  reason: "No rule allows it.",
  parts: [],
  suggestions: [
    { rule: "edit(a/long/path/to/a/file/in/a/deep/folder.txt)", also: "nothing else" },
    { rule: "edit", also: "every call of edit, whatever its arguments are" },
  ],
  askedAt: 0,
};

test("the choice with the focus is shown in every window, and no row is too long", () => {
  for (let columns = 10; columns <= 100; columns += 10)
    for (let maxRows = 2; maxRows <= 12; maxRows++) {
      const dialog = new ApprovalDialog(asked, 0, 0);
      for (let focus = 1; focus <= 4; focus++) {
        const rows = dialog.draw(columns, false, 1000, plain, maxRows);
        const where = `${columns} × ${maxRows}:\n${rows.join("\n")}`;
        assert.ok(
          rows.some((row) => row.startsWith(`> ${focus} `)),
          where,
        );
        assert.ok(rows.length <= maxRows && rows.every((row) => textWidth(row) <= columns), where);
        dialog.input(key("down"), 1000, false);
      }
    }
});

test("the end of an edited rule and for whom it is stay on the screen", () => {
  const dialog = new ApprovalDialog(asked, 0, 0);
  dialog.input({ type: "text", text: "3" }, 1000, false);
  dialog.input(key("enter"), 1100, false);
  for (let maxRows = 3; maxRows <= 12; maxRows++) {
    const rows = dialog.draw(40, false, 1000, plain, maxRows);
    assert.ok(rows.length <= maxRows, rows.join("\n"));
    assert.ok(
      rows.some((row) => row.endsWith(".txt)_")),
      rows.join("\n"),
    );
    assert.ok(
      rows.some((row) => row.startsWith("for this session")),
      rows.join("\n"),
    );
  }
});
