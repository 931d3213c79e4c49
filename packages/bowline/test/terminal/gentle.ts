/** Checks what a program may never write to a person's terminal. */
import assert from "node:assert/strict";

/** The modes by which a program takes the mouse away from the terminal. */
const mouseModes = new Set(["9", "1000", "1001", "1002", "1003", "1005", "1006", "1015", "1016"]);

/**
 * Throws if the output erases the screen or the scrollback (outside of the alternate screen), takes
 * the mouse, or resets the terminal.
 */
export function assertGentle(bytes: string): void {
  for (const [sequence, parameters = ""] of bytes.matchAll(/\u001b\[([0-9;]*)J/g))
    assert.ok(
      !parameters.split(";").some((one) => one === "2" || one === "3"),
      `It erases the terminal: ${JSON.stringify(sequence)}.`,
    );
  for (const [sequence, modes = ""] of bytes.matchAll(/\u001b\[\?([0-9;]*)h/g))
    assert.ok(
      !modes.split(";").some((mode) => mouseModes.has(mode)),
      `It takes the mouse: ${JSON.stringify(sequence)}.`,
    );
  assert.ok(!bytes.includes("\u001bc"), "It resets the terminal.");
}
