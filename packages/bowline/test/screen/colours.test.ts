import assert from "node:assert/strict";
import { test } from "node:test";
import { colours, linkStyle } from "../../src/screen/colours.ts";
import { plainText } from "../../src/screen/width.ts";

const terminal = { isTTY: true, write: () => true };

test("uses the terminal's own colours, and opens them again after a nested end", () => {
  const { red, bold, dim, isOn } = colours(terminal, {});
  assert.equal(isOn, true);
  assert.equal(red("a"), "\u001b[31ma\u001b[39m");
  assert.equal(red(""), "");
  assert.equal(red(`a${red("b")}c`), "\u001b[31ma\u001b[31mb\u001b[39m\u001b[31mc\u001b[39m");
  assert.equal(dim(`a${bold("b")}c`), "\u001b[2ma\u001b[1mb\u001b[22m\u001b[2mc\u001b[22m");
});

test("writes no colours for NO_COLOR, a dumb terminal, a file, or against the setting", () => {
  for (const off of [
    colours(terminal, { NO_COLOR: "1" }),
    colours(terminal, { TERM: "dumb" }),
    colours({ write: () => true }, {}),
    colours(terminal, {}, false),
  ]) {
    assert.equal(off.isOn, false);
    assert.equal(off.red(off.inverse("a")), "a");
    assert.equal(off.link("a", "https://example.org/"), "a (https://example.org/)");
  }
});

test("writes hyperlinks only for terminals that are known to have them", () => {
  assert.equal(linkStyle({}), "text");
  assert.equal(linkStyle({ TERM: "xterm-kitty" }), "osc8");
  assert.equal(linkStyle({ TERM: "xterm-kitty", TMUX: "/tmp/tmux" }), "text");
  assert.equal(linkStyle({ VTE_VERSION: "7600" }), "osc8");
  const { link } = colours(terminal, { TERM_PROGRAM: "WezTerm" });
  assert.match(
    link("a", "https://x.org/"),
    /^\u001b\]8;id=\w+;https:\/\/x\.org\/\u001b\\a\u001b\]8;;\u001b\\$/,
  );
});

test("lets an address not end its own sequence", () => {
  const { link } = colours(terminal, { TERM_PROGRAM: "WezTerm" });
  const text = link("a", "https://x.org/\u001b\\\u001b[2J\u0007 é\ud800");
  assert.equal(plainText(text), "a");
  assert.ok(text.includes("https://x.org/%1B\\%1B[2J%07%20%C3%A9\u001b\\"), text);
});
