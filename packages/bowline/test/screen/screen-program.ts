/** A program with a screen, for a shell: Ctrl-Z suspends, x throws, Ctrl-C leaves. */
import { openScreen } from "../../src/screen/screen.ts";

const screen = openScreen({
  input: process.stdin,
  output: process.stdout,
  env: process.env,
  signals: process,
  live: () => ({ lines: ["live area"] }),
  onInput: (input) => {
    if (input.type === "text" && input.text === "x") throw new Error("it broke");
    if (input.type === "paste") screen.print([`pasted ${input.text.length}`]);
    if (input.type !== "key" || !input.ctrl) return;
    if (input.name === "z") screen.suspend();
    if (input.name === "c") void screen.close();
  },
});
process.on("uncaughtException", (error) => {
  process.stdout.write(screen.restore());
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
screen.print(["ready"]);
